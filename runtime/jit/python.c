// The quick way of runtime/python/tile.py: a Python function in C that launches a variant that is there. It is made of
// the running interpreter's stable interface as weak symbols, so that libtile neither links nor includes Python. All
// that is unusual (a missing variant, an object of a type not seen before, an error) goes to the module's own function,
// which explains.
#include <stdlib.h>
#include <string.h>

#include "runtime/jit/jit_impl.h"

typedef struct { intptr_t refs; void *type; } Object;   // an object's head; has_python checks it
typedef struct {
  const char *name;
  Object *(*call)(Object *self, Object *const *args, intptr_t n, Object *names);
  int flags;
  const char *doc;
} MethodDef;
enum { METH_KEYWORDS = 2, METH_FASTCALL = 0x80 };

// Weak: all of them are there if the process runs Python, and NULL otherwise.
extern Object *PyCFunction_NewEx(MethodDef *, Object *, Object *) __attribute__((weak));
extern Object *PyCapsule_New(void *, const char *, void (*)(Object *)) __attribute__((weak));
extern void *PyCapsule_GetPointer(Object *, const char *) __attribute__((weak));
extern Object *PyDict_Copy(Object *) __attribute__((weak));
extern int PyDict_SetItem(Object *, Object *, Object *) __attribute__((weak));
extern int PyCallable_Check(Object *) __attribute__((weak));
extern void PyErr_Clear(void) __attribute__((weak));
extern void *PyEval_SaveThread(void) __attribute__((weak));
extern void PyEval_RestoreThread(void *) __attribute__((weak));
extern double PyFloat_AsDouble(Object *) __attribute__((weak));
extern long long PyLong_AsLongLongAndOverflow(Object *, int *) __attribute__((weak));
extern unsigned long long PyLong_AsUnsignedLongLong(Object *) __attribute__((weak));
extern Object *PyLong_FromLong(long) __attribute__((weak));
extern Object *PyLong_FromVoidPtr(void *) __attribute__((weak));
extern Object *PyObject_GetAttr(Object *, Object *) __attribute__((weak));
extern Object *PyObject_Vectorcall(Object *, Object *const *, size_t, Object *) __attribute__((weak));
extern Object *PyObject_VectorcallMethod(Object *, Object *const *, size_t, Object *) __attribute__((weak));
extern Object *PyTuple_GetItem(Object *, intptr_t) __attribute__((weak));
extern intptr_t PyTuple_Size(Object *) __attribute__((weak));
extern int PyUnicode_Compare(Object *, Object *) __attribute__((weak));
extern Object *PyUnicode_InternFromString(const char *) __attribute__((weak));
extern void Py_DecRef(Object *) __attribute__((weak));
extern void Py_IncRef(Object *) __attribute__((weak));
extern Object PyBool_Type __attribute__((weak)), PyFloat_Type __attribute__((weak)), PyLong_Type __attribute__((weak)),
    PyTuple_Type __attribute__((weak)), _Py_NoneStruct __attribute__((weak)), _Py_TrueStruct __attribute__((weak));

// As the module calls them: data_ptr() and dtype; address_of; the field `address`, of a tile_tensor; a tensor whose
// is_cuda must be true.
enum { OBJECT_TENSOR, OBJECT_OTHER_ARRAY, OBJECT_DESCRIPTOR, OBJECT_CUDA_TENSOR };
enum { MAX_TYPES = 16, MAX_DTYPES = 32, MAX_TEXTS = 32, MAX_METAS = 64 };
enum { OPTION_STREAM = 4, NUM_OPTIONS = 5 };   // after those that are numbers

typedef struct {
  MethodDef method;
  tile_jit_kernel *k;
  Object *names[JIT_MAX_PARAMS], *option_names[NUM_OPTIONS], *data_ptr_name, *dtype_name, *descriptor_name,
      *is_cuda_name;
  Object *slow, *type_code, *meta_of;   // of the module: all of a launch; a dtype's code; a variant's constexprs
  Object *address_of;                   // and (address, code) of an array
  Object *stream_of, *ordinal;          // the current stream of the device as an integer; NULL: the default stream
  Object *types[MAX_TYPES];             // of objects that are arrays or descriptors
  uint8_t type_kinds[MAX_TYPES];
  Object *dtypes[MAX_DTYPES];
  tile_type dtype_codes[MAX_DTYPES];
  Object *texts[MAX_TEXTS];             // values of constexprs that are expressions, and what they are in the source
  char *text_values[MAX_TEXTS];
  const tile_variant *meta_variants[MAX_METAS];
  Object *metas[MAX_METAS];
  uint32_t num_names, num_types, num_dtypes, num_texts, num_metas;
} Launcher;

static const char capsule_name[] = "tile.launcher";

static bool has_python(void) {
  const void *const needed[] = {(void *)PyCFunction_NewEx,
                                (void *)PyCapsule_New,
                                (void *)PyCapsule_GetPointer,
                                (void *)PyDict_Copy,
                                (void *)PyDict_SetItem,
                                (void *)PyCallable_Check,
                                (void *)PyErr_Clear,
                                (void *)PyEval_SaveThread,
                                (void *)PyEval_RestoreThread,
                                (void *)PyFloat_AsDouble,
                                (void *)PyLong_AsLongLongAndOverflow,
                                (void *)PyLong_AsUnsignedLongLong,
                                (void *)PyLong_FromLong,
                                (void *)PyLong_FromVoidPtr,
                                (void *)PyObject_GetAttr,
                                (void *)PyObject_Vectorcall,
                                (void *)PyObject_VectorcallMethod,
                                (void *)PyTuple_GetItem,
                                (void *)PyTuple_Size,
                                (void *)PyUnicode_Compare,
                                (void *)PyUnicode_InternFromString,
                                (void *)Py_DecRef,
                                (void *)Py_IncRef,
                                (void *)&PyBool_Type,
                                (void *)&PyFloat_Type,
                                (void *)&PyLong_Type,
                                (void *)&PyTuple_Type,
                                (void *)&_Py_NoneStruct,
                                (void *)&_Py_TrueStruct};
  for (uint32_t i = 0; i < countof(needed); i++)
    if (!needed[i]) return false;
  // Builds of Python without a global lock have another head.
  Object *n = PyLong_FromLong(1 << 20);
  bool ok = n && n->type == &PyLong_Type && _Py_TrueStruct.type == &PyBool_Type;
  if (n) Py_DecRef(n);
  return ok;
}

static void drop(Object *o) {
  if (o) Py_DecRef(o);
}
static Object *keep(Object *o) {
  Py_IncRef(o);
  return o;
}

// ---- arguments ----

static bool dtype_of(Launcher *l, Object *o, tile_type *type) {
  Object *dtype = PyObject_GetAttr(o, l->dtype_name);
  if (!dtype) return false;
  for (uint32_t i = 0; i < l->num_dtypes; i++)
    if (l->dtypes[i] == dtype) {
      Py_DecRef(dtype);
      *type = l->dtype_codes[i];
      return true;
    }
  Object *code = PyObject_Vectorcall(l->type_code, &dtype, 1, NULL);
  int overflow = 0;
  if (code) *type = (tile_type)PyLong_AsLongLongAndOverflow(code, &overflow);
  if (code && l->num_dtypes < MAX_DTYPES) {
    l->dtypes[l->num_dtypes] = keep(dtype);
    l->dtype_codes[l->num_dtypes++] = *type;
  }
  drop(code);
  Py_DecRef(dtype);
  return code && !overflow;
}

static bool tensor_arg(Launcher *l, Object *o, tile_arg *a) {
  Object *address = PyObject_VectorcallMethod(l->data_ptr_name, &o, 1, NULL);
  if (!address) return false;
  *a = tile_arg_array(address->type == &PyLong_Type ? PyLong_AsUnsignedLongLong(address) : 0, TILE_UNTYPED);
  Py_DecRef(address);
  return a->value.pointer && dtype_of(l, o, &a->type);
}

static bool cuda_tensor_arg(Launcher *l, Object *o, tile_arg *a) {
  Object *is_cuda = PyObject_GetAttr(o, l->is_cuda_name);
  bool ok = is_cuda == &_Py_TrueStruct;
  drop(is_cuda);
  return ok && tensor_arg(l, o, a);
}

static bool text_arg(const Launcher *l, const Object *o, tile_arg *a) {
  for (uint32_t i = 0; i < l->num_texts; i++)
    if (l->texts[i] == o) return *a = tile_arg_text(l->text_values[i]), true;
  return false;
}

// An array that has to be asked in its own way.
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
  Object *address = PyObject_GetAttr(o, l->descriptor_name);
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

// Items of the tuples of one launch.
enum { MAX_ITEMS = 128, MAX_TUPLES = 32 };
typedef struct { uint32_t num_items, num_tuples; tile_arg items[MAX_ITEMS]; tile_tuple tuples[MAX_TUPLES]; } Items;

static bool make_arg(Launcher *l, uint32_t i, Object *o, tile_arg *a, Items *pool);

static bool tuple_arg(Launcher *l, uint32_t i, Object *o, tile_arg *a, Items *pool) {
  intptr_t n = PyTuple_Size(o);
  if (n < 0 || n > MAX_ITEMS - (intptr_t)pool->num_items || pool->num_tuples == MAX_TUPLES) return false;
  tile_arg *items = &pool->items[pool->num_items];
  tile_tuple *t = &pool->tuples[pool->num_tuples++];
  pool->num_items += (uint32_t)n;
  for (intptr_t k = 0; k < n; k++)
    if (!make_arg(l, i, PyTuple_GetItem(o, k), &items[k], pool)) return false;
  *t = (tile_tuple){items, (uint32_t)n, NULL};
  *a = tile_arg_tuple(t);
  return true;
}

// False: the slow way; an exception may be set.
static bool make_arg(Launcher *l, uint32_t i, Object *o, tile_arg *a, Items *pool) {
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
  else if (l->k->traits[i].is_constexpr) return text_arg(l, o, a);
  else return o->type == &PyTuple_Type && tuple_arg(l, i, o, a, pool);
  return true;
}

// Names in a call are interned as ours are, mostly.
static int name_index(Object *const *names, uint32_t count, Object *name) {
  for (uint32_t i = 0; i < count; i++)
    if (names[i] == name) return (int)i;
  for (uint32_t i = 0; i < count; i++)
    if (!PyUnicode_Compare(names[i], name)) return (int)i;
  return -1;
}

static bool keyword(Launcher *l, Object *name, Object *value, uint32_t num_given, tile_arg *args,
                    tile_jit_launch_options *o, Items *pool) {
  int i = name_index(l->names, l->k->num_params, name);
  if (i >= 0 && ((uint32_t)i < num_given || !make_arg(l, (uint32_t)i, value, &args[i], pool))) return false;
  int option = name_index(l->option_names, NUM_OPTIONS, name), overflow = 0;
  if (option < 0) return i >= 0;
  if (option == OPTION_STREAM && i >= 0) return true;
  if ((Object *)value->type != &PyLong_Type) return false;
  long long v = PyLong_AsLongLongAndOverflow(value, &overflow);
  int *const numbers[] = {&o->num_warps, &o->num_stages, &o->num_ctas, &o->maxnreg};
  if (option == OPTION_STREAM) o->stream = (void *)(uintptr_t)v;
  else *numbers[option] = v >= 0 && v <= UINT16_MAX ? (int)v : -1;
  return !overflow;
}

// ---- the grid ----

static bool grid_axis(Object *o, uint32_t *axis) {
  if (o->type != &PyLong_Type) return false;
  int overflow;
  long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
  *axis = (uint32_t)n;
  return !overflow && n >= 0 && n <= UINT32_MAX;
}

static bool read_grid(Object *o, uint32_t grid[3]) {
  if (o->type != &PyTuple_Type) return grid_axis(o, &grid[0]);
  intptr_t n = PyTuple_Size(o);
  if (n < 1 || n > 3) return false;
  for (intptr_t i = 0; i < n; i++)
    if (!grid_axis(PyTuple_GetItem(o, i), &grid[i])) return false;
  return true;
}

// The dictionary of a variant's constexprs; borrowed.
static Object *meta_of(Launcher *l, const tile_variant *v) {
  for (uint32_t i = 0; i < l->num_metas; i++)
    if (l->meta_variants[i] == v) return l->metas[i];
  if (l->num_metas == MAX_METAS) return NULL;
  Object *address = PyLong_FromVoidPtr((void *)(uintptr_t)v);
  Object *meta = address ? PyObject_Vectorcall(l->meta_of, &address, 1, NULL) : NULL;
  drop(address);
  if (!meta) return NULL;
  l->meta_variants[l->num_metas] = v;
  return l->metas[l->num_metas++] = meta;
}

static bool call_grid(Launcher *l, const tile_variant *v, Object *const *args, intptr_t n, Object *keywords,
                      intptr_t num_keywords, uint32_t grid[3]) {
  Object *meta = meta_of(l, v), *dict = meta ? PyDict_Copy(meta) : NULL;
  bool ok = dict != NULL;
  for (intptr_t i = 1; ok && i < n; i++) ok = !PyDict_SetItem(dict, l->names[i - 1], args[i]);
  for (intptr_t i = 0; ok && i < num_keywords; i++)
    ok = !PyDict_SetItem(dict, PyTuple_GetItem(keywords, i), args[n + i]);
  Object *result = ok ? PyObject_Vectorcall(args[0], &dict, 1, NULL) : NULL;
  ok = result && read_grid(result, grid);
  drop(result);
  drop(dict);
  return ok;
}

// ---- the function ----

static bool current_stream(Launcher *l, void **stream) {
  if (!l->stream_of) return true;
  Object *s = PyObject_Vectorcall(l->stream_of, &l->ordinal, 1, NULL);
  bool ok = s && s->type == &PyLong_Type;
  if (ok) *stream = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(s);
  drop(s);
  return ok;
}

// args: the grid, then the kernel's arguments.
static bool try_launch(Launcher *l, Object *const *args, intptr_t n, Object *keywords) {
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  tile_arg packed[JIT_MAX_PARAMS];
  Items pool;
  pool.num_items = pool.num_tuples = 0;
  intptr_t num_keywords = keywords ? PyTuple_Size(keywords) : 0;
  uint32_t count = l->k->num_params;
  if (n < 1 || (uint32_t)n - 1 > count) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (i + 1 >= (uint32_t)n) packed[i] = tile_arg_default();
    else if (!make_arg(l, i, args[i + 1], &packed[i], &pool)) return false;
  }
  if (!current_stream(l, &o.stream)) return false;
  for (intptr_t i = 0; i < num_keywords; i++)
    if (!keyword(l, PyTuple_GetItem(keywords, i), args[n + i], (uint32_t)n - 1, packed, &o, &pool)) return false;
  tile_arg filled[JIT_MAX_PARAMS];
  const tile_variant *v = jit_find(l->k, &o, packed, count, filled);
  if (!v || v->hook) return false;
  bool is_function = args[0]->type != &PyTuple_Type && args[0]->type != &PyLong_Type && PyCallable_Check(args[0]);
  if (is_function ? !call_grid(l, v, args, n, keywords, num_keywords, o.grid) : !read_grid(args[0], o.grid))
    return false;
  void *thread = PyEval_SaveThread();
  tile_status status = jit_variant_launch(v, o.grid, o.stream, filled, NULL);
  PyEval_RestoreThread(thread);
  return status == TILE_OK;
}

static Object *launch(Object *self, Object *const *args, intptr_t n, Object *keywords) {
  Launcher *l = PyCapsule_GetPointer(self, capsule_name);
  if (!l) return NULL;
  if (try_launch(l, args, n, keywords)) return keep(&_Py_NoneStruct);
  PyErr_Clear();
  return PyObject_Vectorcall(l->slow, args, (size_t)n, keywords);
}

// The kernel may be gone by now.
static void launcher_destroy(Launcher *l) {
  Object *const single[] = {l->data_ptr_name, l->dtype_name, l->descriptor_name, l->is_cuda_name, l->address_of,
                            l->slow,          l->type_code,  l->meta_of,         l->stream_of,    l->ordinal};
  for (uint32_t i = 0; i < countof(single); i++) drop(single[i]);
  for (uint32_t i = 0; i < l->num_names; i++) drop(l->names[i]);
  for (uint32_t i = 0; i < NUM_OPTIONS; i++) drop(l->option_names[i]);
  for (uint32_t i = 0; i < l->num_dtypes; i++) drop(l->dtypes[i]);
  for (uint32_t i = 0; i < l->num_types; i++) drop(l->types[i]);
  for (uint32_t i = 0; i < l->num_metas; i++) drop(l->metas[i]);
  for (uint32_t i = 0; i < l->num_texts; i++) drop(l->texts[i]), free(l->text_values[i]);
  free(l);
}
static void launcher_free(Object *capsule) { launcher_destroy(PyCapsule_GetPointer(capsule, capsule_name)); }

void *tile_jit_python_launcher(tile_jit_kernel *k, void *slow, void *type_code, void *meta, void *address_of,
                               void **capsule) {
  *capsule = NULL;
  Launcher *l = has_python() ? calloc(1, sizeof *l) : NULL;
  if (!l) return NULL;
  static const char *const options[NUM_OPTIONS] = {"num_warps", "num_stages", "num_ctas", "maxnreg", "stream"};
  l->k = k;
  l->num_names = k->num_params;
  l->method = (MethodDef){"launch", launch, METH_FASTCALL | METH_KEYWORDS,
                          "Launches the kernel: the grid, then its arguments."};
  bool ok = true;
  for (uint32_t i = 0; i < k->num_params; i++) ok = (l->names[i] = PyUnicode_InternFromString(k->params[i].name)) && ok;
  for (uint32_t i = 0; i < NUM_OPTIONS; i++) ok = (l->option_names[i] = PyUnicode_InternFromString(options[i])) && ok;
  ok = (l->data_ptr_name = PyUnicode_InternFromString("data_ptr")) &&
       (l->dtype_name = PyUnicode_InternFromString("dtype")) &&
       (l->descriptor_name = PyUnicode_InternFromString("address")) &&
       (l->is_cuda_name = PyUnicode_InternFromString("is_cuda")) && ok;
  l->slow = keep(slow);
  l->type_code = keep(type_code);
  l->meta_of = keep(meta);
  l->address_of = keep(address_of);
  Object *c = ok ? PyCapsule_New(l, capsule_name, launcher_free) : NULL;
  if (!c) launcher_destroy(l);
  Object *function = c ? PyCFunction_NewEx(&l->method, c, NULL) : NULL;
  drop(c);   // the function holds it, or nobody does
  *capsule = function ? c : NULL;
  PyErr_Clear();
  return function;
}

void tile_jit_python_learn_type(void *capsule, void *type, int kind) {
  Launcher *l = PyCapsule_GetPointer(capsule, capsule_name);
  for (uint32_t i = 0; i < l->num_types; i++)
    if (l->types[i] == type) return;
  if (l->num_types == MAX_TYPES) return;
  l->type_kinds[l->num_types] = (uint8_t)kind;
  l->types[l->num_types++] = keep(type);
}

void tile_jit_python_learn_text(void *capsule, void *value, const char *text) {
  Launcher *l = PyCapsule_GetPointer(capsule, capsule_name);
  for (uint32_t i = 0; i < l->num_texts; i++)
    if (l->texts[i] == value) return;
  char *copy = l->num_texts < MAX_TEXTS ? strdup(text) : NULL;
  if (!copy) return;
  l->texts[l->num_texts] = keep(value);
  l->text_values[l->num_texts++] = copy;
}

void tile_jit_python_use_stream(void *capsule, void *stream_of, void *ordinal) {
  Launcher *l = PyCapsule_GetPointer(capsule, capsule_name);
  Object *old[] = {l->stream_of, l->ordinal};
  l->stream_of = keep(stream_of);
  l->ordinal = keep(ordinal);
  drop(old[0]);
  drop(old[1]);
}
