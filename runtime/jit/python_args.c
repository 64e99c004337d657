// Arguments of a launch out of Python's objects, for the launchers in C.
#include <string.h>

#include "runtime/jit/python_launcher.h"

static bool dtype_of(Launcher *l, Object *o, uint16_t *type) {
  Object *dtype = PyObject_GetAttr(o, l->words[WORD_DTYPE]);
  if (!dtype) return false;
  for (uint32_t i = 0; i < l->num_dtypes; i++)
    if (l->dtypes[i] == dtype) {
      Py_DecRef(dtype);
      *type = (uint16_t)l->dtype_codes[i];
      return true;
    }
  Object *code = PyObject_Vectorcall(l->type_code, &dtype, 1, NULL);
  int overflow = 0;
  if (code) *type = (uint16_t)PyLong_AsLongLongAndOverflow(code, &overflow);
  if (code && l->num_dtypes < MAX_DTYPES) {
    l->dtypes[l->num_dtypes] = keep(dtype);
    l->dtype_codes[l->num_dtypes++] = (tile_type)*type;
  }
  drop(code);
  Py_DecRef(dtype);
  return code && !overflow;
}

static bool tensor_arg(Launcher *l, Object *o, tile_arg *a) {
  Object *address = PyObject_VectorcallMethod(l->words[WORD_DATA_PTR], &o, 1, NULL);
  if (!address) return false;
  *a = tile_arg_array(address->type == &PyLong_Type ? PyLong_AsUnsignedLongLong(address) : 0, TILE_UNTYPED);
  Py_DecRef(address);
  return a->value.pointer && dtype_of(l, o, &a->type);
}

static bool cuda_tensor_arg(Launcher *l, Object *o, tile_arg *a) {
  Object *is_cuda = PyObject_GetAttr(o, l->words[WORD_IS_CUDA]);
  bool ok = is_cuda == &_Py_TrueStruct;
  drop(is_cuda);
  return ok && tensor_arg(l, o, a);
}

int launcher_text(const Launcher *l, Object *o) {
  for (uint32_t i = 0; i < l->num_texts; i++)
    if (l->texts[i] == o) return (int)i;
  if (o->type != &PyUnicode_Type) return -1;
  for (uint32_t i = 0; i < l->num_texts; i++)
    if (l->texts[i]->type == &PyUnicode_Type && !PyUnicode_Compare(l->texts[i], o)) return (int)i;
  return -1;
}

// An array whose address the module finds.
static bool other_array_arg(Launcher *l, Object *o, tile_arg *a) {
  Object *pair = PyObject_Vectorcall(l->address_of, &o, 1, NULL);
  bool ok = pair && pair->type == &PyTuple_Type;
  int overflow = 0;
  if (ok)
    *a = tile_arg_array(PyLong_AsUnsignedLongLong(PyTuple_GetItem(pair, 0)),
                        (tile_type)PyLong_AsLongLongAndOverflow(PyTuple_GetItem(pair, 1), &overflow));
  drop(pair);
  return ok && !overflow && a->value.pointer;
}

static bool descriptor_arg(Launcher *l, Object *o, tile_arg *a) {
  Object *address = PyObject_GetAttr(o, l->words[WORD_ADDRESS]);
  bool ok = address && address->type == &PyLong_Type;
  if (ok) *a = tile_arg_tensor((const tile_tensor *)(uintptr_t)PyLong_AsUnsignedLongLong(address));
  drop(address);
  return ok;
}

static int type_index(const Launcher *l, const Object *o) {
  for (uint32_t i = 0; i < l->num_types; i++)
    if ((void *)l->types[i] == o->type) return (int)i;
  return -1;
}

static bool learned_arg(Launcher *l, int type, Object *o, tile_arg *a) {
  switch (l->type_kinds[type]) {
  case OBJECT_TENSOR: return tensor_arg(l, o, a);
  case OBJECT_DESCRIPTOR: return descriptor_arg(l, o, a);
  case OBJECT_CUDA_TENSOR: return cuda_tensor_arg(l, o, a);
  default: return other_array_arg(l, o, a);
  }
}

static bool text_arg(const Launcher *l, Object *o, tile_arg *a, Items *pool) {
  int i = launcher_text(l, o);
  size_t size = i < 0 ? SIZE_MAX : strlen(l->text_values[i]) + 1;
  if (size > TEXT_BYTES - pool->num_bytes) return false;
  *a = tile_arg_text(memcpy(&pool->bytes[pool->num_bytes], l->text_values[i], size));
  pool->num_bytes += (uint32_t)size;
  return true;
}

static bool tuple_arg(Launcher *l, uint32_t i, Object *o, tile_arg *a, Items *pool) {
  intptr_t n = PyTuple_Size(o);
  if (n < 0 || n > MAX_ITEMS - (intptr_t)pool->num_items || pool->num_tuples == MAX_TUPLES) return false;
  tile_arg *items = &pool->items[pool->num_items];
  tile_tuple *t = &pool->tuples[pool->num_tuples++];
  pool->num_items += (uint32_t)n;
  for (intptr_t k = 0; k < n; k++)
    if (!launcher_arg(l, i, PyTuple_GetItem(o, k), &items[k], pool)) return false;
  *t = (tile_tuple){items, (uint32_t)n, NULL, 0};
  *a = tile_arg_tuple(t);
  return true;
}

bool launcher_arg(Launcher *l, uint32_t i, Object *o, tile_arg *a, Items *pool) {
  if (o->type == &PyLong_Type) {
    int overflow;
    *a = tile_arg_int(PyLong_AsLongLongAndOverflow(o, &overflow));
    return !overflow;
  }
  int type = type_index(l, o);
  if (type >= 0) return learned_arg(l, type, o, a);
  if (o->type == &PyFloat_Type) *a = tile_arg_float(PyFloat_AsDouble(o));
  else if (o->type == &PyBool_Type) *a = tile_arg_bool(o == &_Py_TrueStruct);
  else if (o == &_Py_NoneStruct) *a = tile_arg_none();
  else if (l->k->traits[i].is_constexpr) return text_arg(l, o, a, pool);
  else return o->type == &PyTuple_Type && tuple_arg(l, i, o, a, pool);
  return true;
}

bool launcher_grid_axis(Object *o, uint32_t *axis) {
  if (o->type != &PyLong_Type) return false;
  int overflow;
  long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
  *axis = (uint32_t)n;
  return !overflow && n >= 0 && n <= UINT32_MAX;
}

bool launcher_stream(Launcher *l, void **stream) {
  if (!l->stream_of) return true;
  Object *s = PyObject_Vectorcall(l->stream_of, &l->ordinal, 1, NULL);
  bool ok = s && s->type == &PyLong_Type;
  if (ok) *stream = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(s);
  drop(s);
  return ok;
}
