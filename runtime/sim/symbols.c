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

typedef struct { const char *name; const PtxScope *scope; } SymbolKey;

static bool same_symbol(const void *kept, const void *key) {
  const Symbol *s = kept;
  const SymbolKey *k = key;
  return s->name == k->name && s->scope == k->scope;
}

static uint32_t symbol_hash(const char *name, const PtxScope *scope) {
  return map_hash_pointer(name) ^ map_hash_pointer(scope) * 31;
}

Symbol *ptx_find_in(PtxParser *p, const char *name, const PtxScope *scope) {
  MapSlot *slot = map_seek(&p->symbols, symbol_hash(name, scope), &(SymbolKey){name, scope}, same_symbol);
  return slot ? slot->value : NULL;
}

Symbol *ptx_new_symbol(PtxParser *p, const char *name, SymKind kind, PtxScope *scope) {
  Symbol *s = arena_new(p->arena, Symbol);
  s->name = name;
  s->kind = kind;
  s->scope = scope;
  s->line = p->line;
  MapSlot *slot = map_find(p->arena, &p->symbols, symbol_hash(name, scope), &(SymbolKey){name, scope}, same_symbol);
  slot->key = slot->value = s;
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
