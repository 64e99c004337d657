// What the grammar's actions build: declarations, functions, labels, the module's head. decode.c adds the
// instructions.
#include "runtime/sim/parse.h"

#include "ptx_grammar.h"

enum { MAX_FRAME = 512 * 1024 };

// ------------------------------------------------------------------------------------------------- declarations

void ptx_open_attrs(PtxParser *p, int token) {
  p->attrs = (VarAttrs){.vec = 1};
  p->ptr_attr = false;
  switch (token) {
  case D_GLOBAL: p->attrs.space = SPACE_GLOBAL; break;
  case D_CONST: p->attrs.space = SPACE_CONST; break;
  case D_SHARED: p->attrs.space = SPACE_SHARED; break;
  case D_LOCAL: p->attrs.space = SPACE_LOCAL; break;
  case D_PARAM: p->attrs.space = SPACE_PARAM; break;
  default: p->attrs.is_reg = true; break;
  }
}

bool ptx_type_attr(PtxParser *p, const char *name) {
  if (p->ptr_attr) return true;
  if (name[0] == 'v' && (name[1] == '2' || name[1] == '4') && !name[2]) {
    p->attrs.vec = (uint32_t)(name[1] - '0');
    return true;
  }
  for (int t = 1; t < T_COUNT; t++)
    if (!strcmp(ptx_types[t].name, name)) {
      p->attrs.type = (PtxType)t;
      return true;
    }
  return ptx_error(p, p->line, "unknown type or attribute .%s", name);
}

bool ptx_align_attr(PtxParser *p, uint64_t align) {
  if (p->ptr_attr) return true;
  if (!is_pow2_u64(align) || align > 4096)
    return ptx_error(p, p->line, "bad alignment %llu", (unsigned long long)align);
  p->attrs.align = (uint32_t)align;
  return true;
}

static bool set_layout(PtxParser *p, Symbol *s, const Declarator *d) {
  uint32_t elem = ptx_types[p->attrs.type].bits / 8 * p->attrs.vec;
  if (!elem) return ptx_error(p, p->line, "%s has no memory type", d->name);
  s->type = p->attrs.type;
  s->size = d->open && d->elems == 1 ? 0 : elem * d->elems;
  s->align = p->attrs.align ? p->attrs.align : elem;
  s->space = p->attrs.space;
  return true;
}

static bool write_initializer(PtxParser *p, Symbol *s, Initializer *init) {
  uint32_t elem = ptx_types[s->type].bits / 8;
  uint8_t *at = (uint8_t *)(uintptr_t)s->addr, *end = at + s->size;
  for (Initializer *i = init; i; i = i->next, at += elem) {
    if (at + elem > end) return ptx_error(p, p->line, "too many initial values for %s", s->name);
    if (elem > 8 && i->num.float_bytes)
      return ptx_error(p, p->line, "cannot initialise %s with a floating-point number", s->name);
    uint64_t v = i->num.bits;
    if (i->num.float_bytes == 8 && s->type == T_F32) {
      double d;
      float f;
      memcpy(&d, &v, 8);
      f = (float)d;
      uint32_t u;
      memcpy(&u, &f, 4);
      v = u;
    }
    if (i->num.float_bytes && i->negative) v ^= UINT64_C(1) << (elem * 8 - 1);
    else if (i->negative) v = -v;
    if (i->symbol) {
      Symbol *t = ptx_lookup(p, i->symbol);
      if (t && t->kind == SYM_FUNC) v += (uintptr_t)t->func;
      else if (t && t->kind == SYM_VAR && (t->space == SPACE_GLOBAL || t->space == SPACE_CONST)) v += t->addr;
      else return ptx_error(p, p->line, "cannot initialise %s with the address of %s", s->name, i->symbol);
      if (i->mask) v = (v & i->mask) >> __builtin_ctzll(i->mask);
    }
    const uint64_t both[2] = {v, i->negative && v ? UINT64_MAX : 0};   // .b128
    memcpy(at, both, elem);
  }
  return true;
}

static bool use_frame(PtxParser *p, Symbol *s) {
  s->addr = align_up(p->frame_top, s->align);
  if (s->addr + s->size > MAX_FRAME)
    return ptx_error(p, p->line, "%s does not fit the %d KB of local memory", s->name, MAX_FRAME / 1024);
  p->frame_top = (uint32_t)(s->addr + s->size);
  if (p->frame_top > p->fn->frame_bytes) p->fn->frame_bytes = p->frame_top;
  return true;
}

bool ptx_declare(PtxParser *p, const Declarator *d) {
  if (p->attrs.is_reg) {
    if (!p->fn) return ptx_error(p, p->line, "register %s outside a function", d->name);
    if (!p->attrs.type || p->attrs.vec != 1) return ptx_error(p, p->line, "bad type for register %s", d->name);
    Symbol *s = ptx_define(p, d->name, SYM_REG);
    if (!s) return false;
    s->type = p->attrs.type;
    s->range = d->range;
    if (!d->range) ptx_give_register(p, s);
    return true;
  }
  Symbol *s = p->fn ? NULL : ptx_find_in(p, d->name, p->scope);
  if (s && s->kind == SYM_VAR && s->is_extern) s->is_extern = false;
  else s = ptx_define(p, d->name, SYM_VAR);
  if (!s || !set_layout(p, s, d)) return false;
  s->is_extern = !p->fn && (p->linkage & LINK_EXTERN) != 0;
  switch (s->space) {
  case SPACE_SHARED:
    s->slot = p->m->shared_syms.count;
    vec_push(p->arena, &p->m->shared_syms, s);
    return true;
  case SPACE_GLOBAL: case SPACE_CONST:
    if (s->is_extern) return ptx_error(p, p->line, "%s is declared extern: there is nothing to link it with", d->name);
    if (d->open) {  // x[] = {…}: as many elements as initial values
      for (Initializer *i = d->init; i; i = i->next) s->size += ptx_types[s->type].bits / 8;
    }
    s->addr = device_alloc(p->m->device, s->size ? s->size : 1, s->align < 16 ? 16 : s->align,
                           s->space == SPACE_CONST ? ALLOC_CONST : ALLOC_MODULE);
    if (!s->addr) return ptx_error(p, p->line, "no memory for %s (%llu bytes)", d->name, (unsigned long long)s->size);
    memset((void *)(uintptr_t)s->addr, 0, s->size);
    vec_push(p->arena, &p->m->globals, s);
    return write_initializer(p, s, d->init);
  case SPACE_LOCAL:
    if (!p->fn) return ptx_error(p, p->line, ".local %s outside a function", d->name);
    return use_frame(p, s);
  default:
    if (!p->fn) return ptx_error(p, p->line, ".param %s outside a function", d->name);
    s->space = SPACE_FRAME;
    return use_frame(p, s);
  }
}

// ---------------------------------------------------------------------------------------------------- functions

bool ptx_begin_function(PtxParser *p, bool entry, const char *name) {
  ptx_open_scope(p);
  p->params.count = p->rets.count = p->uses.count = p->tables.count = p->free_slots.count = p->free_preds.count = 0;
  p->frame_top = 0;
  p->loc = NULL;
  p->returns = false;
  PtxFunction *f = arena_new(p->arena, PtxFunction);
  f->module = p->m;
  f->is_entry = entry;
  f->max_dynamic_shared = -1;
  p->fn = f;
  return name ? ptx_name_function(p, name) : true;
}

bool ptx_name_function(PtxParser *p, const char *name) {
  Symbol *s = ptx_find_in(p, name, p->global_scope);
  if (s && (s->kind != SYM_FUNC || s->func->is_defined))
    return ptx_error(p, p->line, "%s is already declared on line %u", name, s->line);
  p->fn->name = name;
  if (s) {  // declared before: calls already refer to that PtxFunction
    *s->func = *p->fn;
    p->fn = s->func;
    return true;
  }
  s = ptx_new_symbol(p, name, SYM_FUNC, p->global_scope);
  s->func = p->fn;
  vec_push(p->arena, &p->m->funcs, p->fn);
  return true;
}

bool ptx_add_param(PtxParser *p, const Declarator *d, bool is_return) {
  Symbol *s = ptx_define(p, d->name, SYM_VAR);
  if (!s) return false;
  if (p->attrs.is_reg) {
    if (!p->attrs.type || p->fn->is_entry) return ptx_error(p, p->line, "bad parameter %s", d->name);
    s->type = p->attrs.type;
    ptx_give_register(p, s);
  } else {
    if (!set_layout(p, s, d)) return false;
    if (p->fn->is_entry) {
      s->addr = align_up(p->fn->param_bytes, s->align);
      s->space = SPACE_PARAM;
      if (s->addr + s->size > 32764) return ptx_error(p, p->line, "parameters take more than 32764 bytes");
      p->fn->param_bytes = (uint32_t)(s->addr + s->size);
    } else {
      s->space = SPACE_FRAME;
      if (!use_frame(p, s)) return false;
    }
  }
  if (is_return) vec_push(p->arena, &p->rets, s);
  else vec_push(p->arena, &p->params, s);
  return true;
}

static Symbol **copy_symbols(PtxParser *p, const SymbolVec *v) {
  Symbol **out = arena_array(p->arena, Symbol *, v->count + 1);
  if (v->count) memcpy(out, v->data, sizeof *out * v->count);
  return out;
}

bool ptx_end_signature(PtxParser *p, bool has_body) {
  PtxFunction *f = p->fn;
  f->params = copy_symbols(p, &p->params);
  f->num_params = p->params.count;
  f->rets = copy_symbols(p, &p->rets);
  f->num_rets = p->rets.count;
  f->first = f->end = p->code.count;
  f->is_defined = has_body;
  if (!has_body) {
    ptx_close_scope(p);
    p->fn = NULL;
  }
  return true;
}

bool ptx_function_directive(PtxParser *p, int token) {
  PtxFunction *f = p->fn;
  uint32_t v[3] = {1, 1, 1};
  for (uint32_t i = 0; i < p->num_values && i < 3; i++) v[i] = p->values[i];
  switch (token) {
  case D_REQNTID: memcpy(f->reqntid, v, sizeof v); break;
  case D_MAXNTID: memcpy(f->maxntid, v, sizeof v); break;
  case D_REQNCTAPERCLUSTER: memcpy(f->reqcluster, v, sizeof v); break;
  case D_MAXNREG: f->maxnreg = v[0]; break;
  case D_MAXCLUSTERRANK: f->max_cluster_rank = v[0]; break;
  default: f->explicit_cluster = true; break;
  }
  p->num_values = 0;
  return true;
}

bool ptx_add_label(PtxParser *p, const char *name) {
  Symbol *s = ptx_define(p, name, SYM_LABEL);
  if (!s) return false;
  s->addr = p->code.count;
  return true;
}

bool ptx_add_targets(PtxParser *p, const char *name, const WordList *l) {
  Symbol *s = ptx_define(p, name, SYM_TARGETS);
  if (!s) return false;
  s->targets.names = l->data;
  s->targets.count = l->count;
  s->targets.pcs = arena_array(p->arena, uint32_t, l->count);
  vec_push(p->arena, &p->tables, s);
  return true;
}

bool ptx_add_loc(PtxParser *p, bool inlined) {
  SrcLoc *l = arena_new(p->arena, SrcLoc);
  *l = (SrcLoc){p->values[0], p->values[1], p->values[2], NULL};
  if (inlined && p->num_values >= 6) {
    SrcLoc *at = arena_new(p->arena, SrcLoc);
    *at = (SrcLoc){p->values[3], p->values[4], p->values[5], NULL};
    l->inlined_at = at;
  }
  p->loc = l;
  return true;
}

static bool resolve_label(PtxParser *p, PtxScope *scope, const char *name, uint32_t line, uint32_t *pc) {
  for (; scope; scope = scope->parent) {
    Symbol *s = ptx_find_in(p, name, scope);
    if (!s) continue;
    if (s->kind != SYM_LABEL) return ptx_error(p, line, "%s is not a label", name);
    *pc = (uint32_t)s->addr;
    return true;
  }
  return ptx_error(p, line, "unknown label %s", name);
}

bool ptx_end_function(PtxParser *p) {
  // The end of a function is an implicit ret.
  WordList none = {0};
  OperandList no_ops = {0};
  p->instr_line = p->line;
  if (!ptx_add_instr(p, "ret", &none, &no_ops)) return false;
  for (uint32_t i = 0; i < p->uses.count; i++) {
    Label *u = &p->uses.data[i];
    if (!resolve_label(p, u->use->scope, u->use->name, u->line, &p->code.data[u->instr].target)) return false;
  }
  for (uint32_t i = 0; i < p->tables.count; i++) {
    Symbol *t = p->tables.data[i];
    for (uint32_t k = 0; k < t->targets.count; k++)
      if (!resolve_label(p, t->scope, t->targets.names[k], t->line, &t->targets.pcs[k])) return false;
  }
  p->fn->end = p->code.count;
  p->fn->frame_bytes = (uint32_t)align_up(p->fn->frame_bytes, 128);
  ptx_close_scope(p);
  p->fn = NULL;
  return true;
}

// ----------------------------------------------------------------------------------------------------- module head

bool ptx_set_version(PtxParser *p, Number n) {
  double d;
  memcpy(&d, &n.bits, 8);
  p->m->version = d > 0 && d < 100 ? (uint32_t)(d * 10 + 0.5) : 0;   // also 0 for what is no number
  if (p->m->version >= 10 && p->m->version <= 93) return true;
  p->m->error_code = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  return ptx_error(p, p->line, "PTX version %.1f is not supported", d);
}

bool ptx_set_target(PtxParser *p, const char *name) {
  if (strncmp(name, "sm_", 3)) return true;  // debug, texmode_*, map_f64_to_f32: without effect here
  char *end;
  p->m->sm = (uint32_t)strtoul(name + 3, &end, 10);
  p->m->arch_specific = *end == 'a';
  uint32_t cc = (uint32_t)(p->m->device->cc_major * 10 + p->m->device->cc_minor);
  if ((*end && strcmp(end, "a") && strcmp(end, "f")) || p->m->sm < 20)
    return ptx_error(p, p->line, "unknown target %s", name);
  if (p->m->sm > cc || (*end && p->m->sm != cc)) {
    p->m->error_code = CUDA_ERROR_NO_BINARY_FOR_GPU;
    return ptx_error(p, p->line, "target %s does not run on the simulated sm_%u device", name, cc);
  }
  return true;
}

bool ptx_add_file(PtxParser *p, uint64_t index, const char *path) {
  if (index > 100000) return ptx_error(p, p->line, "bad .file number");
  while (p->m->files.count <= index) vec_push(p->arena, &p->m->files, NULL);
  p->m->files.data[index] = path;
  return true;
}
