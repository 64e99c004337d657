// Functions of the source that tuning calls: prune_configs_by, pre_hook and post_hook. They run in the jit's Context, one at a
// time, and see scalars as values and arrays and descriptors as objects that remember what is done to them.
#include <setjmp.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/jit_impl.h"

// What a function of the source can do with an argument in memory.
static const char objects[] =
  "class Tensor:\n"
  "    def __init__(self, dtype):\n"
  "        self.dtype = dtype\n"
  "        self.is_zeroed = False\n"
  "    def zero_(self):\n"
  "        self.is_zeroed = True\n"
  "        return self\n"
  "    def fill_(self, value):\n"
  "        if value != 0:\n"
  "            raise ValueError('a hook can fill an array with zeros only')\n"
  "        return self.zero_()\n"
  "class TensorDescriptor:\n"
  "    def __init__(self, dtype, shape, strides, block_shape):\n"
  "        self.dtype = dtype\n"
  "        self.shape = shape\n"
  "        self.strides = strides\n"
  "        self.block_shape = block_shape\n";

typedef struct {
  tile_jit_kernel *k;
  const Request *r;
  Context *ctx;
  Comptime *ct;
  CtValue *args[JIT_MAX_PARAMS];     // NULL: not given
} Call;

static tile_status failed(Call *c, const char *what, tile_error **error) {
  tile_status status = diag_error_count(c->ctx) ? error_set_diagnostics(error, TILE_ERROR_PROGRAM, c->ctx, false)
                                                : error_set(error, TILE_ERROR_PROGRAM, "%s: %s fails", c->k->name, what);
  c->ctx->diags = c->ctx->last_diag = NULL;
  c->ctx->num_errors = 0;
  return status;
}

static CtValue *object(Call *c, const char *cls, CtValue *const *args, uint32_t n) {
  tile_jit *jit = c->k->jit;
  if (!jit->objects) jit->objects = comptime_load_source(c->ct, source_add(c->ctx, "<objects of arguments>", objects, sizeof objects - 1), "<objects>");
  CtValue *v = jit->objects ? env_get_local(jit->objects->env, intern(c->ctx, cls)) : NULL;
  return v ? comptime_call(c->ct, v, args, n, NULL, 0, (Span){0, 0}) : NULL;
}

static CtValue *int_list(Context *ctx, const int64_t *v, uint32_t n) {
  CtValue *items[TILE_MAX_RANK];
  for (uint32_t i = 0; i < n; i++) items[i] = ct_int(ctx, v[i]);
  return ct_list(ctx, items, n);
}

static CtValue *dtype_value(Context *ctx, tile_type type) { return ct_dtype(ctx, ct_type_scalar(ctx, (DtypeKind)type)); }

static CtValue *argument(Call *c, const tile_arg *a) {
  switch (a->kind) {
  case TILE_ARG_INT: return ct_int(c->ctx, a->value.i);
  case TILE_ARG_FLOAT: return ct_float(c->ctx, a->value.f);
  case TILE_ARG_BOOL: return ct_bool(c->ctx, a->value.i != 0);
  case TILE_ARG_TEXT: return ct_str(c->ctx, a->value.text);
  case TILE_ARG_TUPLE: {
    const tile_tuple *t = a->value.tuple;
    CtValue **items = arena_array(&c->ctx->arena, CtValue *, t->num_items + 1);
    for (uint32_t i = 0; i < t->num_items; i++)
      if (!(items[i] = argument(c, &t->items[i]))) return NULL;
    return ct_tuple(c->ctx, items, t->num_items);
  }
  case TILE_ARG_POINTER: return object(c, "Tensor", (CtValue *[]){dtype_value(c->ctx, a->type)}, 1);
  case TILE_ARG_TENSOR: {
    const tile_tensor *t = a->value.tensor;
    CtValue *args[] = {dtype_value(c->ctx, t->type), int_list(c->ctx, t->shape, t->rank), int_list(c->ctx, t->strides, t->rank), int_list(c->ctx, t->block, t->rank)};
    return object(c, "TensorDescriptor", args, countof(args));
  }
  default: return ct_none(c->ctx);
  }
}

// Name to value, for all arguments that are given; those of a configuration, if there is one, win.
static CtValue *named_args(Call *c, const CtConfig *config) {
  CtValue *dict = ct_dict(c->ctx);
  for (uint32_t i = 0; i < c->k->num_params; i++) {
    if (c->r->args[i].kind == TILE_ARG_DEFAULT) continue;
    if (!c->args[i] && !(c->args[i] = argument(c, &c->r->args[i]))) return NULL;
    dict_set_str(c->ctx, dict->dict, c->k->params[i].name, c->args[i]);
  }
  if (!config) return dict;
  for (uint32_t i = 0; config->kwargs && i < config->kwargs->count; i++) dict_set(c->ctx, dict->dict, config->kwargs->entries[i].key, config->kwargs->entries[i].value);
  const struct { const char *name; int value; } numbers[] = {{"num_warps", config->num_warps}, {"num_stages", config->num_stages}, {"num_ctas", config->num_ctas}};
  for (uint32_t i = 0; i < countof(numbers); i++)
    if (numbers[i].value) dict_set_str(c->ctx, dict->dict, numbers[i].name, ct_int(c->ctx, numbers[i].value));
  return dict;
}

// ---- pruning ----

static CtValue *member(const CtAutotune *tune, const char *name) {
  CtValue *by = tune->prune_configs_by ? ct_unwrap(tune->prune_configs_by) : NULL;
  CtValue *v = by && by->kind == CT_DICT ? dict_get_str(by->dict, name) : NULL;
  return v && v->kind != CT_NONE ? v : NULL;
}

static tile_status early_prune(Call *c, CtValue *fn, bool *is_pruned, tile_error **error) {
  const CtAutotune *tune = c->k->fn->autotune;
  CtValue **configs = arena_array(&c->ctx->arena, CtValue *, tune->num_configs + 1);
  for (uint32_t i = 0; i < tune->num_configs; i++) configs[i] = tune->configs[i].object;
  CtValue *args[2] = {ct_list(c->ctx, configs, tune->num_configs), named_args(c, NULL)};
  CtValue *left = args[1] ? comptime_call(c->ct, fn, args, 2, NULL, 0, (Span){0, 0}) : NULL;
  CtList kept = {0};
  if (!left || !comptime_iterate(c->ct, left, (Span){0, 0}, &kept)) return failed(c, "early_config_prune", error);
  if (!kept.count) return error_set(error, TILE_ERROR_PROGRAM, "%s: early_config_prune leaves no configuration", c->k->name);
  for (uint32_t i = 0; i < tune->num_configs; i++) {
    is_pruned[i] = true;
    for (uint32_t n = 0; n < kept.count; n++) is_pruned[i] = is_pruned[i] && ct_unwrap(kept.data[n]) != ct_unwrap(tune->configs[i].object);
  }
  return TILE_OK;
}

static bool as_number(CtValue *v, double *out) {
  v = v ? ct_unwrap(v) : NULL;
  if (!v || (v->kind != CT_INT && v->kind != CT_FLOAT)) return false;
  *out = v->kind == CT_INT ? (double)v->i : v->f;
  return true;
}

// perf_model(**arguments, **configuration) estimates a time; the top_k shortest stay. A fraction is one of all configurations.
static tile_status model_prune(Call *c, CtValue *model, CtValue *top_k, bool *is_pruned, tile_error **error) {
  const CtAutotune *tune = c->k->fn->autotune;
  uint32_t n = tune->num_configs, left = 0;
  double top;
  if (!as_number(top_k, &top)) return error_set(error, TILE_ERROR_PROGRAM, "%s: top_k of prune_configs_by is no number", c->k->name);
  if (ct_unwrap(top_k)->kind == CT_FLOAT && top <= 1) top = (double)(uint32_t)(top * n);
  double *estimates = arena_array(&c->ctx->arena, double, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    if (is_pruned[i]) continue;
    left++;
    CtValue *dict = named_args(c, &tune->configs[i]);
    if (!dict) return failed(c, "perf_model", error);
    CtBinding *kwargs = arena_array(&c->ctx->arena, CtBinding, dict->dict->count + 1);
    for (uint32_t e = 0; e < dict->dict->count; e++) kwargs[e] = (CtBinding){intern(c->ctx, dict->dict->entries[e].key->str.data), dict->dict->entries[e].value};
    CtValue *estimate = comptime_call(c->ct, model, NULL, 0, kwargs, dict->dict->count, (Span){0, 0});
    if (!as_number(estimate, &estimates[i])) return failed(c, "perf_model", error);
  }
  for (; left > 1 && left > top; left--) {
    uint32_t worst = n;
    for (uint32_t i = 0; i < n; i++)
      if (!is_pruned[i] && (worst == n || estimates[i] >= estimates[worst])) worst = i;
    is_pruned[worst] = true;
  }
  return TILE_OK;
}

static tile_status prune(Call *c, bool *is_pruned, tile_error **error) {
  const CtAutotune *tune = c->k->fn->autotune;
  CtValue *early = member(tune, "early_config_prune"), *model = member(tune, "perf_model"), *top_k = member(tune, "top_k");
  tile_status status = early ? early_prune(c, early, is_pruned, error) : TILE_OK;
  if (status == TILE_OK && model && top_k) status = model_prune(c, model, top_k, is_pruned, error);
  return status;
}

// ---- hooks ----

static bool call_hook(Call *c, CtValue *hook, CtValue *dict, const char *keyword, CtValue *value) {
  const CtBinding kwargs[] = {{keyword ? intern(c->ctx, keyword) : NULL, value}};
  return comptime_call(c->ct, hook, &dict, 1, kwargs, keyword ? 1 : 0, (Span){0, 0}) != NULL;
}

static tile_status read_block(Call *c, CtValue *object_, tile_tensor *t, tile_error **error) {
  CtValue *block = comptime_get_attr(c->ct, object_, "block_shape");
  block = block ? ct_unwrap(block) : NULL;
  bool ok = block && (block->kind == CT_LIST || block->kind == CT_TUPLE) && block->list.count == t->rank;
  for (uint32_t i = 0; ok && i < t->rank; i++) {
    const CtValue *v = ct_unwrap(block->list.data[i]);
    if ((ok = v->kind == CT_INT && v->i > 0 && v->i <= INT32_MAX)) t->block[i] = (int64_t)v->i;
  }
  return ok ? TILE_OK : error_set(error, TILE_ERROR_PROGRAM, "%s: a pre_hook leaves a descriptor of rank %u with block_shape %s", c->k->name, t->rank, block ? ct_repr(c->ctx, block) : "missing");
}

// What the hook did to the objects, as arguments.
static tile_status read_back(Call *c, Arena *a, Hooked *out, tile_error **error) {
  tile_arg *args = arena_array(a, tile_arg, c->k->num_params + 1);
  tile_status status = TILE_OK;
  memcpy(args, c->r->args, c->k->num_params * sizeof *args);
  for (uint32_t i = 0; status == TILE_OK && i < c->k->num_params; i++) {
    if (args[i].kind == TILE_ARG_POINTER) {
      const CtValue *zeroed = comptime_get_attr(c->ct, c->args[i], "is_zeroed");
      if (zeroed && ct_is_true(zeroed)) out->zeroes |= UINT64_C(1) << i;
    } else if (args[i].kind == TILE_ARG_TENSOR) {
      tile_tensor *t = arena_new(a, tile_tensor);
      *t = *args[i].value.tensor;
      status = read_block(c, c->args[i], t, error);
      args[i].value.tensor = t;
    }
  }
  out->args = args;
  return status;
}

static tile_status pre_hooks(Call *c, const CtConfig *config, bool is_timed, Arena *a, Hooked *out, tile_error **error) {
  const CtAutotune *tune = c->k->fn->autotune;
  CtValue *all = is_timed ? tune->pre_hook : NULL;
  *out = (Hooked){.args = c->r->args};
  if (!config->pre_hook && !all) return TILE_OK;
  CtValue *dict = named_args(c, config);
  if (!dict || (all && !call_hook(c, all, dict, "reset_only", ct_bool(c->ctx, false))) || (config->pre_hook && !call_hook(c, config->pre_hook, dict, NULL, NULL)))
    return failed(c, "pre_hook", error);
  return read_back(c, a, out, error);
}

static tile_status post_hook(Call *c, const CtConfig *config, tile_error **error) {
  CtValue *dict = named_args(c, config);
  return dict && call_hook(c, c->k->fn->autotune->post_hook, dict, "exception", ct_none(c->ctx)) ? TILE_OK : failed(c, "post_hook", error);
}

// ---- entering the Context ----

typedef struct { enum { CALL_PRUNE, CALL_PRE_HOOK, CALL_POST_HOOK } what; uint32_t config; bool is_timed; bool *is_pruned; Arena *arena; Hooked *hooked; } Wish;

static tile_status grant(Call *c, const Wish *w, tile_error **error) {
  const CtConfig *config = &c->k->fn->autotune->configs[w->config];
  switch (w->what) {
  case CALL_PRUNE: return prune(c, w->is_pruned, error);
  case CALL_PRE_HOOK: return pre_hooks(c, config, w->is_timed, w->arena, w->hooked, error);
  default: return post_hook(c, config, error);
  }
}

static tile_status call(tile_jit_kernel *k, const Request *r, const Wish *w, tile_error **error) {
  Context *ctx = &k->jit->ctx;
  Call c = {.k = k, .r = r, .ctx = ctx, .ct = frontend_comptime(k->jit->frontend)};
  pthread_mutex_lock(&k->jit->lock);
  jmp_buf on_ice;
  tile_status status;
  int why = setjmp(on_ice);
  if (why) {
    status = error_set_left(error, why, ctx, "running a function of the source");
  } else {
    ctx->on_ice = &on_ice;
    status = grant(&c, w, error);
  }
  ctx->on_ice = NULL;
  pthread_mutex_unlock(&k->jit->lock);
  return status;
}

tile_status jit_prune(tile_jit_kernel *k, const Request *r, bool *is_pruned, tile_error **error) {
  return call(k, r, &(Wish){.what = CALL_PRUNE, .is_pruned = is_pruned}, error);
}
tile_status jit_pre_hooks(tile_jit_kernel *k, const Request *r, uint32_t config, bool is_timed, Arena *a, Hooked *out, tile_error **error) {
  return call(k, r, &(Wish){.what = CALL_PRE_HOOK, .config = config, .is_timed = is_timed, .arena = a, .hooked = out}, error);
}
tile_status jit_post_hook(tile_jit_kernel *k, const Request *r, uint32_t config, tile_error **error) {
  return k->fn->autotune->post_hook ? call(k, r, &(Wish){.what = CALL_POST_HOOK, .config = config}, error) : TILE_OK;
}

bool jit_has_hooks(const tile_jit_kernel *k) {
  const CtAutotune *tune = k->fn->autotune;
  for (uint32_t i = 0; tune && i < tune->num_configs; i++)
    if (tune->configs[i].pre_hook) return true;
  return false;
}

static bool is_named(const CtValue *list, const char *name) {
  const CtValue *v = list ? ct_unwrap((CtValue *)(uintptr_t)list) : NULL;
  if (!v || (v->kind != CT_LIST && v->kind != CT_TUPLE)) return false;
  for (uint32_t i = 0; i < v->list.count; i++) {
    const CtValue *item = ct_unwrap(v->list.data[i]);
    if (item->kind == CT_STR && !strcmp(item->str.data, name)) return true;
  }
  return false;
}
bool jit_is_reset(const tile_jit_kernel *k, uint32_t param) { return is_named(k->fn->autotune->reset_to_zero, k->params[param].name); }
bool jit_is_key(const CtFunction *fn, const char *param) { return fn->autotune && is_named(fn->autotune->key, param); }
