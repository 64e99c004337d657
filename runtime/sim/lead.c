#include "runtime/sim/lead.h"

static OutsideKind kind_of(AccessKind kind) {
  static const OutsideKind kinds[] = {
      [ACCESS_READ] = OUTSIDE_LOAD, [ACCESS_WRITE] = OUTSIDE_STORE, [ACCESS_ATOMIC] = OUTSIDE_UPDATE};
  return kinds[kind];
}

// "element 384 of tmp", "byte 3 of tmp"; or `unknown`.
static const char *element(Arena *a, Warp *w, const Instr *in, int lane, uint64_t address, uint32_t elem_bytes,
                           const char *unknown) {
  const AddressOrigin from = origin_of(w, in, lane, address);
  if (!from.name || !from.alloc || address < from.pointer) return unknown;
  const uint64_t at = address - from.pointer;
  const uint32_t known = elem_bytes ? elem_bytes : from.elem_bytes, unit = known && at % known == 0 ? known : 1;
  return arena_printf(a, "%s %llu of %s", unit == known ? "element" : "byte", (unsigned long long)(at / unit),
                      from.name);
}

static const char *race_way_out(RaceScope scope, bool is_one_place) {
  if (scope == RACE_PROGRAMS)
    return "programs of the grid do not wait for each other: use an atomic (tl.atomic_add …), or let each program "
           "write its own place";
  if (scope == RACE_SHARED) return "an mbarrier orders partitions of warps, gl.barrier() the warps of one";
  if (is_one_place)
    return "let each element have a place of its own, or add them by tl.atomic_add(…); between iterations of a loop, "
           "put tl.debug_barrier()";
  return scope == RACE_BLOCKS ? "put a barrier of the cluster between the two"
                              : "put tl.debug_barrier() between the two";
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

void lead_race(Warp *w, int lane, RaceScope scope, const RaceSide *found, const RaceSide *other, uint64_t address) {
  static const char *const agents[] = {
      [RACE_BLOCKS] = "warp", [RACE_WARPS] = "warp", [RACE_SHARED] = "thread"};
  const bool between = scope == RACE_PROGRAMS, waits = between && waits_for(found, other);
  const bool is_flag = waits || (between && waits_for(other, found)), is_later = is_flag ? !waits : found->in >= other->in;
  const RaceSide *later = is_later ? found : other, *earlier = is_later ? other : found;
  Grid *g = w->grid;
  PlaceNote at, before;
  if (!report_note(g, later->in, &at)) return;
  const bool has_other = report_note(g, earlier->in, &before);
  const bool is_one_place = has_other && report_same_place(&at, &before);
  Arena scratch;
  arena_init(&scratch);
  const char *program = report_program_name(&scratch, later->program);
  const char *who = between ? report_program_name(&scratch, earlier->program)
                            : arena_printf(&scratch, "another of its %ss", agents[scope]);
  const char *verb = outside_verb(earlier->kind), *too = earlier->kind == later->kind ? " too" : "";
  const char *what = "shared memory";
  if (scope != RACE_SHARED) what = element(&scratch, w, found->in, lane, address, at.elem_bytes, "an element");
  report_lead(g, &at,
              is_flag ? arena_printf(&scratch, "race: %s stores %s without an atomic; %s %s it %s, and nothing orders the two",
                                     program, what, who, verb, earlier->kind == OUTSIDE_LOAD ? "as volatile" : "by one")
                      : arena_printf(&scratch, "race: %s %s %s, which %s %s%s%s", program, outside_verb(later->kind),
                                     what, who, verb, too,
                                     between ? ", and nothing orders the two" : " without a barrier in between"),
              is_flag ? released_by(&scratch, &at) : race_way_out(scope, is_one_place));
  if (!between) who = arena_printf(&scratch, "the other %s", agents[scope]);
  if (has_other) report_lead_note(g, &before, arena_printf(&scratch, "%s %s it here", who, verb));
  arena_free(&scratch);
}

void lead_outside(Warp *w, const Instr *in, Outside *o, AccessKind kind, uint32_t elem_bytes) {
  static const char general[] = "compare what the offset reaches, and the mask, with the elements that there are";
  PlaceNote place;
  if (!report_note(w->grid, in, &place)) return;
  Arena scratch;
  arena_init(&scratch);
  o->kind = kind_of(kind);
  o->elem_bytes = place.elem_bytes ? place.elem_bytes : elem_bytes;
  report_program(w->cta, o->program);
  const OutsideWays ways = {place.way_out, place.way_out_before, place.bytes_from};
  const char *far = outside_far(o), *way_out = outside_way_out(&scratch, o, &ways);
  report_lead(w->grid, &place, outside_text(&scratch, o), *far ? far : way_out ? way_out : general);
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
  uint32_t program[3];
  report_program(w->cta, program);
  const char *name = report_program_name(&scratch, program);
  const char *from = element(&scratch, w, in, lane, address, place.elem_bytes, "a place");
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
