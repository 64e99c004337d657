// The quick way of the package tilec (runtime/python): a Python function in C that launches a variant that exists.
// Everything unusual (a missing variant, an object of a type not seen before, an error) goes to the module's own
// function, which explains.
#include <stdlib.h>
#include <string.h>

#include "runtime/jit/python_launcher.h"

static const char *const word_texts[NUM_WORDS] = {"num_warps", "num_stages", "num_ctas", "maxnreg", "stream",
                                                  "data_ptr",  "dtype",      "address",  "is_cuda"};

const char launcher_capsule[] = "tile.launcher";

bool python_is_here(void) {
#define FUNCTION(result, name, ...) (void *)name,
#define OBJECT(name) &name,
  const void *const needed[] = {PYTHON_FUNCTIONS(FUNCTION) PYTHON_OBJECTS(OBJECT) &PyExc_Exception,
                                &PyExc_KeyError, &PyExc_AttributeError, &PyExc_IndexError, &PyExc_TypeError};
  for (uint32_t i = 0; i < countof(needed); i++)
    if (!needed[i]) return false;
  // Builds of Python without a global lock have another head.
  Object *n = PyLong_FromLong(1 << 20);
  bool ok = n && n->type == &PyLong_Type && _Py_TrueStruct.type == &PyBool_Type;
  if (n) Py_DecRef(n);
  return ok;
}

static int same_index(Object *const *names, uint32_t count, const Object *name) {
  for (uint32_t i = 0; i < count; i++)
    if (names[i] == name) return (int)i;
  return -1;
}
static int equal_index(Object *const *names, uint32_t count, Object *name) {
  for (uint32_t i = 0; i < count; i++)
    if (!PyUnicode_Compare(names[i], name)) return (int)i;
  return -1;
}

static bool keyword(Launcher *l, Object *name, Object *value, uint32_t num_given, tile_arg *args,
                    tile_jit_launch_options *o, Items *pool) {
  int i = same_index(l->names, l->k->num_params, name), option = same_index(l->words, NUM_OPTIONS, name), overflow = 0;
  if (i < 0 && option < 0) {   // most names in a call are interned, as the launcher's are; this one is not
    i = equal_index(l->names, l->k->num_params, name);
    option = equal_index(l->words, NUM_OPTIONS, name);
  }
  if (i >= 0 && ((uint32_t)i < num_given || !launcher_arg(l, (uint32_t)i, value, &args[i], pool))) return false;
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

static bool read_grid(Object *o, uint32_t grid[3]) {
  if (o->type != &PyTuple_Type) return launcher_grid_axis(o, &grid[0]);
  intptr_t n = PyTuple_Size(o);
  if (n < 1 || n > 3) return false;
  for (intptr_t i = 0; i < n; i++)
    if (!launcher_grid_axis(PyTuple_GetItem(o, i), &grid[i])) return false;
  return true;
}

// What function makes of a variant, kept in *of; borrowed.
static Object *made_of(Object *function, const tile_variant *v, Object **of) {
  if (*of) return *of;
  Object *address = PyLong_FromVoidPtr((void *)(uintptr_t)v);
  *of = address ? PyObject_Vectorcall(function, &address, 1, NULL) : NULL;
  drop(address);
  return *of;
}

// The slot of a variant, or the free one for it.
static Known **known_slot(Known **table, uint32_t size, const tile_variant *v) {
  uint32_t i = (uint32_t)cache_hash(&v, sizeof v, 0) & (size - 1);
  while (table[i] && table[i]->variant != v) i = (i + 1) & (size - 1);
  return &table[i];
}

static bool grow_known(Launcher *l) {
  uint32_t size = l->known_size ? 2 * l->known_size : 16;
  Known **table = calloc(size, sizeof(Known *));
  if (!table) return false;
  for (uint32_t i = 0; i < l->known_size; i++)
    if (l->known[i]) *known_slot(table, size, l->known[i]->variant) = l->known[i];
  free(l->known);
  l->known = table;
  l->known_size = size;
  return true;
}

// The objects of a variant; NULL: out of memory.
static Known *known_of(Launcher *l, const tile_variant *v) {
  if (2 * l->num_known >= l->known_size && !grow_known(l)) return NULL;
  Known **slot = known_slot(l->known, l->known_size, v);
  if (*slot) return *slot;
  Known *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  k->variant = v;
  l->num_known++;
  return *slot = k;
}

static bool call_grid(Launcher *l, const tile_variant *v, Object *const *args, intptr_t n, Object *keywords,
                      intptr_t num_keywords, uint32_t grid[3]) {
  Known *known = known_of(l, v);
  Object *meta = known ? made_of(l->meta_of, v, &known->meta) : NULL;   // the variant's constexprs
  Object *dict = meta ? PyDict_Copy(meta) : NULL;
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

// args: the grid, then the kernel's arguments. *result is borrowed.
static bool try_launch(Launcher *l, Object *const *args, intptr_t n, Object *keywords, Object **result) {
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  tile_arg packed[JIT_FEW_PARAMS];
  Items pool;
  pool.num_items = pool.num_tuples = pool.num_bytes = 0;
  intptr_t num_keywords = keywords ? PyTuple_Size(keywords) : 0;
  uint32_t count = l->k ? l->k->num_params : 0;
  if (!l->k || n < 1 || (uint32_t)n - 1 > count || count > JIT_FEW_PARAMS) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (i + 1 >= (uint32_t)n) packed[i] = tile_arg_default();
    else if (!launcher_arg(l, i, args[i + 1], &packed[i], &pool)) return false;
  }
  if (!launcher_stream(l, &o.stream)) return false;
  for (intptr_t i = 0; i < num_keywords; i++)
    if (!keyword(l, PyTuple_GetItem(keywords, i), args[n + i], (uint32_t)n - 1, packed, &o, &pool)) return false;
  LaunchArgs filled;
  const tile_variant *v = jit_find(l->k, &o, packed, count, &filled);
  if (!v || v->hook) return false;
  bool is_function = args[0]->type != &PyTuple_Type && args[0]->type != &PyLong_Type && PyCallable_Check(args[0]);
  if (is_function ? !call_grid(l, v, args, n, keywords, num_keywords, o.grid) : !read_grid(args[0], o.grid))
    return false;
  if (l->result_of) {
    Known *known = known_of(l, v);
    *result = known ? made_of(l->result_of, v, &known->result) : NULL;
    if (!*result) return false;
  }
  void *thread = PyEval_SaveThread();
  tile_status status = jit_variant_launch(v, o.grid, o.stream, filled.args, NULL);
  PyEval_RestoreThread(thread);
  return status == TILE_OK;
}

static Object *launch(Object *self, Object *const *args, intptr_t n, Object *keywords) {
  Launcher *l = PyCapsule_GetPointer(self, launcher_capsule);
  if (!l) return NULL;
  Object *result = &_Py_NoneStruct;
  if (try_launch(l, args, n, keywords, &result)) return keep(result);
  return clear_error() ? PyObject_Vectorcall(l->slow, args, (size_t)n, keywords) : NULL;
}

// Guards are of jit.h's kinds. An object's identity is what is compared.
static bool guard_holds(const Object *guard) {
  Object *g = (Object *)guard;
  intptr_t size = g->type == &PyTuple_Type ? PyTuple_Size(g) : 0;
  if (!size) {
    Object *answer = PyObject_Vectorcall(g, NULL, 0, NULL);
    drop(answer);
    return answer == &_Py_TrueStruct;
  }
  Object *of = PyTuple_GetItem(g, 0);
  if (size == 1) return !PyObject_IsTrue(of);
  Object *name = PyTuple_GetItem(g, 1), *value = size > 2 ? PyTuple_GetItem(g, 2) : NULL;
  if (of->type == &PyDict_Type) return PyDict_GetItemWithError(of, name) == value;
  Object *now = PyObject_GetAttr(of, name);
  drop(now);
  return now && now == value;
}

static bool guards_hold(Launcher *l) {
  Object *guards = keep(l->guards);   // a guard is Python code, which may replace the tuple
  intptr_t n = PyTuple_Size(guards);
  bool hold = true;
  for (intptr_t i = 0; hold && i < n; i++) hold = guard_holds(PyTuple_GetItem(guards, i));
  Py_DecRef(guards);
  if (!hold || !l->device_of) return hold;
  Object *ordinal = PyObject_Vectorcall(l->device_of, NULL, 0, NULL);
  drop(ordinal);
  return ordinal == l->ordinal;   // one object for each small number
}

static Object *launch_guarded(Object *self, Object *const *args, intptr_t n, Object *keywords) {
  Launcher *l = PyCapsule_GetPointer(self, launcher_capsule);
  if (!l) return NULL;
  if (guards_hold(l)) return launch(self, args, n, keywords);
  return clear_error() ? PyObject_Vectorcall(l->otherwise, args, (size_t)n, keywords) : NULL;
}

// The kernel may have been freed by now.
static void launcher_destroy(Launcher *l) {
  Object *const single[] = {l->address_of, l->slow,    l->type_code, l->meta_of,   l->result_of,
                            l->stream_of,  l->ordinal, l->guards,    l->device_of, l->otherwise};
  for (uint32_t i = 0; i < countof(single); i++) drop(single[i]);
  for (uint32_t i = 0; l->names && i < l->num_names; i++) drop(l->names[i]);
  free(l->names);
  for (uint32_t i = 0; i < NUM_WORDS; i++) drop(l->words[i]);
  for (uint32_t i = 0; i < l->num_dtypes; i++) drop(l->dtypes[i]);
  for (uint32_t i = 0; i < l->num_types; i++) drop(l->types[i]);
  for (uint32_t i = 0; i < l->known_size; i++)
    if (l->known[i]) drop(l->known[i]->meta), drop(l->known[i]->result), free(l->known[i]);
  free(l->known);
  for (uint32_t i = 0; i < l->num_texts; i++) drop(l->texts[i]), free(l->text_values[i]);
  free(l);
}
static void launcher_free(Object *capsule) { launcher_destroy(PyCapsule_GetPointer(capsule, launcher_capsule)); }

void *tile_jit_python_launcher(tile_jit_kernel *k, void *slow, void *type_code, void *meta, void *address_of,
                               void **capsule) {
  if (capsule) *capsule = NULL;
  if (!k || !slow || !type_code || !meta || !address_of || !capsule) return NULL;
  Launcher *l = python_is_here() ? calloc(1, sizeof *l) : NULL;
  if (!l) return NULL;
  l->k = k;
  l->num_names = k->num_params;
  l->method = (MethodDef){"launch", launch, METH_FASTCALL | METH_KEYWORDS,
                          "Launches the kernel: the grid, then its arguments."};
  l->names = calloc(k->num_params + 1, sizeof *l->names);
  bool ok = l->names != NULL;
  for (uint32_t i = 0; ok && i < k->num_params; i++)
    ok = (l->names[i] = PyUnicode_InternFromString(k->params[i].name)) != NULL;
  for (uint32_t i = 0; i < NUM_WORDS; i++) ok = (l->words[i] = PyUnicode_InternFromString(word_texts[i])) && ok;
  l->slow = keep(slow);
  l->type_code = keep(type_code);
  l->meta_of = keep(meta);
  l->address_of = keep(address_of);
  Object *c = ok ? PyCapsule_New(l, launcher_capsule, launcher_free) : NULL;
  if (!c) launcher_destroy(l);
  Object *function = c ? PyCFunction_NewEx(&l->method, c, NULL) : NULL;
  drop(c);   // the function holds it, or nobody does
  *capsule = function ? c : NULL;
  PyErr_Clear();
  return function;
}

void tile_jit_python_close(void *capsule) {
  if (!capsule) return;
  Launcher *l = PyCapsule_GetPointer(capsule, launcher_capsule);
  l->k = NULL;
}

void tile_jit_python_use_results(void *capsule, void *result_of) {
  if (!capsule || !result_of) return;
  Launcher *l = PyCapsule_GetPointer(capsule, launcher_capsule);
  drop(l->result_of);
  l->result_of = keep(result_of);
}

void tile_jit_python_learn_type(void *capsule, void *type, int kind) {
  if (!capsule || !type) return;
  Launcher *l = PyCapsule_GetPointer(capsule, launcher_capsule);
  for (uint32_t i = 0; i < l->num_types; i++)
    if (l->types[i] == type) return;
  if (l->num_types == MAX_TYPES) return;
  l->type_kinds[l->num_types] = (uint8_t)kind;
  l->types[l->num_types++] = keep(type);
}

void tile_jit_python_learn_text(void *capsule, void *value, const char *text) {
  if (!capsule || !value || !text) return;
  Launcher *l = PyCapsule_GetPointer(capsule, launcher_capsule);
  if (launcher_text(l, value) >= 0) return;
  char *copy = strdup(text);
  if (!copy) return;
  uint32_t i = l->next_text++ % MAX_TEXTS;
  if (i < l->num_texts) drop(l->texts[i]), free(l->text_values[i]);
  else l->num_texts = i + 1;
  l->texts[i] = keep(value);
  l->text_values[i] = copy;
}

void tile_jit_python_use_stream(void *capsule, void *stream_of, void *ordinal) {
  if (!capsule || !stream_of || !ordinal) return;
  Launcher *l = PyCapsule_GetPointer(capsule, launcher_capsule);
  Object *old[] = {l->stream_of, l->ordinal};
  l->stream_of = keep(stream_of);
  l->ordinal = keep(ordinal);
  drop(old[0]);
  drop(old[1]);
}

void *tile_jit_python_guard(void *capsule, void *guards, void *device_of, void *otherwise) {
  if (!capsule || !guards || !device_of || !otherwise || ((Object *)guards)->type != &PyTuple_Type) return NULL;
  Launcher *l = PyCapsule_GetPointer(capsule, launcher_capsule);
  Object *old[] = {l->guards, l->device_of, l->otherwise};
  l->guards = keep(guards);
  l->device_of = device_of != &_Py_NoneStruct ? keep(device_of) : NULL;
  l->otherwise = keep(otherwise);
  for (uint32_t i = 0; i < countof(old); i++) drop(old[i]);
  l->guarded = (MethodDef){"launch", launch_guarded, METH_FASTCALL | METH_KEYWORDS,
                           "Launches the kernel while the guards hold: the grid, then its arguments."};
  return PyCFunction_NewEx(&l->guarded, capsule, NULL);
}
