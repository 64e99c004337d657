// Statements: scopes, how paths part and join, loops.
#ifndef TILE_FRONTEND_LOWER_STATEMENTS_H
#define TILE_FRONTEND_LOWER_STATEMENTS_H

#include "frontend/lower/builtins.h"

// ---- lower.c ----
// Which variables matter after the end of a statement list. NULL = all.
typedef struct { const NameVec *names; bool is_function_end; } LiveOut;
// Counts statements that are about to be lowered. False if there are too many, now or before.
bool lower_count(Lower *L, uint64_t statements, Span span);
void lower_stmts(Lower *L, const Cont *k, const LiveOut *out);
// Leaves out statements after a diagnostic: the new names that they bind have no value, of which no message speaks.
void lower_skip(Lower *L, const NodeList *body);
bool lower_enter_region(Lower *L, Span span);                      // false after a diagnostic: too deep
void lower_assign_target(Lower *L, const Node *target, Term *value, bool is_declared_constexpr, bool decay);
// The target of a loop or comprehension over iter takes one of its items.
void lower_assign_item(Lower *L, const Node *target, const Node *iter, Term *item, bool is_declared_constexpr);

// ---- flow.c ----
typedef void (*ArmFn)(Lower *L, void *user);
// Lowers `if v: then() else: otherwise()` and merges both scopes. When exactly one arm ends, `rest`, which follows the
// `if`, is lowered inside the other arm, and true is returned. Arms may be NULL.
bool lower_runtime_if(Lower *L, Value *v, ArmFn then, ArmFn otherwise, void *user, const Cont *rest, const LiveOut *out,
                      Span span);
// Lowers an expression that chooses; both arms must agree in type.
Term *lower_runtime_choice(Lower *L, Value *c, Term *(*arm)(Lower *L, void *user, bool first), void *user, Span span,
                           const char *what);
// Remembers why the name has no value, for the message if it is used.
void scope_lose(Lower *L, const Var *v, const char *why);   // why NULL: v->span is the `del`
const LostName *scope_find_lost(const Lower *L, const char *name);   // where it lost its value last; NULL: nowhere
const LostName *scope_note_lost(Lower *L, const char *name);         // the same, with a note about it

// ---- scope.c ----
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
bool lower_has_exit(const NodeList *body, bool with_break);                     // a return, or a break of this loop
bool scope_hint_left_out(Lower *L, const char *name);   // says where an arm that is not lowered here assigns it

// ---- range.c ----
typedef struct { Term *start, *stop, *step; Call call; const Cont *rest; } RangeArgs;   // rest: follows the loop
bool lower_split_range(Lower *L, Call *c, RangeArgs *r);         // a range's arguments; false after a diagnostic
// Makes scalars of one type of a range's start, end and step; of a negative step it takes the magnitude. NULL after a
// diagnostic.
const CtType *lower_range_bounds(Lower *L, const Node *s, const RangeArgs *r, Term **bounds, bool *negative);
bool lower_refuse_no_step(Lower *L, const Node *iter);          // of a range whose step is 0
void lower_range_attrs(Lower *L, Op *op, Call *c);               // what `tl.range` asks of its loop

// ---- loops.c (a `for` over a range), unroll.c ----
void lower_for(Lower *L, const Node *s, const Cont *rest);      // rest: what follows the loop
void lower_while(Lower *L, const Node *s);
bool lower_counted_loop(Lower *L, const Node *s, RangeArgs *r);   // false after a diagnostic about its bounds

#endif
