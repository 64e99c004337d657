// What an error adds: where a value came from, and what to write instead.
#ifndef TILE_FRONTEND_LOWER_HINTS_H
#define TILE_FRONTEND_LOWER_HINTS_H

#include "frontend/lower/lower.h"

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
bool lower_is_call_of_language(const CtValue *missing);   // made at compile time: "tl.num_programs(...)"
// Hints after an error about a missing value, a builtin that does not exist, a name where a type belongs, a function
// that takes no run-time values, or a keyword that no parameter has. A bool says whether a hint was added.
void lower_hint_missing(Lower *L, const CtValue *missing, NameUse use);
void lower_hint_near(Lower *L, const char *name);
bool lower_hint_dtype(Lower *L, const char *name);
bool lower_hint_function(Lower *L, const char *name, const Term *argument);
void lower_hint_param(Lower *L, const char *key, const char *params, const char *const *names, uint32_t count);
// Hints that comments begin with #, if the last word of the span follows `//` and ends its line. after_call: only if a
// call precedes the `//`. Returns whether it did.
bool lower_hint_comment(Lower *L, Span span, bool after_call);
// What to do about a parameter's annotation that is not a type; NULL if nothing is known.
const char *lower_guess_annotation(Frontend *fe, const CtFunction *fn, const Node *n);
// Adds the way out to an error about two terms that should be of one type. If they differ in the element type alone,
// `otherwise` is told with the wider one in place of the dots of "(…)".
void term_note_types_differ(Lower *L, const Term *a, const Term *b, const char *otherwise);

// ---- guess_kind.c: a function, a method, a class, a type or a module in place of a value ----
bool lower_is_uncalled(Lower *L, const Term *t);   // whether it is called, or made objects of
const char *lower_callee_name(Lower *L, const Term *t);   // of what lower_is_uncalled says so; or NULL
bool lower_hint_kind(Lower *L, const Term *t);     // how to make a value of it. Whether it is such a term.
// Reports t, the value of n, which is asked for its truth, if it is a function that is not called. False if it is not.
bool lower_refuse_truth(Lower *L, const Term *t, const Node *n);

// ---- origin.c: notes after an error ----
void lower_note_shape(Lower *L, const Term *x, Span error);      // where x got its shape, unless within `error`
// Hints at another axis if x, reduced along it instead, would have the shape of `to`. Returns whether it hinted.
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

const CtValue *lower_constant_named(Lower *L, const char *name);   // the value of a name that is a constant, or NULL

static inline bool lower_same_place(const Op *a, const Op *b) {   // in the source
  return a->span.begin == b->span.begin && a->span.end == b->span.end;
}

// ---- origin_axis.c ----
const Value *lower_before_loop(const Lower *L, const Value *v);   // what a loop's carried value begins with, or NULL
// Notes where a and b, which differ along an axis of `rank` axes, got their extents. Whether a hint gives a way out.
bool lower_hint_extents(Lower *L, const Term *a, const Term *b, uint32_t axis, uint32_t rank, Span error);

// ---- origin_type.c ----
// After an error about a variable of two types: `value` is assigned to it at `assigned`, and it has the type of `other`
// elsewhere. Notes that an annotation converts nothing. Whether a hint says what to assign in place of a number.
bool lower_hint_first_value(Lower *L, const char *name, Span assigned, const Term *value, const Term *other);
// After a constant was needed: if t is a constant number that a plain assignment made a value of, the way out. Whether.
bool lower_hint_assigned(Lower *L, const Term *t);
void lower_note_widened(Lower *L, const Term *x);   // notes the reduction or scan that gave x a wider type, if one did

// ---- origin_param.c ----
void lower_note_param(Lower *L, const Term *x);                  // what gave a parameter its type
// Notes, where x at span is no pointer, which parameter the launch gave a number in place of a tensor. Whether it did.
bool lower_note_no_pointer(Lower *L, const Term *x, Span span);
bool lower_note_pointer(Lower *L, const Term *x);   // the same where a number is needed and x is a parameter with a tensor
bool lower_is_told(Lower *L, const Term *x);        // whether lower_note_pointer noted it before
// Notes that x, whose items are asked for, is one pointer, if it is a parameter. Whether it did.
bool lower_note_one_pointer(Lower *L, const Term *x);
// Notes through which parameter x was loaded, unless it is that of the pointer, if one is given. Returns its name, or
// NULL.
const char *lower_note_loaded(Lower *L, const Term *x, const Term *pointer);

#endif
