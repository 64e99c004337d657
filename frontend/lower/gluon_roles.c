// Gluon's warp_specialize: functions that run at once, each a block of a `roles` (ir/roles.h). The first, the default
// partition, runs on the kernel's own warps, each other one on warps of its own.
#include "frontend/lower/gluon.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include "ir/roles.h"

typedef struct {
  CallArgs call;
  Term *fn;
} Partition;

typedef struct {
  Partition *parts;            // the default partition is the first
  uint32_t count;
  int64_t *warps, *registers;  // of the workers
  bool has_registers;
} Partitions;

static uint32_t num_workers(const Partitions *p) { return p->count - 1; }

// ---- places in the source ----
// The expression of argument i; NULL if the call does not write it out.
static const Node *node_of(const Call *c, uint32_t i) {
  if (!c->node || c->node->kind != NODE_CALL) return NULL;
  const NodeList *args = &c->node->call.args, *keys = &c->node->call.keywords;
  for (uint32_t k = 0; k < args->count; k++)
    if (args->data[k]->span.begin == c->spans[i].begin) return args->data[k];
  for (uint32_t k = 0; k < keys->count; k++)
    if (keys->data[k]->span.begin == c->spans[i].begin) return keys->data[k]->attr.first;
  return NULL;
}

// Item k of a tuple or list that is written out, or NULL.
static const Node *item_node(const Node *n, uint32_t k) {
  if (!n || (n->kind != NODE_TUPLE && n->kind != NODE_LIST) || k >= n->list.count) return NULL;
  for (uint32_t i = 0; i <= k; i++)
    if (n->list.data[i]->kind == NODE_STARRED) return NULL;
  return n->list.data[k];
}

static Span span_or(const Node *n, Span otherwise) { return n ? n->span : otherwise; }

// ---- the two forms of a call ----
static bool is_sequence(const Term *t) { return t->kind == TERM_TUPLE && !t->tuple.cls && !t->tuple.is_fstring; }

// The arguments are at `args_node`, if they are written out.
static bool read_partition(Lower *L, Partition *p, Term *fn, Term *args, const Node *fn_node, const Node *args_node,
                           Span span) {
  if (!fn || !args) return false;
  if (term_is_none(fn)) {
    lower_error(L, span_or(fn_node, span), "a partition is a function, this is None");
    return lower_hint(L, "a partition without work is a function, too: @gluon.jit def idle(): pass") != NULL;
  }
  const Span args_span = span_or(args_node, span);
  if (!is_sequence(args)) {
    lower_error(L, args_span, "the arguments of a partition are a tuple, this is %s", term_describe(L, args));
    return lower_hint(L, "a tuple of one is written (x,)") != NULL;
  }
  Span *spans = arena_array(L->arena, Span, args->tuple.count + 1);
  for (uint32_t i = 0; i < args->tuple.count; i++) spans[i] = span_or(item_node(args_node, i), args_span);
  p->fn = fn;
  p->call = (CallArgs){.args = args->tuple.items, .spans = spans, .num_args = args->tuple.count, .span = span,
                       .fn_span = span_or(fn_node, span)};
  return true;
}

static bool read_pairs(Lower *L, Call *c, Partitions *p) {
  const Term *list = c->args[0];
  const Node *node = node_of(c, 0);
  if (!is_sequence(list) || !list->tuple.count) {
    arg_error(L, c, 0, "warp_specialize takes a list of functions with their arguments, this is %s",
              term_describe(L, list));
    return lower_hint(L, "the first is the default partition: [(default, (x, y)), (worker, (x,))]") != NULL;
  }
  p->count = list->tuple.count;
  p->parts = arena_array(L->arena, Partition, p->count);
  for (uint32_t i = 0; i < p->count; i++) {
    const Term *pair = list->tuple.items[i];
    const Node *at = item_node(node, i);
    const Span span = span_or(at, c->spans[0]);
    if (!pair) return false;
    if (!is_sequence(pair) || pair->tuple.count != 2) {
      lower_error(L, span, "a partition is a function and a tuple of its arguments, this is %s",
                  term_describe(L, pair));
      return lower_hint(L, "write (worker, (x, y))") != NULL;
    }
    if (!read_partition(L, &p->parts[i], pair->tuple.items[0], pair->tuple.items[1], item_node(at, 0), item_node(at, 1),
                        span))
      return false;
  }
  return true;
}

static bool read_shared(Lower *L, Call *c, Partitions *p) {
  const Term *workers = c->args[3];
  const Node *node = node_of(c, 3);
  if (!is_sequence(workers))
    return arg_error(L, c, 3, "`worker_partitions` is a list of functions, not %s", term_describe(L, workers)) != NULL;
  p->count = workers->tuple.count + 1;
  p->parts = arena_array(L->arena, Partition, p->count);
  if (!read_partition(L, &p->parts[0], c->args[1], c->args[0], node_of(c, 1), node_of(c, 0), c->span)) return false;
  for (uint32_t i = 1; i < p->count; i++)
    if (!read_partition(L, &p->parts[i], workers->tuple.items[i - 1], c->args[2], item_node(node, i - 1), node_of(c, 2),
                        c->span))
      return false;
  return true;
}

// ---- warps and registers ----
static bool read_numbers(Lower *L, Call *c, uint32_t arg, const Partitions *p, int64_t *out) {
  const Term *list = c->args[arg];
  const uint32_t n = num_workers(p);
  if (!is_sequence(list) || list->tuple.count != n) {
    if (is_sequence(list))
      arg_error(L, c, arg, "%u number%s for %u worker%s", list->tuple.count, list->tuple.count == 1 ? "" : "s", n,
                n == 1 ? "" : "s");
    else arg_error(L, c, arg, "the workers' warps and registers are lists of numbers, this is %s",
                   term_describe(L, list));
    return lower_hint(L, "write one for each partition but the first, which has the kernel's warps and the registers "
                         "that are left") != NULL;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (term_get_int(list->tuple.items[i], &out[i])) continue;
    lower_error(L, span_or(item_node(node_of(c, arg), i), c->spans[arg]),
                "a worker's number of warps or registers is a constant, not %s",
                term_describe(L, list->tuple.items[i]));
    return lower_hint(L, "make it a constexpr parameter, or assign it with `x: gl.constexpr = …`") != NULL;
  }
  return true;
}

static bool check_warps(Lower *L, Call *c, uint32_t arg, const Partitions *p) {
  const uint32_t own = L->module->num_warps;
  uint32_t all = 0;
  if (own % WARPGROUP_WARPS) {
    builtin_error(L, c, "a kernel with partitions needs num_warps to be a multiple of %d, not %u", WARPGROUP_WARPS,
                  own);
    return lower_hint(L, "launch it with num_warps=%d; workers may have fewer", WARPGROUP_WARPS) != NULL;
  }
  for (uint32_t i = 0; i < num_workers(p); i++) {
    const int64_t n = p->warps[i];
    if (n < 1 || n > MAX_BLOCK_WARPS || !is_pow2_u64((uint64_t)n)) {
      lower_error(L, span_or(item_node(node_of(c, arg), i), c->spans[arg]),
                  "a worker has a power of two of warps, not %lld", (long long)n);
      return lower_hint(L, "1, 2, 4, 8 or 16") != NULL;
    }
    all += (uint32_t)n;
  }
  all = (all + WARPGROUP_WARPS - 1) / WARPGROUP_WARPS * WARPGROUP_WARPS;
  if (own + all <= MAX_BLOCK_WARPS) return true;
  arg_error(L, c, arg, "%u warps of the kernel and %u of its workers, in fours, are more than the %d of a block", own,
            all, MAX_BLOCK_WARPS);
  return lower_hint(L, "give the workers at most %u warps together, or the kernel a smaller num_warps",
                    MAX_BLOCK_WARPS - own) != NULL;
}

static bool check_registers(Lower *L, Call *c, uint32_t arg, const Partitions *p) {
  const Target *target = L->module->target;
  if (!target->arch_specific) {
    arg_error(L, c, arg, "moving registers between warps needs sm_90a, this is %s", target->name);
    return lower_hint(L, "compile for sm_90a, or give None for worker_num_regs") != NULL;
  }
  for (uint32_t i = 0; i < num_workers(p); i++) {
    if (p->registers[i] >= MIN_SET_REGISTERS && p->registers[i] <= MAX_SET_REGISTERS) continue;
    lower_error(L, span_or(item_node(node_of(c, arg), i), c->spans[arg]),
                "a worker's thread has %d to %d registers, not %lld", MIN_SET_REGISTERS, MAX_SET_REGISTERS,
                (long long)p->registers[i]);
    return lower_hint(L, "%d are enough for a worker that only copies", MIN_SET_REGISTERS) != NULL;
  }
  return true;
}

static bool read_resources(Lower *L, Call *c, uint32_t warps, Partitions *p) {
  const uint32_t registers = warps + 1;
  p->warps = arena_array(L->arena, int64_t, p->count);
  p->registers = arena_array(L->arena, int64_t, p->count);
  p->has_registers = !arg_is_none(c, registers);
  return read_numbers(L, c, warps, p, p->warps) && check_warps(L, c, warps, p) &&
         (!p->has_registers ||
          (read_numbers(L, c, registers, p, p->registers) && check_registers(L, c, registers, p)));
}

// ---- what a worker may take ----
// A tensor in the term, or NULL.
static const Term *find_tensor(const Term *t) {
  if (!t) return NULL;
  if (term_is_tensor(t) || t->kind == TERM_ACC) return t;
  if (t->kind == TERM_BOUND) return find_tensor(t->bound.self);
  for (uint32_t i = 0; t->kind == TERM_TUPLE && i < t->tuple.count; i++) {
    const Term *found = find_tensor(t->tuple.items[i]);
    if (found) return found;
  }
  return NULL;
}

static bool check_captures(Lower *L, const Partition *p) {
  bool ok = true;
  for (uint32_t i = 0; i <= p->call.num_args; i++) {
    const bool is_fn = i == p->call.num_args;
    const Term *tensor = find_tensor(is_fn ? p->fn : p->call.args[i]);
    const Span span = is_fn ? p->call.fn_span : p->call.spans[i];
    if (!tensor) continue;
    if (!ok) diag_note(L->ctx, span, "nor %s here", term_describe(L, tensor));
    else
      lower_error(L, span, "a worker cannot take %s: the kernel's warps hold it, and a worker runs on warps of its own",
                  term_describe(L, tensor));
    ok = false;
  }
  if (!ok)
    lower_hint(L, "pass it through shared memory: gl.allocate_shared_memory(dtype, shape, layout, x) before, and "
                  "buffer.load(layout) in the worker");
  return ok;
}

// ---- lowering ----
static bool check_place(Lower *L, const Call *c) {
  if (block_role(L->b.block)) {
    builtin_error(L, c, "a partition cannot be split into partitions again");
    return lower_hint(L, "name all of them in one warp_specialize, or call this one after it") != NULL;
  }
  for (const Block *b = L->b.block; b->parent; b = b->parent->parent)
    if (!op_is(b->parent, TRAIT_CARRIES)) {
      builtin_error(L, c, "warp_specialize stands inside a function that combines elements");
      return lower_hint(L, "call it from the kernel") != NULL;
    }
  return true;
}

// Calls the partition's function at the end of b. *ok is false after a diagnostic.
static Term *lower_partition(Lower *L, Partition *p, Block *b, bool *ok) {
  const uint32_t errors = diag_error_count(L->ctx);
  lower_cursor_to_end(L, b);
  Term *r = lower_call(L, p->fn, &p->call);
  lower_cursor_to_end(L, b);
  *ok &= r && diag_error_count(L->ctx) == errors;
  return r;
}

static void lower_workers(Lower *L, Partitions *p, Op *op, bool *ok) {
  for (uint32_t i = 1; i < p->count; i++) {
    Partition *worker = &p->parts[i];
    const Term *r = lower_partition(L, worker, op->blocks[i], ok);
    if (r && !term_is_none(r))
      diag_warning(L->ctx, WARN_UNUSED_VALUE, worker->call.fn_span,
                   "a worker's result is lost, here %s: only the default partition gives one", term_describe(L, r));
    build_op(&L->b, OP_YIELD, NULL, 0);
  }
}

static Term *lower_roles(Lower *L, Call *c, Partitions *p) {
  if (!num_workers(p)) return lower_call(L, p->parts[0].fn, &p->parts[0].call);
  for (uint32_t i = 1; i < p->count; i++)
    if (!check_captures(L, &p->parts[i])) return NULL;
  if (!lower_enter_region(L, c->span)) return NULL;
  Block *outer = L->b.block;
  Op *shell = build_roles(&L->b, NULL, 0, p->warps, p->has_registers ? p->registers : NULL, num_workers(p));
  bool ok = true;
  ValueList results = {0};
  Term *r = lower_partition(L, &p->parts[0], shell->blocks[0], &ok);
  term_flatten(L, r, &results);
  build_op(&L->b, OP_YIELD, results.data, results.count);
  lower_workers(L, p, shell, &ok);
  L->region_depth--;
  lower_cursor_to_end(L, outer);
  if (!ok) return NULL;
  const Type **types = arena_array(L->arena, const Type *, results.count + 1);
  for (uint32_t i = 0; i < results.count; i++) types[i] = results.data[i]->type;
  L->b.span = c->span;
  Op *op = lower_replace_op(L, shell, types, results.count, NULL, 0);
  Value **values = arena_array(L->arena, Value *, results.count + 1);
  for (uint32_t i = 0; i < results.count; i++) values[i] = op_result(op, i);
  uint32_t pos = 0;
  return term_rebuild(L, r, values, &pos);
}

Term *gl_warp_specialize(Lower *L, Call *c) {
  Partitions p = {0};
  return check_place(L, c) && read_pairs(L, c, &p) && read_resources(L, c, 1, &p) ? lower_roles(L, c, &p) : NULL;
}

Term *gl_warp_specialize_shared(Lower *L, Call *c) {
  Partitions p = {0};
  return check_place(L, c) && read_shared(L, c, &p) && read_resources(L, c, 4, &p) ? lower_roles(L, c, &p) : NULL;
}

// ---- the whole kernel ----
typedef struct { Lower *L; RolesInfo info; bool ok; } Check;

static void check_left(Op *op, void *user) {
  Check *s = user;
  const RolesInfo *info = &s->info;
  RolesRegisters r;
  if (op->opcode != OP_ROLES || roles_registers(s->L->b.func, info, op, &r)) return;
  const uint32_t own = s->L->module->num_warps, all = info->registers * info->total_warps,
                 least = own * MIN_SET_REGISTERS;
  uint32_t asked = 0;
  for (uint32_t g = 0; g < (info->total_warps - own) / WARPGROUP_WARPS; g++) asked += r.worker[g] * WARPGROUP_WARPS;
  s->ok = false;
  diag_error(s->L->ctx, op->span,
             "the workers ask for more registers than there are: of %u for each of %u threads, too few are left for "
             "the default partition",
             info->registers, info->total_warps * WARP_SIZE);
  lower_hint(s->L,
             "the workers' warps, each four with the most that one of them asks for, may have %u together and ask "
                   "for %u: lower worker_num_regs, or %s",
             all > least ? all - least : 0, asked,
             s->L->module->maxnreg ? "launch with a higher maxnreg" : "give the partitions fewer warps");
}

bool lower_check_roles(Lower *L) {
  Check s = {.L = L, .info = roles_info(L->b.func), .ok = true};
  block_walk(L->b.func->body, check_left, &s);
  return s.ok;
}
