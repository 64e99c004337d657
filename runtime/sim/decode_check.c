// Services for decode functions: checks of operands and types, and error messages.
#include "runtime/sim/parse.h"

Arena *ptx_arena(PtxParser *p) { return p->arena; }

static bool error_at(PtxParser *p, uint32_t line, const char *fmt, va_list ap) {
  if (p->failed) return false;
  p->failed = true;
  const char *text = arena_vprintf(p->arena, fmt, ap), *src = "";
  PtxModule *m = p->m;
  if (line >= 1 && line <= m->num_lines) {
    const char *s = m->text + m->line_starts[line - 1];
    size_t n = strcspn(s, "\n\r");
    src = arena_strndup(p->arena, s, n > 200 ? 200 : n);
  }
  m->error = arena_printf(p->arena, "ptx:%u: error: %s\n  %s\n", line, text, src);
  if (!m->error_code) m->error_code = CUDA_ERROR_INVALID_PTX;
  return false;
}

bool ptx_error(PtxParser *p, uint32_t line, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  error_at(p, line ? line : p->line, fmt, ap);
  va_end(ap);
  return false;
}

bool decode_error(PtxParser *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  error_at(p, p->instr_line, fmt, ap);
  va_end(ap);
  return false;
}

// The operand kinds that a letter of a pattern allows.
static const struct { char letter; uint16_t kinds; const char *text; } operand_letters[] = {
  {'d', 1 << OPND_REG | 1 << OPND_SINK, "a register"},
  {'r', 1 << OPND_REG, "a register"},
  {'s', 1 << OPND_REG | 1 << OPND_IMM, "a register or an immediate"},
  {'P', 1 << OPND_PRED, "a predicate"},
  {'p', 1 << OPND_PRED | 1 << OPND_IMM, "a predicate"},
  {'i', 1 << OPND_IMM, "an immediate"},
  {'m', 1 << OPND_MEM, "a memory operand"},
  {'l', 1 << OPND_LABEL, "a label"},
};

bool decode_operand(PtxParser *p, Instr *in, uint32_t i, char letter) {
  for (size_t k = 0; k < countof(operand_letters); k++) {
    if (operand_letters[k].letter != letter) continue;
    if (i < in->num_ops && operand_letters[k].kinds >> in->ops[i].kind & 1) return true;
    return decode_error(p, "operand %u of %s must be %s", i + 1, ptx_op_name(in->op), operand_letters[k].text);
  }
  return true;
}

bool decode_want_ops(PtxParser *p, Instr *in, uint32_t least, uint32_t most) {
  if (in->num_ops >= least && in->num_ops <= most) return true;
  return decode_error(p, "%s takes %u operand%s, not %u", ptx_op_name(in->op), least, least == 1 ? "" : "s",
                      in->num_ops);
}

bool decode_operands(PtxParser *p, Instr *in, const char *pattern) {
  uint32_t least = (uint32_t)strcspn(pattern, "?"), most = (uint32_t)strlen(pattern) - (pattern[least] == '?');
  if (!decode_want_ops(p, in, least, most)) return false;
  for (uint32_t i = 0; i < in->num_ops; i++)
    if (!decode_operand(p, in, i, pattern[i + (i >= least)])) return false;
  return true;
}

bool decode_as(PtxParser *p, Instr *in, ExecFn exec, const char *pattern) {
  in->exec = exec;
  return decode_operands(p, in, pattern);
}

bool decode_wait_group(PtxParser *p, Instr *in, ExecFn exec) {
  in->exec = exec;
  return (in->num_ops == 1 && in->ops[0].kind == OPND_IMM) || decode_error(p, "wait_group takes one constant");
}

bool decode_want_type(PtxParser *p, Instr *in, uint32_t n) {
  return in->num_types >= n || decode_error(p, "%s needs %u type%s", ptx_op_name(in->op), n, n == 1 ? "" : "s");
}

bool decode_regs(PtxParser *p, Instr *in, uint32_t num_srcs) {
  static const char all[] = "dssss";
  char pattern[sizeof all];
  snprintf(pattern, num_srcs + 2, "%s", all);
  return decode_operands(p, in, pattern) && decode_want_type(p, in, 1);
}

bool decode_unknown(PtxParser *p, Instr *in) {
  char text[256];
  size_t n = (size_t)snprintf(text, sizeof text, "%s", ptx_op_name(in->op));
  for (uint32_t i = 0; i < in->num_mods && n < sizeof text; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, ".%s", ptx_mod_name(in->mods[i]));
  return decode_error(p, "unknown instruction %s", text);
}
