// The quick ways of the layers around a kernel of the package tilec (runtime/python), as methods in C: the one of an
// autotuned kernel finds the configuration that Python chose for arguments like these, the one of heuristics asks their
// functions; then they launch what the layer is around. They read what they need from the object each time, since
// programs replace attributes. Everything unusual goes to a method in Python, which explains.
#include <stdlib.h>

#include "runtime/jit/jit_impl.h"
#include "runtime/jit/python.h"

enum { FIELD_FN, FIELD_ARG_NAMES, FIELD_CONFIGS, FIELD_CACHE, FIELD_KEYS, FIELD_TEXTS, FIELD_VALUES, NUM_FIELDS };
enum { WORD_BEST_CONFIG = NUM_FIELDS, WORD_ALL_KWARGS, WORD_PRE_HOOK, WORD_DTYPE, WORD_LAUNCH, WORD_GRID,
       WORD_WARMUP, WORD_RUN, NUM_WORDS };
static const char *const word_texts[NUM_WORDS] = {
    "fn", "arg_names", "configs", "cache", "keys", "_texts", "values", "best_config", "all_kwargs", "pre_hook", "dtype",
    "_launch_now", "grid", "warmup", "run"};
enum { MAX_VALUES = 2 * JIT_FEW_PARAMS };   // of a launch: grid, arguments and options; of a key

typedef struct {
  MethodDef method;
  Object *slow, *run, *words[NUM_WORDS];   // slow: the name of the method for everything unusual; run may be NULL
  uint32_t fields;   // a bit for each that is read
} Layer;
static const char capsule_name[] = "tile.layer";

typedef struct {
  Object *const *words;
  Object *const *args;   // the grid and the positional arguments, then the values of the names
  intptr_t num_positional, num_names;
  Object *names, *fields[NUM_FIELDS];
} Call;

typedef struct {
  Object *values[MAX_VALUES];   // with a reference each
  uint32_t count;
} Values;

// Equal names are mostly the same object.
static intptr_t list_index(Object *list, Object *name) {
  intptr_t n = PyList_Size(list);
  for (intptr_t i = 0; i < n; i++)
    if (PyList_GetItem(list, i) == name) return i;
  for (intptr_t i = 0; i < n; i++)
    if (!PyUnicode_Compare(PyList_GetItem(list, i), name)) return i;
  return -1;
}

static intptr_t names_index(const Call *c, Object *name) {
  for (intptr_t i = 0; i < c->num_names; i++)
    if (PyTuple_GetItem(c->names, i) == name) return i;
  for (intptr_t i = 0; i < c->num_names; i++)
    if (!PyUnicode_Compare(PyTuple_GetItem(c->names, i), name)) return i;
  return -1;
}

// The argument for a parameter; NULL: it is not given, or the kernel has no such parameter.
static Object *given(const Call *c, Object *name) {
  intptr_t i = list_index(c->fields[FIELD_ARG_NAMES], name);
  if (i < 0) return NULL;
  if (i + 1 < c->num_positional) return c->args[i + 1];
  i = names_index(c, name);
  return i >= 0 ? c->args[c->num_positional + i] : NULL;
}

static bool add_value(Values *key, Object *value) {
  if (!value || key->count == MAX_VALUES) return false;
  key->values[key->count++] = keep(value);
  return true;
}

// Adds the text of a value's dtype, if it has one.
static bool add_dtype(const Call *c, Values *key, Object *value) {
  const void *const plain[] = {&PyLong_Type, &PyFloat_Type, &PyBool_Type, &PyUnicode_Type, &PyTuple_Type};
  for (uint32_t i = 0; i < countof(plain); i++)
    if (value->type == plain[i]) return true;
  Object *dtype = value != &_Py_NoneStruct ? PyObject_GetAttr(value, c->words[WORD_DTYPE]) : NULL;
  if (!dtype) return clear_error();
  Object *texts = c->fields[FIELD_TEXTS], *text = PyDict_GetItemWithError(texts, dtype);
  if (!text) {
    Object *made = PyObject_Str(dtype);
    if (made && !PyDict_SetItem(texts, dtype, made)) text = made;   // the dict holds it
    drop(made);
  }
  Py_DecRef(dtype);
  return add_value(key, text);
}

// What a choice depends on, in the order of Autotuner._key.
static bool fill_key(const Call *c, Values *key) {
  Object *keys = c->fields[FIELD_KEYS];
  for (intptr_t i = 0; i < PyList_Size(keys); i++) {
    Object *value = given(c, PyList_GetItem(keys, i));
    if (value && !add_value(key, value)) return false;
  }
  for (intptr_t i = 1; i < c->num_positional; i++)
    if (!add_dtype(c, key, c->args[i])) return false;
  for (intptr_t i = 0; i < c->num_names; i++)
    if (list_index(c->fields[FIELD_ARG_NAMES], PyTuple_GetItem(c->names, i)) >= 0 &&
        !add_dtype(c, key, c->args[c->num_positional + i]))
      return false;
  return true;
}

// A new reference to the configuration; NULL: none was chosen.
static Object *config_of(const Call *c) {
  if (PyList_Size(c->fields[FIELD_CONFIGS]) == 1) return keep(PyList_GetItem(c->fields[FIELD_CONFIGS], 0));
  Values key;
  key.count = 0;
  bool ok = fill_key(c, &key);
  Object *tuple = ok ? PyTuple_New(key.count) : NULL;
  for (uint32_t i = 0; i < key.count; i++)   // the tuple takes the references over
    if (!tuple) Py_DecRef(key.values[i]);
    else PyTuple_SetItem(tuple, i, key.values[i]);
  Object *config = tuple ? keep(PyDict_GetItemWithError(c->fields[FIELD_CACHE], tuple)) : NULL;
  drop(tuple);
  return config;
}

// The launch with the options, a dict, after the call's own values. False: nothing was launched.
static bool launch_with(const Call *c, Object *options, Object **result) {
  Object *with_self[1 + MAX_VALUES], **values = with_self + 1, *name, *value;   // a bound method puts its object first
  intptr_t n = c->num_positional + c->num_names, place = 0, num_names = c->num_names + PyDict_Size(options);
  if (c->num_positional + num_names > MAX_VALUES) return false;
  for (intptr_t i = 0; i < n; i++) values[i] = c->args[i];
  Object *launch = PyObject_GetAttr(c->fields[FIELD_FN], c->words[WORD_LAUNCH]);
  Object *names = launch ? PyTuple_New(num_names) : NULL;
  for (intptr_t i = 0; names && i < c->num_names; i++) PyTuple_SetItem(names, i, keep(PyTuple_GetItem(c->names, i)));
  bool ok = names != NULL;
  for (intptr_t i = c->num_names; ok && PyDict_Next(options, &place, &name, &value); i++) {
    ok = names_index(c, name) < 0;
    values[n++] = value;
    PyTuple_SetItem(names, i, keep(name));
  }
  if (ok) *result = PyObject_Vectorcall(launch, values, (size_t)c->num_positional | ARGUMENTS_OFFSET, names);
  drop(names);
  drop(launch);
  return ok;
}

static bool has_fields(const Call *c, uint32_t first, uint32_t last) {
  const void *const types[NUM_FIELDS] = {NULL,          &PyList_Type, &PyList_Type, &PyDict_Type,
                                         &PyList_Type, &PyDict_Type, &PyDict_Type};
  for (uint32_t i = first; i <= last; i++)
    if (!c->fields[i] || (types[i] && c->fields[i]->type != types[i])) return false;
  return true;
}

static bool launch_tuned(const Call *c, Object *dict, Object **result) {
  Object *config = has_fields(c, FIELD_CONFIGS, FIELD_TEXTS) ? config_of(c) : NULL;
  Object *hook = config ? PyObject_GetAttr(config, c->words[WORD_PRE_HOOK]) : NULL;
  Object *given =
      hook == &_Py_NoneStruct ? PyObject_VectorcallMethod(c->words[WORD_ALL_KWARGS], &config, 1, NULL) : NULL;
  Object *options = given && given->type == &PyDict_Type ? PyDict_Copy(given) : NULL;   // others may change their dict
  bool ok = options && !PyDict_SetItem(dict, c->words[WORD_BEST_CONFIG], config) && launch_with(c, options, result);
  drop(options);
  drop(given);
  drop(hook);
  drop(config);
  return ok;
}

// The dict that a heuristics function receives: the arguments by name, grid and warmup. NULL if there are too many
// arguments.
static Object *seen_by(const Call *c) {
  Object *seen = c->num_positional - 1 <= PyList_Size(c->fields[FIELD_ARG_NAMES]) ? PyDict_New() : NULL;
  bool ok = seen != NULL;
  for (intptr_t i = 1; ok && i < c->num_positional; i++)
    ok = !PyDict_SetItem(seen, PyList_GetItem(c->fields[FIELD_ARG_NAMES], i - 1), c->args[i]);
  ok = ok && !PyDict_SetItem(seen, c->words[WORD_GRID], c->args[0]) &&
       !PyDict_SetItem(seen, c->words[WORD_WARMUP], &_Py_FalseStruct);
  for (intptr_t i = 0; ok && i < c->num_names; i++)
    ok = !PyDict_SetItem(seen, PyTuple_GetItem(c->names, i), c->args[c->num_positional + i]);
  if (!ok) drop(seen);
  return ok ? seen : NULL;
}

static bool is_given(const Call *c) {
  Object *name, *function;
  for (intptr_t place = 0; PyDict_Next(c->fields[FIELD_VALUES], &place, &name, &function);)
    if (names_index(c, name) >= 0 || PyErr_Occurred()) return true;   // or the name is no string
  return false;
}

// Whether the error may come from a user's function that expects other arguments than its one dict, or a key that the
// dict lacks. The slow path calls it again, with a dict that lists its names, and explains the call.
static bool is_asking_error(void) {
  Object *const kinds[] = {PyExc_KeyError, PyExc_AttributeError, PyExc_IndexError, PyExc_TypeError};
  bool found = false;
  for (uint32_t i = 0; i < countof(kinds) && !found; i++)
    found = PyErr_GivenExceptionMatches(PyErr_Occurred(), kinds[i]);
  return found;
}

static bool launch_chosen(const Call *c, Object *dict, Object **result) {
  (void)dict;
  if (!has_fields(c, FIELD_VALUES, FIELD_VALUES) || is_given(c)) return false;
  Object *functions = PyDict_Copy(c->fields[FIELD_VALUES]);   // they may change the layer's
  Object *seen = seen_by(c), *options = PyDict_New(), *name, *function;
  bool ok = seen && options && functions, raised = false;
  intptr_t left = functions ? PyDict_Size(functions) : 0;
  for (intptr_t place = 0; ok && PyDict_Next(functions, &place, &name, &function);) {
    Object *given = --left ? PyDict_Copy(seen) : keep(seen);   // a function may change its dict
    Object *value = given ? PyObject_Vectorcall(function, &given, 1, NULL) : NULL;
    raised = !value && !is_asking_error();
    ok = value && !PyDict_SetItem(options, name, value) && (!left || !PyDict_SetItem(seen, name, value));
    drop(value);
    drop(given);
  }
  ok = ok && launch_with(c, options, result);
  drop(functions);
  drop(options);
  drop(seen);
  return ok || raised;
}

// A program may replace the method `run` of an object or of its class.
static bool has_run(const Layer *l, const Object *object, Object *dict) {
  if (!l->run) return true;
  Object *run = PyObject_GetAttr(object->type, l->words[WORD_RUN]);
  drop(run);
  return run == l->run && !PyDict_GetItemWithError(dict, l->words[WORD_RUN]);
}

// args: the layer's object, the grid, then the kernel's arguments.
static Object *launch(Object *capsule, Object *const *args, intptr_t n, Object *names,
                      bool (*try_launch)(const Call *c, Object *dict, Object **result)) {
  const Layer *l = PyCapsule_GetPointer(capsule, capsule_name);
  Object *dict = l && n > 1 ? PyObject_GenericGetDict(args[0], NULL) : NULL, *result = NULL;
  Call c = {.args = args + 1, .num_positional = n - 1, .num_names = names ? PyTuple_Size(names) : 0, .names = names};
  if (l && n < 1) PyErr_BadArgument();   // called by way of the class, without an object
  if (!l || n < 1) return NULL;
  c.words = l->words;
  for (uint32_t i = 0; dict && i < NUM_FIELDS; i++)
    if (l->fields >> i & 1) c.fields[i] = keep(PyDict_GetItemWithError(dict, l->words[i]));
  bool ok = dict && has_run(l, args[0], dict) && has_fields(&c, FIELD_FN, FIELD_ARG_NAMES) &&
            try_launch(&c, dict, &result);
  for (uint32_t i = 0; i < NUM_FIELDS; i++) drop(c.fields[i]);
  drop(dict);
  if (ok) return result;   // NULL: the kernel's launch has raised an exception
  return clear_error() ? PyObject_VectorcallMethod(l->slow, args, (size_t)n, names) : NULL;
}

static Object *tuned(Object *capsule, Object *const *args, intptr_t n, Object *names) {
  return launch(capsule, args, n, names, launch_tuned);
}
static Object *chosen(Object *capsule, Object *const *args, intptr_t n, Object *names) {
  return launch(capsule, args, n, names, launch_chosen);
}

static void layer_destroy(Layer *l) {
  drop(l->slow);
  drop(l->run);
  for (uint32_t i = 0; i < NUM_WORDS; i++) drop(l->words[i]);
  free(l);
}
static void layer_free(Object *capsule) { layer_destroy(PyCapsule_GetPointer(capsule, capsule_name)); }

void *tile_jit_python_layer(void *slow, int kind) { return tile_jit_python_layer_of_run(slow, kind, NULL); }

void *tile_jit_python_layer_of_run(void *slow, int kind, void *run) {
  Layer *l = slow && kind >= 0 && kind <= 1 && python_is_here() ? calloc(1, sizeof *l) : NULL;
  if (!l) return NULL;
  l->method = (MethodDef){"_quick_launch", kind ? chosen : tuned, METH_FASTCALL | METH_KEYWORDS,
                          "Launches the kernel that the layer is around: the grid, then its arguments."};
  l->slow = keep(slow);
  if (run) l->run = keep(run);
  l->fields = kind ? 1 << FIELD_FN | 1 << FIELD_ARG_NAMES | 1 << FIELD_VALUES : (1 << (FIELD_TEXTS + 1)) - 1;
  bool ok = true;
  for (uint32_t i = 0; i < NUM_WORDS; i++) ok = (l->words[i] = PyUnicode_InternFromString(word_texts[i])) && ok;
  Object *capsule = ok ? PyCapsule_New(l, capsule_name, layer_free) : NULL;
  if (!capsule) layer_destroy(l);
  Object *function = capsule ? PyCFunction_NewEx(&l->method, capsule, NULL) : NULL;
  Object *method = function ? PyInstanceMethod_New(function) : NULL;
  drop(function);
  drop(capsule);
  PyErr_Clear();
  return method;
}
