// What configurations of @triton.autotune and functions of @triton.heuristics give a kernel: constants and launch
// options.
#include "frontend/lower/lower.h"

#include <string.h>

// The launch option that a configuration or a heuristic names; NULL: none.
static uint32_t *launch_option(LaunchOptions *l, const char *name) {
  const struct { const char *name; uint32_t *field; } options[] = {
      {"num_warps", &l->num_warps}, {"num_stages", &l->num_stages}, {"num_ctas", &l->num_ctas},
      {"maxnreg", &l->maxnreg}};
  for (size_t i = 0; i < countof(options); i++)
    if (!strcmp(name, options[i].name)) return options[i].field;
  return NULL;
}

bool frontend_apply_config(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, LaunchOptions *launch,
                           const CtConfig *config) {
  for (uint32_t k = 0; config->kwargs && k < config->kwargs->count; k++) {
    const CtEntry *e = &config->kwargs->entries[k];
    if (e->key->kind != CT_STR) continue;
    uint32_t i = frontend_param_index(kernel, e->key->str.data);
    if (i < kernel->num_params && specs[i].kind != SPEC_OPEN && !specs[i].is_default) continue;
    // In Config({"num_warps": 8}) the configuration's own attribute of that name has precedence, as in Triton.
    if (i == kernel->num_params && launch_option(launch, e->key->str.data)) continue;
    if (!frontend_set_constexpr(fe, kernel, specs, e->key->str.data, e->value, "the autotune configuration"))
      return false;
  }
  if (config->num_warps) launch->num_warps = (uint32_t)config->num_warps;
  if (config->num_stages) launch->num_stages = (uint32_t)config->num_stages, launch->stages_given = true;
  if (config->num_ctas) launch->num_ctas = (uint32_t)config->num_ctas;
  if (config->maxnreg) launch->maxnreg = (uint32_t)config->maxnreg;
  return true;
}

// A heuristic's value for a launch option. False after a diagnostic.
static bool set_launch_option(Frontend *fe, const CtFunction *kernel, LaunchOptions *launch, const char *name,
                              CtValue *value) {
  value = ct_unwrap(value);
  if (value->kind == CT_NONE) return true;
  if (value->kind != CT_INT || value->i < 1 || value->i > UINT32_MAX) {
    diag_error(fe->ctx, kernel->def->func.name_span, "`%s` of kernel `%s` must be a whole number from 1 on; "
               "@triton.heuristics gives %s", name, kernel->name, ct_repr(fe->ctx, value));
    return false;
  }
  *launch_option(launch, name) = (uint32_t)value->i;
  if (!strcmp(name, "num_stages")) launch->stages_given = true;
  return true;
}

bool frontend_run_heuristics(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, LaunchOptions *launch,
                             CtDict *args) {
  for (uint32_t i = 0; i < kernel->num_params; i++)
    if (specs[i].kind == SPEC_CONSTEXPR && !ct_dict_get_str(args, kernel->params[i].name))
      ct_dict_set_str(fe->ctx, args, kernel->params[i].name, specs[i].value);
  CtValue dict = {.kind = CT_DICT, .dict = args}, *arg = &dict;
  for (uint32_t h = 0; h < kernel->num_heuristics; h++) {
    const CtHeuristic *heuristic = &kernel->heuristics[h];
    uint32_t i = frontend_param_index(kernel, heuristic->name);
    if (i < kernel->num_params && specs[i].kind != SPEC_OPEN && !specs[i].is_default) continue;
    CtValue *v = comptime_call(fe->ct, heuristic->fn, &arg, 1, NULL, 0, kernel->def->span);
    if (!v) return false;
    if (v->kind == CT_DICT)
      return diag_error(fe->ctx, kernel->def->func.name_span, "the heuristic of `%s` gives all arguments: write "
                        "lambda args: args[\"NAME\"], and compute with that", heuristic->name);
    const bool is_option = i == kernel->num_params && launch_option(launch, heuristic->name);
    if (is_option ? !set_launch_option(fe, kernel, launch, heuristic->name, v)
                  : !frontend_set_constexpr(fe, kernel, specs, heuristic->name, v, "@triton.heuristics"))
      return false;
    ct_dict_set_str(fe->ctx, args, heuristic->name, v);
  }
  return true;
}
