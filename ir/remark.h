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
  const char *kernel;
  Span span;                 // in the user's file: a remark on an op of the prelude is about the line that called it
  const char *text;          // what is true of the place, in lower case, without a full stop
  Remark *next;              // in the order of the passes
};

// Whether anybody wants remarks; a pass that must compute a remark's text asks first. The functions below record
// nothing if nobody does, nor what was recorded of the same place before.
static inline bool remarks_wanted(const Context *ctx) { return ctx->wants_remarks; }
void remark_applied(const Op *op, const char *fmt, ...) PRINTF_LIKE(2, 3);
void remark_missed(const Op *op, const char *fmt, ...) PRINTF_LIKE(2, 3);
void remark_kernel(const Func *f, RemarkKind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);   // on the whole of it

// The name that the source gives to what an access or a buffer is about: of its result, of an operand, or of the
// parameter or variable that its address comes from; NULL if it has none. For a text: remark_name, "a value" then.
const char *op_user_name(const Op *op);
const char *remark_name(const Op *op);
// A tile's shape and element type: "128×64 fp16".
const char *remark_type(Context *ctx, const Type *t);
// Those of a kind or a pass that the comma-separated list names ("applied", "missed", pass names), or all for "" and
// "all", in the order of the source. remarks_tell makes them diagnostics of level DIAG_REMARK.
const Remark **remarks_sorted(Context *ctx, const char *list, uint32_t *count);
void remarks_tell(Context *ctx, const char *list);

#endif
