// Names, scopes, symbols and registers of the PTX text that is being read.
#include "runtime/sim/parse.h"

typedef struct { const char *text; size_t size; } Text;

static bool same_text(const void *kept, const void *key) {
  const Text *t = key;
  return !strncmp(kept, t->text, t->size) && !((const char *)kept)[t->size];
}

const char *ptx_intern(PtxParser *p, const char *s, size_t n) {
  MapSlot *slot = map_find(p->arena, &p->interned, map_hash_bytes(s, n), &(Text){s, n}, same_text);
  if (!slot->key) slot->key = arena_strndup(p->arena, s, n);
  return slot->key;
}

static uint32_t symbol_hash(const PtxParser *p, const char *name, const PtxScope *scope) {
  uint64_t h = ((uintptr_t)name >> 4) * UINT64_C(0x9e3779b97f4a7c15) ^
               ((uintptr_t)scope >> 4) * UINT64_C(0xbf58476d1ce4e5b9);
  return (uint32_t)(h >> 32) & (p->num_buckets - 1);
}

Symbol *ptx_find_in(PtxParser *p, const char *name, const PtxScope *scope) {
  for (Symbol *s = p->buckets[symbol_hash(p, name, scope)]; s; s = s->next_in_bucket)
    if (s->name == name && s->scope == scope) return s;
  return NULL;
}

static void insert_symbol(PtxParser *p, Symbol *s) {
  if (p->num_symbols++ >= p->num_buckets) {
    uint32_t old = p->num_buckets;
    Symbol **from = p->buckets;
    p->num_buckets *= 2;
    p->buckets = arena_array(p->arena, Symbol *, p->num_buckets);
    for (uint32_t i = 0; i < old; i++)
      for (Symbol *t = from[i], *next; t; t = next) {
        next = t->next_in_bucket;
        uint32_t h = symbol_hash(p, t->name, t->scope);
        t->next_in_bucket = p->buckets[h];
        p->buckets[h] = t;
      }
  }
  uint32_t h = symbol_hash(p, s->name, s->scope);
  s->next_in_bucket = p->buckets[h];
  p->buckets[h] = s;
}

Symbol *ptx_new_symbol(PtxParser *p, const char *name, SymKind kind, PtxScope *scope) {
  Symbol *s = arena_new(p->arena, Symbol);
  s->name = name;
  s->kind = kind;
  s->scope = scope;
  s->line = p->line;
  insert_symbol(p, s);
  return s;
}

static uint32_t new_register(PtxParser *p, const PtxScope *scope, bool pred, uint32_t slots) {
  bool reuse = scope->parent && scope->parent->parent && slots == 1;
  if (pred) {
    if (reuse && p->free_preds.count) return p->free_preds.data[--p->free_preds.count];
    return p->fn->num_preds++;
  }
  if (reuse && p->free_slots.count) return p->free_slots.data[--p->free_slots.count];
  uint32_t s = p->fn->num_slots;
  p->fn->num_slots += slots;
  return s;
}
uint32_t ptx_new_slot(PtxParser *p) { return p->fn->num_slots++; }

void ptx_give_register(PtxParser *p, Symbol *s) {
  bool pred = s->type == T_PRED;
  s->kind = pred ? SYM_PRED : SYM_REG;
  s->slot = new_register(p, s->scope, pred, s->type == T_B128 ? 2 : 1);
  if (s->scope->parent && s->scope->parent->parent && s->type != T_B128) {
    if (pred) vec_push(p->arena, &s->scope->preds, s->slot);
    else vec_push(p->arena, &s->scope->slots, s->slot);
  }
}

Symbol *ptx_lookup(PtxParser *p, const char *name) {
  size_t n = strlen(name), digits = n;
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') digits--;
  const char *prefix = digits < n && digits > 0 && n - digits < 9 ? ptx_intern(p, name, digits) : NULL;
  for (PtxScope *scope = p->scope; scope; scope = scope->parent) {
    Symbol *s = ptx_find_in(p, name, scope);
    if (s) return s;
    if (!prefix) continue;
    Symbol *r = ptx_find_in(p, prefix, scope);
    if (!r || !r->range || (name[digits] == '0' && n - digits > 1)) continue;
    if ((uint32_t)strtoul(name + digits, NULL, 10) >= r->range) continue;
    // A register of a range gets its slot at its first use, because most of a range is often unused.
    s = ptx_new_symbol(p, name, SYM_REG, scope);
    s->type = r->type;
    ptx_give_register(p, s);
    return s;
  }
  return NULL;
}

Symbol *ptx_define(PtxParser *p, const char *name, SymKind kind) {
  Symbol *s = ptx_find_in(p, name, p->scope);
  if (s) {
    ptx_error(p, p->line, "%s is already declared on line %u", name, s->line);
    return NULL;
  }
  return ptx_new_symbol(p, name, kind, p->scope);
}

void ptx_open_scope(PtxParser *p) {
  PtxScope *s = arena_new(p->arena, PtxScope);
  s->parent = p->scope;
  s->frame_top = p->frame_top;
  p->scope = s;
}

void ptx_close_scope(PtxParser *p) {
  PtxScope *s = p->scope;
  for (uint32_t i = 0; i < s->slots.count; i++) vec_push(p->arena, &p->free_slots, s->slots.data[i]);
  for (uint32_t i = 0; i < s->preds.count; i++) vec_push(p->arena, &p->free_preds, s->preds.data[i]);
  p->frame_top = s->frame_top;
  p->scope = s->parent;
}

void ptx_use_label(PtxParser *p, const PtxOperand *label) {
  Label u = {label->sym, p->code.count, p->instr_line};
  vec_push(p->arena, &p->uses, u);
}
