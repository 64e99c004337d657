// For reports of an access out of bounds: whether all of the block that the program accesses lies outside, and whether
// the program executed the access before. A warp may fail while others of its block have not come so far: they run on to
// the access, but do not execute it.
#include "runtime/sim/lead.h"

enum { MAX_STEPS = 1 << 18 };

static bool is_inside(const Alloc *a, uint64_t addr, uint32_t size) {
  return addr >= a->base && addr - a->base + size <= a->size;
}

static bool any_inside(Warp *w, const PtxOperand *op, uint32_t mask, const Alloc *a, uint32_t size) {
  FOR_LANES(l, mask) {
    if (is_inside(a, mem_operand_address(w, op, l), size)) return true;
  }
  return false;
}

static uint32_t guarded(const Warp *w, const Instr *in) {
  if (in->guard < 0) return w->active;
  const uint32_t p = w->p[in->guard];
  return w->active & (in->guard_negated ? ~p : p);
}

// Runs the warp until it would execute `in` for the time after `times`. False if it does not come there.
static bool run_to(Warp *w, const Instr *in, uint32_t times) {
  const Grid *g = w->grid;
  for (uint32_t steps = 0; steps < MAX_STEPS && !g->failed && w->state != WARP_DONE; steps++) {
    if (w->state == WARP_RUN && w->active && &g->module->code[w->pc] == in && w->accesses[in->access] == times)
      return true;
    if (!warp_run(w, 1)) return false;
  }
  return false;
}

// The instructions of one access hold a part of its block each, or are copies of it that loops made: one is enough for a
// block that is no larger than what the threads access at once.
static bool sibling_was_inside(Warp *w, const Instr *in, const PlaceNote *place) {
  const PtxModule *m = w->grid->module;
  for (uint32_t i = in->func->first; i < in->func->end; i++) {
    const Instr *other = &m->code[i];
    PlaceNote its;
    if (other != in && other->access && w->accesses[other->access] > w->accesses[in->access] &&
        report_note(w->grid, other, &its) && report_same_place(&its, place))
      return true;
  }
  return false;
}

void whole_block(Warp *w, const Instr *in, int lane, const MemAccess *access, const Alloc *a, const PlaceNote *place,
                 Outside *o) {
  Grid *g = w->grid;
  if (!access->op || !in->access || g->probes || !place->elems || g->failed) return;
  const uint32_t times = w->accesses[in->access], size = access->size;
  const uint64_t at_once = (uint64_t)w->cta->num_threads * size;
  const bool has_sibling = sibling_was_inside(w, in, place);
  if (has_sibling && (uint64_t)place->elems * place->elem_bytes > at_once) return;
  o->was_inside = times || has_sibling;
  if (any_inside(w, access->op, access->mask, a, size) || (access->mask & ((1u << lane) - 1))) return;
  g->probes = true;
  bool is_whole = true;
  for (uint32_t i = 0; i < w->cta->num_warps && is_whole && place->elems > 1; i++) {
    Warp *other = &w->cta->warps[i];
    if (other == w) continue;
    if (other->accesses[in->access] > times) is_whole = false;
    else if (run_to(other, in, times)) is_whole = !any_inside(other, access->op, guarded(other, in), a, size);
  }
  g->probes = false;
  o->is_whole = is_whole;
}
