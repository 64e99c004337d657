#include <string.h>

#include "runtime/sim/lead.h"
#include "runtime/sim/shadow.h"

static OutsideKind kind_of(AccessKind kind) {
  static const OutsideKind kinds[] = {
      [ACCESS_READ] = OUTSIDE_LOAD, [ACCESS_WRITE] = OUTSIDE_STORE, [ACCESS_ATOMIC] = OUTSIDE_UPDATE};
  return kinds[kind];
}

const char *lead_element(Arena *a, Warp *w, const Instr *in, int lane, uint64_t address, uint32_t elem_bytes,
                         const char *unknown) {
  AddressOrigin from = origin_of(w, in, lane, address);
  if (!from.name && in->op == OP_cp) from = origin_in(w, in, device_find(w->grid->device, address));
  if (!from.name || !from.alloc || address < from.pointer) return unknown;
  const uint64_t at = address - from.pointer;
  const uint32_t known = elem_bytes ? elem_bytes : from.elem_bytes, unit = known && at % known == 0 ? known : 1;
  return arena_printf(a, "%s %llu of %s", unit == known ? "element" : "byte", (unsigned long long)(at / unit),
                      from.name);
}

static bool has_atomics(const Grid *g) {
  for (uint32_t i = 0; i < g->module->num_code; i++)
    if (g->module->code[i].op == OP_atom) return true;
  return false;
}

// A tile that is stored without a mask may reach into what another program has.
static const char *with_mask(Arena *a, const char *way_out, const PlaceNote *store) {
  return store && store->is_unmasked && store->way_out ? arena_printf(a, "%s; %s", way_out, store->way_out) : way_out;
}

// one_place: of both accesses; NULL: they have two. earlier, later: what they do, in the order of the code.
static const char *race_way_out(const Grid *g, RaceScope scope, const PlaceNote *one_place, OutsideKind earlier,
                                OutsideKind later) {
  const bool loads = earlier == OUTSIDE_LOAD || later == OUTSIDE_LOAD;
  if (scope == RACE_PROGRAMS && loads && has_atomics(g))
    return "an atomic for which the other program waits orders only what stands before it: store and "
           "tl.debug_barrier() before that atomic, and load after the wait; without one, load in a second kernel";
  if (scope == RACE_PROGRAMS && loads)
    return "programs of the grid do not wait for each other, nor does tl.debug_barrier() make them: load it in a "
           "second kernel, or store to an array that this one does not load from";
  if (scope == RACE_PROGRAMS)
    return "programs of the grid do not wait for each other: use an atomic (tl.atomic_add …), or let each program "
           "write its own place";
  if (scope == RACE_SHARED) return "an mbarrier orders partitions of warps, gl.barrier() the warps of one";
  if (one_place && one_place->has_rows && !loads)
    return "elements of this tile have one address, as where the end of a row reaches the next row: bound each index in "
           "the mask; otherwise let each element have a place of its own, or add them by tl.atomic_add(…)";
  if (one_place)
    return "let each element have a place of its own, or add them by tl.atomic_add(…); between iterations of a loop, "
           "put tl.debug_barrier()";
  if (scope == RACE_BLOCKS) return "put a barrier of the cluster between the two";
  return earlier == OUTSIDE_LOAD ? "put tl.debug_barrier() between the two; if other programs load what this one "
                                   "stores, store to another array"
                                 : "put tl.debug_barrier() between the two";
}

// Of a store of what was computed from a load of the same element, if the other access is that load or that store.
static const char *update_way_out(Arena *a, RaceScope scope, const PlaceNote *store, const PlaceNote *other) {
  const bool is_its_load = other->line == store->update.line && other->col == store->update.col;
  if (!store->update.line || scope == RACE_SHARED || (!is_its_load && !report_same_place(store, other))) return NULL;
  const char *who = scope == RACE_PROGRAMS ? "program" : "thread", *atomic = store->update.atomic;
  return arena_printf(a, "what another %s stores between this load and this store is lost: %s, or let each %s have "
                      "elements of its own", who, atomic ? arena_printf(a, "tl.%s(…) does both at once", atomic)
                      : "take a lock by tl.atomic_cas(…) before, or combine by an atomic as tl.atomic_add(…)", who);
}

// Whether the programs seem to wait for what the other one stores plainly: for a lock or a flag.
static bool waits_for(const RaceSide *waiting, const RaceSide *storing) {
  const Instr *in = waiting->in;
  return waiting->is_atomic && !storing->is_atomic && storing->kind == OUTSIDE_STORE &&
         (in->op == OP_ld || in->sel == M_cas || in->sel == M_exch);
}

// How the store of a lock or flag is written instead.
static const char *released_by(Arena *a, const PlaceNote *store) {
  return arena_printf(a, "other programs wait for this store, and a plain store orders nothing: release a lock by %s",
                      store->exchange ? store->exchange : "tl.atomic_xchg(pointer, value)");
}

static const char *why_weak(const Instr *in) {
  return has_any(in, M_cta, M_cluster) ? "has a scope smaller than the GPU"
         : has_mod(in, M_acquire)      ? "only acquires"
         : has_mod(in, M_release)      ? "only releases"
                                       : "is relaxed";
}

static bool is_relaxed(const Instr *in) { return !has_any(in, M_acquire, M_release) && !has_mod(in, M_acq_rel); }

// What makes the atomics order the two accesses between which they stand.
static const char *strengthened(Arena *a, const Grid *g, const WeakAtomics *weak) {
  PlaceNote at, wrote;
  const bool has_place = report_note(g, weak->first, &at);
  if (has_place && weak->wrote && is_relaxed(weak->first) && is_relaxed(weak->wrote) &&
      report_note(g, weak->wrote, &wrote) && wrote.line != at.line)
    return arena_printf(a, "the atomics of line %u and line %u do not order them, because they are relaxed: give both "
                        "sem=\"acq_rel\", scope=\"gpu\"", wrote.line, at.line);
  return arena_printf(a, "the atomic%s does not order them, because it %s: give it sem=\"acq_rel\", scope=\"gpu\"",
                      has_place ? arena_printf(a, " of line %u", at.line) : "", why_weak(weak->first));
}

// If the two accesses reach the place by different arguments: what to do about that; otherwise NULL.
static const char *alias_way_out(Arena *a, Warp *w, const RaceSide *later, const RaceSide *earlier, uint64_t address) {
  const AddressOrigin x = origin_of(w, earlier->in, -1, address), y = origin_of(w, later->in, -1, address);
  if (!x.name || !y.name || !strcmp(x.name, y.name) || !x.alloc || x.alloc != y.alloc) return NULL;
  if (x.pointer != y.pointer)
    return arena_printf(a, "%s and %s are parts of one array in this launch, and both reach this place: keep each to its "
                        "part, or give each an array of its own", x.name, y.name);
  return arena_printf(a, "%s and %s are the same memory in this launch: give each an array of its own (a copy of one of "
                      "them), or let the kernel take one argument in place of the two", x.name, y.name);
}

void lead_race(Warp *w, int lane, RaceScope scope, const RaceSide *found, const RaceSide *other, uint64_t address,
               const WeakAtomics *weak) {
  static const char *const agents[] = {
      [RACE_BLOCKS] = "warp", [RACE_WARPS] = "warp", [RACE_THREADS] = "thread", [RACE_SHARED] = "thread"};
  const bool between = scope == RACE_PROGRAMS, waits = between && waits_for(found, other);
  const bool is_flag = !weak->first && (waits || (between && waits_for(other, found)));
  const bool is_later = is_flag ? !waits : found->in >= other->in;
  const RaceSide *later = is_later ? found : other, *earlier = is_later ? other : found;
  Grid *g = w->grid;
  PlaceNote at, before;
  if (!report_note(g, later->in, &at)) return;
  const bool has_other = report_note(g, earlier->in, &before);
  const bool is_one_place = has_other && report_same_place(&at, &before);
  const bool may_lack_mask = between || scope == RACE_THREADS;
  const PlaceNote *store = !may_lack_mask                 ? NULL
                           : later->kind == OUTSIDE_STORE ? &at
                           : has_other                    ? &before
                                                          : NULL;
  Arena scratch;
  arena_init(&scratch);
  const char *update = scope == RACE_SHARED ? NULL : alias_way_out(&scratch, w, later, earlier, address);
  if (has_other && !update && later->kind == OUTSIDE_STORE) update = update_way_out(&scratch, scope, &at, &before);
  if (has_other && !update && earlier->kind == OUTSIDE_STORE) update = update_way_out(&scratch, scope, &before, &at);
  const char *program = report_program_name(&scratch, later->program);
  const char *who = between ? report_program_name(&scratch, earlier->program)
                            : arena_printf(&scratch, "another of its %ss", agents[scope]);
  const char *verb = outside_verb(earlier->kind), *too = earlier->kind == later->kind ? " too" : "";
  const char *what = "shared memory";
  if (scope != RACE_SHARED)
    what = lead_element(&scratch, w, later->in, later == found ? lane : -1, address, at.elem_bytes, "an element");
  report_lead(g, &at,
              is_flag ? arena_printf(&scratch,
                                     "race: %s stores %s without an atomic; %s %s it %s, and nothing orders the two",
                                     program, what, who, verb, earlier->kind == OUTSIDE_LOAD ? "as volatile" : "by one")
                      : arena_printf(&scratch, "race: %s %s %s, which %s %s%s%s", program, outside_verb(later->kind),
                                     what, who, verb, too,
                                     between                 ? ", and nothing orders the two"
                                     : scope == RACE_THREADS ? " with another value"
                                                             : " without a barrier in between"),
              is_flag ? released_by(&scratch, &at)
              : weak->first ? strengthened(&scratch, g, weak)
              : update ? update
                      : with_mask(&scratch,
                                  race_way_out(g, scope, is_one_place ? &at : NULL, earlier->kind, later->kind),
                                  store));
  if (!between) who = arena_printf(&scratch, "the other %s", agents[scope]);
  if (has_other) report_lead_note(g, &before, arena_printf(&scratch, "%s %s it here", who, verb));
  arena_free(&scratch);
}

static bool param_bits(const void *grid, const OutsideNode *param, uint64_t *bits) {
  const Grid *g = grid;
  if (param->count >= g->func->num_params) return false;
  const Symbol *p = g->func->params[param->count];
  if (p->size > sizeof *bits || p->size * 8 < param->bits) return false;
  *bits = 0;
  memcpy(bits, (const void *)(uintptr_t)(g->param_addr + p->addr), p->size);
  return true;
}

static bool memory_bits(const void *grid, uint64_t address, uint32_t size, uint64_t *bits) {
  const Alloc *a = device_find(((const Grid *)grid)->device, address);
  if (!a || address - a->base + size > a->size) return false;
  memcpy(bits, (const void *)(uintptr_t)address, size);
  return true;
}

void lead_outside(Warp *w, const Instr *in, int lane, const MemAccess *access, const Alloc *a, Outside *o,
                  AccessKind kind, uint32_t elem_bytes) {
  static const char general[] = "compare what the offset reaches, and the mask, with the elements that there are";
  PlaceNote place;
  if (!report_note(w->grid, in, &place)) return;
  whole_block(w, in, lane, access, a, &place, o);
  if (w->grid->failed) return;   // another warp was earlier
  Arena scratch;
  arena_init(&scratch);
  o->kind = kind_of(kind);
  o->elem_bytes = place.elem_bytes ? place.elem_bytes : elem_bytes;
  report_program(w->cta, o->program);
  const OutsideWays ways = {.past = place.way_out,
                            .before = place.way_out_before,
                            .bytes_from = place.bytes_from,
                            .by_program = {place.by_program[0], place.by_program[1], place.by_program[2]},
                            .moved = place.moved,
                            .is_one = place.is_one,
                            .is_masked = place.is_masked,
                            .has_free = place.has_free};
  const LaunchParams *l = &w->grid->launch;
  const uint32_t grid[] = {l->grid[0] / w->cta->cluster->num_ctas, l->grid[1], l->grid[2]};   // as in report_program
  const OutsideInputs inputs = {grid, param_bits, memory_bits, w->grid};
  const OutsideWords words = outside_words(&scratch, o, &ways, place.terms, &inputs);
  report_lead(w->grid, &place, outside_text(&scratch, o), words.way_out ? words.way_out : general);
  if (words.sum) report_lead_sum(w->grid, words.sum);
  arena_free(&scratch);
}

void lead_misaligned(Warp *w, const Instr *in, int lane, uint64_t address, uint32_t size, uint32_t align,
                     AccessKind kind) {
  static const char general[] =
      "the pointer is not aligned to its elements: it was cast, or the argument itself is not";
  Grid *g = w->grid;
  PlaceNote place;
  if (!report_note(g, in, &place)) return;
  Arena scratch;
  arena_init(&scratch);
  const char *name = report_program_of(&scratch, w->cta);
  const char *from = lead_element(&scratch, w, in, lane, address, place.elem_bytes, "a place");
  report_lead(g, &place,
              arena_printf(&scratch, "misaligned %s: %s %s %u bytes from %s on, whose address is no multiple of %u",
                           outside_noun(kind_of(kind)), name, outside_verb(kind_of(kind)), size, from, align),
              in->vec > 1 ? report_promised : general);
  if (place.promise.line && in->vec > 1) {
    const PlaceNote promise = {
        .file = place.file, .line = place.promise.line, .col = place.promise.col, .size = place.promise.size};
    report_lead_note(g, &promise, "this promises more of the addresses than is true");
  }
  arena_free(&scratch);
}

// ---- asynchronous operations of Gluon kernels

static const struct { const char *noun, *arrives, *has_read, *wait; } asyncs[] = {
    [WAIT_COPY] = {"copy", "has arrived", "has read it", "async_copy.wait_group(0)"},
    [WAIT_TMA_LOAD] = {"copy", "has arrived", "has read it", "mbarrier.wait(bar, phase)"},
    [WAIT_TMA_STORE] = {"store", "has written it", "has read it", "tma.store_wait(0)"},
    [WAIT_MMA] = {"product", "has written it", "has read it", "warpgroup_mma_wait(0, deps=[acc])"}};

typedef struct {
  Grid *g;
  PlaceNote at, its;           // of the access, and of what it meets
  Arena scratch;
  const char *program;
} GluonLead;

// False if one of them is not of a Gluon kernel, whose author orders them. other: NULL if there is none.
static bool begin_gluon(GluonLead *l, const Warp *w, const Instr *in, const Instr *other) {
  *l = (GluonLead){.g = w->grid};
  if (!report_note(l->g, in, &l->at) || !l->at.is_gluon) return false;
  if (other && (!report_note(l->g, other, &l->its) || !l->its.is_gluon)) return false;
  arena_init(&l->scratch);
  l->program = report_program_of(&l->scratch, w->cta);
  return true;
}

// A wait for a phase that had been waited for before, in place of the other access: the message names that, too.
static void tell_repeated_wait(GluonLead *l, const Warp *w, WaitKind kind) {
  PlaceNote wait;
  const Instr *in = w->cta->repeated_wait;
  if (kind != WAIT_TMA_LOAD || !in || !report_note(l->g, in, &wait)) return;
  report_lead_note(l->g, &wait, "this waits for the same phase of the mbarrier again, which is over: phases alternate, "
                   "as in mbarrier.wait(bar, i & 1)");
}

static bool has_copy_with(const Grid *g, PtxMod mod) {
  for (uint32_t i = 0; i < g->module->num_code; i++)
    if (g->module->code[i].op == OP_cp && g->module->code[i].func == g->func && has_mod(&g->module->code[i], mod))
      return true;
  return false;
}

// How a wait covers the copy, the store or the product.
static const char *wait_for(Arena *a, const Grid *g, WaitKind kind) {
  const bool is_in_group = kind != WAIT_COPY || has_copy_with(g, M_commit_group);
  if (!is_in_group && has_copy_with(g, M_mbarrier))
    return "async_copy.mbarrier_arrive(bar) covers the copies before it: put it after this copy, and then "
           "mbarrier.wait(bar, phase)";
  if (!is_in_group)
    return "async_copy.commit_group() after the copy makes it a group, for which async_copy.wait_group(0) waits";
  return arena_printf(a, "wait for it first: %s", asyncs[kind].wait);
}

// If copies bring more bytes to an mbarrier than it expects, its phase ends before they have arrived.
static void tell_missing_bytes(GluonLead *l, const Warp *w, WaitKind kind) {
  const int64_t bytes = kind == WAIT_TMA_LOAD ? agent_unexpected_bytes(w->cta) : 0;
  if (bytes > 0)
    report_lead_note(l->g, &l->its,
                     arena_printf(&l->scratch, "this copy; an mbarrier expects %lld bytes less than its copies bring, "
                                  "so that a wait ends too early: mbarrier.expect counts all", (long long)bytes));
}

// "the copy of k.py:13"
static const char *name_of(Arena *a, const PlaceNote *at, const char *noun) {
  return arena_printf(a, "the %s of %s:%u", noun, at->file, at->line);
}

static const char *buffer_of(const PlaceNote *a, const PlaceNote *b) {
  return a->buffer ? a->buffer : b->buffer ? b->buffer : "shared memory";
}

void lead_early(Warp *w, const Instr *in, bool writes, const Instr *other, WaitKind kind, bool other_writes) {
  GluonLead l;
  if (!begin_gluon(&l, w, in, other)) return;
  report_lead(l.g, &l.at,
              arena_printf(&l.scratch, "%s %s %s before %s %s", l.program,
                           writes ? "overwrites" : "reads", buffer_of(&l.at, &l.its),
                           name_of(&l.scratch, &l.its, asyncs[kind].noun),
                           other_writes ? asyncs[kind].arrives : asyncs[kind].has_read),
              wait_for(&l.scratch, l.g, kind));
  tell_repeated_wait(&l, w, kind);
  tell_missing_bytes(&l, w, kind);
  report_lead_note(l.g, &l.its, arena_printf(&l.scratch, "this %s", asyncs[kind].noun));
  arena_free(&l.scratch);
}

void lead_overtakes(Warp *w, const Instr *in, WaitKind kind, bool writes, const Instr *other, bool other_writes) {
  GluonLead l;
  if (!begin_gluon(&l, w, in, other)) return;
  report_lead(l.g, &l.at,
              arena_printf(&l.scratch, "the %s of %s %s %s, which %s:%u %s at the same time", asyncs[kind].noun,
                           l.program, writes ? "overwrites" : "reads",
                           buffer_of(&l.at, &l.its), l.its.file, l.its.line, other_writes ? "overwrites" : "reads"),
              arena_printf(&l.scratch,
                           "an access after this %s waits for it by %s; gl.barrier(), or an mbarrier, orders it after "
                           "an earlier access", asyncs[kind].noun, asyncs[kind].wait));
  tell_repeated_wait(&l, w, kind);
  report_lead_note(l.g, &l.its, "the other access");
  arena_free(&l.scratch);
}

void lead_unfinished(Warp *w, const Instr *in, const Instr *product, bool writes) {
  GluonLead l;
  if (!begin_gluon(&l, w, in, product)) return;
  report_lead(l.g, &l.at,
              arena_printf(&l.scratch, "%s %s of %s before that is done", l.program,
                           writes ? "overwrites a tensor" : "uses the result", name_of(&l.scratch, &l.its, "product")),
              wait_for(&l.scratch, l.g, WAIT_MMA));
  report_lead_note(l.g, &l.its, "this product");
  arena_free(&l.scratch);
}

void lead_left_over(Warp *w, const Instr *in, WaitKind kind) {
  GluonLead l;
  if (!begin_gluon(&l, w, in, NULL)) return;
  report_lead(l.g, &l.at,
              arena_printf(&l.scratch, "%s ends while this %s may still access its shared memory",
                           l.program, asyncs[kind].noun),
              arena_printf(&l.scratch, "wait for it before the end: %s", asyncs[kind].wait));
  arena_free(&l.scratch);
}
