// Functions of the source that tuning calls: prune_configs_by, pre_hook and post_hook. They run in the jit's Context,
// one at a time.
#include <math.h>
#include <setjmp.h>
#include <string.h>

#include "ir/clock.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/source.h"

static tile_status failed(Call *c, const char *what, tile_error **error) {
  tile_status status = diag_error_count(c->ctx)
                           ? error_set_diagnostics(error, TILE_ERROR_PROGRAM, c->ctx, false)
                           : error_set(error, TILE_ERROR_PROGRAM, "%s: %s fails", c->k->name, what);
  diag_forget(c->ctx);
  return status;
}

// ---- pruning ----

static CtValue *member(const CtAutotune *tune, const char *name) {
  CtValue *by = tune->prune_configs_by ? ct_unwrap(tune->prune_configs_by) : NULL;
  CtValue *v = by && by->kind == CT_DICT ? ct_dict_get_str(by->dict, name) : NULL;
  return v && v->kind != CT_NONE ? v : NULL;
}

static tile_status early_prune(Call *c, CtValue *fn, bool *is_pruned, tile_error **error) {
  const CtAutotune *tune = c->k->fn->autotune;
  CtValue **configs = arena_array(&c->ctx->arena, CtValue *, tune->num_configs + 1);
  for (uint32_t i = 0; i < tune->num_configs; i++) configs[i] = tune->configs[i].object;
  CtValue *args[2] = {ct_list(c->ctx, configs, tune->num_configs), objects_of_args(c, NULL)};
  CtValue *left = args[1] ? comptime_call(c->ct, fn, args, 2, NULL, 0, (Span){0, 0}) : NULL;
  CtList kept = {0};
  if (!left || !comptime_iterate(c->ct, left, (Span){0, 0}, &kept)) return failed(c, "early_config_prune", error);
  if (!kept.count)
    return error_set(error, TILE_ERROR_PROGRAM,
                     "%s: early_config_prune leaves no configuration; it must return at least one", c->k->name);
  for (uint32_t i = 0; i < tune->num_configs; i++) {
    is_pruned[i] = true;
    for (uint32_t n = 0; n < kept.count; n++)
      is_pruned[i] = is_pruned[i] && ct_unwrap(kept.data[n]) != ct_unwrap(tune->configs[i].object);
  }
  return TILE_OK;
}

static bool as_number(CtValue *v, double *out) {
  v = v ? ct_unwrap(v) : NULL;
  if (!v || (v->kind != CT_INT && v->kind != CT_FLOAT)) return false;
  *out = v->kind == CT_INT ? (double)v->i : v->f;
  return true;
}

// perf_model(**arguments, **configuration) estimates a time; the top_k shortest stay. A top_k up to 1.0 is a fraction
// of all configurations.
static tile_status model_prune(Call *c, CtValue *model, CtValue *top_k, bool *is_pruned, tile_error **error) {
  const CtAutotune *tune = c->k->fn->autotune;
  uint32_t n = tune->num_configs, left = 0;
  double top;
  if (!as_number(top_k, &top))
    return error_set(error, TILE_ERROR_PROGRAM, "%s: top_k of prune_configs_by is not a number", c->k->name);
  if (ct_unwrap(top_k)->kind == CT_FLOAT && top <= 1) top = floor(top * n);
  double *estimates = arena_array(&c->ctx->arena, double, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    if (is_pruned[i]) continue;
    left++;
    CtValue *dict = objects_of_args(c, &tune->configs[i]);
    if (!dict) return failed(c, "perf_model", error);
    CtBinding *kwargs = arena_array(&c->ctx->arena, CtBinding, dict->dict->count + 1);
    for (uint32_t e = 0; e < dict->dict->count; e++)
      if (dict->dict->entries[e].key->kind != CT_STR)
        return error_set(error, TILE_ERROR_PROGRAM,
                         "%s: perf_model takes arguments by name, and a configuration has the key %s", c->k->name,
                         ct_repr(c->ctx, dict->dict->entries[e].key));
    for (uint32_t e = 0; e < dict->dict->count; e++)
      kwargs[e] = (CtBinding){intern(c->ctx, dict->dict->entries[e].key->str.data), dict->dict->entries[e].value};
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
  CtValue *early = member(tune, "early_config_prune"), *model = member(tune, "perf_model"),
          *top_k = member(tune, "top_k");
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
  return ok ? TILE_OK
            : error_set(error, TILE_ERROR_PROGRAM, "%s: a pre_hook leaves a descriptor of rank %u with block_shape %s",
                        c->k->name, t->rank, block ? ct_repr(c->ctx, block) : "missing");
}

// A hook can set only the block_shape of an object.
static tile_status check_object(Call *c, uint32_t param, tile_error **error) {
  const CtEnv *attrs = c->args[param]->instance->attrs;
  for (uint32_t i = 0; i < attrs->count; i++) {
    const char *name = attrs->bindings[i].name;
    if (name[0] == '_' || (c->r->args[param].kind == TILE_ARG_TENSOR && !strcmp(name, "block_shape"))) continue;
    return error_set(error, TILE_ERROR_PROGRAM,
                     "%s: a hook sets '%s' of '%s'; of a descriptor it can set block_shape, of an array nothing",
                     c->k->name, name, c->k->params[param].name);
  }
  return TILE_OK;
}

static bool fits(const CtValue *v, DtypeKind dtype) {
  if (dtype_info[dtype].cls == DTCLASS_FLOAT) return true;
  uint32_t bits = dtype_info[dtype].bits;
  bool is_signed = dtype_info[dtype].cls == DTCLASS_SIGNED;
  Int128 least = is_signed ? -((Int128)1 << (bits - 1)) : 0, most = ((Int128)1 << (is_signed ? bits - 1 : bits)) - 1;
  Int128 i = v->kind == CT_BOOL                  ? v->b
             : v->kind == CT_INT                 ? v->i
             : v->f >= -0x1p64 && v->f <= 0x1p64 ? (Int128)v->f
                                                 : (Int128)1 << 100;
  return i >= least && i <= most;
}

static tile_status read_fill(Call *c, CtValue *v, Effect *e, tile_error **error) {
  const tile_arg *a = &c->r->args[e->param];
  DtypeKind dtype = (DtypeKind)(a->kind == TILE_ARG_TENSOR ? a->value.tensor->type : a->type);
  const char *name = c->k->params[e->param].name;
  if (v->kind != CT_INT && v->kind != CT_BOOL && v->kind != CT_FLOAT)
    return error_set(error, TILE_ERROR_PROGRAM, "%s: a hook fills '%s' with %s; a number is needed", c->k->name, name,
                     ct_repr(c->ctx, v));
  if (!fits(v, dtype))
    return error_set(error, TILE_ERROR_PROGRAM, "%s: a hook fills '%s' with %s, which %s cannot hold", c->k->name, name,
                     ct_repr(c->ctx, v), dtype_info[dtype].short_name);
  e->is_float = v->kind == CT_FLOAT || (v->kind == CT_INT && dtype_info[dtype].cls == DTCLASS_FLOAT);
  if (v->kind == CT_FLOAT) e->f = v->f, e->i = fits(v, DT_INT64) ? (int64_t)v->f : 0;
  else e->i = (int64_t)(v->kind == CT_BOOL ? v->b : v->i), e->f = v->kind == CT_BOOL ? (double)v->b : (double)v->i;
  if (dtype_info[dtype].cls != DTCLASS_FLOAT) e->is_float = false;
  return TILE_OK;
}

// The number of the argument that an object stands for; -1: a hook cannot change it. The index is the source's to
// spoil.
static int array_param(const Call *c, const CtValue *index) {
  if (!index || index->kind != CT_INT || index->i < 0 || index->i >= c->k->num_params) return -1;
  const tile_arg_kind kind = c->r->args[index->i].kind;
  return kind == TILE_ARG_POINTER || kind == TILE_ARG_TENSOR ? (int)index->i : -1;
}

static tile_status read_effects(Call *c, Arena *a, Hooked *out, tile_error **error) {
  const CtList log = c->log->list;
  Effect *effects = arena_array(a, Effect, log.count + 1);
  for (uint32_t i = 0; i < log.count; i++) {
    const CtValue *entry = ct_unwrap(log.data[i]);
    const bool is_entry = entry->kind == CT_TUPLE && entry->list.count == 2;
    CtValue *v = is_entry ? ct_unwrap(entry->list.data[1]) : NULL;
    Effect *e = &effects[i];
    e->is_copy = v && v->kind == CT_INSTANCE;
    const int param = is_entry ? array_param(c, entry->list.data[0]) : -1,
              from = e->is_copy ? array_param(c, ct_instance_get(v->instance, intern(c->ctx, "_index"))) : param;
    if (param < 0 || from < 0)
      return error_set(error, TILE_ERROR_PROGRAM,
                       "%s: a hook changes what is inside an argument's object; it can only change arguments",
                       c->k->name);
    e->param = (uint16_t)param;
    e->from = (uint16_t)from;
    tile_status status = e->is_copy ? TILE_OK : read_fill(c, v, e, error);
    if (status != TILE_OK) return status;
  }
  out->effects = effects;
  out->num_effects = log.count;
  return TILE_OK;
}

// What the hook did to the objects, as arguments.
static tile_status read_back(Call *c, Arena *a, Hooked *out, tile_error **error) {
  tile_arg *args = arena_array(a, tile_arg, c->k->num_params + 1);
  tile_status status = read_effects(c, a, out, error);
  memcpy(args, c->r->args, c->k->num_params * sizeof *args);
  for (uint32_t i = 0; status == TILE_OK && i < c->k->num_params; i++) {
    if (args[i].kind == TILE_ARG_POINTER || args[i].kind == TILE_ARG_TENSOR) status = check_object(c, i, error);
    if (args[i].kind != TILE_ARG_TENSOR || status != TILE_OK) continue;
    tile_tensor *t = arena_new(a, tile_tensor);
    *t = *args[i].value.tensor;
    status = read_block(c, c->args[i], t, error);
    args[i].value.tensor = t;
  }
  out->args = args;
  return status;
}

static void start_over(Call *c, bool is_blind) {
  memset(c->args, 0, c->k->num_params * sizeof *c->args);
  c->log = ct_list(c->ctx, NULL, 0);
  c->is_blind = is_blind;
}

static tile_status run_pre_hooks(Call *c, const CtConfig *config, CtValue *all, bool is_blind, Arena *a, Hooked *out,
                                 tile_error **error) {
  start_over(c, is_blind);
  CtValue *dict = objects_of_args(c, config);
  if (!dict || (all && !call_hook(c, all, dict, "reset_only", ct_bool(false))) ||
      (config->pre_hook && !call_hook(c, config->pre_hook, dict, NULL, NULL)))
    return failed(c, "pre_hook", error);
  return read_back(c, a, out, error);
}

// Runs the hooks blind first: a hook that succeeds then does the same at every launch of the variant.
static tile_status pre_hooks(Call *c, const CtConfig *config, bool is_timed, Arena *a, Hooked *out,
                             tile_error **error) {
  const CtAutotune *tune = c->k->fn->autotune;
  CtValue *all = is_timed ? tune->pre_hook : NULL;
  *out = (Hooked){.args = c->r->args};
  if (!config->pre_hook && !all) return TILE_OK;
  if (run_pre_hooks(c, config, all, true, a, out, NULL) == TILE_OK) return TILE_OK;
  diag_forget(c->ctx);
  tile_status status = run_pre_hooks(c, config, all, false, a, out, error);
  out->depends = config->pre_hook != NULL;
  return status;
}

static tile_status post_hook(Call *c, const CtConfig *config, Arena *a, Hooked *out, tile_error **error) {
  start_over(c, false);
  CtValue *dict = objects_of_args(c, config);
  if (!dict || !call_hook(c, c->k->fn->autotune->post_hook, dict, "exception", ct_none()))
    return failed(c, "post_hook", error);
  return read_effects(c, a, out, error);
}

// ---- entering the Context ----

void jit_start_clock(tile_jit *jit) {
  jit->limits = (Limits){&jit->hooks, jit->compile_seconds > 0 ? clock_seconds() + jit->compile_seconds : 0};
  limits_apply(&jit->limits, &jit->ctx);
}

typedef struct {
  enum { CALL_PRUNE, CALL_PRE_HOOK, CALL_POST_HOOK } what;
  const Request *r;
  Arena *a;                    // for what comes out; NULL: nothing that needs memory
  uint32_t config;
  bool is_timed, *is_pruned;
  Hooked *hooked;
} Wish;
static const char doing[] = "running a function of the source";

static tile_status grant(Call *c, const Wish *w, Arena *a, tile_error **error) {
  const CtConfig *config = &c->k->fn->autotune->configs[w->config];
  switch (w->what) {
  case CALL_PRUNE: start_over(c, false); return prune(c, w->is_pruned, error);
  case CALL_PRE_HOOK: return pre_hooks(c, config, w->is_timed, a, w->hooked, error);
  default: return post_hook(c, config, a, w->hooked, error);
  }
}

// The caller holds the jit's lock.
static tile_status call(void *user, Arena *a, tile_error **error) {
  const Wish *w = user;
  tile_jit *jit = w->r->kernel->jit;
  Context *ctx = &jit->ctx;
  Call c = {.k = w->r->kernel, .r = w->r, .ctx = ctx, .ct = frontend_comptime(jit->frontend)};
  jmp_buf on_ice;
  tile_status status;
  int why = setjmp(on_ice);
  if (why) {
    comptime_left(c.ct);
    status = error_set_left(error, why, ctx, doing);
  } else {
    ctx->on_ice = &on_ice;
    jit_start_clock(jit);
    c.args = arena_array(&ctx->arena, CtValue *, c.k->num_params + 1);
    status = grant(&c, w, a, error);
  }
  ctx->on_ice = NULL;
  return status;
}

static tile_status locked_call(void *user, tile_error **error) {
  Wish *w = user;
  tile_jit *jit = w->r->kernel->jit;
  pthread_mutex_lock(&jit->lock);
  tile_status status = w->a ? scratch_contain(w->a, doing, call, w, error) : call(w, NULL, error);
  jit->ctx.on_ice = NULL;
  pthread_mutex_unlock(&jit->lock);
  return status;
}

static tile_status deep_call(Wish w, tile_error **error) { return deep_run(doing, locked_call, &w, error); }

tile_status jit_prune(const Request *r, bool *is_pruned, tile_error **error) {
  return deep_call((Wish){.what = CALL_PRUNE, .r = r, .is_pruned = is_pruned}, error);
}
tile_status jit_pre_hooks(const Request *r, uint32_t config, bool is_timed, Arena *a, Hooked *out, tile_error **error) {
  return deep_call((Wish){.what = CALL_PRE_HOOK, .r = r, .a = a, .config = config, .is_timed = is_timed, .hooked = out},
                   error);
}
tile_status jit_post_hook(const Request *r, uint32_t config, Arena *a, Hooked *out, tile_error **error) {
  return r->kernel->fn->autotune->post_hook
             ? deep_call((Wish){.what = CALL_POST_HOOK, .r = r, .a = a, .config = config, .hooked = out}, error)
             : TILE_OK;
}

bool jit_has_hooks(const tile_jit_kernel *k) {
  const CtAutotune *tune = k->fn->autotune;
  for (uint32_t i = 0; tune && i < tune->num_configs; i++)
    if (tune->configs[i].pre_hook) return true;
  return false;
}

static bool is_named(const CtValue *list, const char *name) {
  const CtValue *v = list ? ct_unwrap((CtValue *)(uintptr_t)list) : NULL;
  if (!v || !ct_has_list(v)) return false;
  for (uint32_t i = 0; i < v->list.count; i++) {
    const CtValue *item = ct_unwrap(v->list.data[i]);
    if (item->kind == CT_STR && !strcmp(item->str.data, name)) return true;
  }
  return false;
}
bool jit_is_reset(const tile_jit_kernel *k, uint32_t param) {
  return is_named(k->fn->autotune->reset_to_zero, k->params[param].name);
}
bool jit_is_key(const CtFunction *fn, const char *param) { return fn->autotune && is_named(fn->autotune->key, param); }
