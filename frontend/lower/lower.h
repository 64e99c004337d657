// Inside the lowering of kernel bodies to TILE IR. Nothing here is for other rooms. The files depend on each other in a
// circle: an expression may be a call, a call inlines a function's statements, and statements hold expressions.
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

// ---- term.c ----
Term *term_const(Lower *L, CtValue *v);                        // tuples and lists become TERM_TUPLE; NULL for NULL
Term *term_found(Lower *L, CtValue *v, Span span);             // the same; NULL after a diagnostic if v is missing
Term *term_none(Lower *L);
Term *term_bool(Lower *L, bool b);
Term *term_int(Lower *L, int64_t i);
Term *term_value(Lower *L, Value *v, const CtType *type);
Term *term_tuple(Lower *L, Term *const *items, uint32_t count, CtClass *cls);
Term *term_bound(Lower *L, Term *self, Term *fn);
CtValue *term_to_ct(Lower *L, const Term *t);                  // NULL if any part is known only at run time
static inline bool term_is_const(const Term *t) { return t && t->kind == TERM_CONST; }
bool term_is_none(const Term *t);
bool term_get_int(const Term *t, int64_t *out);                // constant int or bool
bool term_get_str(const Term *t, const char **out);
bool term_get_dtype(const Term *t, const CtType **out);
bool term_is_number(const Term *t);                            // a constant bool, int or float
// The type of a number as a run-time value; NULL if no type holds it.
const CtType *term_number_type(Lower *L, const CtValue *v);
bool term_is_tensor(const Term *t);                            // TERM_VALUE of block type
// The run-time value of a term. A constant becomes a scalar of the first type that holds it: int1 for a bool, int32,
// uint32, int64, uint64 for an int, fp32, fp64 for a float. NULL after a diagnostic that calls the term `what`.
Term *term_to_value(Lower *L, Term *t, Span span, const char *what);
Term *term_decay(Lower *L, Term *t, Span span);                // what plain assignment does
// What a function returns. As in Triton, operators take a returned number as a value of its own type; term_recall gives
// the constant back to what needs one.
Term *term_returned(Lower *L, Term *t, Span span);
Term *term_recall(Lower *L, Term *t);
// Adds the way out to an error about two terms that should be of one type. If they differ in the element type alone,
// `otherwise` is told with the wider one in place of the dots of "(…)".
void term_note_types_differ(Lower *L, const Term *a, const Term *b, const char *otherwise);
const char *term_describe(Lower *L, const Term *t);            // "int32", "fp16[128, 64]", "constexpr 16", "tuple", …
bool term_same_type(Lower *L, const Term *a, const Term *b);   // equal constants, or equal run-time types
// a, with accumulators in place of its tensors where b has them (*to_acc). NULL if they differ otherwise, except that
// one may have no layout where the other has one.
Term *term_settle(Lower *L, Term *a, Term *b, bool *to_acc);
// x with the layouts of `like`, also none, where one of them has none.
Term *term_in_layout_of(Lower *L, Term *x, const Term *like);
void term_flatten(Lower *L, const Term *t, ValueList *out);    // the IR values in it, in a fixed order
Term *term_rebuild(Lower *L, const Term *like, Value *const *values, uint32_t *pos);   // the reverse
// Any value of that type, for paths on which nothing reads it.
Value *term_zero(Lower *L, const Type *type);

// Replaces a shell without results by the op with them, once its blocks are lowered and the types are known.
Op *lower_replace_op(Lower *L, Op *shell, const Type *const *types, uint32_t num_types, Value *const *operands,
                     uint32_t n);

// ---- types.c ----
const Type *lower_ir_type(Lower *L, const CtType *t);
const Type *lower_ir_desc_type(Lower *L, const CtType *block);     // of a descriptor of such blocks
const Type *lower_ir_elem_type(Lower *L, const CtType *t);           // of a scalar or pointer type
const CtType *lower_with_elem(Lower *L, const CtType *t, const CtType *elem);
const CtType *lower_shaped(Lower *L, const CtType *elem, const int64_t *shape, uint32_t rank);
const char *lower_shape_text(Lower *L, const CtType *t);          // "[128, 64]"
static inline const CtType *lower_scalar(Lower *L, DtypeKind k) { return ct_type_scalar(L->ctx, k); }
// Checks sizes: powers of two, at most 2^20 elements, rank at most MAX_RANK. False after a diagnostic.
bool lower_check_shape(Lower *L, const int64_t *shape, uint32_t rank, Span span);
enum { MAX_TENSOR_NUMEL = 1 << 20 };

// ---- layouts.c: Gluon's tensor types ----
CtValue *lower_layout_of(Lower *L, const CtType *t);              // NULL if it has none
bool lower_print_layout(Lower *L, Term *t, Span span);            // at compile time, if t is one
const char *lower_layout_text(Lower *L, const CtType *t);         // as written, and as a map
const CtType *lower_type_of_tensor(Lower *L, const CtType *t);    // what `.type` shows: a Gluon tensor's has a layout
// The block type with that layout (AutoLayout: without one). NULL after a diagnostic if it does not fit.
const CtType *lower_with_layout(Lower *L, const CtType *t, CtValue *layout, Span span);
const CtType *lower_inferred(Lower *L, const CtType *elem, const int64_t *shape, uint32_t rank, const Layout *map);
// Of a result of a reduction along the axis.
const CtType *lower_reduced(Lower *L, const CtType *t, const CtType *elem, uint32_t axis);
// Of each result of a split: t without its last axis, of size 2. NULL if that axis is not one register bit.
const CtType *lower_half(Lower *L, const CtType *t);
// The join of two tensors of type `half`, in their slice's parent if the new axis is one register bit there.
Term *lower_joined(Lower *L, Term *pair, const CtType *half);
Term *lower_convert(Lower *L, Term *x, const CtType *to);         // to's layout; x may have none yet
Term *lower_expand_dims_laid_out(Lower *L, Term *x, int64_t axis, Span span);
Term *lower_repeat_laid_out(Lower *L, Term *x, const int64_t *shape, uint32_t rank, Span span);
// Both operands in `shape` and one layout. False after a diagnostic.
bool lower_broadcast_laid_out(Lower *L, Term **a, Term **b, const int64_t *shape, Span span);
// The map of a layout on a shape; NULL after a diagnostic.
const Layout *lower_layout_map(Lower *L, const CtValue *layout, const int64_t *shape, uint32_t rank, Span span);
// ---- gluon_clusters.c: what one block of a cluster has ----
const CtType *lower_block_part(Lower *L, const CtType *t);        // its part of a tensor, tile or buffer
Value *lower_block_start(Lower *L, const CtType *t, uint32_t axis);   // of its part, i32; NULL: the axis is not split
// If several blocks hold the same elements of t, restricts the mask to the block that writes them, and returns true.
bool lower_owner_mask(Lower *L, const CtType *t, Term **mask);
// These return false after a diagnostic if `what` would move elements between blocks. The first does if a block holds
// different parts of a and b; along `except` (−1: no axis) neither may be split. The second does if t is split along
// the axis.
bool lower_check_same_blocks(Lower *L, Span span, const char *what, const CtType *a, const CtType *b, int64_t except);
bool lower_check_axis_in_block(Lower *L, Span span, const char *what, const CtType *t, uint32_t axis);
// The same for a dot: a must be split as the accumulator's rows are, b as its columns, and neither along K.
bool lower_check_product_blocks(Lower *L, Span span, const CtType *a, const CtType *b, const CtType *acc);
bool lower_check_keeps_layout(Lower *L, Span span, const CtType *t);   // every tensor of a cluster that has one must
// Each block's part of a tensor that had no layout, as type `to` says; NULL after a diagnostic.
Value *lower_divide(Lower *L, Value *whole, const CtType *to, Span span);

bool lower_is_blackwell(const char *name);                        // a function that Hopper does not have
// x in the shape (in Gluon: and the layout) of `like`.
Term *lower_broadcast_like(Lower *L, Term *x, const CtType *like, Span span);

// ---- promote.c, operators.c ----
typedef enum { DOWNCAST_DEFAULT, DOWNCAST_RTNE, DOWNCAST_RTZ } Downcast;
// `to`: scalar or pointer type; NULL x gives NULL
Term *lower_cast(Lower *L, Term *x, const CtType *to, Span span);
Term *lower_cast_to(Lower *L, Term *x, DtypeKind to, Span span);
Term *lower_cast_rounded(Lower *L, Term *x, const CtType *to, Downcast rounding, Span span);
bool lower_has_rtz(const CtType *from, const CtType *to);   // whether a narrowing of floats can round toward 0
// Whether the target computes with values of the type: it may be an fp8 type that it lacks. False after a diagnostic.
bool lower_check_fp8(Lower *L, const CtType *t, Span span);
bool lower_check_fp8_exists(Lower *L, const CtType *t, Span span);   // on any target: what a dot takes
Term *lower_bitcast(Lower *L, Term *x, const CtType *to, Span span);
// of values of one type and shape
Term *lower_elementwise(Lower *L, Opcode oc, Term **x, uint32_t n);
// arithmetic, bits, comparison
Term *lower_binary(Lower *L, PyOp op, Term *a, Term *b, Span span);
Term *lower_operator_method(Lower *L, Term *x, const char *name);   // x.__add__ and the like; NULL: no operator's
void lower_assert(Lower *L, Value *condition, Span span, const char *text);   // of --debug
Term *lower_unary(Lower *L, PyOp op, Term *x, Span span);
// Gives both operands one type and one shape, by the rules of binary operators. bits: only integers are promoted.
typedef struct { bool allow_left_ptr, allow_right_ptr, div_or_mod, bits, compares; } PromoteRule;
bool lower_promote(Lower *L, Term **a, Term **b, PromoteRule rule, const char *what, Span span);
// The same for two operands or more, any of which may be constants.
bool lower_promote_all(Lower *L, Term **x, uint32_t n, const char *what, Span span);
bool lower_broadcast_pair(Lower *L, Term **a, Term **b, Span span);
Term *lower_broadcast_to(Lower *L, Term *x, const int64_t *shape, uint32_t rank, Span span);
Term *term_full(Lower *L, const CtType *type, double f, int64_t i);
Term *lower_not_zero(Lower *L, Term *x, Span span);                                       // x != 0 as int1
const char *lower_inverted_integer(Lower *L, const Term *x);   // if x is the user's ~y: the text of y; otherwise NULL
Term *lower_logical_not(Lower *L, Term *x, Span span);
// a and b have one type and c's shape
Term *lower_select(Lower *L, Term *c, Term *a, Term *b);
// Evaluates a condition: *known is 0 or 1 for a constant, or -1 for a run-time i1 scalar, which is *v then. False after
// a diagnostic.
bool lower_condition(Lower *L, Term *c, Span span, const char *what, int *known, Value **v);

// ---- expr.c ----
const char *lower_source_text(Lower *L, Span span);           // as the user wrote it; "x" if it is long
const char *lower_source_text_or(Lower *L, Span span, const char *otherwise);   // what stands for long text
Term *lower_expr(Lower *L, const Node *e);
// Whether e is a, a.b, a.b.c, …, which may be lowered twice because it has no effect.
bool lower_is_name_path(const Node *e);
// v as a term; if it is a value that is missing, an error that says why.
Term *lower_found(Lower *L, CtValue *v, Span span, NameUse use);
// ---- attribute.c ----
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
// ---- call.c ----
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
// callee may be NULL; it serves suggestions only: it tells what each argument is used as.
Term *lower_call_operator(Lower *L, Term *self, const char *name, CallArgs *args);   // a method that the above found
bool lower_call_args(Lower *L, const Node *call, const Term *callee, CallArgs *out);
Term *lower_call(Lower *L, Term *callee, CallArgs *args);
Term *lower_call_positional(Lower *L, Term *callee, Term *const *args, uint32_t n, Span span);
// After an error about arguments that a call lacks: the call with them, by its parameters' names.
void lower_hint_call(Lower *L, const CallArgs *args, const char *const *names, const bool *is_optional, uint32_t count);
void lower_visit(Lower *L, const CtFunction *fn);              // remembers a function whose body is lowered

// ---- guess.c, guess_attribute.c: errors about unknown names, with suggestions ----
Term *lower_unknown_name(Lower *L, const char *name, Span span, NameUse use);
Term *lower_no_attribute(Lower *L, const Term *base, const char *name, Span span);
Term *lower_no_block_attribute(Lower *L, const char *name, Span span);   // of a block pointer
bool lower_hint_foreign(Lower *L, ForeignUse use, const char *name);     // what a row of foreign.def says, if any
bool lower_hint_nearest(Lower *L, const char *name, const char *near);   // `near` in place of `name`, unless it is NULL
void lower_add_language_functions(Lower *L, NameVec *names);
Term *lower_no_builtin(Lower *L, const char *name, Span span);
// Whether v is a `tl.NAME` that does not exist in Triton but is known from another language or library.
bool lower_is_foreign_member(Lower *L, const CtValue *v);
// Hints after an error about a missing value, a builtin that does not exist, a name where a type belongs, a function
// that takes no run-time values, or a keyword that no parameter has. A bool says whether a hint was added.
bool lower_is_call_of_language(const CtValue *missing);   // made at compile time: "tl.num_programs(...)"
void lower_hint_missing(Lower *L, const CtValue *missing, NameUse use);
void lower_hint_near(Lower *L, const char *name);
bool lower_hint_dtype(Lower *L, const char *name);
// Hints that comments begin with #, if the last word of the span follows `//` and ends its line. after_call: only if a
// call precedes the `//`. Returns whether it did.
bool lower_hint_comment(Lower *L, Span span, bool after_call);
bool lower_hint_function(Lower *L, const char *name, const Term *argument);
// What to do about a parameter's annotation that is not a type; NULL if nothing is known.
const char *lower_guess_annotation(Frontend *fe, const CtFunction *fn, const Node *n);
void lower_hint_param(Lower *L, const char *key, const char *params, const char *const *names, uint32_t count);

// ---- origin.c: notes after an error ----
void lower_note_shape(Lower *L, const Term *x, Span error);      // where x got its shape, unless within `error`
// The way out where x, summed up along one axis, would have the shape of `to` along another. Whether it would.
bool lower_hint_other_axis(Lower *L, const Term *x, const CtType *to);
// Warns of x, combined with the tensor `with`, if x is the reduction of what that is made of along another axis than 0.
void lower_warn_square(Lower *L, const Term *x, const Term *with, Span span);
// Notes where x, of more axes than `to`, got one that the user added. Whether a hint says to leave that out.
bool lower_hint_axis(Lower *L, const Term *x, const CtType *to);
// The way out where a function needs a tensor and x is a scalar, and where it became one.
Term *lower_hint_scalar(Lower *L, const Term *x, const char *function);
bool lower_keeps_dims(const Term *x);                            // whether x comes from a reduction with keep_dims
bool lower_note_division(Lower *L, const Term *x);              // the `/` of integers that made x a float, if one did
Term *lower_hint_none(Lower *L, Span span);   // after None was used there as a number
// Reports at span that x is used, the result of a function that returns nothing. False if it is not.
bool lower_refuse_nothing(Lower *L, const Term *x, Span span);
// Notes what the user's function gives whose call is unpacked. Whether it did.
bool lower_note_result(Lower *L, const Term *result);
const CtFunction *lower_called_function(Lower *L, const Node *call);   // the user's that a call is of, or NULL
Term *lower_hint_unpack(Lower *L, const Term *x, uint32_t want);   // after x was unpacked into so many names
const Node *lower_node_at(Lower *L, Span span);   // of the user's current function; NULL: none has just this span
// Says how e, whose value is wrong, comes to have it: "B // 256 is 0 for B = 128". e may be NULL.
void lower_note_computed(Lower *L, const Node *e, int64_t value);
void lower_note_constants(Lower *L, const Node *e);   // "here N = 3": of the constants that e names. e may be NULL.
bool lower_hint_division(Lower *L, const Term *x);   // lower_note_division, and what to write instead
bool lower_hint_returned(Lower *L, const Term *x);   // of a tuple that a function of the user's returned: to unpack it
bool lower_is_loaded(const Term *x);                 // whether it is computed from what a load gives
// Whether x is a parameter for which the launch passed a tuple or list of numbers or of arrays; a note says so.
bool lower_note_listed(Lower *L, const Term *x);
bool lower_note_comma(Lower *L, const Term *x);   // notes where a variable was made a tuple of one, if x is one

// ---- origin_param.c ----
void lower_note_param(Lower *L, const Term *x);                  // what gave a parameter its type
// Notes, where x at span is no pointer, which parameter the launch gave a number in place of a tensor. Whether it did.
bool lower_note_no_pointer(Lower *L, const Term *x, Span span);
bool lower_note_pointer(Lower *L, const Term *x);   // the same where a number is needed and x is a parameter with a tensor
bool lower_is_told(Lower *L, const Term *x);        // whether lower_note_pointer noted it before
// Notes that x, whose items are asked for, is one pointer, if it is a parameter. Whether it did.
bool lower_note_one_pointer(Lower *L, const Term *x);
// Notes through which parameter x was loaded, unless it is that of the pointer. Returns its name, or NULL.
const char *lower_note_loaded(Lower *L, const Term *x, const Term *pointer);

// ---- lower.c, scope.c, flow.c, loops.c, unroll.c ----
// A list of statements, what follows it, and so on to the end of the function or loop body.
typedef struct Cont { const NodeList *list; uint32_t from; const struct Cont *next; } Cont;
// Which variables matter after the end of a statement list. NULL = all.
typedef struct { const NameVec *names; bool is_function_end; } LiveOut;
// Counts statements that are about to be lowered. False if there are too many, now or before.
bool lower_count(Lower *L, uint64_t statements, Span span);
void lower_stmts(Lower *L, const Cont *k, const LiveOut *out);
void lower_for(Lower *L, const Node *s, const Cont *rest);      // rest: what follows the loop
// Leaves out statements after a diagnostic: the new names that they bind have no value, of which no message speaks.
void lower_skip(Lower *L, const NodeList *body);
void lower_while(Lower *L, const Node *s);
typedef void (*ArmFn)(Lower *L, void *user);
// Lowers `if v: then() else: otherwise()` and merges both scopes. When exactly one arm ends, `rest`, which follows the
// `if`, is lowered inside the other arm, and true is returned. Arms may be NULL.
bool lower_runtime_if(Lower *L, Value *v, ArmFn then, ArmFn otherwise, void *user, const Cont *rest, const LiveOut *out,
                      Span span);
// Lowers an expression that chooses; both arms must agree in type.
Term *lower_runtime_choice(Lower *L, Value *c, Term *(*arm)(Lower *L, void *user, bool first), void *user, Span span,
                           const char *what);
bool lower_enter_region(Lower *L, Span span);                      // false after a diagnostic: too deep
FlagState scope_flow(const Scope *s);                         // whether the path ends: NO if it falls through
void scope_resume(Scope *s, bool all);                        // clears `continue`, or all flags
Value *scope_live(Lower *L, const Scope *s);                  // an i1: none of the flags is set
Scope scope_copy(Lower *L, const Scope *s);
bool scope_is_read_next(Lower *L, const Cont *k, const char *name);   // whether k reads the name before it binds it
Var *scope_find(Scope *s, const char *name);
void scope_set(Lower *L, Scope *s, const char *name, Term *term, Span span, uint8_t flags);
void scope_remove(Scope *s, const char *name);
// names that `:=` in an expression may bind
void lower_collect_expr(Lower *L, const Node *e, NameVec *out);
void lower_collect_assigned(Lower *L, const NodeList *body, NameVec *out);      // names that a statement list may bind
// Remembers why the name has no value, for the message if it is used.
void scope_lose(Lower *L, const Var *v, const char *why);   // why NULL: v->span is the `del`
const LostName *scope_find_lost(const Lower *L, const char *name);   // where it lost its value last; NULL: nowhere
const LostName *scope_note_lost(Lower *L, const char *name);         // the same, with a note about it
bool scope_hint_left_out(Lower *L, const char *name);   // says where an arm that is not lowered here assigns it
bool lower_has_exit(const NodeList *body, bool with_break);                     // a return, or a break of this loop
void lower_assign_target(Lower *L, const Node *target, Term *value, bool is_declared_constexpr, bool decay);
// The target of a loop or comprehension over iter takes one of its items.
void lower_assign_item(Lower *L, const Node *target, const Node *iter, Term *item, bool is_declared_constexpr);

// ---- warn_unused.c, warn_flow.c, warn_compare.c ----
// These check the syntax tree of a function, whatever its specialisation, and report each place once.
void warn_unused_variables(Lower *L, const Node *def);
void warn_unreachable(Lower *L, const Node *def);
void warn_compares(Lower *L, const Node *def);
// Warns where e, `a & b` or `a | b`, is the bare operand of a comparison, and one of a and b is a mask, the other not.
void lower_warn_mask(Lower *L, const Node *e, const Term *a, const Term *b);
// Checks a statement that consists of the expression v. It was lowered to t and to the ops of `block` after `before`.
void warn_unused_value(Lower *L, const Node *v, const Term *t, const Block *block, const Op *before);
void warn_missing_store(Lower *L, const Func *f, const Node *def);
// ---- warn_values.c
void lower_warn_shift(Lower *L, bool is_left, const CtType *type, int64_t by, Span span, const char *left);
void lower_warn_shifts(Lower *L, const Term *a, const Term *b, Span span, const char *left);   // of a << b, b a tensor
void lower_warn_pointer_type(Lower *L, const CtValue *a, const CtValue *b, Span span);         // of a == b, a != b
// Of a constant operand of `what` that becomes `type`.
void lower_warn_lost_constant(Lower *L, const CtValue *c, const CtType *type, const char *what, Span span);
void lower_warn_added_twice(Lower *L, const Term *a, const Term *b);                // of a + b
// counted, number: the operands as the user wrote them.
void lower_warn_padded(Lower *L, const CtFunction *combine, const Term *x);   // of a reduction by combine
void lower_warn_same_tile(Lower *L, const Node *loop, const Op *op);
void lower_warn_loop_variable(Lower *L, const Node *loop, const Cont *rest);   // rest: what follows the loop
void lower_warn_softmax(Lower *L, const Term *x, Span span);
void lower_warn_sort(Lower *L, const Term *x, bool descending);
void lower_warn_histogram(Lower *L, Span span, const Value *x, int64_t bins, const char *counted, const char *number);
bool warn_calls(const NodeList *list);                              // whether code there may have an effect
void warn_redefinitions(Context *ctx, const Node *module);

// ---- names.c ----
typedef struct BuiltinRow BuiltinRow;
// What a canonical builtin name ("tl.load", "libdevice.tanh", "cdiv") means: a row (as TERM_CONST of CT_BUILTIN) or a
// prelude function, bound to its direction if the name has one ("libdevice.add_rz"). NULL without a diagnostic.
Term *builtin_resolve(Lower *L, const char *canonical);
const BuiltinRow *builtin_row_of(const char *canonical);
Term *builtin_find_method(Lower *L, const char *name);                // of tensors: a row or a prelude function
// Whether the method takes fp16 and bf16, as Triton's x.exp() does, while the function tl.exp(x) does not.
bool builtin_method_takes_half(const Term *fn);
void lower_stop_before(Lower *L, const Node *s);                   // the breakpoint of a debugger
bool lower_in_prelude(Lower *L, Span span);                         // whether the code is in a prelude function
const char *lower_prelude_name(Lower *L, Span span);                // the one that the user called; NULL if it is not
Term *lower_prelude_call(Lower *L, const char *name, Term *const *args, uint32_t n, Span span);
bool lower_is_language_name(const char *name);                      // of a row or a prelude function

// ---- builtins.c ----
// A row of builtins_gluon.def by its name there (`mbarrier.init`); NULL if there is none.
const BuiltinRow *builtin_find_gluon(const char *name);
const BuiltinRow *builtin_at_gluon(uint32_t i);   // NULL after the last row of that table
bool builtin_is_gluon(const BuiltinRow *row);                 // whether it is of that table
// builtins_gluon.def may have two rows for a name, the one with fewer parameters first. Returns the row that the call
// fits.
const BuiltinRow *builtin_overload(const BuiltinRow *row, const CallArgs *args);
typedef struct {
  const BuiltinRow *row;
  Term **args;                 // one for each parameter; a *list is a TERM_TUPLE
  Span *spans;
  bool *given;
  Span span;
  const Node *node;
} Call;
const char *builtin_arg_text(Lower *L, const Call *c, uint32_t i);   // as written, without its name
// builtins_hints.c: whether a hint was added.
bool builtin_hint_alone(Lower *L, const Call *c);
bool builtin_hint_text(Lower *L, const Call *c, uint32_t i);
bool builtin_hint_brackets(Lower *L, const Call *c, uint32_t i, uint32_t rank);
void lower_warn_float_bits(Lower *L, const Call *c, AtomicKind kind, const CtType *elem);   // of an atomic operation
void lower_warn_signed(Lower *L, const Call *c, Term *const *x);          // of umulhi; x: its operands of one type
void lower_warn_difference(Lower *L, const Call *c, const Term *x, const CtType *to);   // of a conversion of x to `to`
void lower_warn_clamp(Lower *L, const Call *c, const Term *low, const Term *high);
// Of a load whose pointers and mask are broadcast to `both`.
void lower_warn_widened(Lower *L, const Call *c, const CtType *pointers, const CtType *mask, const CtType *both);
void lower_warn_trans(Lower *L, const Call *c);                           // of two axes that keep their order
void lower_warn_keep_dims(Lower *L, const Call *c, uint32_t i);           // of argument i, a reduction's keep_dims
void lower_warn_fraction(Lower *L, const Call *c, const Term *value, const CtType *elem);   // of an atomic operation
void lower_warn_stored_fraction(Lower *L, const Call *c, const Term *value, const CtType *elem);   // of a store
void lower_warn_bool_sum(Lower *L, const Term *a, const Term *b, Span span);                 // of a + b
void lower_warn_nan(Lower *L, PyOp op, const CtValue *a, const CtValue *b, Span span);       // of a comparison
// Of a descriptor or block pointer, whose strides are argument 2.
void lower_warn_row_stride(Lower *L, const Call *c, uint32_t rank, Value *const *shape, Value *const *strides);
void lower_warn_not_associative(Lower *L, const Op *op, const char *function, Span span);   // of a reduce or scan
typedef Term *(*BuiltinFn)(Lower *L, Call *c);
struct BuiltinRow { const char *name, *params; BuiltinFn fn; int32_t data; uint8_t method; const char *mark, *doc; };
// A parameter as its row spells it; `otherwise` is its default, or NULL.
typedef struct { const char *name, *otherwise; uint32_t name_size, otherwise_size; bool is_list; } BuiltinParam;
const char *builtin_next_param(const char *params, BuiltinParam *out);   // NULL after the last
const BuiltinRow *builtin_find(const char *name);             // name without `tl.`
const BuiltinRow *builtin_at(uint32_t i);
Term *builtin_call(Lower *L, const BuiltinRow *row, Term *self, CallArgs *args);
bool builtin_bind(Lower *L, const BuiltinRow *row, Term *self, CallArgs *args, Call *out);
// Arguments of builtins. Each gives false or NULL after a diagnostic that names the parameter.
bool arg_is_none(const Call *c, uint32_t i);
const char *arg_function(Lower *L, const Call *c);            // what the user called: of the prelude, or the row
bool lower_is_permutation(const int64_t *axes, uint32_t n, uint32_t rank);   // whether n axes are each of rank once
Term *lower_hint_axes(Lower *L, int64_t rank);                // after an error about an axis or a shape's entry; NULL
Term *arg_value(Lower *L, Call *c, uint32_t i);               // run-time value
bool arg_int(Lower *L, Call *c, uint32_t i, int64_t *out);    // constant
bool arg_bool(Lower *L, Call *c, uint32_t i, bool *out);
// After a constant was needed and t is none: where it was declared one, why a loop's variable is none, or `otherwise`.
void lower_hint_constant(Lower *L, const Term *t, const char *otherwise);
bool arg_str(Lower *L, Call *c, uint32_t i, const char **out);        // None gives ""
bool arg_dtype(Lower *L, Call *c, uint32_t i, const CtType **out);
// several constant integers, or a tuple of them
bool arg_ints(Lower *L, Call *c, uint32_t i, int64_t *out, uint32_t max, uint32_t *count);
// `rank` scalar integers, cast to `type`
bool arg_scalars(Lower *L, Call *c, uint32_t i, const CtType *type, uint32_t rank, Value **out);
// A type with the layout that the parameter `layout` gives, if the row has one; NULL after a diagnostic.
const CtType *arg_block(Lower *L, Call *c, const CtType *elem, const int64_t *shape, uint32_t rank);
CtValue *arg_layout(Lower *L, Call *c, uint32_t i, LayoutKind kind);   // also Auto- and CoalescedLayout, if distributed
// negative counts from the end
bool arg_axis(Lower *L, Call *c, uint32_t i, uint32_t rank, int64_t *out);
bool lower_check_owned(Lower *L, Call *c, const CtType *t);       // false if two blocks of a cluster hold one element
bool arg_choice(Lower *L, Call *c, uint32_t i, const char *const *texts, uint32_t n, int *out);
// at the call, and at an argument; they give NULL
Term *builtin_error(Lower *L, const Call *c, const char *fmt, ...) PRINTF_LIKE(3, 4);
Term *arg_error(Lower *L, const Call *c, uint32_t i, const char *fmt, ...) PRINTF_LIKE(4, 5);

// Families; each builder's name is in builtins.def.
#define BUILTIN(name, params, fn, data, method, mark, doc) Term *fn(Lower *L, Call *c);
#include "frontend/lower/builtins.def"
#define BUILTIN(name, params, fn, data, method, mark, doc) Term *fn(Lower *L, Call *c);
#include "frontend/lower/builtins_gluon.def"

// ---- gluon_roles.c ----
// Whether each warp_specialize of the kernel leaves registers for its default partition. False after diagnostics.
bool lower_check_roles(Lower *L);
bool lower_check_owned_results(Lower *L);   // of a whole kernel: nobody may read what only the owner has

// ---- range.c ----
typedef struct { Term *start, *stop, *step; Call call; const Cont *rest; } RangeArgs;   // rest: follows the loop
bool lower_split_range(Lower *L, Call *c, RangeArgs *r);         // a range's arguments; false after a diagnostic
// Makes scalars of one type of a range's start, end and step; of a negative step it takes the magnitude. NULL after a
// diagnostic.
const CtType *lower_range_bounds(Lower *L, const Node *s, const RangeArgs *r, Term **bounds, bool *negative);
bool lower_refuse_no_step(Lower *L, const Node *iter);          // of a range whose step is 0
void lower_range_attrs(Lower *L, Op *op, Call *c);               // what `tl.range` asks of its loop
// ---- loops.c: a `for` over a range ----
bool lower_counted_loop(Lower *L, const Node *s, RangeArgs *r);  // false after a diagnostic about its bounds

// ---- helpers shared by families ----
static inline bool atomic_is_bitwise(AtomicKind k) { return k == ATOMIC_AND || k == ATOMIC_OR || k == ATOMIC_XOR; }
// The kind for elements of that type: add, min and max differ for floats and for unsigned integers.
AtomicKind lower_atomic_kind(AtomicKind k, const CtType *elem);
Value *lower_desc_value(Lower *L, const Term *d);
// tl.make_tensor_descriptor's arguments; in Gluon with the layout of the block.
Term *lower_make_desc(Lower *L, Call *c, CtValue *layout);
// A descriptor's block with its layout, or with the default one if it is NULL. NULL after a diagnostic.
const CtType *lower_desc_block(Lower *L, const CtType *block, CtValue *layout, Span span);
// Whether dots and waits alone use the carried tensors of a loop that an iteration changes.
bool lower_may_be_accumulators(Value *const *args, Value *const *next, uint32_t n);
Term *lower_buffer_attribute(Lower *L, Term *base, const char *name, Span span);
Term *lower_buffer_arg(Lower *L, Call *c, uint32_t i);            // a buffer that is one tile
Term *lower_data_arg(Lower *L, Call *c, uint32_t i);              // the same, but not an mbarrier
Term *lower_expand_dims(Lower *L, Term *x, int64_t axis);
Term *lower_reshape(Lower *L, Term *x, const int64_t *shape, uint32_t rank, bool reorder);
Term *lower_trans(Lower *L, Term *x, const int64_t *order);
static inline void lower_cursor_to_end(Lower *L, Block *b) {
  L->b.block = b;
  L->b.before = NULL;
}
// An op at the end of the current block that gets its results later, by lower_replace_op.
Op *lower_new_shell(Lower *L, Opcode oc, Value *const *operands, uint32_t n, uint32_t num_blocks);
// An op with one result of type t, and that result.
Op *lower_new_op(Lower *L, Opcode oc, const CtType *t, Value *const *operands, uint32_t n);
static inline Term *term_of_op(Lower *L, Op *op, const CtType *t) { return term_value(L, op_result(op, 0), t); }
void values_append(Lower *L, ValueList *to, const ValueList *from);
static inline Value *term_v(const Term *t) { return t->value.v; }
static inline const CtType *term_t(const Term *t) { return t->value.type; }

// Reports an error with the chain of calls that led to it. Returns NULL.
Term *lower_error(Lower *L, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
// For an error whose text names its cause, such as a layout: if it is reported again elsewhere, it becomes a note.
Term *lower_error_once(Lower *L, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool lower_is_bare(Lower *L);                                       // in a function that may leave out `tl.`
// What stands before a builtin's name where the function is written: "tl.", "gl.", "" in a native file.
const char *lower_prefix(Arena *a, const CtFunction *fn);
const char *lower_decorator(Lower *L);                              // of functions for kernels: "@triton.jit"
// Adds the way out after an error; in a @kernel, leaves out each `tl.` of the text, and its decorator takes the place
// of @triton.jit. Returns NULL.
void *lower_hint(Lower *L, const char *fmt, ...) PRINTF_LIKE(2, 3);
void *lower_hint_wait(Lower *L);                                  // for an accumulator where a tensor is needed

#endif
