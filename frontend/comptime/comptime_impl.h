// What the evaluator's files share. comptime.h is the door for everyone else. The files depend on each
// other in a circle: an operator may call a method, a call runs statements, and statements evaluate expressions.
//
// A function that fails sets ct->error and returns NULL (or false). The error travels like a Python exception: `try`
// may clear it, and the functions of comptime.h turn a pending one into a diagnostic. An error that came from a
// CT_MISSING value carries the value: a module-level statement that fails with it binds its targets to missing values,
// and the module goes on.
#ifndef TILE_FRONTEND_COMPTIME_IMPL_H
#define TILE_FRONTEND_COMPTIME_IMPL_H

#include "frontend/comptime/comptime.h"

enum { MAX_CALLS = 400, MAX_ERROR_NOTES = 8, MAX_ELEMENTS = 1 << 24 };
static const size_t MAX_STACK = (size_t)3 << 20, MAX_MEMORY = (size_t)1 << 30;

typedef struct {
  const char *type;            // "TypeError"; interned names are not needed, compare by text
  const char *message;
  Span span;
  const CtValue *missing;      // the missing value that caused the error, or NULL
  CtValue *exception;          // what was raised, or NULL
  CtValue *argument;           // of the exception that `except … as e` binds; NULL: the message
  const char *hint;            // the way out, or NULL
  bool is_fatal;               // a limit of the evaluator: no `try` catches it
  struct { Span span; const char *name; } notes[MAX_ERROR_NOTES];   // calls, innermost first
  uint32_t num_notes;
} CtError;

typedef struct CtFrame { CtEnv *env; CtValue *result; CtList yields; struct CtFrame *caller; } CtFrame;

struct Comptime {
  Context *ctx;
  Arena *arena;                // of ctx
  ComptimeOptions options;
  uint64_t steps, next_poll;   // next_poll: of the steps, when the host is asked whether to go on
  size_t memory_base;
  const char *stack_base;
  uint32_t depth, entries;     // calls in progress; public entries in progress
  CtError *error;
  const CtError *handled;      // what the innermost `except` block in progress caught
  uint32_t tries;              // bodies of a `try` with handlers in progress in this module's own statements
  CtFrame *frame;
  struct { CtModule **data; uint32_t count, capacity; } modules;
  struct { const SourceFile **data; uint32_t count, capacity; } files;
};

typedef struct {
  CtValue *const *args;
  uint32_t num_args;
  const CtBinding *kwargs;     // names interned
  uint32_t num_kwargs;
  Span span;
} CtArgs;

static inline bool is_int(const CtValue *v) { return ct_integer(v) != NULL; }
static inline Int128 int_of(const CtValue *v) {
  v = ct_integer(v);
  return v->kind == CT_INT ? v->i : v->b;
}
// The positional arguments of a call: CT_ARGS(span, x, y).
#define CT_ARGS(span, ...)                                                                                           \
  &(CtArgs){(CtValue *[]){__VA_ARGS__}, countof(((CtValue *[]){__VA_ARGS__})), NULL, 0, span}

// A built-in function or method that the evaluator computes. self: what it is bound to, or NULL.
typedef CtValue *CtFn(Comptime *ct, CtValue *self, const CtArgs *a);
#define CT_FN(name) static CtValue *name(UNUSED Comptime *ct, UNUSED CtValue *self, UNUSED const CtArgs *a)
// Its row in a table, which ends at a NULL name: ct_call_row checks that a call has min to max positional arguments.
enum { CT_ANY = 1 << 30 };
typedef struct { const char *name; CtFn *fn; uint32_t min, max; } CtFnRow;
const CtFnRow *ct_find_row(const CtFnRow *table, const char *name);      // NULL if absent
CtValue *ct_call_row(Comptime *ct, const CtFnRow *row, CtValue *self, const CtArgs *a);

static inline void ct_append(Comptime *ct, CtValue *to, CtValue *item) { vec_push(ct->arena, &to->list, item); }
static inline void ct_extend(Comptime *ct, CtList *to, const CtList *from) {
  for (uint32_t i = 0; i < from->count; i++) vec_push(ct->arena, to, from->data[i]);
}
static inline CtValue *ct_text(Comptime *ct, const Buf *b) {
  return ct_str_n(ct->ctx, b->size ? b->data : "", b->size);
}

// ---- comptime.c ----
CtValue *ct_fail(Comptime *ct, Span span, const char *type, const char *fmt, ...) PRINTF_LIKE(4, 5);
CtValue *ct_fail_missing(Comptime *ct, Span span, const CtValue *missing);
// `what`, Python that only the host runs, fails like a missing value
CtValue *ct_unsupported(Comptime *ct, Span span, const char *what);
CtValue *ct_missing(Comptime *ct, const char *name, const char *why, Span span);
// what is computed from a missing value: missing for the same reason
CtValue *ct_missing_from(Comptime *ct, const CtValue *origin, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool ct_step(Comptime *ct, Span span);                                  // false: a limit is reached
bool ct_grow(Comptime *ct, size_t elements, Span span);                 // false: too large to make
void ct_work(Comptime *ct, const CtValue *v);                           // counts a pass over all of v as steps

// ---- eval.c ----
CtValue *ct_eval(Comptime *ct, const Node *n, CtEnv *env);
CtValue *ct_eval_quietly(Comptime *ct, const Node *n, CtEnv *env);         // NULL without an error
bool ct_assign(Comptime *ct, const Node *target, CtValue *value, CtEnv *env);
CtEnv *ct_env_new(Comptime *ct, CtEnv *parent, CtModule *module);
bool ct_truth(Comptime *ct, CtValue *v, Span span, bool *out);

// ---- exec.c ----
bool ct_exec_module(Comptime *ct, CtModule *module);
bool ct_exec_top_level(Comptime *ct, const NodeList *body, CtEnv *env);   // statements of a module
// of a class or function; a return's value is the frame's
bool ct_exec_statements(Comptime *ct, const NodeList *body, CtEnv *env);

// ---- call.c ----
CtValue *ct_call(Comptime *ct, CtValue *callee, const CtArgs *a);
CtValue *ct_call1(Comptime *ct, CtValue *callee, CtValue *arg, Span span);
CtFunction *ct_function_new(Comptime *ct, const Node *def, CtEnv *env);    // NULL on failure of a default value
CtValue *ct_function_value(Comptime *ct, CtFunction *fn);
CtValue *ct_bind(Comptime *ct, CtValue *self, CtValue *fn);                // a CT_METHOD

// ---- class.c ----
CtValue *ct_class_new(Comptime *ct, const Node *n, CtEnv *env);
CtValue *ct_instantiate(Comptime *ct, CtValue *cls, const CtArgs *a);
CtValue *ct_instance_new(Comptime *ct, CtClass *cls);
CtValue *ct_object_new(Comptime *ct, const char *class_name);              // of a built-in class
CtValue *ct_instance_copy(Comptime *ct, const CtValue *instance);          // shares what its attributes hold
CtValue *ct_attr(Comptime *ct, const CtValue *instance, const char *name); // its own attribute; NULL if absent
void ct_attr_set(Comptime *ct, CtValue *instance, const char *name, CtValue *value);
bool ct_class_is_subclass(const CtClass *cls, const CtClass *base);
CtValue *ct_class_lookup(const CtClass *cls, const char *name);            // along the bases; NULL if absent
// an instance's method, `__len__` for one; NULL if absent
CtValue *ct_class_special(Comptime *ct, const CtValue *v, const char *name);

// ---- missing.c ----
// Binds every name that a statement would have bound to a value that is missing for the same cause.
void ct_forget(Comptime *ct, const Node *n, const CtValue *cause, CtEnv *env);
// Whether statements only import, define or rename things and therefore change nothing but names.
bool ct_only_declares(const NodeList *body);
const char *ct_import_bound_name(Comptime *ct, const Node *alias);         // what `import a.b` binds: a

// ---- exception.c ----
bool ct_is_exception_name(const char *name);
// built-in exception types' hierarchy
bool ct_exception_matches(const char *type, const char *handler);
CtValue *ct_exception_new(Comptime *ct, const char *name, const CtArgs *a);
CtValue *ct_exception_value(Comptime *ct, const CtError *e);                         // what `except … as e` binds
bool ct_handler_matches(Comptime *ct, const CtError *e, const Node *type, CtEnv *env);

// ---- foreign.c ----
const char *ct_name_hint(Comptime *ct, const char *name, const CtEnv *env);   // of a name that is not defined, or NULL
const char *ct_call_hint(Comptime *ct, const char *builtin);               // of a builtin that does not exist, or NULL

// ---- ops.c, subscript.c ----
CtValue *ct_unary(Comptime *ct, PyOp op, CtValue *v, Span span);
CtValue *ct_binary(Comptime *ct, PyOp op, CtValue *a, CtValue *b, Span span);    // arithmetic and comparisons
CtValue *ct_subscript(Comptime *ct, CtValue *v, CtValue *index, Span span);
bool ct_store_subscript(Comptime *ct, CtValue *v, CtValue *index, CtValue *item, Span span);
bool ct_delete_subscript(Comptime *ct, CtValue *v, CtValue *index, Span span);
bool ct_iterate(Comptime *ct, CtValue *v, Span span, CtList *out);     // all elements; an iterator is empty afterwards
// Takes one element after the other. An iterator keeps the elements that are not taken; a list may grow meanwhile.
typedef struct { CtValue *live; CtList items; uint32_t at; } CtCursor;
bool ct_cursor_open(Comptime *ct, CtCursor *c, CtValue *v, Span span);
bool ct_cursor_next(CtCursor *c, CtValue **item);                            // false: there is no further one
bool ct_less(Comptime *ct, CtValue *a, CtValue *b, Span span, bool *out);
bool ct_op_equal(Comptime *ct, CtValue *a, CtValue *b, Span span, bool *out);       // __eq__ of instances included
bool ct_length(Comptime *ct, CtValue *v, Span span, Int128 *out);
CtValue *ct_range(Comptime *ct, Int128 start, Int128 stop, Int128 step);
CtValue *ct_key(Comptime *ct, CtValue *v, Span span);                  // v as a dictionary's key; NULL after a failure

// ---- attr.c ----
CtValue *ct_get_attr(Comptime *ct, CtValue *v, const char *name, Span span);        // fails when absent
CtValue *ct_find_attr(Comptime *ct, CtValue *v, const char *name, Span span);       // NULL without an error when absent
bool ct_set_attr(Comptime *ct, CtValue *v, const char *name, CtValue *item, Span span);

// ---- format.c ----
CtValue *ct_format_value(Comptime *ct, CtValue *v, char conversion, const char *spec, Span span);
CtValue *ct_format_percent(Comptime *ct, CtValue *format, CtValue *args, Span span);
CtValue *ct_format_method(Comptime *ct, CtValue *format, const CtArgs *a);

// ---- builtins.c, methods.c, text.c ----
// self: of a bound one, or NULL
CtValue *ct_call_builtin(Comptime *ct, CtValue *self, const char *name, const CtArgs *a);
bool ct_is_python_builtin(const char *name);
// "str.join", "list.append", …
CtValue *ct_call_method(Comptime *ct, CtValue *self, const char *name, const CtArgs *a);
bool ct_has_method(const CtValue *v, const char *name);
bool ct_is_host_method(const CtValue *v, const char *name);       // Python's, but the evaluator does not compute it
extern const CtFnRow ct_str_methods[];                            // ends at NULL
bool ct_optional_int(Comptime *ct, const CtArgs *a, uint32_t i, Int128 otherwise, Int128 *out);
const char *ct_find_text(const char *s, size_t n, const char *part, size_t m);        // NULL if absent
// A keyword argument of a call by its name, a positional one by its number; NULL if absent.
CtValue *ct_kwarg(const CtArgs *a, const char *name);
CtValue *ct_arg(const CtArgs *a, uint32_t i);
CtValue *ct_wrong_type(Comptime *ct, const CtArgs *a, const CtValue *v);
// Binds a builtin's arguments to the parameters of its signature: "cdiv x y"; "?y" may be left out, and is NULL then.
bool ct_take_args(Comptime *ct, const char *signature, const CtArgs *a, CtValue **out);

// ---- sequence.c ----
extern const CtFnRow ct_sequence_functions[];

// ---- modules.c, math.c, triton.c ----
extern const CtFnRow ct_math_functions[], ct_triton_functions[];                 // end at NULL
bool ct_number_arg(Comptime *ct, const CtArgs *a, uint32_t i, double *out);
bool ct_int_arg(Comptime *ct, const CtArgs *a, uint32_t i, Int128 *out);
CtValue *ct_call_module_function(Comptime *ct, const char *name, CtValue *self, const CtArgs *a, bool *known);
// what torch would say about the target, by the name of a missing value; NULL if it says nothing
CtValue *ct_target_fact(Comptime *ct, const char *name);
// is_cuda() is true and is_hip() false, whichever module defines them; false if the name is neither kind
bool ct_target_test(const char *name, bool *out);

// ---- layouts.c, layout_map.c: Gluon's layouts ----
extern const CtFnRow ct_layout_functions[];                       // ends at NULL
bool ct_is_layout_class(const char *name);                         // "gl.BlockedLayout"
// an instance of the layout class of that name ("gl.BlockedLayout"); NULL without an error if there is none
CtValue *ct_layout_new(Comptime *ct, const char *name, const CtArgs *a);
// `rank`, or an attribute of the parent that the layout has too; NULL if it has none of that name
CtValue *ct_layout_attr(Comptime *ct, const CtValue *layout, const char *name);
bool ct_layouts_equal(Comptime *ct, const CtValue *a, const CtValue *b);   // as maps, if one knows its tensor's shape

// ---- decorate.c ----
CtValue *ct_call_triton(Comptime *ct, const char *name, CtValue *self, const CtArgs *a, bool *known);

// ---- import.c ----
// missing if not found; NULL after errors
CtValue *ct_import_module(Comptime *ct, const char *dotted, uint32_t level, CtModule *from, Span span);
CtModule *ct_builtin_module(Comptime *ct, const char *dotted);             // NULL if there is none of that name
CtValue *ct_module_attr(Comptime *ct, CtModule *module, const char *name);   // NULL if a file lacks it
CtModule *ct_load_file(Comptime *ct, const char *path, const char *name, bool *found);
bool ct_exec_import(Comptime *ct, const Node *n, CtEnv *env);
bool ct_exec_import_from(Comptime *ct, const Node *n, CtEnv *env);
// the value that an `import *` binds the name to, or may bind it to; NULL if none does
CtValue *ct_star_name(Comptime *ct, const CtEnv *env, const char *name);
// whether a handler of the `try` catches that a module is not found
bool ct_import_must_raise(const Node *try_node);
// fails if a module that the statement imports is missing
bool ct_import_check(Comptime *ct, const Node *n, const CtEnv *env);

#endif
