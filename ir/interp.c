// The interpreter: launch, programs as coroutines, control flow, dispatch. See interp.h. interp.c and interp_combine.c
// call each other: an op with a region runs its blocks, and a block runs its ops.
#include "ir/interp.h"

#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"

enum { STACK_BYTES = 1 << 20, MAX_ACTIVE = 512, IDLE_ROUNDS = 2000 };

// ---- control flow ----

// Copies values to others, all at once: a source may also be a destination.
static void move_values(Prog *p, const Op *from, uint32_t skip, Value *const *to, uint32_t n) {
  bool overlap = false;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < i; k++) overlap |= op_operand(from, skip + i) == to[k];
  char *all = NULL;
  if (overlap) {
    size_t total = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) total += interp_value_bytes(to[i]->type) * p->lanes;
    all = interp_malloc(total);
    for (uint32_t i = 0; i < n; i++) {
      size_t size = interp_value_bytes(to[i]->type) * p->lanes;
      memcpy(all + at, interp_operand_data(p, from, skip + i), size);
      at += size;
    }
  }
  size_t at = 0;
  for (uint32_t i = 0; i < n; i++) {
    size_t size = interp_value_bytes(to[i]->type) * p->lanes;
    const void *source = all ? all + at : interp_operand_data(p, from, skip + i);
    void *dest = interp_value_storage(p, to[i]);
    if (dest != source) memcpy(dest, source, size);
    at += size;
  }
  free(all);
}

void interp_move_to_results(Prog *p, const Op *from, uint32_t skip, Op *op) {
  for (uint32_t i = 0; i < op->num_results; i++)
    move_values(p, from, skip + i, (Value *[]){op_result(op, i)}, 1);
}

void interp_give_way(Prog *p, const Op *op) {
  if (!p->scheduler) return;
  p->moved |= p->waiting != op;
  p->waiting = op;
  p->yielded = true;
  swapcontext(&p->context, p->scheduler);
}

static bool run_op(Prog *p, Op *op);

bool interp_run_block(Prog *p, Block *b) {
  EACH_OP(op, b) {
    if (op_is(op, TRAIT_TERMINATOR)) return true;
    if (!run_op(p, op)) return false;
  }
  return true;
}

bool interp_for(Prog *p, Op *op) {
  Block *body = op->blocks[0];
  uint32_t bytes = type_elem_bytes(operand_type(op, 0));
  int64_t iv = interp_operand_int(p, op, 0), ub = interp_operand_int(p, op, 1), step = interp_operand_int(p, op, 2);
  if (step <= 0) return interp_fail(p, op, "the step of this loop is %lld; it must be positive", (long long)step);
  move_values(p, op, 3, body->args + 1, op->num_results);
  while (iv < ub) {
    set_element(interp_value_storage(p, body->args[0]), bytes, 0, (uint64_t)iv);
    if (!interp_run_block(p, body)) return false;
    move_values(p, body->last, 0, body->args + 1, op->num_results);
    if (__builtin_add_overflow(iv, step, &iv)) break;
    if (bytes == 4 && iv > INT32_MAX) break;
  }
  for (uint32_t i = 0; i < op->num_results; i++)
    memcpy(interp_result_data(p, op, i), interp_value_data(p, body->args[i + 1]),
           interp_value_bytes(op->results[i].type) * p->lanes);
  return true;
}

// Finds a loop that never ends. From time to time it remembers the loop's variables, the number of changes of memory
// and the clock, and compares them for a few iterations. Nothing else passes from one iteration to the next, except
// through buffers; the iterations of a loop with buffers are only counted.
enum { WATCH_EVERY = 64, WATCHED = 4 };
static const uint64_t MOST_ITERATIONS = UINT64_C(1) << 30;
typedef struct { uint64_t iterations, writes, clock; char *variables; bool has_buffers; } LoopWatch;

static void find_buffer(Op *op, void *found) {
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (has_operand(op, i) && operand_type(op, i)->kind == TYPE_BUFFER) *(bool *)found = true;
}

static size_t variable_bytes(const Prog *p, const Value *v) { return interp_value_bytes(v->type) * p->lanes; }

static void remember(Prog *p, const Block *b, LoopWatch *w) {
  size_t n = 0;
  for (uint32_t i = 0; i < b->num_args; i++) n += variable_bytes(p, b->args[i]);
  if (!w->variables) w->variables = interp_malloc(n + 1);
  w->writes = p->run->writes;
  w->clock = p->run->clock;
  char *to = w->variables;
  for (uint32_t i = 0; i < b->num_args; to += variable_bytes(p, b->args[i++]))
    memcpy(to, interp_value_data(p, b->args[i]), variable_bytes(p, b->args[i]));
}

static bool is_as_before(Prog *p, const Block *b, const LoopWatch *w) {
  if (p->synchronised || w->writes != p->run->writes || w->clock != p->run->clock) return false;
  const char *then = w->variables;
  for (uint32_t i = 0; i < b->num_args; then += variable_bytes(p, b->args[i++]))
    if (memcmp(then, interp_value_data(p, b->args[i]), variable_bytes(p, b->args[i])) != 0) return false;
  return true;
}

static bool goes_on(Prog *p, const Op *op, LoopWatch *w) {
  const Block *b = op->blocks[0];
  if (++w->iterations < WATCH_EVERY) return true;
  if (w->iterations > MOST_ITERATIONS)
    return interp_fail(p, op, "this loop has run %llu times: does its condition ever become false?",
                       (unsigned long long)MOST_ITERATIONS);
  if (w->iterations == WATCH_EVERY)
    for (uint32_t i = 0; i < 2; i++) block_walk(op->blocks[i], find_buffer, &w->has_buffers);
  const uint64_t turn = w->iterations % WATCH_EVERY;
  if (turn > WATCHED || w->has_buffers) return true;
  if (turn == 0) return remember(p, b, w), true;
  if (!is_as_before(p, b, w)) return true;
  return interp_fail(p, op, "this loop never ends: an iteration changes neither its variables nor memory");
}

static bool run_while(Prog *p, Op *op, LoopWatch *watch) {
  Block *before = op->blocks[0], *after = op->blocks[1];
  move_values(p, op, 0, before->args, op->num_operands);
  bool outer = p->synchronised;
  for (;;) {
    if (!goes_on(p, op, watch)) return false;
    outer |= p->synchronised;
    p->synchronised = false;
    if (!interp_run_block(p, before)) return false;
    bool again = *(const uint8_t *)interp_operand_data(p, before->last, 0);
    if (!again) break;
    move_values(p, before->last, 1, after->args, op->num_results);
    if (!interp_run_block(p, after)) return false;
    move_values(p, after->last, 0, before->args, op->num_operands);
    if (p->synchronised) interp_give_way(p, op);
  }
  p->synchronised |= outer;
  interp_move_to_results(p, before->last, 1, op);
  return true;
}

bool interp_while(Prog *p, Op *op) {
  LoopWatch watch = {0};
  const bool ok = run_while(p, op, &watch);
  free(watch.variables);
  return ok;
}

bool interp_if(Prog *p, Op *op) {
  Block *b = op->blocks[*(const uint8_t *)interp_operand_data(p, op, 0) ? 0 : 1];
  if (!interp_run_block(p, b)) return false;
  interp_move_to_results(p, b->last, 0, op);
  return true;
}

// Terminators, whose operands the op around them reads; and ops that order what is in order here: one thread stands for
// a block, and grids run one after another.
#define NOTHING(name) bool interp_##name(Prog *p, Op *op) { (void)p, (void)op; return true; }
NOTHING(yield)
NOTHING(condition)
NOTHING(return)
NOTHING(barrier)
NOTHING(grid_dependency)
NOTHING(fence_async)
NOTHING(pingpong_wait)
NOTHING(pingpong_pass)

typedef bool (*InterpFn)(Prog *p, Op *op);
static const InterpFn interp_fns[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  [OP_##id] = HOW_##how(name),
#include "ir/ops.def"
};

static bool host_stops(Prog *p) {
  const InterpLaunch *l = p->run->launch;
  if (!l->should_stop || !l->should_stop(l->stop_user)) return false;
  p->failed = p->run->stopped = true;
  return true;
}

static bool run_op(Prog *p, Op *op) {
  InterpRun *run = p->run;
  if (host_stops(p)) return false;
  if (++run->steps > run->max_steps && run->max_steps) return p->failed = true, false;
  if (!interp_fns[op->opcode](p, op)) return false;
  if (p->shared) interp_poison_scratch(p, op);
  return interp_watched(p, op);
}

// ---- programs ----

static Prog *new_prog(InterpRun *run) {
  Prog *p = run->free_progs;
  if (p) {
    run->free_progs = p->next;
  } else {
    p = arena_new(&run->ctx->arena, Prog);
    p->slots = calloc(run->num_values + 1, sizeof *p->slots);
    if (!p->slots) abort();
  }
  const Module *m = run->launch->func->module;
  if (!p->shared && m->stage == STAGE_ALLOCATED) p->shared = interp_malloc(m->shared_bytes);
  *p = (Prog){.run = run, .slots = p->slots, .stack = p->stack, .shared = p->shared, .lanes = 1, .home = p,
              .scheduler = run->use_contexts ? &run->scheduler : NULL};
  return p;
}

static void free_prog(InterpRun *run, Prog *p) {
  p->next = run->free_progs;
  run->free_progs = p;
}

static void release_progs(InterpRun *run) {
  for (Prog *p = run->free_progs; p; p = p->next) {
    for (uint32_t i = 0; i < run->num_values; i++) {
      free(p->slots[i].data);
      free(p->slots[i].wide);
    }
    free(p->slots);
    free(p->stack);
    free(p->shared);
  }
}

static void run_program(Prog *p) {
  const Func *f = p->run->launch->func;
  for (uint32_t i = 0; i < f->num_params; i++) {
    const Value *v = f->body->args[i];
    void *to = interp_value_storage(p, v);
    if (v->type->kind == TYPE_DESC) memcpy(to, &p->run->descs[i], sizeof(InterpDesc));
    else set_element(to, type_elem_bytes(v->type), 0, num_zext(p->run->args[i].bits, type_elem_bits(v->type)));
  }
  bool ok = interp_run_block(p, f->body);
  interp_finish_copies(p, ok);
  interp_stop_at_end(p);
  p->finished = true;
}

static void start(uint32_t high, uint32_t low) {
  Prog *p = (Prog *)(uintptr_t)((uint64_t)high << 32 | low);
  if (p->role) {
    interp_run_block(p, p->role);
    p->finished = true;
  } else {
    run_program(p);
  }
  swapcontext(&p->context, p->scheduler);
}

void interp_resume(Prog *p) {
  if (!p->yielded) {
    if (!p->stack) p->stack = interp_malloc(STACK_BYTES);
    getcontext(&p->context);
    p->context.uc_stack.ss_sp = p->stack;
    p->context.uc_stack.ss_size = STACK_BYTES;
    p->context.uc_link = NULL;
    uint64_t address = (uintptr_t)p;
    makecontext(&p->context, (void (*)(void))start, 2, (uint32_t)(address >> 32), (uint32_t)address);
  }
  p->yielded = false;
  swapcontext(p->scheduler, &p->context);
}

// Runs programs in order. Those that spin take turns, beside newly started ones.
static bool run_grid(InterpRun *run) {
  const InterpLaunch *l = run->launch;
  uint32_t count[3], first[3] = {0, 0, 0};
  bool part = l->num_programs[0] != 0, ok = true;
  for (int i = 0; i < 3; i++) {
    count[i] = part ? l->num_programs[i] : l->grid[i];
    if (part) first[i] = l->first_program[i];
  }
  const uint32_t blocks = l->func->module->num_ctas;   // of a program, which exchange nothing
  uint64_t total = (uint64_t)count[0] * count[1] * count[2] * blocks, next = 0, seen = 0;
  Prog *active[MAX_ACTIVE];
  uint32_t num_active = 0, idle = 0;
  while (ok && (next < total || num_active)) {
    if (next < total && num_active < MAX_ACTIVE) {
      Prog *p = active[num_active++] = new_prog(run);
      const uint64_t program = next / blocks;
      p->rank = (uint32_t)(next % blocks);
      p->id[0] = first[0] + (uint32_t)(program % count[0]);
      p->id[1] = first[1] + (uint32_t)(program / count[0] % count[1]);
      p->id[2] = first[2] + (uint32_t)(program / count[0] / count[1]);
      next++;
      idle = 0;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < num_active; i++) {
      Prog *p = active[i];
      if (ok && run->use_contexts) interp_resume(p);
      else if (ok) run_program(p);
      ok &= !p->failed;
      if (p->finished || !ok) {
        free_prog(run, p);
        idle = 0;
      } else {
        active[kept++] = p;
      }
    }
    num_active = kept;
    if (run->writes != seen) idle = 0;
    seen = run->writes;
    if (num_active && ++idle > IDLE_ROUNDS && (next == total || num_active == MAX_ACTIVE)) {
      ok = interp_fail(active[0], active[0]->waiting,
                       "deadlock: %u programs wait in loops, and nothing they wait for changes", num_active);
      for (uint32_t i = 0; i < num_active; i++) free_prog(run, active[i]);
    }
  }
  return ok;
}

static int by_address(const void *a, const void *b) {
  uint64_t x = ((const InterpBuffer *)a)->address, y = ((const InterpBuffer *)b)->address;
  return (x > y) - (x < y);
}

static bool synchronises(const Op *op) {
  if (op_is_atomic(op)) return true;
  return op->opcode == OP_LOAD && (op_int(op, ATTR_VOLATILE, 0) || op_int(op, ATTR_CACHE, CACHE_NONE) == CACHE_CV);
}

// Whether some `while` could wait for another program. Only then are programs coroutines.
static void find_spin(Op *op, void *found) {
  if (!synchronises(op)) return;
  for (const Op *up = op->parent->parent; up; up = up->parent->parent)
    if (up->opcode == OP_WHILE) *(bool *)found = true;
}

// The descriptor for which a hidden parameter stands, from the arguments that it names.
static InterpDesc automatic_desc(const InterpRun *run, const FuncParam *param, const Type *type) {
  InterpDesc d = {.address = run->args[param->base_param].bits, .padding = param->padding};
  const Func *f = run->launch->func;
  for (uint32_t i = 0; i < type->rank; i++) {
    int e = param->extent_params[i], s = param->stride_params[i];
    d.extents[i] =
        e < 0 ? param->extent_values[i] : num_sext(run->args[e].bits, type_elem_bits(f->body->args[e]->type));
    d.strides[i] =
        s < 0 ? param->stride_values[i] : num_sext(run->args[s].bits, type_elem_bits(f->body->args[s]->type));
  }
  return d;
}

bool interp_run(Context *ctx, const InterpLaunch *launch) {
  Func *f = launch->func;
  InterpRun run = {.ctx = ctx, .launch = launch, .num_buffers = launch->num_buffers};
  ir_number_values(f->module);
  run.num_values = 1;
  EACH_FUNC(g, f->module) {
    uint32_t n = ir_count_values(g);
    if (n > run.num_values) run.num_values = n;
  }
  run.buffers = arena_array(&ctx->arena, InterpBuffer, launch->num_buffers + 1);
  if (launch->num_buffers) memcpy(run.buffers, launch->buffers, launch->num_buffers * sizeof *run.buffers);
  run.args = arena_array(&ctx->arena, InterpArg, f->num_params);
  run.descs = arena_array(&ctx->arena, InterpDesc, f->num_params);
  for (uint32_t i = 0; i < f->num_params && i < launch->num_args; i++) run.args[i] = launch->args[i];
  for (uint32_t i = 0; i < f->num_params; i++) {
    const FuncParam *param = &f->params[i];
    if (param->kind == PARAM_SCRATCH) {
      size_t n = (size_t)f->module->scratch_bytes * launch->grid[0] * launch->grid[1] * launch->grid[2];
      run.scratch = calloc(n + 1, 1);
      if (!run.scratch) abort();
      run.args[i].bits = (uintptr_t)run.scratch;
      run.buffers[run.num_buffers++] = (InterpBuffer){run.args[i].bits, n};
    } else if (param->kind == PARAM_AUTO_TENSORMAP) {
      run.descs[i] = automatic_desc(&run, param, f->body->args[i]->type);
    } else if (run.args[i].desc) {
      run.descs[i] = *run.args[i].desc;
    }
  }
  qsort(run.buffers, run.num_buffers, sizeof *run.buffers, by_address);
  block_walk(f->body, find_spin, &run.use_contexts);
  bool ok = interp_run_judged(&run, run_grid);
  release_progs(&run);
  free(run.scratch);
  return ok;
}
