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

// Whether lane i of a compare-and-swap stores its value.
static bool swaps(const InterpStep *step, size_t i) {
  const Op *op = step->op;
  const uint32_t bytes = type_elem_bytes(op->results[0].type);
  const uint8_t *old = interp_step_data(step, &op->results[0]), *expected = interp_step_data(step, op_operand(op, 2));
  return !memcmp(old + i * bytes, expected + i * bytes, bytes);
}

static void note_element(Writes *w, const Run *run, const InterpStep *step, uint64_t at, bool is_on) {
  if (at >= w->buffer->initial.count) return;
  if (is_on) w->writers[at] = writer_of(run, step->program);
  if (at != w->element) return;
  if (is_on) {
    wrote(w, step);
  } else if (step->op->opcode != OP_ATOMIC_CAS) {
    w->barred = step->op;
    memcpy(w->barred_program, step->program, sizeof w->barred_program);
  }
}

// The kernel's elements may be wider than the buffer's.
static void note_elements(Writes *w, const Run *run, const InterpStep *step) {
  const Op *op = step->op;
  const bool is_swap = op->opcode == OP_ATOMIC_CAS;
  const Value *mask = is_swap ? NULL : op_operand(op, 3), *value = op_operand(op, 2);
  const uint8_t *on = mask ? interp_step_data(step, mask) : NULL;
  for (size_t i = 0, n = interp_step_count(step, value); i < n; i++) {
    const uint64_t from = interp_step_address(step, i) - w->buffer->address;
    const bool is_on = is_swap ? swaps(step, i) : !on || on[i];
    for (uint64_t byte = 0; byte < type_elem_bytes(value->type); byte += bytes_of(w))
      note_element(w, run, step, (from + byte) / bytes_of(w), is_on);
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
