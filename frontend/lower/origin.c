// Notes that show where a value got its shape, its kind or its number.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

// The op that gave a value its shape: the ops after it keep the shape of an operand.
static const Op *shape_origin(const Value *v) {
  for (;;) {
    const Op *op = v->def;
    if (!op) return NULL;
    const Value *from = NULL;
    for (uint32_t i = 0; i < op->num_operands && !from; i++) {
      const Value *x = op_operand(op, i);
      if (!x || x->type->kind == TYPE_DESC || (x->def && x->def->opcode == OP_SPLAT)) continue;
      if (type_same_shape(x->type, v->type)) from = x;
    }
    if (!from) return op;
    v = from;
  }
}

// The place that the user wrote of an op.
static Span user_span(Lower *L, const Op *op) {
  Span span = op->span;
  for (const CallSite *site = op->inlined_at; site && lower_in_prelude(L, span); site = site->outer) span = site->span;
  return span;
}

bool lower_keeps_dims(const Term *x) {
  const Op *const last = term_is_tensor(x) ? shape_origin(term_v(x)) : NULL, *op = last;
  while (op && (op->opcode == OP_EXPAND_DIMS || op->opcode == OP_SPLAT)) op = op_operand(op, 0)->def;
  return op && op != last && op->opcode == OP_REDUCE && op->span.begin == last->span.begin &&
         op->span.end == last->span.end;
}

bool lower_hint_other_axis(Lower *L, const Term *x, const CtType *to) {
  const Op *op = term_is_tensor(x) ? shape_origin(term_v(x)) : NULL;
  if (!op || op->opcode != OP_REDUCE || lower_in_prelude(L, user_span(L, op))) return false;
  const Type *from = op_operand(op, 0)->type;
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  if (from->rank != ct_rank(to) + 1) return false;
  for (uint32_t other = 0; other < from->rank; other++) {
    bool fits = other != axis;
    for (uint32_t i = 0; i < from->rank && fits; i++)
      if (i != other) fits = from->shape[i] == to->shape[i > other ? i - 1 : i];
    if (!fits) continue;
    lower_hint(L, "%s reduces axis %u and leaves %s; axis=%u leaves %s",
               lower_source_text_or(L, user_span(L, op), "this"), axis, lower_shape_text(L, term_t(x)), other,
               lower_shape_text(L, to));
    return true;
  }
  return false;
}

enum { MAX_STEPS = 6 };   // of a computation that is looked at

// Whether v is the op's result, or computed element by element from it.
static bool is_made_of(const Value *v, const Op *op, uint32_t depth) {
  if (v->def == op) return true;
  if (!v->def || !op_is(v->def, TRAIT_ELEMENTWISE) || depth > MAX_STEPS) return false;
  bool found = false;
  for (uint32_t i = 0; i < v->def->num_operands && !found; i++)
    found = op_operand(v->def, i) && is_made_of(op_operand(v->def, i), op, depth + 1);
  return found;
}

// Whether both are computed element by element from one load, product or the like.
static bool have_one_source(const Value *a, const Value *b, uint32_t depth) {
  const Op *op = a->def;
  if (!op || op->opcode == OP_CONSTANT || op->opcode == OP_SPLAT || op->opcode == OP_BROADCAST || depth > MAX_STEPS)
    return false;
  if (is_made_of(b, op, 0)) return true;
  bool found = false;
  for (uint32_t i = 0; op_is(op, TRAIT_ELEMENTWISE) && i < op->num_operands && !found; i++)
    found = op_operand(op, i) && have_one_source(op_operand(op, i), b, depth + 1);
  return found;
}

void lower_warn_square(Lower *L, const Term *x, const Term *with, Span span) {
  const CtType *to = term_t(with);
  const Op *op = term_is_tensor(x) ? shape_origin(term_v(x)) : NULL;
  if (!op || op->opcode != OP_REDUCE || lower_in_prelude(L, span)) return;
  const Type *from = op_operand(op, 0)->type;
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  bool same = axis > 0 && from->rank == ct_rank(to) && ct_rank(term_t(x)) + 1 == from->rank;
  for (uint32_t i = 0; same && i < from->rank; i++) same = from->shape[i] == to->shape[i];
  if (!same || !have_one_source(term_v(with), op_operand(op, 0), 0)) return;
  if (diag_warning(L->ctx, WARN_SQUARE_BROADCAST, span, "the reduction along axis %u has one value for each row, and is "
                   "combined here as if it had one for each column", axis))
    lower_hint(L, "keep the axis in the reduction by keep_dims=True, or write x[:, None]");
}

static bool is_inside(Span inner, Span outer) { return inner.begin >= outer.begin && inner.end <= outer.end; }

void lower_note_shape(Lower *L, const Term *x, Span error) {
  const Op *op = term_is_tensor(x) ? shape_origin(term_v(x)) : NULL;
  if (!op) return;
  const Span span = user_span(L, op);
  if (is_inside(span, error) || lower_in_prelude(L, span)) return;
  diag_note(L->ctx, span, "shape %s comes from here", lower_shape_text(L, term_t(x)));
  const Value *desc = op->opcode == OP_DESC_LOAD ? op_operand(op, 0) : NULL;
  if (desc && !desc->def && desc->name)
    lower_hint(L, "it is the block_shape of `%s`, which the host makes: make that for each configuration, in a "
                  "pre_hook of its triton.Config", desc->name);
}

// The op of that code from which the scalar v is computed; NULL if there is none.
static const Op *scalar_origin(const Value *v, Opcode oc, int depth) {
  const Op *op = v ? v->def : NULL, *found = NULL;
  if (!op || depth > 8 || op->opcode == oc) return op && op->opcode == oc ? op : NULL;
  for (uint32_t i = 0; i < op->num_operands && !found; i++)
    if (op_operand(op, i)) found = scalar_origin(op_operand(op, i), oc, depth + 1);
  return found;
}

Term *lower_hint_scalar(Lower *L, const Term *x, const char *function) {
  // what gives a scalar back as it is
  static const char *const same[] = {"sum", "max", "min", "xor_sum", "reduce_or", "reduce", "cumsum", "cumprod",
                                     "associative_scan", "sort", "flip"};
  if (x->kind != TERM_VALUE || ct_rank(term_t(x))) return NULL;
  const char *hint = NULL;
  for (uint32_t i = 0; i < countof(same); i++)
    if (!strcmp(function, same[i])) hint = arena_printf(L->arena, "leave `%s` out", function);
  const Op *op = scalar_origin(term_v(x), OP_REDUCE, 0);
  if (op && !lower_in_prelude(L, user_span(L, op))) {
    const Op *flat = op_operand(op, 0)->def;   // a reduction along all axes reshapes first
    const bool takes_all = flat && flat->opcode == OP_RESHAPE && flat->span.begin == op->span.begin &&
                           flat->span.end == op->span.end && op_operand(flat, 0)->type->rank > 1;
    if (!hint) hint = arena_printf(L->arena, "give `%s` the tensor before it is reduced", function);
    const CallSite *here = L->b.inlined_at, *there = op->inlined_at;
    Span at = L->b.span, from = op->span;
    for (; here && lower_in_prelude(L, at); here = here->outer) at = here->span;
    for (; there && lower_in_prelude(L, from); there = there->outer) from = there->span;
    if (at.begin == from.begin && at.end == from.end) {   // a function of the user's is called twice
      if (there) diag_note(L->ctx, there->span, "this call leaves a scalar");
      return NULL;
    }
    diag_note(L->ctx, from, "this reduction leaves a scalar");
    return lower_hint(L, "%s%s", hint, takes_all ? ", or give the first reduction an axis" : "");
  }
  if (scalar_origin(term_v(x), OP_LOAD, 0)) return lower_hint(L, "a tensor is loaded from a pointer plus tl.arange(…)");
  return hint ? lower_hint(L, "%s: a scalar is one element", hint) : NULL;
}

static bool is_same_place(const Op *a, const Op *b) {
  return a->span.begin == b->span.begin && a->span.end == b->span.end;
}

typedef struct { const Op *op; bool has_more; } AddedAxis;

// Finds the ops by which the user gave v one of its axes, as x[:, None] does: ops of elements lead from them to v.
// user: the op that takes v; an axis that broadcasting adds has the same place.
static void find_axis(const Value *v, const Op *user, int depth, AddedAxis *found) {
  const Op *op = v->def;
  if (!op || depth > 12) return;
  if (op->opcode == OP_EXPAND_DIMS) {
    if (user && is_same_place(op, user)) return;
    if (!found->op) found->op = op;
    else found->has_more |= !is_same_place(found->op, op);
    return;
  }
  if (op->opcode != OP_BROADCAST && !op_is(op, TRAIT_ELEMENTWISE)) return;
  for (uint32_t i = 0; i < op->num_operands && !found->has_more; i++) {
    const Value *x = op_operand(op, i);
    if (x && x->type->rank == v->type->rank) find_axis(x, op, depth + 1, found);
  }
}

// Whether shapes a and t combine without another axis.
static bool goes_with(const Type *a, const CtType *t) {
  bool same = a->rank == ct_rank(t);
  for (uint32_t i = 0; same && i < a->rank; i++)
    same = a->shape[i] == t->shape[i] || a->shape[i] == 1 || t->shape[i] == 1;
  return same;
}

bool lower_hint_axis(Lower *L, const Term *x, const CtType *to) {
  if (!term_is_tensor(x) || ct_rank(term_t(x)) <= ct_rank(to)) return false;
  AddedAxis found = {NULL, false};
  find_axis(term_v(x), NULL, 0, &found);
  const Op *op = found.op;
  if (!op || lower_in_prelude(L, op->span)) return false;
  const Value *added = op_operand(op, 0);   // without any of the axes of one index
  while (added->def && added->def->opcode == OP_EXPAND_DIMS && is_same_place(added->def, op))
    added = op_operand(added->def, 0);
  if (added->def && added->def->opcode == OP_REDUCE && is_same_place(added->def, op)) return false;   // keep_dims
  const Type *below = added->type, *above = op->results[0].type;
  const char *text = lower_source_text_or(L, op->span, ""), *index = strrchr(text, '[');
  Buf from = buf_make(L->arena), with = buf_make(L->arena);
  for (uint32_t i = 0; i < below->rank; i++) buf_printf(&from, "%s%lld", i ? ", " : "", (long long)below->shape[i]);
  for (uint32_t i = 0; i < above->rank; i++) buf_printf(&with, "%s%lld", i ? ", " : "", (long long)above->shape[i]);
  diag_note(L->ctx, op->span, "an axis is added here: shape [%s] becomes [%s]", buf_str(&from), buf_str(&with));
  if (found.has_more || !goes_with(below, to)) return false;
  if (index && strstr(index, "None")) lower_hint(L, "leave out %s: the shape [%s] fits", index, buf_str(&from));
  else lower_hint(L, "leave that axis out: the shape [%s] fits", buf_str(&from));
  return true;
}

static bool is_made_of_int(const Value *v) {
  while (v->def && v->def->opcode == OP_SPLAT) v = op_operand(v->def, 0);
  return v->def && (v->def->opcode == OP_SITOFP || v->def->opcode == OP_UITOFP);
}

// The true division of integers that v is computed from; NULL if there is none.
static const Op *division_of_ints(const Value *v, int depth) {
  const Op *op = v ? v->def : NULL;
  if (!op || depth > 8) return NULL;
  if (op->opcode == OP_DIVF && (is_made_of_int(op_operand(op, 0)) || is_made_of_int(op_operand(op, 1)))) return op;
  const Op *found = NULL;
  for (uint32_t i = 0; i < op->num_operands && !found; i++) found = division_of_ints(op_operand(op, i), depth + 1);
  return found;
}

bool lower_note_division(Lower *L, const Term *x) {
  const Op *op = x->kind == TERM_VALUE ? division_of_ints(term_v(x), 0) : NULL;
  if (!op || lower_in_prelude(L, op->span)) return false;
  diag_note(L->ctx, op->span, "this division gives a float");
  return true;
}

bool lower_hint_division(Lower *L, const Term *x) {
  if (!lower_note_division(L, x)) return false;
  const char *text = lower_source_text_or(L, division_of_ints(term_v(x), 0)->span, ""), *slash = strchr(text, '/');
  if (!slash || strchr(slash + 1, '/')) lower_hint(L, "divide integers by `//` there");
  else lower_hint(L, "divide integers by `//` there: %.*s//%s", (int)(slash - text), text, slash + 1);
  return true;
}

bool lower_hint_returned(Lower *L, const Term *x) {
  static const char *const names[] = {"", "a,", "a, b", "a, b, c", "a, b, c, d"};
  const CtFunction *fn = x->kind == TERM_TUPLE ? x->result_of : NULL;
  if (!fn) return false;
  const uint32_t count = x->tuple.num_returned < countof(names) ? x->tuple.num_returned : 0;
  diag_note(L->ctx, fn->def->func.name_span, "`%s` is defined here, and returns a tuple", fn->name);
  lower_hint(L, "unpack what it returns: %s = %s(…)", count ? names[count] : "a, b, …", fn->name);
  return true;
}

bool lower_is_loaded(const Term *x) { return x->kind == TERM_VALUE && scalar_origin(term_v(x), OP_LOAD, 0); }

// Whether the assignment's line ends in a comma, apart from closing parentheses.
static bool ends_in_comma(Lower *L, Span name) {
  const SourceFile *f = source_locate(L->ctx, name.begin).file;
  if (!f) return false;
  const char *line = f->text + (name.begin - f->base);
  size_t n = strcspn(line, "\n#");
  while (n && strchr(" )", line[n - 1])) n--;
  return n && line[n - 1] == ',' && memchr(line, '=', n);
}

bool lower_note_comma(Lower *L, const Term *x) {
  if (x->kind != TERM_TUPLE || x->tuple.cls || x->tuple.is_list || x->tuple.is_fstring || x->tuple.count != 1)
    return false;
  const Scope *s = &L->frame->scope;
  for (uint32_t i = 0; i < s->count; i++) {
    if (s->vars[i].term != x || lower_in_prelude(L, s->vars[i].span) || !ends_in_comma(L, s->vars[i].span)) continue;
    diag_note(L->ctx, s->vars[i].span, "`%s` is made a tuple here: a comma at the end makes one", s->vars[i].name);
    return true;
  }
  return false;
}

bool lower_note_listed(Lower *L, const Term *x) {
  if (x->kind != TERM_TUPLE || x->tuple.cls || !x->tuple.count || !L->kernel) return false;
  uint32_t num_pointers = 0;
  for (uint32_t i = 0; i < x->tuple.count; i++) {
    const Term *t = x->tuple.items[i];
    if (!term_is_number(t) && t->kind != TERM_VALUE) return false;
    num_pointers += t->kind == TERM_VALUE && ct_is_ptr(term_t(t));
  }
  if (num_pointers && num_pointers < x->tuple.count) return false;
  const Frame *f = L->frame;
  while (f && f->caller) f = f->caller;
  for (uint32_t i = 0; f && i < f->scope.count; i++) {
    const uint32_t at = f->scope.vars[i].term == x ? frontend_param_index(L->kernel, f->scope.vars[i].name)
                                                   : L->kernel->num_params;
    if (at == L->kernel->num_params || L->specs[at].kind != SPEC_TUPLE || !L->kernel->params[at].node) continue;
    const char *name = L->kernel->params[at].name;
    if (num_pointers)
      diag_note(L->ctx, L->kernel->params[at].node->span,
                "`%s` is a tuple or list of %u array%s at the launch: take one of them, %s[0], or pass one without the "
                "brackets", name, num_pointers, num_pointers == 1 ? "" : "s", name);
    else
      diag_note(L->ctx, L->kernel->params[at].node->span,
                "`%s` is a tuple or list of %u number%s at the launch; a number is one of them, %s[0], and a pointer "
                "needs an array: np.array(%s), or a tensor",
                name, x->tuple.count, x->tuple.count == 1 ? "" : "s", name, name);
    return true;
  }
  return false;
}

// ---- unpacking ----
// Whether it is a maximum or a minimum, which tl.max and tl.min also give with its index.
static bool is_extreme(const Term *t) {
  const Op *reduce = t->kind == TERM_VALUE ? value_op(t->value.v, OP_REDUCE) : NULL;
  switch (reduce && reduce->num_results == 1 ? reduce->blocks[0]->first->opcode : OP_YIELD) {
  case OP_MAXF: case OP_MINF: case OP_MAXSI: case OP_MINSI: case OP_MAXUI: case OP_MINUI: return true;
  default: return false;
  }
}

// The function of the prelude that the user called and whose ops gave the value; NULL if there is none.
static const char *prelude_origin(Lower *L, const Value *v) {
  const Op *op = v->def;
  if (!op || !lower_in_prelude(L, op->span)) return NULL;
  const CallSite *site = op->inlined_at;
  while (site && lower_in_prelude(L, site->span)) site = site->outer;
  return site ? site->function : NULL;
}

static const struct { const char *function, *hint; } alone[] = {
    {"topk", "tl.topk gives the values alone: for their places, take int64 keys, each the value as an integer times "
             "2**32 plus its index"},
    {"sort", "tl.sort gives the values alone: for the order, sort int64 keys, each the value as an integer times 2**32 "
             "plus its index"},
    {"argmax", "tl.argmax gives the index alone: tl.max(x, axis, return_indices=True) gives the maximum and its index"},
    {"argmin", "tl.argmin gives the index alone: tl.min(x, axis, return_indices=True) gives the minimum and its index"},
};

bool lower_note_result(Lower *L, const Term *result) {
  const Node *call = L->assigned && L->assigned->kind == NODE_CALL ? L->assigned : NULL;
  const CtFunction *fn = call ? lower_called_function(L, call) : NULL;
  if (!fn) return false;
  diag_note(L->ctx, fn->def->func.name_span, "`%s` is defined here, and this call of it gives %s", fn->name,
            result->kind == TERM_TUPLE ? term_describe(L, result) : "one value");
  return true;
}

Term *lower_hint_unpack(Lower *L, const Term *x, uint32_t want) {
  const bool is_scalar = x->kind == TERM_VALUE && !ct_rank(term_t(x));
  if (L->items_of && (is_scalar || term_is_number(x)))
    return lower_hint(L, "each item of %s is one number: write one name before `in`, or make %u of each item, as in "
                      "((a, b), (c, d)); with enumerate(…) an item is its index and its value",
                      lower_source_text_or(L, L->items_of->span, "the loop"), want);
  if (term_is_number(x) && want == 2) return lower_hint(L, "to give both names this value, write a = b = …");
  if (x->kind == TERM_DESC || x->kind == TERM_BLOCK_PTR) return lower_hint(L, "load a block, which is one tensor");
  if (x->kind != TERM_VALUE) return NULL;
  if (is_extreme(x)) return lower_hint(L, "tl.max and tl.min also give the index with return_indices=True");
  const Op *op = term_v(x)->def;
  const char *function = prelude_origin(L, term_v(x));
  const bool is_tensor = ct_rank(term_t(x)) > 0;
  for (uint32_t i = 0; function && i < countof(alone); i++)
    if (!strcmp(function, alone[i].function)) return lower_hint(L, "%s", alone[i].hint);
  if (op && (op->opcode == OP_ATOMIC_RMW || op->opcode == OP_ATOMIC_CAS))
    return lower_hint(L, "an atomic operation gives the old value alone");
  if (op && op->opcode == OP_DOT) return lower_hint(L, "tl.dot gives one tensor: with tl.dot(a, b, acc), the new acc");
  if (op && op->opcode == OP_HISTOGRAM) return lower_hint(L, "tl.histogram gives the counts alone");
  if (op && op->opcode == OP_LOAD && !is_tensor)
    return lower_hint(L, "one address holds one value: a = tl.load(p), b = tl.load(p + 1)");
  if (is_tensor) return lower_hint(L, "tl.split takes a last axis of two apart; single elements are loaded one by one");
  return lower_hint(L, "a function gives several values by `return a, b`");
}

// ---- constants that were computed ----
typedef struct { Span span; const Node *found; } NodeAt;

static void find_node(const Node *n, void *user) {
  NodeAt *at = user;
  if (at->found || n->span.begin > at->span.begin || n->span.end < at->span.end) return;
  if (n->span.begin == at->span.begin && n->span.end == at->span.end && n->kind != NODE_EXPR_STMT) at->found = n;
  else ast_each_child(n, find_node, user);
}

const Node *lower_node_at(Lower *L, Span span) {
  NodeAt at = {span, NULL};
  if (!lower_in_prelude(L, span)) ast_each_child(L->frame->fn->def, find_node, &at);
  return at.found;
}

// ---- None ----
typedef struct { Lower *L; const char *name; } NoneName;

static void find_none(const Node *n, void *user) {
  NoneName *found = user;
  const Var *v = n->kind == NODE_NAME ? scope_find(&found->L->frame->scope, n->name.id) : NULL;
  if (!found->name && v && term_is_none(v->term)) found->name = n->name.id;
  if (!found->name) ast_each_child(n, find_none, user);
}

static void find_written_none(const Node *n, void *user) {
  bool *found = user;
  if (n->kind == NODE_NONE) *found = true;
  else ast_each_child(n, find_written_none, user);
}

// Who gives a parameter of the kernel None, and the way out.
static Term *hint_none_parameter(Lower *L, const char *name, const ParamSpec *spec) {
  const char *who = spec->is_default || !spec->origin ? "its default" : spec->origin;
  if (!strcmp(who, "argument")) who = "the launch or its configuration";
  if (!strcmp(who, "@triton.heuristics"))
    return lower_hint(L, "`%s` is None by its function in @triton.heuristics, which gives None where it ends without a "
                      "`return`: return a value in every case", name);
  return lower_hint(L, "`%s` is None by %s: give it a value, or guard its use with `if %s is not None:`, which is "
                    "decided at compile time", name, who, name);
}

Term *lower_hint_none(Lower *L, Span span) {
  NoneName found = {L, NULL};
  const Node *n = lower_node_at(L, span);
  if (n) find_none(n, &found);
  const uint32_t i = found.name ? frontend_param_index(L->kernel, found.name) : UINT32_MAX;
  if (found.name && L->frame->fn == L->kernel && i < L->kernel->num_params)
    return hint_none_parameter(L, found.name, &L->specs[i]);
  bool is_written = false;
  if (n && !found.name) find_written_none(n, &is_written);
  if (is_written) return lower_hint(L, "write a number in place of None, such as 0.0");
  return lower_hint(L, "guard its use with `if %s is not None:`, which is decided at compile time",
                    found.name ? found.name : "x");
}

bool lower_refuse_nothing(Lower *L, const Term *x, Span span) {
  if (!x || x->kind != TERM_CONST || !x->result_of) return false;
  lower_error(L, span, "`%s` returns nothing, and its result is used here", x->result_of->name);
  if (x->result_of->def->kind == NODE_FUNCTION_DEF)
    diag_note(L->ctx, x->result_of->def->func.name_span, "`%s` is defined here, and ends without `return` and a value",
              x->result_of->name);
  return true;
}

// The value of a name that is a constant; NULL if it is none.
const CtValue *lower_constant_named(Lower *L, const char *name) {
  const Var *v = scope_find(&L->frame->scope, name);
  CtValue *c = v ? v->term ? term_to_ct(L, v->term) : NULL : comptime_lookup(L->ct, L->frame->fn->env, name);
  return c ? ct_unwrap(c) : NULL;
}

static bool is_plain(const CtValue *c) {
  switch (c->kind) {
  case CT_NONE: case CT_BOOL: case CT_INT: case CT_FLOAT: case CT_STR: case CT_DTYPE: return true;
  default: return false;
  }
}

typedef struct { Lower *L; Buf text; NameVec seen; } Constants;

static void list_constants(const Node *n, void *user) {
  Constants *all = user;
  if (n->kind != NODE_NAME) {
    ast_each_child(n, list_constants, user);
    return;
  }
  for (uint32_t i = 0; i < all->seen.count; i++)
    if (all->seen.data[i] == n->name.id) return;
  vec_push(all->L->arena, &all->seen, n->name.id);
  const CtValue *c = lower_constant_named(all->L, n->name.id);
  if (c && is_plain(c))
    buf_printf(&all->text, "%s%s = %s", all->text.size ? ", " : "", n->name.id, ct_repr(all->L->ctx, c));
}

void lower_note_constants(Lower *L, const Node *e) {
  if (!e || lower_in_prelude(L, e->span)) return;
  Constants all = {L, buf_make(L->arena), {0}};
  list_constants(e, &all);
  if (all.text.size) lower_hint(L, "here %s", buf_str(&all.text));
}

// The text without a pair of parentheses around all of it.
static const char *without_parens(Lower *L, const char *text) {
  const size_t n = strlen(text);
  if (n < 2 || text[0] != '(' || text[n - 1] != ')') return text;
  int depth = 0;
  for (size_t i = 0; i + 1 < n; i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (!depth) return text;
  }
  return arena_strndup(L->arena, text + 1, n - 2);
}

void lower_note_computed(Lower *L, const Node *e, int64_t value) {
  if (!e || lower_in_prelude(L, e->span)) return;
  const char *text = lower_source_text_or(L, e->span, NULL);
  if (e->kind == NODE_NAME) {
    const Var *v = scope_find(&L->frame->scope, e->name.id);
    for (uint32_t i = 0; i < L->frame->fn->num_params; i++)
      if (L->frame->fn->params[i].name == e->name.id) v = NULL;   // what the caller gives
    if (v) diag_note(L->ctx, v->span, "`%s` is %lld here", e->name.id, (long long)value);
    return;
  }
  const Node *number = e->kind == NODE_UNARY ? e->unary.value : e;
  if (!text || number->kind == NODE_INT) return;
  Constants all = {L, buf_make(L->arena), {0}};
  list_constants(e, &all);
  lower_hint(L, "%s is %lld%s%s", without_parens(L, text), (long long)value, all.text.size ? " for " : "",
             buf_str(&all.text));
}
