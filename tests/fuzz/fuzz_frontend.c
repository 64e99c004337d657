// Any bytes as a program: refused with diagnostics, or each kernel lowers, under guessed types, to IR that the verifier accepts.
#include <stdlib.h>
#include <string.h>

#include "frontend/syntax/syntax.h"
#include "frontend/frontend.h"

enum { MAX_KERNELS = 4, STEPS = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What the source does not say: pointers for one-letter names and those with "ptr", else integers; 16 for constants.
static void close_specs(Context *ctx, Frontend *fe, const CtFunction *kernel, ParamSpec *specs) {
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    if (specs[i].kind != SPEC_OPEN) continue;
    bool is_pointer = !p->name[1] || strstr(p->name, "ptr");
    if (p->is_constexpr) frontend_apply_define(fe, kernel, specs, arena_printf(&ctx->arena, "%s=16", p->name), "-D");
    else frontend_set_type(fe, kernel, specs, i, is_pointer ? "*fp32:16" : "i32", "the guess");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Context ctx;
  context_init(&ctx);
  FrontendOptions options = {.target = target_find("sm_90a"), .step_limit = STEPS};
  Frontend *fe = frontend_load_text(&ctx, "fuzz.py", (const char *)data, size, &options);
  for (uint32_t i = 0; fe && i < frontend_num_kernels(fe) && i < MAX_KERNELS; i++) {
    CtFunction *kernel = frontend_kernel(fe, i);
    ParamSpec *specs = frontend_new_specs(fe, kernel);
    close_specs(&ctx, fe, kernel, specs);
    LaunchOptions launch = launch_options_default();
    Module *m = frontend_lower(fe, kernel, specs, &launch);
    if (m && !ir_verify(m)) abort();
  }
  if (fe) ast_dump(&ctx, frontend_module(fe)->tree);
  diag_render(&ctx, false);
  context_free(&ctx);
  return 0;
}
