// Evaluates expressions over arrays: walks the tree that the front end's parser makes of the text.
#include "runtime/cli/expression.h"

#include <math.h>
#include <string.h>

#include "ir/nearest.h"
#include "runtime/cli/expression_math.h"

typedef struct { Context *ctx; Arena *a; const ExpressionScope *scope; } Eval;

static const Nd *eval(Eval *e, const Node *n);

// False, and no array, after a diagnostic.
#define refuse(e, n, ...) (diag_error((e)->ctx, (n)->span, __VA_ARGS__), false)
#define no_array(e, n, ...) (diag_error((e)->ctx, (n)->span, __VA_ARGS__), (const Nd *)NULL)

// r, or NULL after a diagnostic that says why there is none.
static const Nd *checked(Eval *e, const Node *n, const Nd *r, const char **why) {
  return r ? r : no_array(e, n, "%s", *why);
}

// ---- numbers, axes and shapes ----

static bool as_number(Eval *e, const Node *n, double *out) {
  const Nd *x = eval(e, n);
  if (!x) return false;
  if (x->count != 1) return refuse(e, n, "a single number is needed, not an array of shape %s", nd_shape_text(e->a, x));
  *out = x->data[0];
  return true;
}

static bool as_int(Eval *e, const Node *n, int64_t *out) {
  double v;
  if (!as_number(e, n, &v)) return false;
  if (v != floor(v) || fabs(v) > 0x1p53) return refuse(e, n, "a whole number is needed, not %g", v);
  *out = (int64_t)v;
  return true;
}

// The parts of a tuple or list; of anything else, itself.
static NodeList parts_of(Node **n) {
  if ((*n)->kind == NODE_TUPLE || (*n)->kind == NODE_LIST) return (*n)->list;
  return (NodeList){.data = n, .count = 1};
}

static bool as_shape(Eval *e, NodeList parts, uint32_t *rank, int64_t *shape) {
  if (parts.count == 1) parts = parts_of(&parts.data[0]);
  if (parts.count > HOST_MAX_RANK) return refuse(e, parts.data[0], "an array has at most %d axes", HOST_MAX_RANK);
  for (uint32_t i = 0; i < parts.count; i++)
    if (!as_int(e, parts.data[i], &shape[i])) return false;
  *rank = parts.count;
  return true;
}

static bool as_axis(Eval *e, const Node *n, const Nd *x, uint32_t *axis) {
  double v;
  if (!as_number(e, n, &v)) return false;
  return nd_axis(x, v, axis) || refuse(e, n, "an array of shape %s has no axis %g", nd_shape_text(e->a, x), v);
}

// NULL or None: all axes.
static bool as_axes(Eval *e, Node *n, const Nd *x, uint32_t *axes) {
  *axes = 0;
  if (!n || n->kind == NODE_NONE) return *axes = (1u << x->rank) - 1, true;
  const NodeList parts = parts_of(&n);
  for (uint32_t i = 0; i < parts.count; i++) {
    uint32_t axis;
    if (!as_axis(e, parts.data[i], x, &axis)) return false;
    *axes |= 1u << axis;
  }
  return true;
}

// ---- calls ----

enum { MAX_ARGS = 4 };
typedef struct {
  Eval *e;
  const Node *node;
  const char *name;
  const Nd *self;              // of a method: argument 0
  Node *args[MAX_ARGS];        // by parameter; NULL: not given
  NodeList rest;               // what a parameter with * takes
} Call;

static const Nd *arg(const Call *c, uint32_t i) {
  if (i == 0 && c->self) return c->self;
  if (c->args[i]) return eval(c->e, c->args[i]);
  return no_array(c->e, c->node, "%s needs argument %u", c->name, i + 1);
}

static const Nd *fn_where(Call *c) {
  const Nd *cond = arg(c, 0), *x = cond ? arg(c, 1) : NULL, *y = x ? arg(c, 2) : NULL;
  const char *why = "";
  return y ? checked(c->e, c->node, nd_where(c->e->a, cond, x, y, &why), &why) : NULL;
}

static const Nd *fn_clip(Call *c) {
  const Nd *x = arg(c, 0), *low = x ? arg(c, 1) : NULL, *high = low ? arg(c, 2) : NULL;
  const char *why = "";
  const Nd *r = high ? checked(c->e, c->node, nd_binary(c->e->a, x, low, larger, &why), &why) : NULL;
  return r ? checked(c->e, c->node, nd_binary(c->e->a, r, high, smaller, &why), &why) : NULL;
}

static const Nd *fn_matmul(Call *c) {
  const Nd *x = arg(c, 0), *y = x ? arg(c, 1) : NULL;
  const char *why = "";
  return y ? checked(c->e, c->node, nd_matmul(c->e->a, x, y, &why), &why) : NULL;
}

static const Nd *fn_transpose(Call *c) {
  const Nd *x = arg(c, 0);
  uint32_t order[HOST_MAX_RANK], seen = 0;
  if (!x) return NULL;
  NodeList parts = c->rest.count == 1 ? parts_of(&c->rest.data[0]) : c->rest;
  if (parts.count && parts.count != x->rank)
    return no_array(c->e, c->node, "an array of shape %s needs %u axes", nd_shape_text(c->e->a, x), x->rank);
  for (uint32_t i = 0; i < x->rank; i++) {
    if (!parts.count) order[i] = x->rank - 1 - i;
    else if (!as_axis(c->e, parts.data[i], x, &order[i])) return NULL;
    seen |= 1u << order[i];
  }
  if (seen + 1 != 1u << x->rank) return no_array(c->e, c->node, "each axis must be named once");
  return nd_transpose(c->e->a, x, order);
}

static const Nd *fn_swapaxes(Call *c) {
  const Nd *x = arg(c, 0);
  uint32_t order[HOST_MAX_RANK], i, k;
  if (!x || !arg(c, 1) || !arg(c, 2) || !as_axis(c->e, c->args[1], x, &i) || !as_axis(c->e, c->args[2], x, &k))
    return NULL;
  for (uint32_t n = 0; n < x->rank; n++) order[n] = n == i ? k : n == k ? i : n;
  return nd_transpose(c->e->a, x, order);
}

static const Nd *fn_reshape(Call *c) {
  const Nd *x = arg(c, 0);
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK];
  const char *why = "";
  if (!x || !as_shape(c->e, c->rest, &rank, shape)) return NULL;
  return checked(c->e, c->node, nd_reshape(c->e->a, x, rank, shape, &why), &why);
}

static const Nd *fn_flatten(Call *c) {
  const Nd *x = arg(c, 0);
  const char *why = "";
  return x ? nd_reshape(c->e->a, x, 1, &(int64_t){(int64_t)x->count}, &why) : NULL;
}

static bool shape_arg(Call *c, uint32_t i, uint32_t *rank, int64_t *shape) {
  if (!c->args[i]) return refuse(c->e, c->node, "%s needs a shape", c->name);
  if (!as_shape(c->e, (NodeList){.data = &c->args[i], .count = 1}, rank, shape)) return false;
  uint64_t count = 1;
  for (uint32_t k = 0; k < *rank; k++)
    if (shape[k] < 0 || __builtin_mul_overflow(count, (uint64_t)shape[k], &count) || count > UINT64_C(1) << 32)
      return refuse(c->e, c->args[i], "this is no shape of an array that fits in memory");
  return true;
}

static const Nd *fn_broadcast(Call *c) {
  const Nd *x = arg(c, 0);
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK];
  const char *why = "";
  if (!x || !shape_arg(c, 1, &rank, shape)) return NULL;
  return checked(c->e, c->node, nd_broadcast(c->e->a, x, rank, shape, &why), &why);
}

static const Nd *fn_expand_dims(Call *c) {
  const Nd *x = arg(c, 0);
  int64_t axis;
  if (!x || !arg(c, 1) || !as_int(c->e, c->args[1], &axis)) return NULL;
  if (axis < 0) axis += x->rank + 1;
  if (axis < 0 || axis > x->rank || x->rank == HOST_MAX_RANK)
    return no_array(c->e, c->args[1], "an array of shape %s has no place for that axis", nd_shape_text(c->e->a, x));
  NdIndex index[HOST_MAX_RANK + 1];
  for (uint32_t i = 0; i <= axis; i++) index[i] = (NdIndex){.kind = i < axis ? ND_RANGE : ND_NEW, .step = 1};
  const char *why = "";
  return nd_index(c->e->a, x, index, (uint32_t)axis + 1, &why);
}

static const Nd *fn_arange(Call *c) {
  double v[3] = {0, 0, 1};
  const bool only_stop = !c->args[1];
  for (uint32_t i = 0; i < 3; i++)
    if (c->args[i] && !as_number(c->e, c->args[i], &v[only_stop && i == 0 ? 1 : i])) return NULL;
  if (!c->args[0]) return no_array(c->e, c->node, "arange needs an end");
  const double n = ceil((v[1] - v[0]) / v[2]);
  if (!(n <= 0x1p32)) return no_array(c->e, c->node, "this is no shape of an array that fits in memory");
  Nd *r = nd_new(c->e->a, 1, &(int64_t){n > 0 ? (int64_t)n : 0});
  for (uint64_t i = 0; i < r->count; i++) r->data[i] = v[0] + (double)i * v[2];
  return r;
}

static const Nd *filled(Call *c, double v) {
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK];
  if (!shape_arg(c, 0, &rank, shape)) return NULL;
  Nd *r = nd_new(c->e->a, rank, shape);
  for (uint64_t i = 0; i < r->count; i++) r->data[i] = v;
  return r;
}
static const Nd *fn_zeros(Call *c) { return filled(c, 0); }
static const Nd *fn_ones(Call *c) { return filled(c, 1); }

// The dtype that a name, `tl.name` or 'name' says; NumPy's names of floats too.
static bool dtype_named(const Node *n, DtypeKind *out) {
  const char *name = n->kind == NODE_NAME        ? n->name.id
                     : n->kind == NODE_ATTRIBUTE ? n->attr.name
                     : n->kind == NODE_STR       ? n->str.data
                                                 : "";
  static const struct { const char *name; DtypeKind dtype; } numpy[] = {
      {"float16", DT_FP16}, {"bfloat16", DT_BF16}, {"float32", DT_FP32}, {"float64", DT_FP64}};
  for (uint32_t i = 0; i < countof(numpy); i++)
    if (!strcmp(name, numpy[i].name)) return *out = numpy[i].dtype, true;
  return dtype_find(name, out) && dtype_info[*out].cls != DTCLASS_VOID;
}

static const Nd *fn_cast(Call *c) {
  const Nd *x = arg(c, 0);
  DtypeKind dtype;
  if (!x) return NULL;
  if (!c->args[1] || !dtype_named(c->args[1], &dtype))
    return no_array(c->e, c->args[1] ? c->args[1] : c->node, "%s needs a dtype, as in %s(x, fp16)", c->name, c->name);
  return nd_round(c->e->a, x, dtype);
}

typedef struct {
  const char *name, *params;
  NdUnary unary;
  NdBinary binary;
  NdReduce reduce;
  NdScan scan;
  const Nd *(*special)(Call *c);
} Function;

static const Function functions[] = {
#define UNARY(name, f) {name, "x", f, NULL, NULL, NULL, NULL},
#define BINARY(name, f) {name, "x y", NULL, f, NULL, NULL, NULL},
#define REDUCE(name, f) {name, "x axis keepdims", NULL, NULL, f, NULL, NULL},
#define SCAN(name, f) {name, "x axis", NULL, NULL, NULL, f, NULL},
#define SPECIAL(name, params, f) {name, params, NULL, NULL, NULL, NULL, f},
#include "runtime/cli/expression_functions.def"
};

static const Function *find_function(const char *name) {
  for (uint32_t i = 0; i < countof(functions); i++)
    if (!strcmp(functions[i].name, name)) return &functions[i];
  return NULL;
}

static const Nd *apply(Call *c, const Function *f) {
  Eval *e = c->e;
  const char *why = "";
  if (f->special) return f->special(c);
  const Nd *x = arg(c, 0);
  if (!x) return NULL;
  if (f->unary) return nd_unary(e->a, x, f->unary);
  if (f->binary) {
    const Nd *y = arg(c, 1);
    return y ? checked(e, c->node, nd_binary(e->a, x, y, f->binary, &why), &why) : NULL;
  }
  if (f->scan) {
    uint32_t axis = x->rank - 1;
    if (!x->rank) return no_array(e, c->node, "%s needs an array", c->name);
    return c->args[1] && !as_axis(e, c->args[1], x, &axis) ? NULL : nd_scan(e->a, x, axis, f->scan);
  }
  uint32_t axes;
  double keepdims = 0;
  if (!as_axes(e, c->args[1], x, &axes) || (c->args[2] && !as_number(e, c->args[2], &keepdims))) return NULL;
  return nd_reduce(e->a, x, axes, keepdims != 0, f->reduce);
}

// The number of the parameter of this name, or of parameter `index` if name is NULL; −1: there is none.
static int param_of(const char *params, const char *name, uint32_t index, bool *takes_rest) {
  int i = 0;
  *takes_rest = false;
  for (const char *s = params; *s && i < MAX_ARGS; i++) {
    const size_t n = strcspn(s, " "), size = n - (s[n - 1] == '*');
    if (name ? strlen(name) == size && !strncmp(s, name, size) : (uint32_t)i == index || size < n)
      return *takes_rest = size < n, i;
    s += n + (s[n] == ' ');
  }
  return -1;
}

static bool bind_args(Call *c, const Function *f) {
  const NodeList *args = &c->node->call.args, *keywords = &c->node->call.keywords;
  bool rest;
  for (uint32_t i = 0; i < args->count; i++) {
    const int p = param_of(f->params, NULL, i + (c->self != NULL), &rest);
    if (p < 0) return refuse(c->e, args->data[i], "%s takes %s", c->name, f->params);
    if (rest) vec_push(c->e->a, &c->rest, args->data[i]);
    else c->args[p] = args->data[i];
  }
  for (uint32_t i = 0; i < keywords->count; i++) {
    const Node *k = keywords->data[i];
    const int p = k->attr.name ? param_of(f->params, k->attr.name, 0, &rest) : -1;
    if (p < 0) return refuse(c->e, k, "%s takes %s", c->name, f->params);
    if (rest) vec_push(c->e->a, &c->rest, k->attr.first);
    else c->args[p] = k->attr.first;
  }
  return true;
}

static bool is_module(const Eval *e, const Node *n) {
  static const char *const modules[] = {"np",    "numpy",   "math", "tl",         "torch",
                                        "scipy", "special", "F",    "functional", "nn"};
  if (n->kind == NODE_ATTRIBUTE) return is_module(e, n->attr.first);
  for (uint32_t i = 0; n->kind == NODE_NAME && i < countof(modules); i++)
    if (!strcmp(n->name.id, modules[i])) return !e->scope->find(e->scope->user, n->name.id);
  return false;
}

static const Nd *unknown_function(Eval *e, const Node *n, const char *name) {
  const char *names[countof(functions)];
  for (uint32_t i = 0; i < countof(functions); i++) names[i] = functions[i].name;
  const char *near = nearest_name(name, names, countof(functions));
  diag_error(e->ctx, n->span, "there is no function `%s` here", name);
  if (near) diag_note(e->ctx, (Span){0, 0}, "did you mean `%s`?", near);
  else diag_note(e->ctx, (Span){0, 0}, "docs/running.md lists what there is; for the rest give a file, @ref.npy");
  return NULL;
}

static const Nd *eval_call(Eval *e, const Node *n) {
  Node *func = n->call.func;
  Call c = {.e = e, .node = n};
  if (func->kind == NODE_NAME) c.name = func->name.id;
  else if (func->kind == NODE_ATTRIBUTE) c.name = func->attr.name;
  else return no_array(e, func, "this is not the name of a function");
  if (func->kind == NODE_ATTRIBUTE && !is_module(e, func->attr.first) && !(c.self = eval(e, func->attr.first)))
    return NULL;
  DtypeKind dtype;
  const Function *f = find_function(c.name);
  if (!f && dtype_named(func, &dtype) && n->call.args.count == 1) {   // fp16(x)
    const Nd *x = eval(e, n->call.args.data[0]);
    return x ? nd_round(e->a, x, dtype) : NULL;
  }
  if (!f) return unknown_function(e, func, c.name);
  return bind_args(&c, f) ? apply(&c, f) : NULL;
}

// ---- names, operators, indices ----

static void tell_names(const Eval *e) {
  Buf all = buf_make(e->a);
  for (uint32_t i = 0; i < e->scope->num_names; i++) buf_printf(&all, "%s%s", i ? ", " : "", e->scope->names[i]);
  if (all.size) diag_note(e->ctx, (Span){0, 0}, "there are %s", buf_str(&all));
}

static const Nd *eval_name(Eval *e, const Node *n) {
  static const struct { const char *name; double value; } constants[] = {
      {"inf", INFINITY}, {"nan", NAN}, {"pi", M_PI}, {"e", M_E}};
  const Nd *x = e->scope->find(e->scope->user, n->name.id);
  for (uint32_t i = 0; !x && i < countof(constants); i++)
    if (!strcmp(n->name.id, constants[i].name)) x = nd_scalar(e->a, constants[i].value);
  if (x) return x;
  const char *near = nearest_name(n->name.id, e->scope->names, e->scope->num_names);
  diag_error(e->ctx, n->span, "`%s` %s", n->name.id, e->scope->missing);
  if (near) diag_note(e->ctx, (Span){0, 0}, "did you mean `%s`?", near);
  else tell_names(e);
  return NULL;
}

static const Nd *eval_attribute(Eval *e, const Node *n) {
  if (is_module(e, n->attr.first)) {
    const Node name = {.kind = NODE_NAME, .span = n->span, .name = {n->attr.name}};
    return eval_name(e, &name);
  }
  const Nd *x = eval(e, n->attr.first);
  if (!x) return NULL;
  uint32_t order[HOST_MAX_RANK];
  const bool is_all = !strcmp(n->attr.name, "T");
  if (is_all || (!strcmp(n->attr.name, "mT") && x->rank >= 2)) {
    for (uint32_t i = 0; i < x->rank; i++) {
      const bool stays = !is_all && i + 2 < x->rank;
      order[i] = stays ? i : (is_all ? x->rank - 1 : 2 * x->rank - 3) - i;
    }
    return nd_transpose(e->a, x, order);
  }
  if (strcmp(n->attr.name, "shape"))
    return no_array(e, n, "an array has no attribute `%s`; there are T, mT and shape", n->attr.name);
  Nd *shape = nd_new(e->a, 1, &(int64_t){x->rank});
  for (uint32_t i = 0; i < x->rank; i++) shape->data[i] = (double)x->shape[i];
  return shape;
}

static const NdBinary binaries[NUM_PYOPS] = {
    [PYOP_ADD] = op_add,       [PYOP_SUB] = op_sub,       [PYOP_MUL] = op_mul, [PYOP_DIV] = op_div,
    [PYOP_FLOORDIV] = op_floordiv, [PYOP_MOD] = op_mod,   [PYOP_POW] = pow,    [PYOP_LSHIFT] = op_lshift,
    [PYOP_RSHIFT] = op_rshift, [PYOP_AND] = op_and,       [PYOP_XOR] = op_xor, [PYOP_OR] = op_or,
    [PYOP_EQ] = op_eq,         [PYOP_NE] = op_ne,         [PYOP_LT] = op_lt,   [PYOP_LE] = op_le,
    [PYOP_GT] = op_gt,         [PYOP_GE] = op_ge};
static const NdUnary unaries[NUM_PYOPS] = {
    [PYOP_NEG] = op_neg, [PYOP_POS] = op_pos, [PYOP_NOT] = op_not, [PYOP_INVERT] = op_invert};

static const Nd *combine(Eval *e, const Node *n, PyOp op, const Nd *x, const Nd *y) {
  const char *why = "";
  if (!x || !y) return NULL;
  if (op == PYOP_MATMUL) return checked(e, n, nd_matmul(e->a, x, y, &why), &why);
  if (!binaries[op]) return no_array(e, n, "the operator `%s` is not for arrays", pyop_text(op));
  return checked(e, n, nd_binary(e->a, x, y, binaries[op], &why), &why);
}

// a < b < c is (a < b) & (b < c).
static const Nd *eval_compare(Eval *e, const Node *n) {
  const Nd *left = eval(e, n->compare.left), *all = NULL;
  for (uint32_t i = 0; left && i < n->compare.rights.count; i++) {
    const Nd *right = eval(e, n->compare.rights.data[i]), *one = combine(e, n, n->compare.ops[i], left, right);
    all = i ? combine(e, n, PYOP_AND, all, one) : one;
    if (!all) return NULL;
    left = right;
  }
  return all;
}

static bool as_index(Eval *e, const Node *n, NdIndex *out) {
  *out = (NdIndex){.kind = ND_ELEMENT, .step = 1};
  if (n->kind == NODE_NONE || (n->kind == NODE_NAME && !strcmp(n->name.id, "newaxis"))) return out->kind = ND_NEW, true;
  if (n->kind != NODE_SLICE) return as_int(e, n, &out->from);
  out->kind = ND_RANGE;
  out->has_from = n->slice.lower, out->has_to = n->slice.upper;
  if (n->slice.lower && !as_int(e, n->slice.lower, &out->from)) return false;
  if (n->slice.upper && !as_int(e, n->slice.upper, &out->to)) return false;
  if (n->slice.step && !as_int(e, n->slice.step, &out->step)) return false;
  return out->step || refuse(e, n, "a step of 0");
}

static const Nd *eval_subscript(Eval *e, const Node *n) {
  const Nd *x = eval(e, n->pair.first);
  NdIndex index[2 * HOST_MAX_RANK];
  Node *at = n->pair.second;
  const NodeList parts = parts_of(&at);
  uint32_t num = 0, named = 0;
  if (!x) return NULL;
  for (uint32_t i = 0; i < parts.count; i++)
    named += parts.data[i]->kind != NODE_ELLIPSIS && parts.data[i]->kind != NODE_NONE;
  for (uint32_t i = 0; i < parts.count; i++) {
    // `...` stands for the axes that are not named.
    const bool is_rest = parts.data[i]->kind == NODE_ELLIPSIS;
    for (uint32_t k = 0; k < (!is_rest ? 1 : x->rank > named ? x->rank - named : 0); k++) {
      if (num == countof(index)) return no_array(e, n, "too many indices");
      if (is_rest) index[num++] = (NdIndex){.kind = ND_RANGE, .step = 1};
      else if (!as_index(e, parts.data[i], &index[num++])) return NULL;
    }
  }
  const char *why = "";
  return checked(e, n, nd_index(e->a, x, index, num, &why), &why);
}

// [a, b, …]: the arrays along a new first axis.
static const Nd *eval_list(Eval *e, const Node *n) {
  const NodeList *parts = &n->list;
  const Nd **all = arena_array(e->a, const Nd *, parts->count + 1);
  const char *why = "";
  for (uint32_t i = 0; i < parts->count; i++)
    if (!(all[i] = eval(e, parts->data[i]))) return NULL;
  return checked(e, n, nd_stack(e->a, all, parts->count, &why), &why);
}

static const Nd *eval_bool_op(Eval *e, const Node *n) {
  return no_array(e, n, "`%s` is not for arrays: write %s with parentheses", pyop_text(n->op),
                n->op == PYOP_BOOL_AND ? "(a) & (b)" : "(a) | (b)");
}

static const Nd *eval(Eval *e, const Node *n) {
  context_poll(e->ctx);
  switch (n->kind) {
  case NODE_INT: return nd_scalar(e->a, (double)n->integer.value);
  case NODE_FLOAT: return nd_scalar(e->a, n->floating.value);
  case NODE_TRUE: return nd_scalar(e->a, 1);
  case NODE_FALSE: return nd_scalar(e->a, 0);
  case NODE_NAME: return eval_name(e, n);
  case NODE_ATTRIBUTE: return eval_attribute(e, n);
  case NODE_CALL: return eval_call(e, n);
  case NODE_SUBSCRIPT: return eval_subscript(e, n);
  case NODE_COMPARE: return eval_compare(e, n);
  case NODE_LIST: return eval_list(e, n);
  case NODE_BOOL_OP: return eval_bool_op(e, n);
  case NODE_BINARY: {
    const Nd *x = eval(e, n->binary.left), *y = x ? eval(e, n->binary.right) : NULL;
    return combine(e, n, n->op, x, y);
  }
  case NODE_UNARY: {
    const Nd *x = eval(e, n->unary.value);
    return x ? nd_unary(e->a, x, unaries[n->op]) : NULL;
  }
  default: return no_array(e, n, "this cannot be part of an expression over arrays");
  }
}

const Nd *expression_eval(Context *ctx, const char *what, const char *text, const ExpressionScope *scope) {
  const SourceFile *file = source_add(ctx, what, text, strlen(text));
  const Node *n = file ? parse_expression(ctx, file) : NULL;
  Eval e = {ctx, &ctx->arena, scope};
  return n ? eval(&e, n) : NULL;
}
