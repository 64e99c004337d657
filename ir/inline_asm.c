// Constraints of inline assembly: see inline_asm.h.
#include "ir/inline_asm.h"

#include <stdlib.h>
#include <string.h>

uint32_t inline_asm_per_register(const Type *t, uint32_t pack) {
  uint32_t bits = type_elem_bytes(type_elem(t)) * 8;
  if (type_is_ptr(t) || bits >= 32) return 1;
  return 32 / bits < pack ? 32 / bits : pack;
}

static uint32_t registers_of(const Type *t, uint32_t pack) {
  uint32_t each = inline_asm_per_register(t, pack);
  return (pack + each - 1) / each;
}

// The operand that register `reg` of the arguments holds.
static const Value *operand_of(const Op *op, uint32_t reg, uint32_t pack) {
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const uint32_t n = registers_of(op_operand(op, i)->type, pack);
    if (reg < n) return op_operand(op, i);
    reg -= n;
  }
  return NULL;
}

// The letter of a register of elements of this type, unless they are packed or none of h, l, f, d fits.
static char letter_of(const Type *t, uint32_t pack) {
  if (inline_asm_per_register(t, pack) > 1) return 'r';
  if (type_is_ptr(t)) return 'l';
  const Type *elem = type_elem(t);
  if (type_is_float(elem)) return type_elem_bytes(elem) == 8 ? 'd' : type_elem_bytes(elem) == 4 ? 'f' : 'h';
  return type_elem_bytes(elem) == 8 ? 'l' : type_elem_bytes(elem) == 4 ? 'r' : 'h';
}

static void add_letters(Buf *out, const Type *t, uint32_t pack, const char *prefix) {
  for (uint32_t i = 0; i < registers_of(t, pack); i++)
    buf_printf(out, "%s%s%c", out->size ? "," : "", prefix, letter_of(t, pack));
}

const char *inline_asm_fitting(Context *ctx, const Op *op) {
  const uint32_t pack = (uint32_t)op_int(op, ATTR_PACK, 1);
  Buf b = buf_make(&ctx->arena);
  for (uint32_t i = 0; i < op->num_results; i++) add_letters(&b, op->results[i].type, pack, "=");
  for (uint32_t i = 0; i < op->num_operands; i++) add_letters(&b, op_operand(op, i)->type, pack, "");
  return buf_str(&b);
}

const char *inline_asm_registers(Context *ctx, const Op *op, AsmRegisters *out) {
  uint32_t pack = (uint32_t)op_int(op, ATTR_PACK, 1), n = 0;
  *out = (AsmRegisters){0};
  for (uint32_t i = 0; i < op->num_results; i++) out->num_results += registers_of(op->results[i].type, pack);
  for (uint32_t i = 0; i < op->num_operands; i++) out->num_args += registers_of(op_operand(op, i)->type, pack);
  uint32_t want = out->num_results + out->num_args;
  out->letters = arena_array(&ctx->arena, char, want);
  for (const char *p = op_str(op, ATTR_CONSTRAINTS, ""); *p;) {
    while (*p == ' ') p++;
    const char *end = strchr(p, ',');
    size_t len = end ? (size_t)(end - p) : strlen(p);
    const char *text = arena_strndup(&ctx->arena, p, len), *letter = text;
    p += len + (end != NULL);
    if (*text == '~') continue;
    bool is_result = *letter == '=';
    if (is_result) letter++;
    if (is_result && *letter == '&') letter++;
    if (n < want && is_result != (n < out->num_results))
      return arena_printf(&ctx->arena,
                          "constraint %u is `%s`: the first %u are results, with `=`, the others are arguments", n,
                          text, out->num_results);
    char *end_of_number;
    unsigned long tied = strtoul(letter, &end_of_number, 10);
    char kind = *letter;
    if (!is_result && end_of_number != letter && *end_of_number == 0 && tied < out->num_results && tied < n)
      kind = out->letters[tied];      // the same register as a result
    else if (strlen(letter) != 1 || !strchr(is_result ? "hrlfdb" : "hrlfdbni", kind))
      return arena_printf(&ctx->arena, "constraint %u is `%s`, which is none of h, r, l, f, d, b%s", n, text,
                          is_result ? "" : ", n or a result's number");
    uint64_t bits;
    if (inline_asm_is_number(kind) && n < want &&
        !value_constant_bits(operand_of(op, n - out->num_results, pack), &bits))
      return arena_printf(&ctx->arena, "constraint %u is `%s`, a constant in the text, and its argument is computed at "
                          "run time: use h, r or l", n, text);
    if (n < want) out->letters[n] = kind;
    n++;
  }
  if (n != want)
    return arena_printf(&ctx->arena, "there are %u constraints for %u register%s of results and %u of arguments: %u "
                        "in all, those of results with `=`, separated by commas", n, out->num_results,
                        out->num_results == 1 ? "" : "s", out->num_args, want);
  return NULL;
}

// In LLVM's text, $N and ${N} are register N, ${N:r} too, and $$ is a dollar. ${:uid} and its like are numbers and
// comments of LLVM's; $( $| $) choose between variants.
const char *inline_asm_check_text(Context *ctx, const Op *op, const AsmRegisters *r) {
  const uint32_t count = r->num_results + r->num_args;
  for (const char *p = op_str(op, ATTR_TEXT, ""); (p = strchr(p, '$'));) {
    const char *start = p++;
    if (*p && strchr("$(|)", *p)) {
      p++;
      continue;
    }
    const bool braces = *p == '{';
    p += braces;
    if (braces && (!strncmp(p, ":uid}", 5) || !strncmp(p, ":private}", 9) || !strncmp(p, ":comment}", 9))) continue;
    char *end = (char *)p;
    const unsigned long n = *p >= '0' && *p <= '9' ? strtoul(p, &end, 10) : 0;
    bool ok = end != p;
    p = end;
    if (braces) {
      if (!strncmp(p, ":r", 2)) p += 2;
      ok &= *p == '}';
      p += *p == '}';
    }
    const int size = (int)(p - start + (p == start + 1 && *p));
    if (!ok)
      return arena_printf(&ctx->arena, "the text has `%.*s`, which names no register; `$$` is a dollar", size, start);
    if (n >= count)
      return arena_printf(&ctx->arena, "the text has `%.*s`, and the constraints name %u register%s, from $0 on", size,
                          start, count, count == 1 ? "" : "s");
  }
  return NULL;
}
