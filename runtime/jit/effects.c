// What hooks of the source do to arrays, done on the device: at each launch, and while candidates are timed. A hook is
// run when a variant is made. If nothing it looked at can be another at the next launch, what it did is done again
// then; otherwise it is run again for each set of values that comes.
#include <string.h>

#include "ir/num.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

// ---- doing ----

typedef struct { uint64_t address; DtypeKind dtype; size_t bytes; } Array;

static tile_status array_of(const Request *r, uint32_t param, Array *x, tile_error **error) {
  const tile_arg *a = &r->args[param];
  bool is_tensor = a->kind == TILE_ARG_TENSOR;
  x->address = is_tensor ? a->value.tensor->base : a->value.pointer;
  x->dtype = (DtypeKind)(is_tensor ? a->value.tensor->type : a->type);
  x->bytes = r->options->arg_bytes && param < r->options->num_arg_bytes ? r->options->arg_bytes[param] : 0;
  return x->bytes ? TILE_OK
                  : error_set(error, TILE_ERROR_USAGE, "%s: a hook changes '%s': give its size in arg_bytes",
                              r->kernel->name, r->kernel->params[param].name);
}

static uint64_t pattern_of(DtypeKind dtype, const Effect *e) {
  uint64_t bits = 0;
  HostTensor one = {.dtype = dtype, .rank = 1, .shape = {1}, .count = 1, .data = (uint8_t *)&bits};
  if (e->is_float) host_set(&one, 0, e->f);
  else host_set_int(&one, 0, e->i);
  return bits;
}

static tile_status apply(const Request *r, const Effect *e, tile_error **error) {
  const tile_jit_kernel *k = r->kernel;
  const DeviceOps *ops = k->jit->device->ops;
  Array to, from;
  tile_status status = array_of(r, e->param, &to, error);
  if (status != TILE_OK) return status;
  const uint32_t elem = host_elem_bytes(to.dtype);
  if (!e->is_copy)
    return ops->fill(k->jit->device, to.address, pattern_of(to.dtype, e), elem, to.bytes / elem, r->options->stream,
                     error);
  if ((status = array_of(r, e->from, &from, error)) != TILE_OK) return status;
  if (to.dtype != from.dtype || to.bytes != from.bytes)
    return error_set(
        error, TILE_ERROR_USAGE,
        "%s: a hook copies '%s' (%zu bytes of %s) into '%s' (%zu bytes of %s); they must be of one type and size",
        k->name, k->params[e->from].name, from.bytes, dtype_info[from.dtype].short_name, k->params[e->param].name,
        to.bytes, dtype_info[to.dtype].short_name);
  return ops->copy(k->jit->device, to.address, from.address, to.bytes, r->options->stream, error);
}

tile_status jit_apply_effects(const Request *r, const Effect *effects, uint32_t count, tile_error **error) {
  tile_status status = TILE_OK;
  for (uint32_t i = 0; status == TILE_OK && i < count; i++) status = apply(r, &effects[i], error);
  return status;
}

// ---- remembering ----

static void mix(uint64_t sum[2], const void *bytes, size_t size) {
  for (int i = 0; i < 2; i++) sum[i] = cache_hash(bytes, size, sum[i] + (uint64_t)i);
}

static void mix_tensor(uint64_t sum[2], const tile_tensor *t) {
  uint32_t rank = t->rank <= TILE_MAX_RANK ? t->rank : 0;
  mix(sum, &rank, sizeof rank);
  mix(sum, t->shape, rank * sizeof *t->shape);
  mix(sum, t->strides, rank * sizeof *t->strides);
}

static void mix_arg(uint64_t sum[2], const tile_arg *a, bool with_addresses) {
  if (a->kind == TILE_ARG_TENSOR) {
    mix_tensor(sum, a->value.tensor);
    if (with_addresses) mix(sum, &a->value.tensor->base, sizeof a->value.tensor->base);
  } else if (a->kind == TILE_ARG_TUPLE) {
    for (uint32_t i = 0; i < a->value.tuple->num_items; i++) mix_arg(sum, &a->value.tuple->items[i], with_addresses);
  } else if (a->kind == TILE_ARG_TEXT) {
    mix(sum, a->value.text, strlen(a->value.text));
  } else if (a->kind != TILE_ARG_NONE && a->kind != TILE_ARG_DEFAULT &&
             (a->kind != TILE_ARG_POINTER || with_addresses)) {
    mix(sum, &a->value.i, sizeof a->value.i);
  }
}

// All that a hook can look at, but addresses only where the source asks for any.
static void sum_values(const Request *r, uint64_t sum[2]) {
  const tile_jit_kernel *k = r->kernel;
  const Comptime *ct = frontend_comptime(k->jit->frontend);
  bool with_addresses = false;
  for (uint32_t i = 0; i < comptime_num_files(ct); i++)
    with_addresses = with_addresses || strstr(comptime_file(ct, i)->text, "data_ptr");
  const tile_jit_launch_options *o = r->options;
  memset(sum, 0, 2 * sizeof *sum);
  for (uint32_t i = 0; i < k->num_params; i++) {
    mix_arg(sum, &r->args[i], with_addresses);
    if (o->arg_bytes && i < o->num_arg_bytes) mix(sum, &o->arg_bytes[i], sizeof *o->arg_bytes);
    if (o->arg_shapes && i < o->num_arg_shapes) mix_tensor(sum, &o->arg_shapes[i]);
  }
}

static bool same_blocks(const tile_jit_kernel *k, const HookRun *run, const tile_arg *args) {
  for (uint32_t i = 0; i < k->num_params; i++)
    if (args[i].kind == TILE_ARG_TENSOR && memcmp(&run->blocks[i * TILE_MAX_RANK], args[i].value.tensor->block,
                                                  args[i].value.tensor->rank * sizeof(int64_t)))
      return false;
  return true;
}

typedef struct { const Request *r; const Hooked *h; int config; tile_variant *v; HookRun *run; } Keeping;

static tile_status new_run(void *user, Arena *a, tile_error **error) {
  (void)error;
  Keeping *keep = user;
  const Hooked *h = keep->h;
  const uint32_t n = keep->r->kernel->num_params;
  HookRun *run = arena_new(a, HookRun);
  Effect *effects = arena_array(a, Effect, h->num_effects + 1);
  int64_t *blocks = arena_array(a, int64_t, n * TILE_MAX_RANK + 1);
  if (h->num_effects) memcpy(effects, h->effects, h->num_effects * sizeof *effects);
  for (uint32_t i = 0; i < n; i++)
    if (h->args[i].kind == TILE_ARG_TENSOR)
      memcpy(&blocks[i * TILE_MAX_RANK], h->args[i].value.tensor->block, sizeof h->args[i].value.tensor->block);
  *run = (HookRun){.effects = effects,
                   .num_effects = h->num_effects,
                   .depends = h->depends,
                   .config = keep->config,
                   .blocks = blocks,
                   .variant = keep->v};
  if (h->depends) sum_values(keep->r, run->values);
  keep->run = run;
  return TILE_OK;
}

// The first of v's runs, or the one after that.
static tile_status keep_run(const Request *r, const Hooked *h, int config, tile_variant *v, HookRun **first,
                            HookRun **out, tile_error **error) {
  tile_jit_kernel *k = r->kernel;
  Keeping keep = {r, h, config, v, NULL};
  pthread_mutex_lock(&k->lock);
  tile_status status = scratch_contain(&k->arena, "keeping what a hook does", new_run, &keep, error);
  if (status == TILE_OK && *first) keep.run->next = (*first)->next, (*first)->next = keep.run;
  else if (status == TILE_OK) *first = keep.run;
  pthread_mutex_unlock(&k->lock);
  *out = keep.run;
  return status;
}

tile_status jit_keep_hook(tile_variant *v, const Request *r, const Hooked *h, int config, tile_error **error) {
  HookRun *run;
  return h->num_effects || h->depends ? keep_run(r, h, config, v, &v->hook, &run, error) : TILE_OK;
}

// The run for these values, or NULL.
static const HookRun *known_run(tile_jit_kernel *k, const tile_variant *v, const uint64_t sum[2]) {
  pthread_mutex_lock(&k->lock);
  const HookRun *run = v->hook;
  while (run && memcmp(run->values, sum, sizeof run->values)) run = run->next;
  pthread_mutex_unlock(&k->lock);
  return run;
}

// A variant with the blocks that h says: one of those of this hook's runs, or a new one.
static tile_status variant_for(const Request *r, const tile_variant *v, const Hooked *h, tile_variant **out,
                               tile_error **error) {
  tile_jit_kernel *k = r->kernel;
  pthread_mutex_lock(&k->lock);
  const HookRun *run = v->hook;
  while (run && !same_blocks(k, run, h->args)) run = run->next;
  pthread_mutex_unlock(&k->lock);
  if (run) return *out = run->variant, TILE_OK;
  tile_status status = jit_may_make(r, error);
  if (status != TILE_OK) return status;
  const Request hooked = {k, r->key, r->options, h->args, NULL};
  if ((status = jit_compile(&hooked, v->hook->config, out, error)) == TILE_OK) jit_own_variant(k, *out);
  return status;
}

typedef struct { const Request *r; tile_variant *v; HookRun *run; } Again;

static tile_status run_again(void *user, Arena *a, tile_error **error) {
  Again *again = user;
  tile_variant *v = again->v, *with = NULL;
  Hooked h;
  tile_status status = jit_pre_hooks(again->r, (uint32_t)v->hook->config, false, a, &h, error);
  if (status == TILE_OK) status = variant_for(again->r, v, &h, &with, error);
  h.depends = true;
  return status == TILE_OK ? keep_run(again->r, &h, v->hook->config, with, &v->hook, &again->run, error) : status;
}

tile_status jit_launch_hook(const Request *r, tile_variant **variant, tile_error **error) {
  const HookRun *run = (*variant)->hook;
  if (run->depends) {
    uint64_t sum[2];
    sum_values(r, sum);
    if (!(run = known_run(r->kernel, *variant, sum))) {
      Again again = {r, *variant, NULL};
      tile_status status = jit_scratch(r->kernel->jit, "running a hook", run_again, &again,
                                       error);
      if (status != TILE_OK) return status;
      run = again.run;
    }
  }
  *variant = run->variant;
  return jit_apply_effects(r, run->effects, run->num_effects, error);
}
