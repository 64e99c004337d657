// The launch's arguments as functions of the source see them: scalars are values; arrays and descriptors are objects
// that record what is done to them.
#include "runtime/compile/compile.h"
#include "runtime/jit/source.h"

// What a function of the source can do with an argument in memory. Changes are recorded in _log, and done on the device
// later (effects.c). Names that begin with _ are ours.
static const char objects[] =
    "class Tensor:\n"
    "    def __init__(self, index, dtype, address, nbytes, shape, strides, log):\n"
    "        self._index, self._dtype, self._address, self._nbytes, self._log = index, dtype, address, nbytes, log\n"
    "        self._shape, self._strides = shape, strides\n"
    "    @property\n"
    "    def dtype(self):\n"
    "        return self._dtype\n"
    "    @property\n"
    "    def shape(self):\n"
    "        if self._shape is None:\n"
    "            raise ValueError('the shape of this array is not known: give it in arg_shapes')\n"
    "        return self._shape\n"
    "    @property\n"
    "    def ndim(self):\n"
    "        return len(self.shape)\n"
    "    @property\n"
    "    def itemsize(self):\n"
    "        return self._dtype.itemsize\n"
    "    @property\n"
    "    def nbytes(self):\n"
    "        return self.numel() * self.itemsize\n"
    "    def element_size(self):\n"
    "        return self._dtype.itemsize\n"
    "    def dim(self):\n"
    "        return len(self.shape)\n"
    "    def data_ptr(self):\n"
    "        return self._address\n"
    "    def numel(self):\n"
    "        if self._shape is None:\n"
    "            if self._nbytes == 0:\n"
    "                raise ValueError('the size of this array is not known: give it in arg_bytes')\n"
    "            return self._nbytes // self.itemsize\n"
    "        n = 1\n"
    "        for extent in self._shape:\n"
    "            n *= extent\n"
    "        return n\n"
    "    def nelement(self):\n"
    "        return self.numel()\n"
    "    def size(self, dim=None):\n"
    "        return self.shape if dim is None else self.shape[dim]\n"
    "    def stride(self, dim=None):\n"
    "        self.shape\n"
    "        return self._strides if dim is None else self._strides[dim]\n"
    "    def is_contiguous(self):\n"
    "        dense = 1\n"
    "        for i in range(len(self.shape) - 1, -1, -1):\n"
    "            if self._shape[i] != 1 and self._strides[i] != dense:\n"
    "                return False\n"
    "            dense *= self._shape[i]\n"
    "        return True\n"
    "    def zero_(self):\n"
    "        return self.fill_(0)\n"
    "    def fill_(self, value):\n"
    "        if self._index < 0:\n"
    "            raise ValueError('a hook cannot change an array that is an item of a tuple')\n"
    "        self._log.append((self._index, value))\n"
    "        return self\n"
    "    def copy_(self, other):\n"
    "        if not isinstance(other, Tensor) or self._index < 0 or other._index < 0:\n"
    "            raise TypeError('copy_ takes another argument of the kernel that is an array')\n"
    "        self._log.append((self._index, other))\n"
    "        return self\n"
    "    def __getattr__(self, name):\n"
    "        raise AttributeError(f\"an array in a hook has no '{name}'; it has dtype, shape, ndim, itemsize, \"\n"
    "                             'nbytes, data_ptr(), numel(), nelement(), element_size(), dim(), size(), stride(), '\n"
    "                             'is_contiguous(), zero_(), fill_() and copy_()')\n"
    "class TensorDescriptor:\n"
    "    def __init__(self, base, shape, strides, block_shape, padding):\n"
    "        self._base, self._shape, self._strides, self._padding = base, shape, strides, padding\n"
    "        self.block_shape = block_shape\n"
    "    @property\n"
    "    def base(self):\n"
    "        return self._base\n"
    "    @property\n"
    "    def dtype(self):\n"
    "        return self._base.dtype\n"
    "    @property\n"
    "    def shape(self):\n"
    "        return self._shape\n"
    "    @property\n"
    "    def strides(self):\n"
    "        return self._strides\n"
    "    @property\n"
    "    def padding(self):\n"
    "        return self._padding\n"
    "    def __getattr__(self, name):\n"
    "        raise AttributeError(f\"a descriptor in a hook has no '{name}'; it has base, dtype, shape, strides, \"\n"
    "                             'padding, and block_shape, which can be changed')\n";

static CtValue *object(Call *c, const char *cls, CtValue *const *args, uint32_t n) {
  tile_jit *jit = c->k->jit;
  if (!jit->objects)
    jit->objects = comptime_load_source(c->ct,
                                        source_add(c->ctx, "<objects of arguments>", objects, sizeof objects - 1),
                                        "<objects>");
  CtValue *v = jit->objects ? ct_env_get_local(jit->objects->env, intern(c->ctx, cls)) : NULL;
  return v ? comptime_call(c->ct, v, args, n, NULL, 0, (Span){0, 0}) : NULL;
}

// v, or in a blind call a value that stands for it.
static CtValue *told(Call *c, CtValue *v) {
  if (!c->is_blind || !v) return v;
  CtValue *hidden = arena_new(&c->ctx->arena, CtValue);
  hidden->kind = CT_MISSING;
  hidden->missing.name = "an argument of this launch";
  hidden->missing.why = "another launch may have another value";
  return hidden;
}

static CtValue *int_list(Call *c, const int64_t *v, uint32_t n, bool is_tuple) {
  CtValue *items[TILE_MAX_RANK];
  if (n > TILE_MAX_RANK) n = 0;
  for (uint32_t i = 0; i < n; i++) items[i] = ct_int(c->ctx, v[i]);
  return is_tuple ? ct_tuple(c->ctx, items, n) : ct_list(c->ctx, items, n);
}

// param < 0: an item of a tuple.
static CtValue *array(Call *c, int param, tile_type type, uint64_t address, const tile_tensor *shape) {
  const tile_jit_launch_options *o = c->r->options;
  size_t bytes = param >= 0 && o->arg_bytes && (size_t)param < o->num_arg_bytes ? o->arg_bytes[param] : 0;
  if (!shape && param >= 0 && o->arg_shapes && (size_t)param < o->num_arg_shapes && o->arg_shapes[param].rank)
    shape = &o->arg_shapes[param];
  CtValue *none = ct_none();
  CtValue *args[] = {ct_int(c->ctx, param),
                     ct_dtype(c->ctx, ct_type_scalar(c->ctx, (DtypeKind)type)),
                     told(c, ct_int(c->ctx, (Int128)address)),
                     told(c, ct_int(c->ctx, (Int128)bytes)),
                     shape ? told(c, int_list(c, shape->shape, shape->rank, true)) : none,
                     shape ? told(c, int_list(c, shape->strides, shape->rank, true)) : none,
                     c->log};
  return object(c, "Tensor", args, countof(args));
}

static CtValue *scalar(Call *c, CtValue *v, bool is_constant) { return is_constant ? v : told(c, v); }

static CtValue *argument(Call *c, int param, const tile_arg *a, bool is_constant) {
  switch (a->kind) {
  case TILE_ARG_INT: return scalar(c, ct_int(c->ctx, a->value.i), is_constant);
  case TILE_ARG_FLOAT: return scalar(c, ct_float(c->ctx, a->value.f), is_constant);
  case TILE_ARG_BOOL: return scalar(c, ct_bool(a->value.i != 0), is_constant);
  case TILE_ARG_TEXT: return ct_str(c->ctx, a->value.text);
  case TILE_ARG_TUPLE: {
    const tile_tuple *t = a->value.tuple;
    CtValue **items = arena_array(&c->ctx->arena, CtValue *, t->num_items + 1);
    for (uint32_t i = 0; i < t->num_items; i++)
      if (!(items[i] = argument(c, -1, &t->items[i], is_constant))) return NULL;
    return ct_tuple(c->ctx, items, t->num_items);
  }
  case TILE_ARG_POINTER: return array(c, param, a->type, a->value.pointer, NULL);
  case TILE_ARG_TENSOR: {
    const tile_tensor *t = a->value.tensor;
    CtValue *base = array(c, param, t->type, t->base, t);
    CtValue *args[] = {base, told(c, int_list(c, t->shape, t->rank, false)),
                       told(c, int_list(c, t->strides, t->rank, false)), int_list(c, t->block, t->rank, false),
                       ct_str(c->ctx, t->pad_nan ? "nan" : "zero")};
    return base ? object(c, "TensorDescriptor", args, countof(args)) : NULL;
  }
  default: return ct_none();
  }
}

CtValue *objects_of_args(Call *c, const CtConfig *config) {
  CtValue *dict = ct_dict(c->ctx);
  for (uint32_t i = 0; i < c->k->num_params; i++) {
    if (c->r->args[i].kind == TILE_ARG_DEFAULT) continue;
    if (!c->args[i] && !(c->args[i] = argument(c, (int)i, &c->r->args[i], c->k->params[i].traits.is_constexpr)))
      return NULL;
    ct_dict_set_str(c->ctx, dict->dict, c->k->params[i].name, c->args[i]);
  }
  if (!config) return dict;
  for (uint32_t i = 0; config->kwargs && i < config->kwargs->count; i++)
    ct_dict_set(c->ctx, dict->dict, config->kwargs->entries[i].key, config->kwargs->entries[i].value);
  const struct { const char *name; int value; } numbers[] = {
      {"num_warps", config->num_warps}, {"num_stages", config->num_stages}, {"num_ctas", config->num_ctas}};
  for (uint32_t i = 0; i < countof(numbers); i++)
    if (numbers[i].value) ct_dict_set_str(c->ctx, dict->dict, numbers[i].name, ct_int(c->ctx, numbers[i].value));
  return dict;
}
