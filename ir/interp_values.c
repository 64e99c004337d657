// The interpreter's values: where they are stored, how operands are read, and how a failure is reported.
#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"

bool interp_fail(Prog *p, const Op *op, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(&p->run->ctx->arena, fmt, ap);
  va_end(ap);
  return interp_fail_with_notes(p, op, text, NULL, NULL);
}

bool interp_fail_with_notes(Prog *p, const Op *op, const char *text, const char *sum, const char *way_out) {
  Context *ctx = p->run->ctx;
  p->failed = true;
  if (p->run->doubted) return false;
  diag_error(ctx, op->span, "%s", text);
  if (sum) diag_note(ctx, (Span){0, 0}, "%s", sum);
  if (way_out) diag_note(ctx, (Span){0, 0}, "%s", way_out);
  for (const CallSite *c = op->inlined_at; c; c = c->outer)
    diag_note(ctx, c->span, "called from here%s%s", c->function ? ", in " : "", c->function ? c->function : "");
  diag_note(ctx, (Span){0, 0}, "in program (%u, %u, %u) of @%s", p->id[0], p->id[1], p->id[2],
            p->run->launch->func->name);
  return false;
}

void *interp_grow(void *data, size_t n) {
  void *m = realloc(data, n ? n : 1);
  if (!m) abort();   // as the arena does: without memory there is no report
  return m;
}
void *interp_malloc(size_t n) { return interp_grow(NULL, n); }

size_t interp_value_bytes(const Type *t) {
  switch (t->kind) {
    case TYPE_BUFFER: return sizeof(BufferView);
    case TYPE_DESC: return sizeof(InterpDesc);
    case TYPE_TOKEN: return 1;
    default: return (size_t)type_bytes(t);
  }
}

void interp_reserve(void **data, size_t *capacity, size_t n) {
  if (*capacity >= n) return;
  free(*data);
  *data = interp_malloc(n);
  *capacity = n;
}

uint32_t interp_value_count(const Prog *p, const Type *t) { return (uint32_t)type_numel(t) * p->lanes; }

void *interp_value_storage(Prog *p, const Value *v) {
  Slot *s = &p->slots[v->number];
  interp_reserve(&s->data, &s->capacity, interp_value_bytes(v->type) * p->lanes);
  s->lanes = p->lanes;
  return s->data;
}

void *interp_result_data(Prog *p, Op *op, uint32_t i) { return interp_value_storage(p, &op->results[i]); }

const void *interp_value_data(Prog *p, const Value *v) {
  Slot *s = &p->slots[v->number];
  if (s->lanes == p->lanes || v->type->kind == TYPE_BUFFER || v->type->kind == TYPE_DESC) return s->data;
  // The region reads a value from outside: it is the same for every lane.
  size_t n = interp_value_bytes(v->type);
  interp_reserve(&s->wide, &s->wide_capacity, n * p->lanes);
  for (uint32_t i = 0; i < p->lanes; i++) memcpy((char *)s->wide + n * i, s->data, n);
  return s->wide;
}

const void *interp_operand_data(Prog *p, const Op *op, uint32_t i) {
  return has_operand(op, i) ? interp_value_data(p, op->operands[i].value) : NULL;
}

int64_t interp_operand_int(Prog *p, const Op *op, uint32_t i) {
  const Type *t = operand_type(op, i);
  return num_sext(element(interp_operand_data(p, op, i), type_elem_bytes(t), 0), type_elem_bits(t));
}

void interp_coords(Prog *p, const Op *op, uint32_t first, int64_t coords[MAX_RANK]) {
  for (uint32_t i = first; i < op->num_operands; i++) coords[i - first] = interp_operand_int(p, op, i);
}

void interp_row_major(const Type *t, int64_t strides[MAX_RANK]) {
  int64_t s = 1;
  for (int k = t->rank - 1; k >= 0; k--) {
    strides[k] = s;
    s *= t->shape[k];
  }
}
