// Calls in expressions over arrays: the functions of expression_functions.def.
#include <math.h>
#include <string.h>

#include "ir/nearest.h"
#include "runtime/cli/expression_int.h"
#include "runtime/cli/expression_math.h"

// ---- numbers, axes and shapes ----

static bool as_number(Eval *e, const Node *n, double *out) {
  const Nd *x = expression_node(e, n);
  if (!x) return false;
  if (x->count != 1) return refuse(e, n, "a single number is needed, not an array of shape %s", nd_shape_text(e->a, x));
  *out = x->data[0];
  return true;
}

bool expression_int(Eval *e, const Node *n, int64_t *out) {
  double v;
  if (!as_number(e, n, &v)) return false;
  if (v != floor(v) || fabs(v) > 0x1p53) return refuse(e, n, "a whole number is needed, not %g", v);
  *out = (int64_t)v;
  return true;
}

NodeList expression_parts(Node **n) {
  if ((*n)->kind == NODE_TUPLE || (*n)->kind == NODE_LIST) return (*n)->list;
  return (NodeList){.data = n, .count = 1};
}

static bool as_shape(Eval *e, NodeList parts, uint32_t *rank, int64_t *shape) {
  if (parts.count == 1) parts = expression_parts(&parts.data[0]);
  if (parts.count > HOST_MAX_RANK) return refuse(e, parts.data[0], "an array has at most %d axes", HOST_MAX_RANK);
  for (uint32_t i = 0; i < parts.count; i++)
    if (!expression_int(e, parts.data[i], &shape[i])) return false;
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
  const NodeList parts = expression_parts(&n);
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
  if (c->args[i]) return expression_node(c->e, c->args[i]);
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
  NodeList parts = c->rest.count == 1 ? expression_parts(&c->rest.data[0]) : c->rest;
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
  if (!x || !arg(c, 1) || !expression_int(c->e, c->args[1], &axis)) return NULL;
  if (axis < 0) axis += x->rank + 1;
  if (axis < 0 || axis > x->rank || x->rank == HOST_MAX_RANK)
    return no_array(c->e, c->args[1], "an array of shape %s has no place for that axis", nd_shape_text(c->e->a, x));
  NdIndex index[HOST_MAX_RANK + 1];
  for (uint32_t i = 0; i <= axis; i++) index[i] = (NdIndex){.kind = i < axis ? ND_RANGE : ND_NEW, .step = 1};
  const char *why = "";
  return nd_index(c->e->a, x, index, (uint32_t)axis + 1, &why);
}

static const Nd *fn_take(Call *c) {
  const Nd *x = arg(c, 0), *indices = x ? arg(c, 1) : NULL;
  const char *why = "";
  uint32_t axis = 0;
  if (!indices) return NULL;
  if (!c->args[2]) x = nd_reshape(c->e->a, x, 1, &(int64_t){(int64_t)x->count}, &why);
  else if (!as_axis(c->e, c->args[2], x, &axis)) return NULL;
  return checked(c->e, c->node, nd_take(c->e->a, x, indices, axis, &why), &why);
}

// Keeps what lies at or below diagonal k (sign 1), or at or above it (sign -1).
static const Nd *triangle(Call *c, int64_t sign) {
  const Nd *x = arg(c, 0);
  int64_t k = 0;
  if (!x || (c->args[1] && !expression_int(c->e, c->args[1], &k))) return NULL;
  if (x->rank < 2)
    return no_array(c->e, c->node, "%s needs a matrix, this has shape %s", c->name, nd_shape_text(c->e->a, x));
  Nd *r = nd_new(c->e->a, x->rank, x->shape);
  const int64_t columns = x->shape[x->rank - 1], rows = x->shape[x->rank - 2];
  for (uint64_t i = 0; i < r->count; i++) {
    const int64_t column = (int64_t)i % columns, row = (int64_t)i / columns % rows;
    r->data[i] = (column - row - k) * sign <= 0 ? x->data[i] : 0;
  }
  return r;
}
static const Nd *fn_tril(Call *c) { return triangle(c, 1); }
static const Nd *fn_triu(Call *c) { return triangle(c, -1); }

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
static const Nd *fn_full(Call *c) {
  double v;
  if (!arg(c, 1) || !as_number(c->e, c->args[1], &v)) return NULL;
  return filled(c, v);
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

const Nd *expression_unary(Eval *e, const Nd *x, NdUnary f) {
  Nd *r = nd_unary(e->a, x, f);
  r->is_bool = f == op_not || f == is_nan || f == is_inf || f == is_finite;
  return r;
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
  if (f->unary) return expression_unary(e, x, f->unary);
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

bool expression_is_module(const Eval *e, const Node *n) {
  static const char *const modules[] = {"np",    "numpy",   "math", "tl",         "torch",
                                        "scipy", "special", "F",    "functional", "nn"};
  if (n->kind == NODE_ATTRIBUTE) return expression_is_module(e, n->attr.first);
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

const Nd *expression_call(Eval *e, const Node *n) {
  Node *func = n->call.func;
  Call c = {.e = e, .node = n};
  if (func->kind == NODE_NAME) c.name = func->name.id;
  else if (func->kind == NODE_ATTRIBUTE) c.name = func->attr.name;
  else return no_array(e, func, "this is not the name of a function");
  if (func->kind == NODE_ATTRIBUTE && !expression_is_module(e, func->attr.first) &&
      !(c.self = expression_node(e, func->attr.first)))
    return NULL;
  DtypeKind dtype;
  const Function *f = find_function(c.name);
  if (!f && dtype_named(func, &dtype) && n->call.args.count == 1) {   // fp16(x)
    const Nd *x = expression_node(e, n->call.args.data[0]);
    return x ? nd_round(e->a, x, dtype) : NULL;
  }
  if (!f) return unknown_function(e, func, c.name);
  return bind_args(&c, f) ? apply(&c, f) : NULL;
}
