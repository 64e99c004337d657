// Inside the lowering of kernel bodies to TILE IR: what all of its files share. Nothing here is for other rooms. The
// files depend on each other in a circle: an expression may be a call, a call inlines a function's statements, and
// statements hold expressions. The other headers are term.h (terms, types and operations on them), statements.h
// (statements and scopes), builtins.h (names and builtins), gluon.h (layouts and what Gluon alone has), hints.h (ways
// out of an error) and warnings.h.
//
// An expression in a kernel denotes a Term: a compile-time value, a run-time value (an IR Value with the language's
// type, which knows signedness), or a structure of terms. Terms are immutable. NULL stands for an expression that has
// been diagnosed; every function that gets a NULL returns NULL and reports nothing.
#ifndef TILE_FRONTEND_LOWER_H
#define TILE_FRONTEND_LOWER_H

#include "frontend/frontend.h"
#include "ir/build.h"
#include "ir/buf.h"
#include "ir/nearest.h"

typedef struct Lower Lower;
typedef struct Frame Frame;
typedef struct Term Term;

typedef enum {
  TERM_CONST,        // anything known at compile time except tuples
  TERM_VALUE,        // tensor, scalar or pointer
  TERM_TUPLE,        // tuple or list; with cls: an instance of a namedtuple or aggregate, items in field order
  TERM_DESC,         // tensor descriptor
  TERM_BLOCK_PTR,    // block pointer: lives only in the front end
  TERM_BUFFER,       // Gluon: a tile in shared memory, or an array of tiles
  TERM_ACC,          // Gluon: an accumulator that wgmma may still add to
  TERM_BOUND,        // function, builtin or name of an operator's method with its first argument: x.sum, x.__add__
} TermKind;

struct Term {
  TermKind kind;
  bool is_broken;    // a change of it was refused: what depends on its contents is not reported
  // The user's function that returned this tuple, or that ended without a value and so gave this None; or NULL.
  const CtFunction *result_of;
  union {
    CtValue *ct;
    // known: the constant that a function returned, or NULL. declared: the `x: tl.constexpr = …` that gave it its name.
    struct { Value *v; const CtType *type; CtValue *known; Span declared; } value;
    // num_returned: how many items result_of returned.
    // is_open: its __init__ is running. is_fstring: the items are texts and run-time values. is_shape: one per axis.
    struct {
      Term **items;
      uint32_t count, num_returned;
      CtClass *cls;
      bool is_list, is_open, is_fstring, is_shape;
    } tuple;
    // block: a BLOCK type. base, shape, strides: NULL for an argument. v: NULL after paths have joined; each access
    // then makes the descriptor from the other fields.
    struct { Value *v, *base; const CtType *block; Term *shape, *strides; int padding; } desc;
    // shape and strides are i64, offsets i32. fits: bit i is set if a block that begins at 0 lies within the shape along
    // axis i, by constants.
    struct {
      Value *base;
      const CtType *pointer;
      Value **shape, **strides, **offsets;
      const CtType *block;
      uint32_t fits;
    } bp;
    // type: a BLOCK type whose layout is the tile's; of an array it has one more axis than the layout. whole: the
    // extents of the allocation, from which a slice differs.
    struct { Value *v; const CtType *type, *whole; } buffer;
    struct { Value *v; const CtType *type; } acc;
    struct { Term *self, *fn; } bound;
  };
};

typedef VEC(Term *) TermList;
typedef VEC(Value *) ValueList;
typedef VEC(const char *) NameVec;
typedef VEC(Span) SpanList;

// ---- scopes and flow ----
// How a path through the function may leave its straight line. A structured IR has no jumps, so what follows a possible
// exit is nested in an `if` that tests that the flags are false.
enum { EXIT_RETURN, EXIT_BREAK, EXIT_CONTINUE, NUM_EXITS };
typedef enum { FLAG_NO, FLAG_MAYBE, FLAG_YES } FlagState;
typedef struct { FlagState state; Value *v; } Flag;       // MAYBE: v is the i1, or NULL if nothing reads it

// A list of statements, what follows it, and so on to the end of the function or loop body.
typedef struct Cont { const NodeList *list; uint32_t from; const struct Cont *next; } Cont;

enum { VAR_CONSTEXPR = 1, VAR_FOLDED = 2 };   // declared `x: tl.constexpr`; a parameter specialised to the constant 1
typedef struct { const char *name; Term *term; Span span; uint8_t flags; const CtType *folded_type; } Var;
typedef struct {
  Var *vars;
  uint32_t count, capacity;
  Flag exits[NUM_EXITS];
  bool ended;                  // some flag is certainly set, though which one may not be known
  Term *ret;                   // what a return on this path gives; NULL while nothing returned
} Scope;

typedef struct { const char *name; Span span; const char *why; } LostName;   // why NULL: `del` stands at span
typedef struct {
  const NodeList *body;
  enum { ARM_OF_FALSE, ARM_OF_TRUE, ARM_OTHER } reason;   // the condition's value; OTHER: the `else` is being lowered
} LeftOut;
struct Frame {
  const CtFunction *fn;
  Frame *caller;
  Scope scope;
  VEC(LostName) lost;          // names that had a value on some path
  VEC(LeftOut) left_out;       // arms of constant conditions, and what stands before the `else` being lowered
  Map unknown_names;           // that were reported here: the bits of the uses
  bool failed_return;
};

// What an expression is used as, and which member of it is taken. Suggestions for unknown names depend on this.
typedef struct { enum { USE_VALUE, USE_CALLED, USE_BASE, USE_DTYPE } kind; const char *member; } NameUse;

// A file of the prelude: a module with the functions used so far. unread: the places of the names of the others.
typedef struct { CtModule *module; Map unread; } Prelude;

struct Frontend {
  Context *ctx;
  Comptime *ct;
  CtModule *module;
  const Target *target;
  uint32_t max_statements;     // that a kernel may expand to
  CtKernelList kernels;
  Prelude *prelude;            // by file number
};

// The first two count over all inlined calls and bound the C stack.
enum { MAX_INLINE_DEPTH = 128, MAX_REGION_DEPTH = 800, MAX_STATEMENTS = 1 << 20 };
typedef struct { const Value *result; const char *name; Span span; } Owned;

struct Lower {
  Frontend *fe;
  Context *ctx;
  Arena *arena;                // of ctx
  Comptime *ct;
  Module *module;
  Builder b;
  Frame *frame;
  uint32_t depth;
  uint32_t expr_depth;
  const Node *assigned;        // the value of the assignment that is being lowered
  const Node *items_of;        // what a loop goes over while its target takes an item; or NULL
  NameUse use;                 // of the expression that is lowered next
  const Node *comparison;      // whose operand is lowered, or NULL
  uint64_t num_stmts;          // lowered so far, unrolled and inlined ones counted as often as they are copied
  bool may_wrap;               // the current operation may overflow without a check
  Loc left_end;                // of the current binary operator's left operand; 0: not known
  bool is_gluon;               // tensors have layouts, and the module is at LAID_OUT
  bool gave_up;                // a limit was hit, so nothing more is lowered
  bool has_pruned_call;        // this specialisation left out code that may have an effect
  Map inits;                   // argument of a loop -> its value before the loop
  const Term *like;            // whose shape the next broadcast takes, for its message; or NULL
  Map is_visited;
  VEC(const Node *) visited;   // the user's functions that were lowered, each once
  uint32_t region_depth;       // run-time ifs and loops around the cursor
  const LaunchOptions *options;
  const CtFunction *kernel;
  const ParamSpec *specs;      // of the kernel's parameters
  uint64_t told;               // which of the first 64 parameters an error was about: one is enough
  NameVec constexpr_names, constexpr_values;   // of the kernel's parameters
  VEC(Owned) owned;            // atomics that one block of a cluster makes for several
};

// ---- errors.c ----
// Reports an error with the chain of calls that led to it. Returns NULL.
Term *lower_error(Lower *L, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
// For an error whose text names its cause, such as a layout: if it is reported again elsewhere, it becomes a note.
Term *lower_error_once(Lower *L, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
// Adds the way out after an error; in a @kernel, leaves out each `tl.` of the text, and its decorator takes the place
// of @triton.jit. Returns NULL.
void *lower_hint(Lower *L, const char *fmt, ...) PRINTF_LIKE(2, 3);
void *lower_hint_wait(Lower *L);                                  // for an accumulator where a tensor is needed
bool lower_is_bare(Lower *L);                                     // in a function that may leave out `tl.`
// What stands before a builtin's name where the function is written: "tl.", "gl.", "" in a native file.
const char *lower_prefix(Arena *a, const CtFunction *fn);
const char *lower_decorator(Lower *L);                            // of functions for kernels: "@triton.jit"

// ---- expr.c ----
const char *lower_source_text(Lower *L, Span span);           // as the user wrote it; "x" if it is long
const char *lower_source_text_or(Lower *L, Span span, const char *otherwise);   // what stands for long text
Term *lower_expr(Lower *L, const Node *e);
// Whether e is a, a.b, a.b.c, …, which may be lowered twice because it has no effect.
bool lower_is_name_path(const Node *e);
// v as a term; if it is a value that is missing, an error that says why.
Term *lower_found(Lower *L, CtValue *v, Span span, NameUse use);
// ---- attribute.c ----
const Term *lower_constexpr_tuple(Lower *L, const Node *e);   // the tuple that e names, if it was declared a constexpr
Term *lower_attribute_node(Lower *L, const Node *e, NameUse use);  // e: an attribute
Term *lower_attribute(Lower *L, Term *base, const char *name, Span span);
Term *lower_shape_term(Lower *L, const CtType *t);                 // a tuple of its extents
// Looks a method up by name, for operators of aggregates; NULL without a diagnostic when there is none.
Term *lower_find_method(Lower *L, Term *self, const char *name);
// ---- subscript.c ----
Term *lower_subscript(Lower *L, Term *base, const Node *index, Span span);
// x[i] = v, or x[i] op= v if op is not NULL: if x is an address, an error that shows the store, and true. v may be
// NULL.
bool lower_assign_to_address(Lower *L, const Term *base, const Node *target, const char *op, const Node *value);
// ---- expr_display.c ----
Term *lower_fstring(Lower *L, const Node *e);
Term *lower_comprehension(Lower *L, const Node *e);
Term *lower_sequence(Lower *L, const Node *e);                 // a tuple or list
// The terms of a list of expressions, of which `*` spreads some, and if asked for the span of each. `uses` says what
// each is used as, or is NULL. False after a diagnostic.
bool lower_items(Lower *L, const NodeList *list, TermList *items, SpanList *spans, const NameUse *uses);
Term *lower_dict(Lower *L, const Node *e);

// ---- call.c, inline.c ----
typedef struct {
  Term **args;                 // positional, stars expanded
  Span *spans;
  uint32_t num_args;
  const char **keys;
  Term **kwargs;
  Span *key_spans;
  uint32_t num_kwargs;
  Span span;                   // of the whole call
  Span fn_span;
  const Node *node;            // the call, or NULL when made up
} CallArgs;
Term *lower_call_node(Lower *L, const Node *call);
// The arguments of a call. callee may be NULL; it serves suggestions only: it tells what each argument is used as.
bool lower_call_args(Lower *L, const Node *call, const Term *callee, CallArgs *out);
Term *lower_call(Lower *L, Term *callee, CallArgs *args);
Term *lower_call_positional(Lower *L, Term *callee, Term *const *args, uint32_t n, Span span);
Term *lower_inline(Lower *L, CtFunction *fn, CallArgs *args);
// After an error about arguments that a call lacks: the call with them, by its parameters' names.
void lower_hint_call(Lower *L, const CallArgs *args, const char *const *names, const bool *is_optional, uint32_t count);
void lower_visit(Lower *L, const CtFunction *fn);              // remembers a function whose body is lowered

// ---- kernel_params.c ----
// Reports which parameters of the kernel no specialisation gives a type or value. Returns false.
bool lower_report_open(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs);
// Makes the kernel's parameters in the IR, and its variables in the scope. False after a diagnostic.
bool lower_add_params(Lower *L, CtFunction *kernel, const ParamSpec *specs, Scope *scope);

#endif
