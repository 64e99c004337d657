// Integer division by zero. Its result is not defined: here it is 0. That matters only if it decides something, and
// masks and selects hide it often. A launch in which integers were divided by zero therefore runs twice more for each
// such op, with all bits set (what a GPU computes) and with the largest number: memory must end the same.
#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"

enum { MAX_DOUBTS = 16 };
static const size_t MAX_LOG = (size_t)1 << 28;         // bytes; a launch that writes more is not judged
static const uint64_t PATIENCE = 4, FEW_OPS = 1 << 16; // how many times the ops of the launch a doubtful run may run

// ---- what memory held before each write ----

typedef struct { uint64_t address; size_t size, at; } Write;   // at: in the bytes
struct WriteLog {
  Write *writes;
  uint8_t *bytes;
  size_t count, capacity, used, room;
  bool is_full;
};

static void remember(WriteLog *log, uint64_t address, size_t n) {
  if (log->used + n > MAX_LOG) log->is_full = true;
  if (log->is_full) return;
  if (log->used + n > log->room) log->bytes = interp_grow(log->bytes, log->room = 2 * log->room + n + 4096);
  memcpy(log->bytes + log->used, (const void *)(uintptr_t)address, n);
  Write *last = log->count ? &log->writes[log->count - 1] : NULL;
  if (last && last->address + last->size == address) {
    last->size += n;
  } else {
    if (log->count == log->capacity)
      log->writes = interp_grow(log->writes, (log->capacity = 2 * log->capacity + 64) * sizeof *log->writes);
    log->writes[log->count++] = (Write){address, n, log->used};
  }
  log->used += n;
}

void interp_write(Prog *p, uint64_t to, const void *from, size_t n) {
  if (!memcmp((const void *)(uintptr_t)to, from, n)) return;
  if (p->run->log) remember(p->run->log, to, n);
  p->run->writes++;
  memcpy((void *)(uintptr_t)to, from, n);
}

static void undo(const WriteLog *log) {
  for (size_t i = log->count; i-- > 0;)
    memcpy((void *)(uintptr_t)log->writes[i].address, log->bytes + log->writes[i].at, log->writes[i].size);
}
// What the places of the log hold now.
static uint8_t *values_now(const WriteLog *log) {
  uint8_t *now = interp_malloc(log->used + 1);
  for (size_t i = 0; i < log->count; i++)
    memcpy(now + log->writes[i].at, (const void *)(uintptr_t)log->writes[i].address, log->writes[i].size);
  return now;
}
static void put_values(const WriteLog *log, const uint8_t *values) {
  for (size_t i = 0; i < log->count; i++)
    memcpy((void *)(uintptr_t)log->writes[i].address, values + log->writes[i].at, log->writes[i].size);
}
static bool holds(const WriteLog *log, const uint8_t *values) {
  for (size_t i = 0; i < log->count; i++)
    if (memcmp((const void *)(uintptr_t)log->writes[i].address, values + log->writes[i].at, log->writes[i].size))
      return false;
  return true;
}
static void free_log(WriteLog *log) {
  free(log->writes);
  free(log->bytes);
}

// ---- divisions ----

void interp_divided(Prog *p, const Op *op, const void *divisors, void *out, size_t n) {
  InterpRun *run = p->run;
  const uint32_t bytes = type_elem_bytes(type_elem(operand_type(op, 1)));
  const uint64_t other = run->doubts_largest ? UINT64_MAX >> (65 - 8 * bytes) : UINT64_MAX;
  bool any = false;
  if (!run->log) return;
  for (size_t i = 0; i < n; i++) {
    if (element(divisors, bytes, i)) continue;
    any = true;
    if (run->doubted == op) set_element(out, bytes, i, other);
  }
  if (!any || run->doubted) return;
  for (uint32_t i = 0; i < run->by_zero.count; i++)
    if (run->by_zero.data[i].op == op) return;
  const ZeroDivision d = {op, {p->id[0], p->id[1], p->id[2]}};
  vec_push(&run->ctx->arena, &run->by_zero, d);
}

static void find_division(Op *op, void *found) {
  if (op_is_int_division(op) && (!op_operand(op, 1)->def || op_operand(op, 1)->def->opcode != OP_CONSTANT))
    *(bool *)found = true;
}

// Whether a run in which the op's results by zero are other ones leaves memory as `final` has it. Memory is as before
// the launch, here and afterwards.
static bool is_harmless(InterpRun *run, bool (*run_grid)(InterpRun *), const WriteLog *log, const uint8_t *final) {
  WriteLog other = {0};
  run->log = &other;
  const uint64_t printed = run->printed;
  run->clock = run->writes = run->steps = run->printed = 0;
  bool same = run_grid(run) && holds(log, final) && run->printed == printed;
  run->printed = printed;
  uint8_t *values = values_now(&other);
  undo(&other);
  put_values(log, final);
  same = same && (other.is_full || holds(&other, values));
  undo(log);
  free(values);
  free_log(&other);
  return same || run->stopped || other.is_full;
}

static bool judge(InterpRun *run, bool (*run_grid)(InterpRun *), const WriteLog *log) {
  const ZeroDivision *bad = NULL;
  const InterpLaunch *launch = run->launch;
  InterpLaunch silent = *launch;
  uint8_t *final = values_now(log);
  silent.print = NULL;
  silent.stop = NULL;
  run->launch = &silent;
  run->max_steps = PATIENCE * run->steps + FEW_OPS;
  undo(log);
  for (uint32_t i = 0; i < run->by_zero.count && i < MAX_DOUBTS && !bad && !run->stopped; i++) {
    run->doubted = run->by_zero.data[i].op;
    run->doubts_largest = false;
    bool harmless = is_harmless(run, run_grid, log, final);
    run->doubts_largest = true;
    harmless = harmless && is_harmless(run, run_grid, log, final);
    if (!harmless) bad = &run->by_zero.data[i];
  }
  put_values(log, final);
  free(final);
  run->launch = launch;
  run->doubted = NULL;
  if (run->stopped) return false;
  Prog p = {.run = run};
  if (bad) memcpy(p.id, bad->id, sizeof p.id);
  return !bad || interp_fail(&p, bad->op,
                             "integer division by zero: its result is not defined, and memory depends on it; mask or "
                             "select it away, or divide by another number where the divisor is 0");
}

bool interp_run_judged(InterpRun *run, bool (*run_grid)(InterpRun *)) {
  bool divides = false;
  block_walk(run->launch->func->body, find_division, &divides);
  if (!divides || run->launch->watch) return run_grid(run);
  WriteLog log = {0};
  run->log = &log;
  bool ok = run_grid(run);
  if (ok && run->by_zero.count && !log.is_full) ok = judge(run, run_grid, &log);
  run->log = NULL;
  free_log(&log);
  return ok;
}
