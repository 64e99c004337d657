// Remarks: see remark.h.
#include "ir/remark.h"

#include <stdlib.h>
#include <string.h>

#include "ir/buf.h"

static bool is_known(const Context *ctx, RemarkKind kind, Span span, const char *text) {
  for (const Remark *r = ctx->remarks; r; r = r->next)
    if (r->span.begin == span.begin && r->kind == kind && r->pass == ctx->current_pass && !strcmp(r->text, text))
      return true;
  return false;
}

static void record(Context *ctx, RemarkKind kind, Span span, const char *fmt, va_list ap) {
  const char *text = arena_vprintf(&ctx->arena, fmt, ap);
  if (is_known(ctx, kind, span, text)) return;
  Remark *r = arena_new(&ctx->arena, Remark);
  *r = (Remark){kind, ctx->current_pass, span, text, NULL};
  if (ctx->last_remark) ctx->last_remark->next = r;
  else ctx->remarks = r;
  ctx->last_remark = r;
}

void remark_at(Context *ctx, RemarkKind kind, Span span, const char *fmt, ...) {
  if (!remarks_wanted(ctx)) return;
  va_list ap;
  va_start(ap, fmt);
  record(ctx, kind, span, fmt, ap);
  va_end(ap);
}

#define RECORD(op, kind)                                                                                               \
  Context *ctx = (op)->parent->func->module->ctx;                                                                      \
  if (!remarks_wanted(ctx)) return;                                                                                    \
  va_list ap;                                                                                                          \
  va_start(ap, fmt);                                                                                                   \
  record(ctx, kind, op_user_span(ctx, op), fmt, ap);                                                                   \
  va_end(ap)

void remark_applied(const Op *op, const char *fmt, ...) { RECORD(op, REMARK_APPLIED); }
void remark_missed(const Op *op, const char *fmt, ...) { RECORD(op, REMARK_MISSED); }

static const char unnamed[] = "a value";

// The name of the value, or of the first operand that it is computed from and that has one.
static const char *name_behind(const Value *v) {
  enum { FAR = 16 };
  for (uint32_t steps = 0; v && steps < FAR; steps++) {
    if (v->block && !v->block->parent) return v->block->func->params[v->index].name;
    if (v->block && v->block->parent && op_is(v->block->parent, TRAIT_CARRIES) && v->index) {
      if (v->name) return v->name;
      const Op *loop = v->block->parent;
      const uint32_t first = loop->opcode == OP_FOR ? 3 : 0, i = v->index - (loop->opcode == OP_FOR);
      if (first + i >= loop->num_operands) break;
      v = op_operand(loop, first + i);
      continue;
    }
    if (!v->def || !v->def->num_operands) break;
    v = op_operand(v->def, 0);
  }
  return v && v->name ? v->name : unnamed;
}

const char *remark_name(const Op *op) {
  if (op->num_results && op->results[0].name && op_unit(op) != UNIT_GMEM) return op->results[0].name;
  const uint32_t address = op->opcode == OP_ASYNC_COPY;
  if (op_unit(op) == UNIT_GMEM || op_unit(op) == UNIT_DESC || address) return name_behind(op_operand(op, address));
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && op_operand(op, i)->name) return op_operand(op, i)->name;
  return unnamed;
}

const char *remark_type(Context *ctx, const Type *t) {
  Buf b = buf_make(&ctx->arena);
  for (uint32_t i = 0; i < t->rank; i++) buf_printf(&b, "%s%lld", i ? "×" : "", (long long)t->shape[i]);
  const Type *e = type_elem(t);
  buf_printf(&b, "%s%s", t->rank ? " " : "", e->kind == TYPE_SCALAR ? dtype_name_of(e->scalar) : "pointers");
  return buf_str(&b);
}

// ---- as diagnostics ----

static bool names(const char *list, const char *word) {
  const size_t n = strlen(word);
  for (const char *s = list; *s;) {
    const size_t len = strcspn(s, ",");
    if (len == n && !memcmp(s, word, n)) return true;
    s += len + (s[len] == ',');
  }
  return false;
}

typedef struct { const Remark *remark; uint32_t order; } Told;

static int by_place(const void *a, const void *b) {
  const Told *x = a, *y = b;
  const Loc p = x->remark->span.begin, q = y->remark->span.begin;
  return p != q ? (p > q) - (p < q) : (x->order > y->order) - (x->order < y->order);
}

void remarks_tell(Context *ctx, const char *list) {
  VEC(Told) told = {0};
  for (const Remark *r = ctx->remarks; r; r = r->next) {
    if (*list && !names(list, "all") && !names(list, r->kind == REMARK_APPLIED ? "applied" : "missed") &&
        !(r->pass && names(list, r->pass)))
      continue;
    const Told t = {r, told.count};
    vec_push(&ctx->arena, &told, t);
  }
  if (told.count) qsort(told.data, told.count, sizeof *told.data, by_place);
  VEC_EACH(t, told)
    diag_remark(ctx, t->remark->span, "%s [%s]", t->remark->text, t->remark->pass ? t->remark->pass : "front end");
}
