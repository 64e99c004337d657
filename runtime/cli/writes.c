#include "runtime/cli/writes.h"

#include <string.h>

#include "runtime/cli/cli.h"

static uint32_t bytes_of(const Writes *w) { return host_elem_bytes(w->buffer->initial.dtype); }

uint64_t writes_bits(const Writes *w) {
  uint64_t bits = 0;
  memcpy(&bits, (const uint8_t *)(uintptr_t)w->buffer->address + w->element * bytes_of(w), bytes_of(w));
  return bits;
}

void writes_begin(Writes *w, Arena *a, const RunBuffer *b, uint64_t element) {
  *w = (Writes){.buffer = b, .element = element, .writers = arena_array(a, uint32_t, b->initial.count + 1)};
  memset(w->writers, 0, b->initial.count * sizeof *w->writers);
  memcpy(&w->held, b->initial.data + element * bytes_of(w), bytes_of(w));
}

void writes_program(const Run *run, uint32_t writer, uint32_t program[3]) {
  uint32_t rest = writer - 1;
  for (uint32_t i = 0; i < 3; rest /= run->grid[i++]) program[i] = rest % run->grid[i];
}

static uint32_t writer_of(const Run *run, const uint32_t *program) {
  return 1 + program[0] + run->grid[0] * (program[1] + run->grid[1] * program[2]);
}

static void wrote(Writes *w, const InterpStep *step) {
  w->op = step->op;
  memcpy(w->program, step->program, sizeof w->program);
}

static void note_elements(Writes *w, const Run *run, const InterpStep *step) {
  const Op *op = step->op;
  const Value *mask = op->opcode == OP_ATOMIC_CAS ? NULL : op_operand(op, 3), *value = op_operand(op, 2);
  const uint8_t *on = mask ? interp_step_data(step, mask) : NULL;
  for (size_t i = 0, n = interp_step_count(step, value); i < n; i++) {
    const uint64_t at = (interp_step_address(step, i) - w->buffer->address) / bytes_of(w);
    if (at >= w->buffer->initial.count) continue;
    if (on && !on[i]) {
      if (at != w->element) continue;
      w->barred = op;
      memcpy(w->barred_program, step->program, sizeof w->barred_program);
      continue;
    }
    w->writers[at] = writer_of(run, step->program);
    if (at == w->element) wrote(w, step);
  }
}

static bool goes_through_descriptor(const Op *op) {
  const Value *first = op->num_operands ? op_operand(op, 0) : NULL;
  return first && first->type->kind == TYPE_DESC;
}

void writes_note(Writes *w, const Run *run, const InterpStep *step) {
  const Op *op = step->op;
  const bool is_plain = op->opcode == OP_STORE || op->opcode == OP_ATOMIC_RMW || op->opcode == OP_ATOMIC_CAS;
  if (is_plain) note_elements(w, run, step);
  else w->has_others |= op_is(op, TRAIT_WRITES) && goes_through_descriptor(op);
  const uint64_t now = writes_bits(w);
  if (now != w->held && !is_plain) wrote(w, step);
  w->held = now;
}
