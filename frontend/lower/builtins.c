// The table of builtins: finding a row, binding arguments to its parameters, and the helpers by which builders read
// them.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"

#include <stdlib.h>
#include <string.h>

static const BuiltinRow rows[] = {
#define BUILTIN(name, params, fn, data, method, mark, doc) {name, params, fn, data, method, mark, doc},
#include "frontend/lower/builtins.def"
};

static const BuiltinRow gluon_rows[] = {
#define BUILTIN(name, params, fn, data, method, mark, doc) {name, params, fn, data, method, mark, doc},
#include "frontend/lower/builtins_gluon.def"
};

#define BUILTIN(name, params, fn, data, method, mark, doc)                                                             \
  _Static_assert(sizeof name > 1 && sizeof mark > 1 && sizeof doc > 1 && (method) >= 0 && (method) <= 2,               \
                 "builtins.def: a column of " name);
#include "frontend/lower/builtins.def"

const BuiltinRow *builtin_at(uint32_t i) { return i < countof(rows) ? &rows[i] : NULL; }

const BuiltinRow *builtin_at_gluon(uint32_t i) { return i < countof(gluon_rows) ? &gluon_rows[i] : NULL; }

const BuiltinRow *builtin_find(const char *name) {
  for (uint32_t i = 0; i < countof(rows); i++)
    if (rows[i].name[0] == name[0] && strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

const BuiltinRow *builtin_find_gluon(const char *name) {
  for (uint32_t i = 0; i < countof(gluon_rows); i++)
    if (gluon_rows[i].name[0] == name[0] && strcmp(gluon_rows[i].name, name) == 0) return &gluon_rows[i];
  return NULL;
}

// ---- binding ----
const char *builtin_next_param(const char *p, BuiltinParam *out) {
  p += strspn(p, " ,");
  if (!*p) return NULL;
  *out = (BuiltinParam){.is_list = *p == '*'};
  p += out->is_list;
  out->name = p;
  p += out->name_size = (uint32_t)strcspn(p, ",=");
  if (*p != '=') return p;
  out->otherwise = ++p;
  out->otherwise_size = (uint32_t)(*p == '\'' ? strcspn(p + 1, "'") + 2 : strcspn(p, ","));
  return p + out->otherwise_size;
}

static bool is_named(const BuiltinParam *p, const char *name) {
  return strlen(name) == p->name_size && memcmp(name, p->name, p->name_size) == 0;
}

bool builtin_is_gluon(const BuiltinRow *row) {
  for (uint32_t i = 0; i < countof(gluon_rows); i++)
    if (row == &gluon_rows[i]) return true;
  return false;
}

static uint32_t num_params(const BuiltinRow *row) {
  BuiltinParam p;
  uint32_t n = 0;
  for (const char *s = row->params; (s = builtin_next_param(s, &p));) n++;
  return n;
}

const BuiltinRow *builtin_overload(const BuiltinRow *row, const CallArgs *args) {
  for (uint32_t i = 0; i + 1 < countof(gluon_rows); i++)
    if (row == &gluon_rows[i] && strcmp(row[1].name, row->name) == 0 &&
        args->num_args + args->num_kwargs > num_params(row))
      return row + 1;
  return row;
}

static Term *default_term(Lower *L, const BuiltinParam *p) {
  const char *s = p->otherwise;
  switch (*s) {
  case '\'': return term_const(L, ct_str(L->ctx, arena_strndup(L->arena, s + 1, p->otherwise_size - 2)));
  case 'N': return term_none(L);
  case '(': return term_tuple(L, NULL, 0, NULL);
  case 'T': case 'F': return term_bool(L, *s == 'T');
  default: return term_int(L, strtoll(s, NULL, 10));
  }
}

// What a `*list` parameter takes: self, the positional arguments left, and its keyword argument (shape=[…]).
static Term *bind_list(Lower *L, const BuiltinParam *p, Term *self, CallArgs *args, uint32_t next, bool *used) {
  TermList rest = {0};
  if (self) vec_push(L->arena, &rest, self);
  while (next < args->num_args) vec_push(L->arena, &rest, args->args[next++]);
  for (uint32_t k = 0; k < args->num_kwargs; k++)
    if (is_named(p, args->keys[k])) {
      used[k] = true;
      vec_push(L->arena, &rest, args->kwargs[k]);
    }
  return term_tuple(L, rest.data, rest.count, NULL);
}

// Whether the argument after a pointer is not a mask or a value but what belongs beside the pointer.
static bool is_offset(const Call *c, uint32_t n) {
  const Term *p = n == 1 ? c->args[0] : NULL, *t = c->args[n];
  return p && p->kind == TERM_VALUE && ct_is_ptr(term_t(p)) && term_is_tensor(t);
}

// Gives parameter n its positional argument and its keyword, if there are any. False after a diagnostic.
static bool bind_param(Lower *L, Call *c, uint32_t n, const BuiltinParam *p, CallArgs *args, uint32_t *next, bool *used,
                       const char *shown) {
  if (*next < args->num_args) {
    c->spans[n] = args->spans[*next];
    c->args[n] = args->args[(*next)++];
  }
  for (uint32_t k = 0; k < args->num_kwargs; k++) {
    if (!is_named(p, args->keys[k])) continue;
    used[k] = true;
    const Span at = c->spans[n];
    if (c->args[n]) {
      lower_error(L, args->key_spans[k], "`%s` is given twice to `%s`", args->keys[k], shown);
      if (is_offset(c, n)) return lower_hint(L, "add offsets to the pointer: p + offsets") != NULL;
      if (!strncmp(c->row->params, "shape,", 6) && n && term_is_number(c->args[n]))
        return lower_hint(L, "the shape is one argument: [%s, %s]", lower_source_text_or(L, c->spans[0], "M"),
                          lower_source_text_or(L, at, "N")) != NULL;
      return lower_hint(L, "its parameters: %s; positional arguments take the first ones", c->row->params) != NULL;
    }
    c->spans[n] = args->key_spans[k];
    c->args[n] = args->kwargs[k];
  }
  c->given[n] = c->args[n] != NULL;
  return true;
}

// A descriptor knows the extents of its tensor.
static bool hint_descriptor(Lower *L, const char *key, const char *params) {
  static const char *const masks[] = {"mask", "other", "boundary_check", "padding_option"};
  for (size_t i = 0; strncmp(params, "desc,", 5) == 0 && i < countof(masks); i++)
    if (strcmp(key, masks[i]) == 0)
      return !lower_hint(L, "leave it out: what lies outside the descriptor's shape is padding when loaded, and is not "
                         "stored");
  return false;
}

static NameVec param_names(Lower *L, const char *params) {
  NameVec names = {0};
  BuiltinParam p;
  for (const char *s = params; (s = builtin_next_param(s, &p));)
    vec_push(L->arena, &names, arena_strndup(L->arena, p.name, p.name_size));
  return names;
}

static void hint_param(Lower *L, const char *key, const char *params) {
  if (hint_descriptor(L, key, params)) return;
  const NameVec names = param_names(L, params);
  lower_hint_param(L, key, params, names.data, names.count);
}

// Whether every argument found its parameter, and every parameter a value. False after a diagnostic.
static bool check_bound(Lower *L, const Call *c, const CallArgs *args, uint32_t n, uint32_t next, const bool *used,
                        const char *shown, const Term *self, Buf *missing) {
  if (next < args->num_args) {
    const uint32_t most = n - (self != NULL);
    lower_error(L, args->spans[next], "`%s` takes at most %u positional argument%s, %u %s given", shown, most,
                most == 1 ? "" : "s", args->num_args, args->num_args == 1 ? "is" : "are");
    lower_hint(L, "its parameters: %s", c->row->params);
    return builtin_hint_step(L, c, args);
  }
  for (uint32_t k = 0; k < args->num_kwargs; k++) {
    if (used[k] || strcmp(args->keys[k], "_semantic") == 0 || strcmp(args->keys[k], "_builder") == 0) continue;
    lower_error(L, args->key_spans[k], "`%s` has no parameter `%s`", shown, args->keys[k]);
    hint_param(L, args->keys[k], c->row->params);
    if (missing->size) lower_hint(L, "what has no value is %s", buf_str(missing));
    return false;
  }
  if (!missing->size) return true;
  lower_error(L, args->span, "the call of `%s` lacks %s", shown, buf_str(missing));
  lower_hint(L, "its parameters: %s", c->row->params);
  if (builtin_hint_alone(L, c)) return false;
  const NameVec names = param_names(L, c->row->params);
  const uint32_t first = self != NULL;
  bool *is_optional = arena_array(L->arena, bool, names.count + 1);
  BuiltinParam p;
  uint32_t i = 0;
  for (const char *s = c->row->params; (s = builtin_next_param(s, &p)); i++)
    is_optional[i] = p.otherwise != NULL || p.is_list;
  lower_hint_call(L, args, names.data + first, is_optional + first, names.count - first);
  return false;
}

// Empty slots after a call's arguments, where `arg` finds a builder that reads more than its row has.
enum { SPARE_ARGS = 8 };

bool builtin_bind(Lower *L, const BuiltinRow *row, Term *self, CallArgs *args, Call *c) {
  Arena *arena = L->arena;
  *c = (Call){.row = row, .span = args->span, .node = args->node};
  BuiltinParam p;
  uint32_t next = 0, n = num_params(row);
  c->args = arena_array(arena, Term *, n + SPARE_ARGS);
  c->spans = arena_array(arena, Span, n);
  c->given = arena_array(arena, bool, n);
  bool *used = arena_array(arena, bool, args->num_kwargs + 1);
  const char *shown = strncmp(row->name, "py.", 3) == 0 ? row->name + 3 : row->name;
  n = 0;
  Buf missing = buf_make(arena);
  for (const char *s = row->params; (s = builtin_next_param(s, &p)); n++) {
    c->spans[n] = args->span;
    if (p.is_list) {
      if (next < args->num_args) c->spans[n] = args->spans[next];
      c->args[n] = bind_list(L, &p, n == 0 ? self : NULL, args, next, used);
      c->given[n] = c->args[n]->tuple.count > 0;
      next = args->num_args;
    } else if (n == 0 && self) {
      c->args[n] = self;
      c->given[n] = true;
    } else if (!bind_param(L, c, n, &p, args, &next, used, shown)) {
      return false;
    }
    if (c->args[n]) continue;
    if (p.otherwise) c->args[n] = default_term(L, &p);
    else buf_printf(&missing, "%s`%s`", missing.size ? ", " : "", arena_strndup(arena, p.name, p.name_size));
  }
  return check_bound(L, c, args, n, next, used, shown, self, &missing);
}

// The accesses that the tensor reaches choose its layout.
static void mark_coalesced(Lower *L, const Term *t) {
  if (term_is_tensor(t) && !term_t(t)->layout && term_v(t)->def) op_set_int(L->ctx, term_v(t)->def, ATTR_COALESCED, 1);
}

Term *builtin_call(Lower *L, const BuiltinRow *row, Term *self, CallArgs *args) {
  Call c;
  if (!builtin_bind(L, row, self, args, &c)) return NULL;
  L->b.span = args->span;
  Term *r = row->fn(L, &c);
  BuiltinParam p;
  uint32_t i = 0;
  for (const char *s = row->params; r && (s = builtin_next_param(s, &p)); i++)
    if (is_named(&p, "layout") && term_is_const(c.args[i]) && comptime_is_coalesced_layout(c.args[i]->ct))
      mark_coalesced(L, r);
  return r;
}

// ---- reading arguments ----
Term *builtin_error(Lower *L, const Call *c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(L->arena, fmt, ap);
  va_end(ap);
  return lower_error(L, c->span, "%s", text);
}

Term *arg_error(Lower *L, const Call *c, uint32_t i, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(L->arena, fmt, ap);
  va_end(ap);
  return lower_error(L, c->spans[i], "%s", text);
}

static const char *param_name(Lower *L, const Call *c, uint32_t i) {
  BuiltinParam p = {.name = ""};
  const char *s = c->row->params;
  for (uint32_t k = 0; k <= i && (s = builtin_next_param(s, &p)); k++) {}
  return arena_strndup(L->arena, p.name, p.name_size);
}

static Term *arg(Lower *L, const Call *c, uint32_t i) {
  if (!c->args[i]) ice(L->ctx, "the builder of `%s` reads argument %u of (%s)", c->row->name, i, c->row->params);
  return c->args[i];
}

bool arg_is_none(const Call *c, uint32_t i) { return c->args[i] && term_is_none(c->args[i]); }

Term *arg_value(Lower *L, Call *c, uint32_t i) {
  if (arg(L, c, i)->kind == TERM_VALUE) return c->args[i];
  const char *what = arena_printf(L->arena, "`%s` of `%s`", param_name(L, c, i), c->row->name);
  Term *t = term_to_value(L, c->args[i], c->spans[i], what);
  if (!t) builtin_hint_position(L, c, i);
  return t;
}

// Whether argument i is what `max` or `min` of one tensor got as its axis.
static bool is_axis_of_max(Lower *L, const Call *c, uint32_t i) {
  const char *through = lower_prelude_name(L, c->span);
  return through && (!strcmp(through, "max") || !strcmp(through, "min")) && !strcmp(param_name(L, c, i), "axis");
}

typedef struct { const char *name; bool counts; uint32_t left; } LoopName;

// Whether v is computed from constants and loop-carried values alone. If so, *found names one of the latter and says
// whether it is a loop's induction variable. name: the variable that v is assigned to. found->left bounds the search.
static bool is_from_loops(const Value *v, const char *name, LoopName *found) {
  if (!found->left--) return found->left = 0, false;
  if (v->name) name = v->name;
  const Op *op = v->def;
  if (op && op->opcode == OP_CONSTANT) return true;
  for (uint32_t i = 0; op && i < op->num_operands; i++)
    if (op_operand(op, i) && !is_from_loops(op_operand(op, i), name, found)) return false;
  if (op) return op->num_operands && op_is(op, TRAIT_PURE);
  const Op *loop = v->block->parent;
  if (!loop || !name) return false;
  const bool counts = loop->opcode == OP_FOR && v == v->block->args[0];
  for (uint32_t i = 0; i < loop->num_operands; i++)
    if (!value_constant_int(op_operand(loop, i), &(int64_t){0})) return false;
  *found = (LoopName){name, counts, found->left};
  return true;
}

// own: the name of the value that must be constant, or NULL.
static const char *loop_hint(Lower *L, const LoopName *loop, const char *own) {
  const char *name = loop->name;
  if (!loop->counts)
    return arena_printf(L->arena, "`%s` changes in a run-time loop; in `for i in tl.static_range(…):`, "
                        "`%s: tl.constexpr = …` may be computed from i and constants", name, name);
  const char *also = !own || !strcmp(own, name) ? ""
                     : arena_printf(L->arena, ", and `%s: tl.constexpr = …` may be computed from it", own);
  return arena_printf(L->arena, "`%s` counts a run-time loop; in `for %s in tl.static_range(…):` it is a constant%s",
                      name, name, also);
}

// The way out where a run-time value is no constant.
void lower_hint_constant(Lower *L, const Term *t, const char *otherwise) {
  LoopName loop = {.left = 100};
  const bool is_value = t->kind == TERM_VALUE;
  if (is_value && t->value.declared.begin) {
    diag_note(L->ctx, t->value.declared, "declared a constexpr here, but this value is known only at run time");
    otherwise = "compute it on the host, and pass it as a constexpr parameter";
  }
  if (is_value && is_from_loops(term_v(t), NULL, &loop) && loop.name)
    otherwise = loop_hint(L, &loop, term_v(t)->name);
  lower_hint(L, "%s", otherwise);
}

static bool not_constant(Lower *L, Call *c, uint32_t i, const char *what) {
  arg_error(L, c, i, "`%s` of `%s` must be %s, not %s", param_name(L, c, i), arg_function(L, c), what,
            term_describe(L, c->args[i]));
  if (is_axis_of_max(L, c, i)) {
    const char *f = arg_function(L, c);
    return lower_hint(L, "`%s` reduces one tensor; write tl.%simum(a, b) for two", f, f) != NULL;
  }
  if (term_is_none(c->args[i])) return lower_hint_none(L, c->spans[i]) != NULL;
  if (builtin_hint_position(L, c, i) || lower_hint_kind(L, c->args[i]) || c->args[i]->kind != TERM_VALUE) return false;
  const Value *v = term_v(c->args[i]);
  if (v->block == L->b.func->body && v->name)   // a parameter of the kernel
    lower_hint(L, "declare the parameter `%s: tl.constexpr`", v->name);
  else if (!lower_hint_assigned(L, c->args[i]))
    lower_hint_constant(L, c->args[i],
                  "a plain assignment makes a run-time value; keep a constant with `x: tl.constexpr = …`, computed "
                  "from constants, or a constexpr parameter");
  return false;
}

bool arg_int(Lower *L, Call *c, uint32_t i, int64_t *out) {
  const Term *t = arg(L, c, i);
  if (term_get_int(t, out)) return true;
  not_constant(L, c, i, "a constant integer");
  if (!strcmp(c->row->name, "full") && i == 0 && c->args[1]->kind == TERM_TUPLE)
    lower_hint(L, "the shape comes first: tl.full(%s, %s, …)", lower_source_text_or(L, c->spans[1], "shape"),
               lower_source_text_or(L, c->spans[0], "value"));
  else if (term_is_const(t) && t->ct->kind == CT_FLOAT && !is_axis_of_max(L, c, i))
    lower_hint(L, "write // to divide integers: / gives a float");
  if (t->kind == TERM_TUPLE && !strcmp(c->row->name, "reduce") && !strcmp(param_name(L, c, i), "axis"))
    lower_hint(L, "reduce along one axis after the other, or along all with axis=None");
  return false;
}

bool arg_bool(Lower *L, Call *c, uint32_t i, bool *out) {
  int64_t v;
  if (arg_is_none(c, i)) return *out = false, true;
  if (!term_get_int(arg(L, c, i), &v)) return not_constant(L, c, i, "a constant bool");
  return *out = v != 0, true;
}

bool arg_str(Lower *L, Call *c, uint32_t i, const char **out) {
  if (arg_is_none(c, i)) return *out = "", true;
  return term_get_str(arg(L, c, i), out) || not_constant(L, c, i, "a string");
}

bool arg_dtype(Lower *L, Call *c, uint32_t i, const CtType **out) {
  const Term *t = arg(L, c, i);
  const char *text;
  if (term_get_dtype(t, out)) return true;
  not_constant(L, c, i, "a type such as tl.float32");
  if (term_get_str(t, &text)) lower_hint_dtype(L, text);
  else if (term_is_const(t) && t->ct->kind == CT_BUILTIN && !strcmp(t->ct->builtin.name, "tl.pointer_type"))
    lower_hint(L, "it takes the type that the pointer points to: tl.pointer_type(tl.float32)");
  else if (term_is_const(t) && t->ct->kind == CT_BUILTIN) lower_hint_dtype(L, t->ct->builtin.name);
  return false;
}

// f(x, 4, 8) and f(x, (4, 8)) mean the same.
static Term *only_tuple(Term *t) {
  while (t->kind == TERM_TUPLE && t->tuple.count == 1 && t->tuple.items[0]->kind == TERM_TUPLE) t = t->tuple.items[0];
  return t;
}

bool arg_ints(Lower *L, Call *c, uint32_t i, int64_t *out, uint32_t max, uint32_t *count) {
  const Term *t = only_tuple(arg(L, c, i));
  if (t->kind != TERM_TUPLE) {
    *count = 1;
    return arg_int(L, c, i, out);
  }
  if (t->tuple.count > max)
    return arg_error(L, c, i, "`%s` has %u entries, more than %u", param_name(L, c, i), t->tuple.count, max) !=
           NULL;
  for (uint32_t k = 0; k < t->tuple.count; k++) {
    if (term_get_int(t->tuple.items[k], &out[k])) continue;
    arg_error(L, c, i, "entry %u of `%s` of `%s` must be a constant integer, not %s", k, param_name(L, c, i),
                c->row->name, term_describe(L, t->tuple.items[k]));
    if (term_is_none(t->tuple.items[k])) return lower_hint_none(L, c->spans[i]) != NULL;
    if (!lower_hint_assigned(L, t->tuple.items[k])) lower_hint_constant(
        L, t->tuple.items[k],
        "shapes are known at compile time: make it a constexpr parameter, or assign it with `x: tl.constexpr = …`");
    return false;
  }
  *count = t->tuple.count;
  return true;
}

bool arg_scalars(Lower *L, Call *c, uint32_t i, const CtType *type, uint32_t rank, Value **out) {
  Term *t = only_tuple(arg(L, c, i));
  Term **items = t->kind == TERM_TUPLE ? t->tuple.items : &t;
  uint32_t count = t->kind == TERM_TUPLE ? t->tuple.count : 1;
  if (count != rank) {
    arg_error(L, c, i, "`%s` of `%s` has %u entr%s for a rank of %u", param_name(L, c, i), c->row->name, count,
              count == 1 ? "y" : "ies", rank);
    if (t->kind != TERM_TUPLE && builtin_hint_brackets(L, c, i, rank)) return false;
    return lower_hint(L, "give one integer for each axis; 0 where nothing is added") != NULL;
  }
  for (uint32_t k = 0; k < rank; k++) {
    Term *v = term_to_value(L, items[k], c->spans[i], "an entry");
    if (!v) return false;
    if (ct_rank(term_t(v)) || !ct_is_int(term_t(v))) {
      arg_error(L, c, i, "entry %u of `%s` must be a scalar integer, not %s", k, param_name(L, c, i),
                term_describe(L, v));
      if (ct_rank(term_t(v)) && lower_is_loaded(v))
        return lower_hint(L, "a block of a block pointer or a descriptor is contiguous: for rows that lie apart use "
                             "pointers, base + rows[:, None] * stride + columns[None, :], and a mask") != NULL;
      return ct_rank(term_t(v)) && lower_hint(L, "give the number that the block begins with, without tl.arange: the "
                                                 "block's shape says how many follow") != NULL;
    }
    if (!(v = lower_cast(L, v, type, c->spans[i]))) return false;
    out[k] = term_v(v);
  }
  return true;
}

CtValue *arg_layout(Lower *L, Call *c, uint32_t i, LayoutKind kind) {
  CtValue *v = term_to_ct(L, arg(L, c, i));
  const bool is_open = v && (comptime_is_auto_layout(v) || comptime_is_coalesced_layout(v));
  const bool ok = v && (comptime_is_layout(v, kind) || (kind == LAYOUT_DISTRIBUTED && is_open));
  if (ok) return v;
  not_constant(L, c, i, kind == LAYOUT_SHARED ? "a shared layout" : "a layout of tensors");
  if (v && kind == LAYOUT_SHARED)
    lower_hint(L, "as gl.NVMMASharedLayout.get_default_for(shape, dtype), which TMA and warpgroup_mma read, or "
                  "gl.SwizzledSharedLayout(vec, per_phase, max_phase, order)");
  return NULL;
}

const CtType *arg_block(Lower *L, Call *c, const CtType *elem, const int64_t *shape, uint32_t rank) {
  const CtType *t = lower_shaped(L, elem, shape, rank);
  BuiltinParam p;
  uint32_t i = 0;
  for (const char *s = c->row->params; t && (s = builtin_next_param(s, &p)); i++)
    if (is_named(&p, "layout") && !arg_is_none(c, i))
      t = term_is_const(c->args[i]) ? lower_with_layout(L, t, c->args[i]->ct, c->spans[i])
                                    : (not_constant(L, c, i, "a layout"), NULL);
  return t;
}

Term *lower_hint_axes(Lower *L, int64_t rank) {
  if (rank < 1) return NULL;
  return rank == 1 ? lower_hint(L, "its only axis is 0") : lower_hint(L, "its axes are 0 to %lld", (long long)rank - 1);
}

bool arg_axis(Lower *L, Call *c, uint32_t i, uint32_t rank, int64_t *out) {
  if (!arg_int(L, c, i, out)) return false;
  if (*out < -(int64_t)rank || *out >= (int64_t)rank) {
    arg_error(L, c, i, "axis %lld of `%s` is outside a tensor of rank %u", (long long)*out, arg_function(L, c), rank);
    return !builtin_hint_position(L, c, i) && lower_hint_axes(L, rank);
  }
  if (*out < 0) *out += rank;
  return true;
}

bool arg_choice(Lower *L, Call *c, uint32_t i, const char *const *texts, uint32_t n, int *out) {
  const char *s;
  if (!arg_str(L, c, i, &s)) return false;
  for (uint32_t k = 0; k < n; k++)
    if (texts[k] && strcmp(texts[k], s) == 0) return *out = (int)k, true;
  Buf all = buf_make(L->arena);
  for (uint32_t k = 0; k < n; k++)
    if (texts[k] && texts[k][0]) buf_printf(&all, "%s\"%s\"", all.size ? ", " : "", texts[k]);
  arg_error(L, c, i, "`%s` of `%s` cannot be \"%s\"", param_name(L, c, i), c->row->name, s);
  lower_hint(L, "the choices are %s", buf_str(&all));
  return false;
}
