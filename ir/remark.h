// Remarks: what a pass did for the speed of the code, or could not do and why. A pass records them where it decides;
// nobody else looks at them while it runs, and a pass does not know what becomes of them (`--remarks`, `--report`).
#ifndef TILE_IR_REMARK_H
#define TILE_IR_REMARK_H

#include "ir/ir.h"

typedef enum { REMARK_APPLIED, REMARK_MISSED } RemarkKind;
typedef struct Remark Remark;
struct Remark {
  RemarkKind kind;
  const char *pass;          // the one that was running
  Span span;                 // in the user's file: a remark on an op of the prelude is about the line that called it
  const char *text;          // what is true of the place, in lower case, without a full stop
  Remark *next;              // in the order of the passes
};

// Whether anybody wants remarks; a pass that must compute a remark's text asks first. The functions below record
// nothing if nobody does, nor what was recorded of the same place before.
static inline bool remarks_wanted(const Context *ctx) { return ctx->wants_remarks; }
void remark_applied(const Op *op, const char *fmt, ...) PRINTF_LIKE(2, 3);
void remark_missed(const Op *op, const char *fmt, ...) PRINTF_LIKE(2, 3);
void remark_at(Context *ctx, RemarkKind kind, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);

// The name that the source gives to what an access or a buffer is about: of its result, its operand `i`, or the
// parameter or variable that its address comes from; "a value" if it has none.
const char *remark_name(const Op *op);
// A tile's shape and element type: "128×64 fp16".
const char *remark_type(Context *ctx, const Type *t);
// As diagnostics of level DIAG_REMARK, in the order of the source: those of a kind or a pass that the comma-separated
// list names ("applied", "missed", pass names), or all for "" and "all".
void remarks_tell(Context *ctx, const char *list);

#endif
