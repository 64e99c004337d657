// The configuration of @triton.autotune that a launch runs with: by a known result, by tuning now, or, without tuning,
// the first that compiles.
#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

typedef struct { const Request *r; uint32_t config; tile_variant *variant; } Hooking;

static tile_status compile_with_hook(void *user, Arena *a, tile_error **error) {
  Hooking *x = user;
  Hooked h;
  tile_status status = jit_pre_hooks(x->r, x->config, false, a, &h, error);
  if (status != TILE_OK) return status;
  const Request hooked = {x->r->kernel, x->r->key, x->r->options, h.args, NULL};
  status = jit_compile(&hooked, (int)x->config, &x->variant, error);
  return status == TILE_OK ? jit_keep_hook(x->variant, x->r, &h, (int)x->config, error) : status;
}

// Compiles one configuration, with what its pre_hook does to the arguments.
static tile_status compile_hooked(const Request *r, uint32_t config, tile_variant **variant, tile_error **error) {
  Hooking x = {r, config, NULL};
  tile_status status = jit_scratch(r->kernel->jit, "making a variant", compile_with_hook, &x, error);
  if (status == TILE_OK) *variant = x.variant;
  else jit_variant_free(x.variant);
  return status;
}

tile_status jit_first(const Request *r, tile_variant **variant, tile_error **error) {
  if (!jit_has_hooks(r->kernel)) return jit_compile(r, CONFIG_FIRST, variant, error);
  tile_error *first = NULL;
  for (uint32_t i = 0; i < r->kernel->fn->autotune->num_configs; i++) {
    tile_error *e = NULL;
    if (compile_hooked(r, i, variant, &e) == TILE_OK) {
      tile_error_free(first);
      return TILE_OK;
    }
    if (first) tile_error_free(e);
    else first = e;
  }
  return error_pass_on(error, first);
}

typedef struct { const Request *r; tile_variant *variant; } Choosing;

static tile_status tuned(void *user, Arena *a, tile_error **error) {
  Choosing *x = user;
  tile_jit_kernel *k = x->r->kernel;
  const char *key = jit_result_key(a, x->r);
  int config = jit_find_result(k, key);
  if (config >= 0) return compile_hooked(x->r, (uint32_t)config, &x->variant, error);
  return k->jit->tune == TILE_TUNE_SAVED ? jit_first(x->r, &x->variant, error)
                                         : jit_tune(x->r, key, NULL, &x->variant, error);
}

tile_status jit_tuned(const Request *r, tile_variant **variant, tile_error **error) {
  Choosing x = {r, NULL};
  tile_status status = jit_scratch(r->kernel->jit, "tuning", tuned, &x, error);
  if (status == TILE_OK) *variant = x.variant;
  return status;
}
