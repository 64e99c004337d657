// Remarks: see remark.h.
#include "ir/remark.h"

#include <stdlib.h>
#include <string.h>

#include "ir/buf.h"

static bool is_known(const Context *ctx, const Remark *x) {
  for (const Remark *r = ctx->remarks; r; r = r->next)
    if (r->span.begin == x->span.begin && r->kind == x->kind && r->pass == x->pass && r->kernel == x->kernel &&
        !strcmp(r->text, x->text))
      return true;
  return false;
}

static void record(const Func *f, RemarkKind kind, Span span, const char *fmt, va_list ap) {
  Context *ctx = f->module->ctx;
  Remark *r = arena_new(&ctx->arena, Remark);
  *r = (Remark){kind, ctx->current_pass, f->name, span, arena_vprintf(&ctx->arena, fmt, ap), NULL};
  if (is_known(ctx, r)) return;
  if (ctx->last_remark) ctx->last_remark->next = r;
  else ctx->remarks = r;
  ctx->last_remark = r;
}

#define RECORD(f, kind, span)                 \
  if (!remarks_wanted((f)->module->ctx)) return; \
  va_list ap;                                 \
  va_start(ap, fmt);                          \
  record(f, kind, span, fmt, ap);             \
  va_end(ap)

void remark_kernel(const Func *f, RemarkKind kind, const char *fmt, ...) { RECORD(f, kind, f->span); }

void remark_applied(const Op *op, const char *fmt, ...) {
  const Func *f = op->parent->func;
  RECORD(f, REMARK_APPLIED, op_user_span(f->module->ctx, op));
}

void remark_missed(const Op *op, const char *fmt, ...) {
  const Func *f = op->parent->func;
  RECORD(f, REMARK_MISSED, op_user_span(f->module->ctx, op));
}

// The name of the value, or of the first operand that it is computed from and that has one.
static const char *name_of_source(const Value *v) {
  enum { FAR = 16 };
  for (uint32_t steps = 0; v && steps < FAR; steps++) {
    if (v->block && !v->block->parent) {
      const FuncParam *params = v->block->func->params, *p = &params[v->index];
      return p->kind == PARAM_AUTO_TENSORMAP ? params[p->base_param].name : p->name;
    }
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
  return v ? v->name : NULL;
}

const char *op_user_name(const Op *op) {
  if (op->num_results && op->results[0].name && op_unit(op) != UNIT_GMEM) return op->results[0].name;
  Value *ptr = op_named(op, OPERAND_PTR);
  if (ptr && op->opcode != OP_ADDPTR) return name_of_source(ptr);
  if (op_unit(op) == UNIT_DESC || op_is_tma_copy(op)) return name_of_source(op_operand(op, 0));
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && op_operand(op, i)->name) return op_operand(op, i)->name;
  return NULL;
}

const char *remark_name(const Op *op) {
  const char *name = op_user_name(op);
  return name ? name : "a value";
}

const char *remark_type(Context *ctx, const Type *t) {
  Buf b = buf_make(&ctx->arena);
  for (uint32_t i = 0; i < t->rank; i++) buf_printf(&b, "%s%lld", i ? "×" : "", (long long)t->shape[i]);
  const Type *e = type_elem(t);
  buf_printf(&b, "%s%s", t->rank ? " " : "", e->kind == TYPE_SCALAR ? dtype_name_of(e->scalar) : "pointers");
  return buf_str(&b);
}

// ---- for people ----

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

const Remark **remarks_sorted(Context *ctx, const char *list, uint32_t *count) {
  VEC(Told) told = {0};
  for (const Remark *r = ctx->remarks; r; r = r->next) {
    if (*list && !names(list, "all") && !names(list, r->kind == REMARK_APPLIED ? "applied" : "missed") &&
        !(r->pass && names(list, r->pass)))
      continue;
    const Told t = {r, told.count};
    vec_push(&ctx->arena, &told, t);
  }
  if (told.count) qsort(told.data, told.count, sizeof *told.data, by_place);
  const Remark **sorted = arena_array(&ctx->arena, const Remark *, told.count + 1);
  for (uint32_t i = 0; i < told.count; i++) sorted[i] = told.data[i].remark;
  *count = told.count;
  return sorted;
}

void remarks_tell(Context *ctx, const char *list) {
  uint32_t count;
  const Remark **all = remarks_sorted(ctx, list, &count);
  for (uint32_t i = 0; i < count; i++)
    diag_remark(ctx, all[i]->span, "%s [%s]", all[i]->text, all[i]->pass ? all[i]->pass : "front end");
}
