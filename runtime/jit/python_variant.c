// The launch of one variant by position, as torch.compile and others make it of a compiled kernel:
//   run(grid0, grid1, grid2, stream, function, packed metadata, metadata, enter hook, exit hook, *args)
// Everything unusual goes to a function of the module, which takes the same.
#include <stdlib.h>

#include "runtime/jit/python_launcher.h"

enum { RUN_STREAM = 3, RUN_ENTER_HOOK = 7, RUN_EXIT_HOOK, RUN_ARGS };

typedef struct {
  MethodDef method;
  Object *launcher, *slow;   // launcher: its capsule
  const tile_variant *v;
  uint32_t num_params, num_free;
  uint32_t free_params[];    // those whose values the variant does not have
} Runner;

static const char runner_capsule[] = "tile.runner";

static bool takes_python(const Runner *r, const Launcher *l, Object *const *args, intptr_t n, const Object *names) {
  if (!l || !l->k || r->v->hook || names || n < RUN_ARGS) return true;
  if (n - RUN_ARGS != r->num_params && n - RUN_ARGS != r->num_free) return true;
  for (uint32_t i = RUN_ENTER_HOOK; i <= RUN_EXIT_HOOK; i++)
    if (args[i] != &_Py_NoneStruct && PyObject_IsTrue(args[i])) return true;
  return false;
}

// args: of all parameters or of the free ones.
static bool free_args(const Runner *r, Launcher *l, Object *const *args, bool is_all, tile_arg *out, Items *pool) {
  for (uint32_t i = 0; i < r->num_params; i++) out[i] = tile_arg_default();
  for (uint32_t i = 0; i < r->num_free; i++) {
    uint32_t p = r->free_params[i];
    if (!launcher_arg(l, p, args[is_all ? p : i], &out[p], pool)) return false;
  }
  return true;
}

static bool read_stream(Launcher *l, Object *o, void **stream) {
  *stream = NULL;
  if (o == &_Py_NoneStruct) return launcher_stream(l, stream);
  if (o->type != &PyLong_Type) return false;
  *stream = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(o);
  return !PyErr_Occurred();
}

static bool try_run(const Runner *r, Object *const *args, intptr_t n, const Object *names) {
  Launcher *l = PyCapsule_GetPointer(r->launcher, launcher_capsule);
  uint32_t grid[3];
  void *stream;
  if (takes_python(r, l, args, n, names)) return false;
  for (uint32_t i = 0; i < countof(grid); i++)
    if (!launcher_grid_axis(args[i], &grid[i])) return false;
  if (!grid[0] || !grid[1] || !grid[2]) return true;
  ArgList list;
  if (!read_stream(l, args[RUN_STREAM], &stream) || !arg_list_init(&list, r->num_params)) return false;
  Items pool;
  pool.num_items = pool.num_tuples = pool.num_bytes = 0;
  bool ok = free_args(r, l, args + RUN_ARGS, n - RUN_ARGS == r->num_params, list.data, &pool);
  if (ok) {
    void *thread = PyEval_SaveThread();
    ok = jit_variant_launch(r->v, grid, stream, list.data, NULL) == TILE_OK;
    PyEval_RestoreThread(thread);
  }
  arg_list_free(&list);
  return ok;
}

static Object *run(Object *self, Object *const *args, intptr_t n, Object *names) {
  const Runner *r = PyCapsule_GetPointer(self, runner_capsule);
  if (!r) return NULL;
  if (try_run(r, args, n, names)) return keep(&_Py_NoneStruct);
  return clear_error() ? PyObject_Vectorcall(r->slow, args, (size_t)n, names) : NULL;
}

static void runner_free(Object *capsule) {
  Runner *r = PyCapsule_GetPointer(capsule, runner_capsule);
  drop(r->launcher);
  drop(r->slow);
  free(r);
}

void *tile_jit_python_variant(void *capsule, const tile_variant *variant, void *free_params, void *slow) {
  if (!capsule || !variant || !free_params || !slow || ((Object *)free_params)->type != &PyTuple_Type) return NULL;
  intptr_t n = PyTuple_Size(free_params);
  Runner *r = calloc(1, sizeof *r + (size_t)n * sizeof *r->free_params);
  if (!r) return NULL;
  *r = (Runner){.method = {"run", run, METH_FASTCALL | METH_KEYWORDS, "Launches the variant by position."},
                .launcher = keep(capsule), .slow = keep(slow), .v = variant,
                .num_params = variant->owner->num_params, .num_free = (uint32_t)n};
  bool ok = n <= r->num_params;
  for (intptr_t i = 0; ok && i < n; i++) {
    int overflow;
    long long p = PyLong_AsLongLongAndOverflow(PyTuple_GetItem(free_params, i), &overflow);
    r->free_params[i] = (uint32_t)p;
    ok = p >= 0 && p < r->num_params;
  }
  Object *c = ok ? PyCapsule_New(r, runner_capsule, runner_free) : NULL;
  if (!c) {
    drop(r->launcher);
    drop(r->slow);
    free(r);
  }
  Object *function = c ? PyCFunction_NewEx(&r->method, c, NULL) : NULL;
  drop(c);   // the function holds it, or nobody does
  return function;
}
