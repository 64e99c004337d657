// print, assert, assume, and how values become text; also inline assembly, which has no meaning on a CPU.
#include <string.h>

#include "ir/interp_int.h"

// op says how to write integers; NULL: signed, decimal.
static void put_number(Buf *b, const Op *op, const Type *elem, uint64_t bits) {
  uint32_t w = type_elem_bits(elem);
  if (type_is_float(elem)) buf_printf(b, "%f", num_decode(scalar_num_format(elem->scalar), bits));
  else if (op && op_int(op, ATTR_HEX, 0))
    buf_printf(b, "0x%0*llx", (int)(w < 8 ? 2 : w / 4), (unsigned long long)num_zext(bits, w));
  else if (elem->kind == TYPE_PTR) buf_printf(b, "0x%llx", (unsigned long long)bits);
  else if (w == 1 || (op && !op_int(op, ATTR_SIGNED, 1))) buf_printf(b, "%llu", (unsigned long long)num_zext(bits, w));
  else buf_printf(b, "%lld", (long long)num_sext(bits, w));
}

// The elements of a value, row-major.
typedef struct { const Type *type; const void *data; } Elements;

// A line for each element: "pid (0, 0, 0) idx ( 3, 12) text: label value".
static void put_elements(const Prog *p, Buf *b, const Op *op, const char *text, const char *label, Elements v) {
  const Type *t = v.type;
  const void *data = v.data;
  if (t->kind != TYPE_TENSOR && t->kind != TYPE_SCALAR && t->kind != TYPE_PTR) return;
  for (int64_t i = 0, n = type_numel(t); i < n; i++) {
    buf_printf(b, "pid (%u, %u, %u) idx (", p->id[0], p->id[1], p->id[2]);
    int64_t below = n;
    for (uint32_t a = 0; a < t->rank; a++) {
      int width = 1;
      for (int64_t s = t->shape[a] - 1; s >= 10; s /= 10) width++;
      below /= t->shape[a];
      buf_printf(b, "%s%*lld", a ? ", " : "", width, (long long)(i / below % t->shape[a]));
    }
    buf_printf(b, ")%s%s", text[0] == ' ' ? "" : " ", text);
    size_t len = strlen(text);
    if (len && text[len - 1] != ' ' && text[len - 1] != ':') buf_puts(b, ":");
    if (len && text[len - 1] != ' ') buf_putc(b, ' ');
    buf_puts(b, label);
    put_number(b, op, type_elem(t), element(data, type_elem_bytes(t), (size_t)i));
    buf_putc(b, '\n');
  }
}

static void put_values(Prog *p, Buf *b, const Op *op) {
  const char *text = op_str(op, ATTR_TEXT, "");
  if (!op->num_operands)
    buf_printf(b, "pid (%u, %u, %u) idx ()%s%s\n", p->id[0], p->id[1], p->id[2], text[0] == ' ' ? "" : " ", text);
  for (uint32_t k = 0; k < op->num_operands; k++)
    put_elements(p, b, op, text, op->num_operands > 1 ? arena_printf(&p->run->ctx->arena, "(operand %u) ", k) : "",
                 (Elements){operand_type(op, k), interp_operand_data(p, op, k)});
}

void interp_put_var(Buf *b, const InterpStop *stop, const InterpVar *var) {
  if (var->type) put_elements(stop->prog, b, NULL, "", arena_printf(b->arena, "%s: ", var->name),
                              (Elements){var->type, var->data});
}

bool interp_print(Prog *p, Op *op) {
  InterpRun *run = p->run;
  if (!run->launch->print && !run->log) return true;
  Arena *a = &run->ctx->arena;
  ArenaMark mark = arena_mark(a);
  Buf b = buf_make(a);
  put_values(p, &b, op);
  for (size_t i = 0; i < b.size; i++) run->printed = run->printed * 31 + (uint8_t)buf_str(&b)[i];
  if (run->launch->print) run->launch->print(run->launch->user, buf_str(&b), b.size);
  arena_rewind(a, mark);
  return true;
}

// The number of the first false element, or -1.
static int64_t first_false(Prog *p, const Op *op) {
  const uint8_t *c = interp_operand_data(p, op, 0);
  for (int64_t i = 0, n = interp_value_count(p, operand_type(op, 0)); i < n; i++)
    if (!c[i]) return i;
  return -1;
}

bool interp_assert(Prog *p, Op *op) {
  int64_t at = first_false(p, op);
  if (at < 0) return true;
  const char *text = op_str(op, ATTR_TEXT, "");
  const Type *t = operand_type(op, 0);
  if (!t->rank) return interp_fail(p, op, "device_assert failed%s%s", text[0] ? ": " : "", text);
  Buf b = buf_make(&p->run->ctx->arena);
  int64_t below = type_numel(t);
  for (uint32_t a = 0; a < t->rank; a++) {
    below /= t->shape[a];
    buf_printf(&b, "%s%lld", a ? ", " : "", (long long)(at / below % t->shape[a]));
  }
  return interp_fail(p, op, "device_assert failed at element [%s]%s%s", buf_str(&b), text[0] ? ": " : "", text);
}

bool interp_assume(Prog *p, Op *op) {
  return first_false(p, op) < 0 || interp_fail(p, op, "what is assumed here does not hold");
}

bool interp_inline_asm(Prog *p, Op *op) {
  return interp_fail(p, op, "inline assembly cannot be interpreted; run it with --device=sim or gpu");
}
