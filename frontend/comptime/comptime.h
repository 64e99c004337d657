// The compile-time evaluator: runs a module's top level over plain values, and calls its functions when the compiler
// asks (heuristics, configs, grids, constexpr functions). Kernel
// bodies do not run here: frontend/lower turns them into IR.
//
// Host code that cannot run here (torch, I/O) does not stop a compilation: the evaluator binds each of its names to a
// CT_MISSING value with the name and the reason, and only a kernel that uses the name gets an error.
#ifndef TILE_FRONTEND_COMPTIME_H
#define TILE_FRONTEND_COMPTIME_H

#include "frontend/comptime/value.h"

typedef struct {
  const char *const *include_paths;     // -I, after the importing file's own folder
  uint32_t num_include_paths;
  // Whether `tl.NAME` exists, for programs that leave out `tl.`; NULL: there are no such names.
  bool (*is_language_name)(const char *name);
  int cuda_capability;                  // 90 for sm_90: what tl.target_info and constexpr functions may ask
  uint64_t step_limit;                  // 0: the default
} ComptimeOptions;

typedef struct Comptime Comptime;

Comptime *comptime_new(Context *ctx, const ComptimeOptions *options);

// Reads (or takes), parses and evaluates a module. NULL after errors. A path already loaded is not evaluated twice.
CtModule *comptime_load_file(Comptime *ct, const char *path);
CtModule *comptime_load_source(Comptime *ct, const SourceFile *file, const char *module_name);
// Makes a module of the first `size` bytes of a text; comptime_load_more adds the statements in [begin, end).
CtModule *comptime_load_start(Comptime *ct, const SourceFile *file, const char *module_name, uint32_t size);
bool comptime_load_more(Comptime *ct, CtModule *module, uint32_t begin, uint32_t end);
// Every file read, in order, the main one first: for -MD and cache keys.
uint32_t comptime_num_files(const Comptime *ct);
const SourceFile *comptime_file(const Comptime *ct, uint32_t i);

// The launchable functions defined by this module itself (not imported ones), in source order.
typedef struct { CtFunction **data; uint32_t count, capacity; } CtKernelList;
CtKernelList comptime_kernels(Comptime *ct, const CtModule *module);
// Whether one of triton's decorators, or a native one, is on a function. No diagnostic.
bool comptime_is_for_kernels(Comptime *ct, const Node *def, CtEnv *env);

// What a name means in a scope: bindings, then Python's built-ins, then (without `tl.`) the language's own names.
// NULL if it means nothing; no diagnostic. A result may be CT_MISSING.
CtValue *comptime_lookup(Comptime *ct, const CtEnv *env, const char *name);
// value.name without a diagnostic: NULL if there is no such attribute. Works on modules, dtypes, classes, instances,
// strings, …; functions in classes come back bound.
CtValue *comptime_get_attr(Comptime *ct, CtValue *value, const char *name);

// Evaluation and calls: NULL after a diagnostic. Diagnostics caused inside a called function carry notes naming the
// calls.
CtValue *comptime_eval(Comptime *ct, const Node *expr, CtEnv *env);
// Evaluates bytes [begin, end) of a file, which holds an option of the command line, as an expression.
CtValue *comptime_eval_part(Comptime *ct, const CtModule *module, const SourceFile *file, uint32_t begin,
                            uint32_t end);
// An expression given on the command line; `what` names its origin in messages ("-D BLOCK", "--grid"). Extra
// bindings win over the module's names.
CtValue *comptime_eval_text(Comptime *ct, const CtModule *module, const char *what, const char *text,
                            const CtBinding *extra, uint32_t num_extra);
// Whether the evaluator computes a library function: "math.log2".
bool comptime_has_function(const char *name);
CtValue *comptime_call(Comptime *ct, CtValue *callee, CtValue *const *args, uint32_t num_args,
                       const CtBinding *kwargs, uint32_t num_kwargs, Span span);
// Python's operators on values, with Python's meaning. NULL after a diagnostic at span.
CtValue *comptime_unary(Comptime *ct, PyOp op, CtValue *value, Span span);
// Arithmetic and comparisons.
CtValue *comptime_binary(Comptime *ct, PyOp op, CtValue *left, CtValue *right, Span span);
// An instance of a namedtuple's class, with a value for each field.
CtValue *comptime_namedtuple(Comptime *ct, CtClass *cls, CtValue *const *items);
// The `.type` of a constant, and of a tuple: the types of its elements, and the names of its fields, which are empty
// where it has none.
CtValue *comptime_constexpr_type(Comptime *ct, CtValue *value);
CtValue *comptime_tuple_type(Comptime *ct, CtValue *types, CtValue *fields);
CtValue *comptime_subscript(Comptime *ct, CtValue *value, CtValue *index, Span span);
// The elements of anything that iterates. False after a diagnostic.
bool comptime_iterate(Comptime *ct, CtValue *value, Span span, CtList *out);
// format(value, spec) after the conversion !r or !s of an f-string.
CtValue *comptime_format(Comptime *ct, CtValue *value, char conversion, const char *spec, Span span);
// Reads a triton.Config object; hooks and prune functions may have changed it. False if the object is not one.
bool comptime_read_config(Comptime *ct, CtValue *object, CtConfig *out);

// ---- Gluon's layouts (layouts.c) ----
bool comptime_is_layout(const CtValue *v, LayoutKind kind);   // neither of these two:
bool comptime_is_auto_layout(const CtValue *v);
bool comptime_is_coalesced_layout(const CtValue *v);
uint32_t comptime_layout_rank(Comptime *ct, const CtValue *layout);
// What the layout is on a tensor or tile of that shape, of powers of two. NULL with the reason in *why if it does not
// fit.
const Layout *comptime_layout_map(Comptime *ct, const CtValue *layout, const int64_t *shape, uint32_t rank,
                                  const char **why);
// A layout with that map: a DistributedLinearLayout, or a SharedLinearLayout.
CtValue *comptime_layout_from_map(Comptime *ct, const Layout *map);
// The type of a tensor without a layout: its attribute `layout` is an AutoLayout.
const CtType *comptime_type_of_auto(Comptime *ct, const CtType *t);
CtValue *comptime_layout_slice(Comptime *ct, CtValue *parent, uint32_t dim);   // SliceLayout(dim, parent)
// The layout that a slice or a dot operand is made of; another layout itself.
const CtValue *comptime_layout_root(Comptime *ct, const CtValue *layout);
// The parent of a SliceLayout of that dim; NULL for other layouts.
CtValue *comptime_layout_parent(Comptime *ct, const CtValue *layout, uint32_t dim);
CtValue *comptime_gluon_module(Comptime *ct);                // gl
bool comptime_is_mbarrier_layout(const CtValue *layout);
// The layout's text as it is written, and as a map on the shape of its tensor or, if that is unknown, of its own tile.
const char *comptime_layout_text(Comptime *ct, const CtValue *layout);
bool comptime_is_tma_layout(const CtValue *layout);           // an NVMMASharedLayout that is not transposed
bool comptime_is_wgmma_layout(Comptime *ct, const CtValue *layout);   // of an accumulator
// The layout of a tile's view with axis order[i] as axis i; NULL if it has no spelling.
CtValue *comptime_layout_permuted(Comptime *ct, const CtValue *layout, const int64_t *order, uint32_t n);
CtValue *comptime_layout_default(Comptime *ct, const CtType *block);   // NVMMASharedLayout.get_default_for(…)
// DotOperandLayout(0, acc, k_width), and whether a layout is one of operand i.
CtValue *comptime_layout_operand(Comptime *ct, const CtValue *acc, uint32_t k_width);
bool comptime_layout_is_operand(Comptime *ct, const CtValue *layout, const CtValue *acc, uint32_t i);
// The layout of a tensor or a buffer: it also equals other layouts of the same map.
CtValue *comptime_layout_on(Comptime *ct, const CtValue *layout, const Layout *map);

// ---- foreign.c: names of other languages and libraries ----
typedef enum {
  FOREIGN_VALUE, FOREIGN_MODULE, FOREIGN_FUNCTION, FOREIGN_METHOD, FOREIGN_SEQUENCE, FOREIGN_PARAM, FOREIGN_DTYPE,
  FOREIGN_LANGUAGE, FOREIGN_FORK
} ForeignUse;
// What to write in place of a name in that use; NULL if nothing is known about it.
const char *comptime_foreign(ForeignUse use, const char *name);
// The element type that a name means (fp16, torch.half, flaot32), as triton.language calls it; NULL if none is near.
const char *comptime_foreign_dtype(const char *name);
extern const char *const comptime_constants[3];   // Python's: True, False, None

// Resets the evaluator after a longjmp left one of its functions (no memory, a request to stop, an internal error).
void comptime_left(Comptime *ct);
// Reports use of a CT_MISSING value at span, with the reason; returns false.
bool comptime_report_missing(Comptime *ct, const CtValue *missing, Span span);

#endif
