// Happens-before for shared memory: mbarriers, and asynchronous operations as separate agents.
#include <string.h>

#include "runtime/sim/lead.h"
#include "runtime/sim/shadow_race.h"

// ---- mbarriers

static MbarRace *find_mbar(SharedPlace bar) {
  CtaRace *cta = cta_race(bar.cta);
  for (uint32_t i = 0; cta && i < cta->num_mbars; i++)
    if (cta->mbars[i].offset == bar.offset) return &cta->mbars[i];
  return NULL;
}
// Who uses an mbarrier must know of its initialisation; by_async: so must the proxy that will complete bytes on it.
static ExecResult check_init(Warp *w, const Instr *in, int lane, SharedPlace bar, const MbarRace *m, bool by_async) {
  Who who = {.warp = w, .in = in, .lane = lane, .at = bar, .epoch = {.comp = NO_COMP}};
  uint32_t kind = 0;
  Warp *x = race_warp_of(w->cta->cluster, m->init.comp, &kind);
  if (!race_ordered(&who, &m->init))
    return warp_report(
        w, in, lane, REPORT_RACE,
        "uses the mbarrier at shared+0x%x of CTA %u, which ptx:%u initialises, without a barrier in between",
        bar.offset + SHARED_BASE, bar.cta->rank, w->grid->module->code[m->init.pc].line);
  if (by_async && x && !race_fenced(w, x, &m->init, C_SELF, FENCE_ASYNC | FENCE_MBARRIER_INIT))
    return warp_report(
        w, in, lane, REPORT_PROXY,
        "the asynchronous proxy will use the mbarrier at shared+0x%x of CTA %u, but no fence.mbarrier_init or "
        "fence.proxy.async followed its initialisation (ptx:%u)",
        bar.offset + SHARED_BASE, bar.cta->rank, w->grid->module->code[m->init.pc].line);
  return EXEC_NEXT;
}

ExecResult agent_mbarrier_init(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  CtaRace *cta = cta_race(bar.cta);
  if (!cta) return EXEC_NEXT;
  MbarRace *m = find_mbar(bar);
  if (m && m->live) {
    w->grid->way_out = "an mbarrier is initialised once, before a loop, in which its phases alternate, as in "
                       "mbarrier.wait(bar, i & 1); to begin anew, mbarrier.invalidate(bar) first";
    return warp_report(w, in, lane, REPORT_MBARRIER, "mbarrier.init of the live mbarrier at shared+0x%x",
                       bar.offset + SHARED_BASE);
  }
  if (!m) {
    if (cta->num_mbars == MBARS_PER_CTA) return EXEC_NEXT;
    m = &cta->mbars[cta->num_mbars++];
    *m = (MbarRace){.offset = bar.offset,
                    .pending = race_new_clock(bar.cta->cluster),
                    .done = race_new_clock(bar.cta->cluster)};
    m->arrived = arena_array(&cluster_race(bar.cta->cluster)->arena, uint32_t, bar.cta->num_warps * WARP_SIZE);
    m->passed = arena_array(&cluster_race(bar.cta->cluster)->arena, uint32_t, bar.cta->num_warps * WARP_SIZE);
  }
  Who who = {.warp = w, .in = in, .lane = lane, .is_write = true, .at = bar};
  who.epoch = (Epoch){warp_race(w)->vc[comp_of(w, C_SELF)], pc_of(w, in), (uint16_t)comp_of(w, C_SELF), (uint8_t)lane,
                      0};
  TRY(race_touch(&who, 8, NULL));
  m->live = true;
  m->init = who.epoch;
  for (int i = 0; i < 2; i++) {
    Cell *c = &cta->cells[bar.offset / 4 + (uint32_t)i];
    c->split = NULL;
    c->write = who.epoch;
    c->write.comp = MBAR_COMP;
  }
  return EXEC_NEXT;
}

ExecResult agent_mbarrier_inval(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  CtaRace *cta = cta_race(bar.cta);
  MbarRace *m = find_mbar(bar);
  if (!m) return EXEC_NEXT;
  TRY(check_init(w, in, lane, bar, m, false));
  m->live = false;
  for (int i = 0; i < 2; i++)
    cta->cells[bar.offset / 4 + (uint32_t)i].write = (Epoch){warp_race(w)->vc[comp_of(w, C_SELF)], pc_of(w, in),
                                                             (uint16_t)comp_of(w, C_SELF), (uint8_t)lane, 0};
  return EXEC_NEXT;
}

static void flip(SharedPlace bar, MbarRace *m) {
  const Cluster *c = bar.cta->cluster;
  m->phase++;
  m->pending[mbar_comp(c, bar, m)] = m->phase;
  race_join(c, m->done, m->pending);
  memset(m->pending, 0, cluster_race(c)->comps * sizeof *m->pending);
  memcpy(m->passed, m->arrived, bar.cta->num_warps * WARP_SIZE * sizeof *m->passed);
}

ExecResult agent_mbarrier_touch(Warp *w, const Instr *in, int lane, SharedPlace bar, bool flipped) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  ExecResult r = check_init(w, in, lane, bar, m, false);
  if (r == EXEC_NEXT && flipped) flip(bar, m);
  return r;
}

ExecResult agent_mbarrier_arrive(Warp *w, const Instr *in, int lane, SharedPlace bar, bool flipped) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  TRY(check_init(w, in, lane, bar, m, false));
  if (in->op == OP_cp) {  // an arrival by the copies themselves
    uint32_t *known = &m->pending[comp_of(w, C_COPY)];
    if (*known < warp_race(w)->arrive_clock) *known = warp_race(w)->arrive_clock;
    m->pending[comp_of(w, C_ACQUIRED)] = race_clock(w);   // the copies have read global memory
  } else if (!has_mod(in, M_relaxed)) {
    race_join(bar.cta->cluster, m->pending, warp_race(w)->vc);
    if (bar.cta == w->cta) m->arrived[w->id * WARP_SIZE + (uint32_t)lane] = warp_race(w)->vc[comp_of(w, C_SELF)];
    race_advance(w);
  }
  if (flipped) flip(bar, m);
  return EXEC_NEXT;
}

ExecResult agent_mbarrier_waited(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  ExecResult r = check_init(w, in, lane, bar, m, false);
  if (r != EXEC_NEXT || has_mod(in, M_relaxed)) return r;
  WarpRace *mine = warp_race(w);
  race_join(bar.cta->cluster, mine->vc, m->done);
  // The clock of a warp does not tell its lanes apart: note which lanes of this warp arrived.
  const uint32_t *passed = m->passed + w->id * WARP_SIZE;
  for (uint32_t l = 0; l < WARP_SIZE; l++)
    mine->lane_known[l] = mine->lane_known[l] > passed[l] ? mine->lane_known[l] : passed[l];
  return EXEC_NEXT;
}

ExecResult agent_bytes_complete(AsyncOp *op, SharedPlace bar, bool flipped) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  uint32_t issued = op->clock;
  for (uint32_t i = 0; op->kind == ASYNC_BULK && i < op->bulk.num_dst; i++)
    if (op->bulk.bar[i].cta == bar.cta) issued = op->bulk.clock[i];
  if (issued && issued != m->phase + 1)
    return async_report(
        op, REPORT_MBARRIER,
        "the copy was issued in phase %u of the mbarrier at shared+0x%x of CTA %u and its bytes arrive in phase %u, "
        "which does not expect them",
        issued - 1, bar.offset + SHARED_BASE, bar.cta->rank, m->phase);
  if (flipped) flip(bar, m);
  return EXEC_NEXT;
}

// ---- asynchronous operations

// A wait covers all copies of a group, up to the clock of the latest: one mark stands for the group.
static void mark(GroupMarks *g, uint32_t group, uint32_t clock, int lane) {
  for (uint32_t i = g->count; i > 0 && i + GROUPS > g->count; i--) {
    GroupMark *m = &g->at[(i - 1) % GROUPS];
    if (m->lane != lane) continue;
    if (m->group != group) break;   // a lane's groups follow one another
    m->clock = clock;
    return;
  }
  g->at[g->count++ % GROUPS] = (GroupMark){group, clock, lane};
}

// Latest clock among marks of groups below `below` (of one lane, or any when lane < 0).
static uint32_t latest(const GroupMarks *g, uint64_t below, int lane) {
  uint32_t best = 0, first = g->count > GROUPS ? g->count - GROUPS : 0;
  for (uint32_t i = first; i < g->count; i++) {
    const GroupMark *m = &g->at[i % GROUPS];
    if ((lane < 0 || m->lane == lane) && m->group < below && m->clock > best) best = m->clock;
  }
  return best;
}

ExecResult agent_copy_issue(AsyncOp *op) {
  Warp *w = op->warp;
  WarpRace *r = warp_race(w);
  if (!r) return EXEC_NEXT;
  op->clock = ++r->copy_clock;
  op->comp = comp_of(w, C_COPY);
  r->copy_pc = pc_of(w, op->in);
  mark(&r->copies, op->copy.group[__builtin_ctz(op->copy.mask)], op->clock, -1);
  FOR_LANES(l, op->copy.mask) {
    Who who = {.warp = w,
               .in = op->in,
               .lane = l,
               .is_async = true,
               .is_write = true,
               .generic = true,
               .at = op->copy.dst[l]};
    who.epoch = (Epoch){op->clock, pc_of(w, op->in), (uint16_t)op->comp, (uint8_t)l, 0};
    TRY(race_touch(&who, op->copy.bytes, NULL));
  }
  return EXEC_NEXT;
}

void agent_copy_waited(Warp *w, uint32_t mask, uint32_t keep) {
  WarpRace *r = warp_race(w);
  if (!r || !mask) return;
  uint32_t committed = w->cp_group[__builtin_ctz(mask)], *known = &r->vc[comp_of(w, C_COPY)];
  uint64_t below = keep == UINT32_MAX ? UINT64_MAX : committed > keep ? committed - keep : 0;
  uint32_t clock = latest(&r->copies, below, -1);
  if (*known < clock) *known = clock;
}

void agent_arrive_issue(AsyncOp *op) {
  if (warp_race(op->warp)) op->clock = warp_race(op->warp)->copy_clock;
}
void agent_arrive_acquire(AsyncOp *op) {
  if (warp_race(op->warp)) warp_race(op->warp)->arrive_clock = op->clock;
}

static ExecResult touch_async(AsyncOp *op, SharedPlace at, uint32_t bytes, bool write, uint32_t comp, uint32_t clock) {
  Who who = {.warp = op->warp, .in = op->in, .lane = op->lane, .is_async = true, .is_write = write, .at = at};
  who.epoch = (Epoch){clock, pc_of(op->warp, op->in), (uint16_t)comp, ANY_LANE, 0};
  return race_touch(&who, bytes, NULL);
}

// The agent of an operation that completes on an mbarrier is that mbarrier, in the phase that is current at issue.
static ExecResult bar_agent(AsyncOp *op, SharedPlace bar, uint32_t *comp, uint32_t *clock) {
  MbarRace *m = find_mbar(bar);
  *comp = NO_COMP, *clock = 0;
  if (!m || !m->live) return EXEC_NEXT;
  *comp = mbar_comp(bar.cta->cluster, bar, m);
  *clock = m->issued = m->phase + 1;
  m->issued_pc = pc_of(op->warp, op->in);
  return check_init(op->warp, op->in, op->lane, bar, m, true);
}

ExecResult agent_bulk_issue(AsyncOp *op) {
  Warp *w = op->warp;
  WarpRace *r = warp_race(w);
  AsyncBulk *b = &op->bulk;
  if (!r) return EXEC_NEXT;
  uint32_t comp, clock;
  ExecResult res = EXEC_NEXT;
  if (b->in_group) {
    comp = comp_of(w, C_BULK), clock = ++r->bulk_clock;
    r->bulk_pc = pc_of(w, op->in);
    mark(&r->bulks, b->group, clock, op->lane);
    return touch_async(op, b->src, b->extent, false, comp, clock);
  }
  for (uint32_t i = 0; i < b->num_dst && res == EXEC_NEXT; i++) {
    res = bar_agent(op, b->bar[i], &comp, &clock);
    b->clock[i] = clock;
    if (res == EXEC_NEXT && i == 0 && b->src.cta) res = touch_async(op, b->src, b->extent, false, comp, clock);
    if (res == EXEC_NEXT) res = touch_async(op, b->dst[i], b->extent, true, comp, clock);
  }
  return res;
}

ExecResult agent_store_issue(AsyncOp *op) {
  if (!warp_race(op->warp)) return EXEC_NEXT;
  ExecResult r = bar_agent(op, op->store.bar, &op->comp, &op->clock);
  return r == EXEC_NEXT ? touch_async(op, op->store.dst, op->store.bytes, true, op->comp, op->clock) : r;
}

void agent_bulk_waited(Warp *w, int lane, uint32_t keep) {
  WarpRace *r = warp_race(w);
  if (!r) return;
  uint32_t committed = w->bulk_group[lane], *known = &r->vc[comp_of(w, C_BULK)];
  uint32_t clock = latest(&r->bulks, committed > keep ? committed - keep : 0, lane);
  if (*known < clock) *known = clock;
}

void agent_wgmma_issue(Warp *w, AsyncOp *op) {
  WarpRace *r = warp_race(w);
  if (!r) return;
  op->comp = comp_of(op->warp, C_WGMMA);  // the leader's stands for the warpgroup
  op->clock = (uint32_t)async_of_warp(w)->wgmma_issued + 1;
  r->wgmma_clock = op->clock;
  r->wgmma_pc = pc_of(w, op->in);
  mark(&r->wgmmas, async_of_warp(w)->wgmma_committed, op->clock, -1);
}

ExecResult agent_wgmma_reads(Warp *w, AsyncOp *op, uint32_t offset, uint32_t bytes) {
  if (!warp_race(w)) return EXEC_NEXT;
  Who who = {.warp = w, .in = op->in, .lane = -1, .is_async = true, .at = {w->cta, offset}};
  who.epoch = (Epoch){op->clock, pc_of(w, op->in), (uint16_t)op->comp, ANY_LANE, 0};
  return race_touch(&who, bytes, NULL);
}

void agent_wgmma_waited(Warp *w, uint32_t below_group) {
  WarpRace *r = warp_race(w);
  if (!r) return;
  uint32_t *known = &r->vc[comp_of(&w->cta->warps[w->id & ~3u], C_WGMMA)], clock = latest(&r->wgmmas, below_group, -1);
  if (*known < clock) *known = clock;
}

// ---- the end

static void left_over(Warp *w, uint32_t pc, WaitKind kind, const char *text) {
  const Instr *in = &w->grid->module->code[pc];
  lead_left_over(w, in, kind);
  sim_report(w->grid, w, in, -1, REPORT_ASYNC, "%s", text);
}

// Reports operations on the CTA's shared memory that no thread has waited for before the CTA exits.
void agent_cta_end(Cta *c) {
  CtaRace *r = cta_race(c);
  Grid *g = c->grid;
  if (!r || g->failed) return;
  for (uint32_t i = 0; i < c->num_warps; i++) {
    Warp *w = &c->warps[i];
    WarpRace *wr = &r->warps[i];
    if (wr->vc[comp_of(w, C_BULK)] < wr->bulk_clock)
      left_over(
          w, wr->bulk_pc, WAIT_TMA_STORE,
          "the CTA exits while this bulk copy may still be reading its shared memory: no cp.async.bulk.wait_group "
          "covers it");
    uint32_t copied = 0;   // any warp's wait, by group or on an mbarrier
    for (uint32_t k = 0; k < c->num_warps; k++)
      copied = r->warps[k].vc[comp_of(w, C_COPY)] > copied ? r->warps[k].vc[comp_of(w, C_COPY)] : copied;
    if (copied < wr->copy_clock)
      left_over(
          w, wr->copy_pc, WAIT_COPY,
          "the CTA exits while this cp.async may still be writing its shared memory: no thread has waited for it");
    if (wr->vc[comp_of(&c->warps[i & ~3u], C_WGMMA)] < wr->wgmma_clock)
      left_over(w, wr->wgmma_pc, WAIT_MMA,
                "the CTA exits while this wgmma may still be in flight: no wgmma.wait_group covers it");
  }
  for (uint32_t k = 0; k < r->num_mbars; k++) {
    MbarRace *m = &r->mbars[k];
    uint32_t known = 0, comp = mbar_comp(c->cluster, (SharedPlace){c, m->offset}, m);
    for (uint32_t i = 0; i < c->num_warps; i++) known = r->warps[i].vc[comp] > known ? r->warps[i].vc[comp] : known;
    if (known < m->issued) {
      lead_left_over(&c->warps[0], &g->module->code[m->issued_pc], WAIT_TMA_LOAD);
      sim_report(
          g, &c->warps[0], &g->module->code[m->issued_pc], -1, REPORT_ASYNC,
          "CTA %llu exits while this copy into its shared memory may be in flight: no thread has waited for phase %u "
          "of the mbarrier at shared+0x%x",
          (unsigned long long)c->linear, m->issued - 1, m->offset + SHARED_BASE);
    }
  }
}

// ---- reports

int64_t agent_unexpected_bytes(Cta *c) {
  const CtaRace *r = cta_race(c);
  for (uint32_t k = 0; r && k < r->num_mbars; k++) {
    const SharedPlace bar = {c, r->mbars[k].offset};
    int64_t left = r->mbars[k].live ? mbarrier_unpack(shared_word(bar)).tx : 0;
    for (const AsyncOp *op = r->mbars[k].live ? async_of_cluster(c->cluster)->first : NULL; op; op = op->next)
      if (op->kind == ASYNC_BULK && op->bulk.to_shared && op->bulk.bar->cta == c && op->bulk.bar->offset == bar.offset)
        left -= op->bulk.bytes;
    if (left < 0) return -left;
  }
  return 0;
}

uint32_t agent_phases(const Cta *c, uint32_t offset) {
  const CtaRace *r = cta_race(c);
  for (uint32_t k = 0; r && k < r->num_mbars; k++)
    if (r->mbars[k].live && r->mbars[k].offset == offset) return r->mbars[k].phase;
  return 0;
}

const char *agent_describe(Cluster *c, Arena *a) {
  const char *text = "";
  for (uint32_t i = 0; i < c->num_ctas; i++) {
    CtaRace *r = cta_race(c->ctas[i]);
    for (uint32_t k = 0; r && k < r->num_mbars; k++) {
      if (!r->mbars[k].live) continue;
      uint64_t word;
      memcpy(&word, c->ctas[i]->shared + r->mbars[k].offset, 8);
      MbarrierState s = mbarrier_unpack(word);
      text = arena_printf(
          a, "%s  mbarrier shared+0x%x of CTA %u: phase %u, %u of %u arrivals pending, %d bytes outstanding\n", text,
          r->mbars[k].offset + SHARED_BASE, i, r->mbars[k].phase, s.pending, s.expected, s.tx);
    }
  }
  return text;
}
