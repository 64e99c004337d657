// The front end's only door, implemented by lower/: load a program, look at its kernels, say with which types and
// constants to compile one, and get TILE-stage IR.
//
//   Frontend *fe = frontend_load_file(ctx, "softmax.tile", &options);      // NULL after diagnostics
//   CtFunction *k = frontend_find_kernel(fe, "softmax");
//   ParamSpec *specs = frontend_new_specs(fe, k);                          // from annotations and defaults
//   frontend_apply_signature(fe, k, specs, "*fp32:16, *fp32:16, i32, 1024");
//   frontend_apply_define(fe, k, specs, "BLOCK=128", "-D");
//   Module *m = frontend_lower(fe, k, specs, &launch);                     // NULL after diagnostics
//
// What a kernel is (parameters, autotune configurations, heuristics) is read off CtFunction in value.h.
#ifndef TILE_FRONTEND_FRONTEND_H
#define TILE_FRONTEND_FRONTEND_H

#include "frontend/comptime/comptime.h"
#include "ir/ir.h"

typedef struct Frontend Frontend;

typedef struct {
  const char *const *include_paths;
  uint32_t num_include_paths;
  const Target *target;
  uint32_t step_limit;                   // of evaluation, and of statements that a kernel expands to; 0: the defaults
} FrontendOptions;

// NULL after diagnostics (a file that cannot be read is one).
Frontend *frontend_load_file(Context *ctx, const char *path, const FrontendOptions *options);
Frontend *frontend_load_text(Context *ctx, const char *path, const char *text, size_t size,
                             const FrontendOptions *options);
Comptime *frontend_comptime(const Frontend *fe);
const CtModule *frontend_module(const Frontend *fe);

// The kernels of the file itself, in source order.
uint32_t frontend_num_kernels(const Frontend *fe);
CtFunction *frontend_kernel(const Frontend *fe, uint32_t i);
// Adds to an error that there is no kernel why each function of the file is none.
void frontend_explain_no_kernels(Frontend *fe);
// NULL after a diagnostic that lists the kernels there are.
CtFunction *frontend_find_kernel(Frontend *fe, const char *name);

typedef enum {
  SPEC_OPEN,         // neither type nor value known yet
  SPEC_TYPE,         // an argument of the compiled kernel
  SPEC_CONSTEXPR,    // compiled in; not an argument of the compiled kernel
  SPEC_TUPLE,        // its items, each a spec; those that are types are arguments of the compiled kernel
} SpecKind;

// How one parameter is specialised. One per parameter of the kernel, in order.
typedef struct ParamSpec ParamSpec;
struct ParamSpec {
  SpecKind kind;
  // TYPE: Triton's spelling without hints: "*fp16", "*kfp32", "i32", "u1", "tensordesc<fp16[128,64]>".
  const char *type;
                           // CONSTEXPR made by value-1 specialisation (:1): the argument's type
  int64_t divisible;       // TYPE: value or address is a multiple of it; 1 = nothing known
  Padding padding;         // TYPE tensordesc: what out-of-bounds reads give
  CtValue *value;          // CONSTEXPR
  ParamSpec *items;        // TUPLE
  uint32_t num_items;
  const char *class_name;  // TUPLE: of the file's namedtuple that it is; NULL: a plain tuple
  bool is_left_out;        // --signature has items, but none for this one
  bool is_default;         // set by the parameter's default value or annotation, so any later source may replace it
  const char *origin;      // who set it, for messages: "the annotation", "--signature", "-D", …
};

// The options of a launch that the compiler sees, under Triton's names.
typedef struct {
  uint32_t num_warps, num_stages, num_ctas;
  uint32_t maxnreg;                      // 0 = none
  bool stages_given;                     // num_stages is asked for; else fewer will do where these do not fit
  bool enable_fp_fusion, debug, sanitize_overflow;
  bool launch_cooperative_grid, launch_pdl;
  bool auto_tma;
  int dot_precision;                     // of a dot of fp32 that has no input_precision; negative: tf32
  bool stops;                            // a `breakpoint` before each statement, for a debugger
} LaunchOptions;
LaunchOptions launch_options_default(void);   // 4 warps, 3 stages, 1 CTA, fusion on
int frontend_dot_precision(const char *name);   // the PREC_… of a name that input_precision takes; negative: of none

// Specs from what the source says: annotations and default values. Never fails; what is not said stays SPEC_OPEN.
ParamSpec *frontend_new_specs(Frontend *fe, const CtFunction *kernel);
uint32_t frontend_param_index(const CtFunction *kernel, const char *name);       // num_params when there is none
// The kernel that a signature names, "add(*fp32, i32)"; NULL if it names none.
CtFunction *frontend_signature_kernel(Frontend *fe, const char *text);
// `--signature`: all parameters in order; trailing constexprs may be left to -D or defaults. False after diagnostics.
bool frontend_apply_signature(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, const char *text);
// Whether every run-time parameter that --signature leaves out got its type elsewhere than from its annotation. False
// after a diagnostic.
bool frontend_check_signature(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs);
// `NAME=EXPR`, as of -D. NAME must be a parameter of the kernel. False after a diagnostic, which names the origin.
bool frontend_apply_define(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, const char *text,
                           const char *origin);
bool frontend_set_constexpr(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, const char *name, CtValue *value,
                            const char *origin);
// `type` with its hint ("*fp32:16", "i32:1") for one parameter, which is no constexpr.
bool frontend_set_type(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, uint32_t index, const char *type,
                       const char *origin);
// A tuple's item: as frontend_set_type, into *out. False after a diagnostic.
bool frontend_item_type(Frontend *fe, const CtFunction *kernel, uint32_t index, const char *type, const char *origin,
                        ParamSpec *out);
bool frontend_set_tuple(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, uint32_t index, ParamSpec *items,
                        uint32_t num_items, const char *class_name, const char *origin);
// What item i of an argument of this name is called as an argument of the compiled kernel: NAME_0.
const char *frontend_item_name(Arena *a, const char *name, uint32_t i);
// A Config's meta-parameters into specs (those that -D or --signature set stay) and its launch options into launch.
bool frontend_apply_config(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, LaunchOptions *launch,
                           const CtConfig *config);
// Runs @triton.heuristics over args (parameter name -> value; constexprs of specs are added) and sets what they give:
// constants in specs, num_warps and its like in launch.
bool frontend_run_heuristics(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, LaunchOptions *launch,
                             CtDict *args);
// Parameters that still lack a type or value.
uint32_t frontend_count_open(const CtFunction *kernel, const ParamSpec *specs);

// One kernel as a module of its own, at stage TILE; NULL after diagnostics. Open parameters are all reported at once.
Module *frontend_lower(Frontend *fe, CtFunction *kernel, const ParamSpec *specs, const LaunchOptions *launch);
// Returns tilec's name for a type of another language or library, such as "*fp32" for "torch.float32*"; NULL if it has
// none.
const char *frontend_guess_type(Arena *a, const char *text);
// Whether every parameter of the kernel stands for one argument. False after a diagnostic.
bool frontend_check_params(Frontend *fe, const CtFunction *kernel);
// As one more function of m, which has these launch options already. False after diagnostics.
bool frontend_lower_into(Frontend *fe, Module *m, CtFunction *kernel, const ParamSpec *specs,
                         const LaunchOptions *launch);

// A type's spelling to a type; false without a diagnostic when it is none. A descriptor gives its block type and
// sets is_desc.
bool frontend_parse_type(Context *ctx, const char *text, const CtType **out, bool *is_desc);

#endif
