// From the module to LLVM IR and PTX text: target machine, pass pipeline, versions, and LLVM's errors as ours.
//
// The pipeline is short on purpose: ptxas allocates registers and schedules. A longer pipeline (loop unrolling, code
// sinking) makes its code no better, and takes more time than everything else here.
#include "codegen/cg.h"
#include "ir/clock.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm/Config/llvm-config.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);

static const char TRIPLE[] = "nvptx64-nvidia-cuda";

// LLVM's fatal-error handler is process-wide and takes no argument. Therefore each thread keeps its way back here while
// codegen_emit runs.
typedef struct { jmp_buf back; char text[1024]; } FatalReturn;
static _Thread_local FatalReturn *fatal_return;

static void on_fatal_error(const char *reason) {
  if (!fatal_return) return;
  snprintf(fatal_return->text, sizeof fatal_return->text, "%s", reason);
  longjmp(fatal_return->back, 1);
}

static once_flag llvm_once = ONCE_FLAG_INIT;
static void init_llvm(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  LLVMInstallFatalErrorHandler(on_fatal_error);
#ifdef TILE_LLVM_STATIC
  // Shared-memory pointers of 32 bits. Options are global to LLVM: only a private copy of LLVM may get them.
  static const char *const args[] = {"tile", "-nvptx-short-ptr"};
  LLVMParseCommandLineOptions(countof(args), args, NULL);
#endif
}

// LLVM calls this between functions and passes. When the host wants to stop, codegen_emit gives LLVM's context up, like
// after a fatal error.
static void on_yield(LLVMContextRef ll, void *user) {
  (void)ll;
  Context *ctx = user;
  if (fatal_return && ctx->should_stop && ctx->should_stop(ctx->stop_user))
    longjmp(fatal_return->back, CONTEXT_STOPPED);
}

typedef struct { Context *ctx; const char *text; } LlvmErrors;

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  LlvmErrors *e = user;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || e->text) return;
  char *text = LLVMGetDiagInfoDescription(info);
  // LLVM is the caller: running out of memory must not leave its frames by longjmp.
  char *copy = arena_try(&e->ctx->arena, strlen(text) + 1);
  e->text = copy ? strcpy(copy, text) : "out of memory";
  LLVMDisposeMessage(text);
}

static LLVMAttributeRef enum_attribute(LLVMContextRef ll, const char *name, uint64_t value) {
  return LLVMCreateEnumAttribute(ll, LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

static void init_cg(Cg *c, Module *m, const CodegenOptions *options, LLVMContextRef ll) {
  c->ctx = m->ctx;
  c->arena = &m->ctx->arena;
  c->module = m;
  c->target = m->target;
  c->options = options;
  c->ll = ll;
  c->load_kind = LLVMGetMDKindIDInContext(ll, "tile.load", 9);
  c->product_kind = LLVMGetMDKindIDInContext(ll, "tile.product", 12);
  c->mod = LLVMModuleCreateWithNameInContext("tile", ll);
  c->b = LLVMCreateBuilderInContext(ll);
  c->t_void = LLVMVoidTypeInContext(ll);
  c->t_i1 = LLVMInt1TypeInContext(ll);
  c->t_i8 = LLVMInt8TypeInContext(ll);
  c->t_i16 = LLVMInt16TypeInContext(ll);
  c->t_i32 = LLVMInt32TypeInContext(ll);
  c->t_i64 = LLVMInt64TypeInContext(ll);
  c->t_f16 = LLVMHalfTypeInContext(ll);
  c->t_bf16 = LLVMBFloatTypeInContext(ll);
  c->t_f32 = LLVMFloatTypeInContext(ll);
  c->t_f64 = LLVMDoubleTypeInContext(ll);
  c->t_ptr = LLVMPointerTypeInContext(ll, 0);
  c->t_gptr = LLVMPointerTypeInContext(ll, 1);
  const LLVMTypeRef elem[NUM_SCALARS] = {
    [SC_I1] = c->t_i1, [SC_I8] = c->t_i8, [SC_I16] = c->t_i16, [SC_I32] = c->t_i32, [SC_I64] = c->t_i64,
    [SC_F8E4M3] = c->t_i8, [SC_F8E5M2] = c->t_i8, [SC_F8E4B15] = c->t_i8,
    [SC_F16] = c->t_f16, [SC_BF16] = c->t_bf16, [SC_F32] = c->t_f32, [SC_F64] = c->t_f64,
  };
  memcpy(c->elem, elem, sizeof elem);
  c->nounwind = enum_attribute(ll, "nounwind", 0);
  c->convergent = enum_attribute(ll, "convergent", 0);
  c->memory_none = enum_attribute(ll, "memory", 0);
  c->ptx = m->target->min_ptx;
  LLVMSetTarget(c->mod, TRIPLE);
}

static void check(Cg *c, LlvmErrors *errors, const char *where) {
  if (errors->text) ice(c->ctx, "codegen: LLVM, %s: %s", where, errors->text);
}

// Takes the version that the user wants, or the lowest that suffices, rounded up to one that exists.
static bool choose_ptx_version(Cg *c) {
  uint32_t wanted = c->options->ptx_version;
  if (wanted && wanted < c->ptx)
    return diag_error(c->ctx, (Span){0}, "the program needs PTX %u.%u on %s, but version %u.%u was asked for",
                      c->ptx / 10, c->ptx % 10, c->target->name, wanted / 10, wanted % 10);
  if (wanted) c->ptx = wanted;
  while (!target_is_ptx_version(c->ptx) && c->ptx < 90) c->ptx++;
  return true;
}

static LLVMTargetMachineRef make_target_machine(Cg *c) {
  LLVMTargetRef target;
  char *error = NULL;
  if (LLVMGetTargetFromTriple(TRIPLE, &target, &error)) ice(c->ctx, "codegen: this LLVM has no NVPTX: %s", error);
  char features[16];
  snprintf(features, sizeof features, "+ptx%u", c->ptx);
  static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault,
                                               LLVMCodeGenLevelDefault};
  return LLVMCreateTargetMachine(target, TRIPLE, c->target->name, features, levels[c->options->opt_level & 3],
                                 LLVMRelocDefault, LLVMCodeModelDefault);
}

static void optimize(Cg *c, LLVMTargetMachineRef tm) {
#define CLEAN_UP "instcombine<no-verify-fixpoint>,simplifycfg<sink-common-insts;hoist-common-insts>"
  const char *first = c->has_allocas ? "sroa," : "";
  const char *loops = c->has_loops ? ",loop-simplify,lcssa,loop-mssa(licm),gvn<no-memdep;no-pre>," CLEAN_UP : "";
  const char *passes = arena_printf(c->arena, "function(%searly-cse<memssa>," CLEAN_UP "%s)", first, loops);
  LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(c->mod, passes, tm, o);
  LLVMDisposePassBuilderOptions(o);
  if (error) ice(c->ctx, "codegen: LLVM passes: %s", LLVMGetErrorMessage(error));
}

static char *keep_text(Cg *c, const char *s, size_t n) { return arena_strndup(c->arena, s, n); }

// With line tables LLVM writes `.target sm_90a, debug`, for which ptxas does not optimise. Removes the flag and keeps
// the lines.
static void drop_debug_flag(char *ptx) {
  static const char flag[] = ", debug";
  char *target = strstr(ptx, "\n.target "), *end = target ? strchr(target + 1, '\n') : NULL;
  char *at = target ? strstr(target, flag) : NULL;
  if (!at || !end || at > end) return;
  const char *rest = at + sizeof flag - 1;
  memmove(at, rest, strlen(rest) + 1);
}

static bool emit(Cg *c, LlvmErrors *errors, bool want_llvm, bool want_ptx, CodegenResult *result) {
  double start = clock_ms();
  if (c->options->line_info) c->debug = debug_lines_new(c);
  for (Func *f = c->module->funcs; f; f = f->next) cg_lower_func(c, f);
  if (c->debug) debug_lines_finish(c->debug);
  if (diag_error_count(c->ctx)) return false;
  check(c, errors, "building");

  if (!choose_ptx_version(c)) return false;
  result->ptx_version = c->ptx;
  LLVMTargetMachineRef tm = c->machine = make_target_machine(c);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
  LLVMSetModuleDataLayout(c->mod, layout);
  LLVMDisposeTargetData(layout);
  if (want_llvm) {
    c->message = LLVMPrintModuleToString(c->mod);
    result->llvm_ir = keep_text(c, c->message, strlen(c->message));
    LLVMDisposeMessage(c->message);
    c->message = NULL;
  }
  if (LLVMVerifyModule(c->mod, LLVMReturnStatusAction, &c->message))
    ice(c->ctx, "codegen: invalid LLVM IR: %s", c->message);
  LLVMDisposeMessage(c->message);
  c->message = NULL;
  clock_row(c->options->times, &start, "codegen");
  if (want_ptx) {
    if (c->options->opt_level) optimize(c, tm);
    clock_row(c->options->times, &start, "LLVM's optimiser");
    if (c->options->opt_level) cg_select_offsets(c), cg_keep_counters(c), cg_stream_loads(c);
    cg_keep_time_linear(c);
    cg_avoid_backend_faults(c);
    if (LLVMTargetMachineEmitToMemoryBuffer(tm, c->mod, LLVMAssemblyFile, &c->message, &c->buffer))
      ice(c->ctx, "codegen: LLVM: %s", c->message);
    check(c, errors, "emitting PTX");
    clock_row(c->options->times, &start, "LLVM's code generator");
    char *ptx = keep_text(c, LLVMGetBufferStart(c->buffer), LLVMGetBufferSize(c->buffer));
    drop_debug_flag(ptx);
    result->ptx = ptx;
  }
  return true;
}

// Frees all that LLVM holds, at whatever point the compilation ended.
static void dispose(Cg *c, LLVMContextRef ll) {
  if (c && c->debug) debug_lines_free(c->debug);
  if (c && c->message) LLVMDisposeMessage(c->message);
  if (c && c->buffer) LLVMDisposeMemoryBuffer(c->buffer);
  if (c && c->machine) LLVMDisposeTargetMachine(c->machine);
  if (c && c->b) LLVMDisposeBuilder(c->b);
  if (c && c->mod) LLVMDisposeModule(c->mod);
  LLVMContextDispose(ll);
}

// Reports names that ptxas and the driver refuse.
static bool check_names(Module *m) {
  for (const Func *f = m->funcs; f; f = f->next)
    for (const char *s = f->name; *s; s++) {
      bool known = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_';
      if (known) continue;
      diag_error(m->ctx, f->span, "kernel `%s` has a name that PTX cannot have", f->name);
      diag_note(m->ctx, (Span){0, 0}, "PTX has the letters a to z, digits and `_`; the interpreter takes any name");
      return false;
    }
  return true;
}

bool codegen_emit(Module *m, const CodegenOptions *options, bool want_llvm, bool want_ptx, CodegenResult *result) {
  *result = (CodegenResult){0};
  Context *ctx = m->ctx;
  if (m->stage != STAGE_ALLOCATED) ice(ctx, "codegen: the module is not ALLOCATED");
  if (!check_names(m)) return false;
  call_once(&llvm_once, init_llvm);

  LLVMContextRef ll = LLVMContextCreate();
  LlvmErrors errors = {.ctx = ctx};
  LLVMContextSetDiagnosticHandler(ll, on_diagnostic, &errors);
  FatalReturn fatal;
  FatalReturn *outer = fatal_return;
  fatal_return = &fatal;
  if (ctx->should_stop) LLVMContextSetYieldCallback(ll, on_yield, ctx);
  // Our own code leaves by longjmp between calls of LLVM, when all that LLVM holds can be freed.
  jmp_buf on_ice, *outer_ice = ctx->on_ice;
  Cg *volatile made = NULL;
  int left = outer_ice ? setjmp(on_ice) : 0;
  if (left) {
    fatal_return = outer;
    ctx->on_ice = outer_ice;
    dispose(made, ll);
    longjmp(*outer_ice, left);
  }
  if (outer_ice) ctx->on_ice = &on_ice;
  int why = setjmp(fatal.back);
  if (why) {
    // LLVM's state is unknown: codegen gives its context up and does not free it.
    fatal_return = outer;
    ctx->on_ice = outer_ice;
    if (why == CONTEXT_STOPPED && outer_ice) longjmp(*outer_ice, CONTEXT_STOPPED);
    ice(ctx, "codegen: LLVM: %s", arena_printf(&ctx->arena, "%s", fatal.text));
  }
  Cg *c = made = arena_new(&ctx->arena, Cg);
  const char *outer_pass = ctx->current_pass;
  ctx->current_pass = "codegen";
  init_cg(c, m, options, ll);
  bool ok = emit(c, &errors, want_llvm, want_ptx, result);
  ctx->current_pass = outer_pass;
  fatal_return = outer;
  ctx->on_ice = outer_ice;
  dispose(c, ll);
  return ok;
}

const char *codegen_llvm_version(void) {
  return LLVM_VERSION_STRING;
}
