// The queue of asynchronous operations, and what performing each kind does (wgmma: wgmma.c).
#include "runtime/sim/async.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/shadow.h"

_Static_assert((int)ASYNC_KINDS == (int)TRACE_NUM_ENGINES, "trace.c has a track for each kind of operation");

AsyncPolicy async_policy(const Grid *g) { return (AsyncPolicy)(g->seed % POLICY_COUNT); }

ClusterAsync *async_of_cluster(Cluster *c) {
  if (!c->async) c->async = calloc(1, sizeof(ClusterAsync));
  return c->async;
}

AsyncOp *async_new(Warp *w, const Instr *in, int lane, AsyncKind kind) {
  ClusterAsync *q = async_of_cluster(w->cta->cluster);
  AsyncOp *op = q->free;
  if (op) {
    q->free = op->next;
  } else {
    op = calloc(1, sizeof *op);
    op->older = q->all;
    q->all = op;
  }
  uint8_t *buffer = op->kind == ASYNC_BULK ? op->bulk.buffer : NULL;
  uint32_t buffer_cap = op->kind == ASYNC_BULK ? op->bulk.buffer_cap : 0;
  *op = (AsyncOp){.older = op->older,
                  .kind = kind,
                  .cluster = w->cta->cluster,
                  .warp = w,
                  .in = in,
                  .lane = lane,
                  .seq = ++q->next_seq};
  if (kind == ASYNC_BULK) op->bulk.buffer = buffer, op->bulk.buffer_cap = buffer_cap;
  else free(buffer);
  return op;
}

static const char *op_name(const AsyncOp *op) {
  switch (op->kind) {
  case ASYNC_COPY: return "cp.async";
  case ASYNC_ARRIVE: return "cp.async.mbarrier.arrive";
  case ASYNC_STORE: return "st.async";
  case ASYNC_WGMMA: return "wgmma";
  default:
    return op->bulk.to_shared ? "bulk copy to shared memory" : op->bulk.is_reduce ? "bulk reduction" : "bulk store";
  }
}

static void append(AsyncOp *op) {
  ClusterAsync *q = async_of_cluster(op->cluster);
  op->prev = q->last;
  op->next = NULL;
  if (q->last) q->last->next = op;
  else q->first = op;
  q->last = op;
  q->count++;
  op->issued_at = op->cluster->grid->steps;
}

static void retire(AsyncOp *op) {
  ClusterAsync *q = async_of_cluster(op->cluster);
  if (op->prev) op->prev->next = op->next;
  else q->first = op->next;
  if (op->next) op->next->prev = op->prev;
  else q->last = op->prev;
  q->count--;
  trace_span(op->warp->cta, TRACE_ENGINES + op->kind, op_name(op), op->in, op->issued_at,
             op->cluster->grid->steps);
  op->next = q->free;
  q->free = op;
  op->cluster->grid->progress++;
}

// ---- mbarriers

ExecResult async_mbarrier_fail(Warp *w, const Instr *in, int lane, SharedPlace bar, MbarrierError e) {
  Grid *g = w->grid;
  if (e == MBAR_NOT_INIT) {
    if (g->invalidated && g->invalidated_cta == bar.cta && g->invalidated_at == bar.offset) g->ended = g->invalidated;
    g->way_out = g->ended ? "invalidate an mbarrier after the last wait for it"
                          : "mbarrier.init(bar, count=1) comes before the other uses";
  }
  return warp_report(w, in, lane, REPORT_MBARRIER, "mbarrier at shared+0x%x of CTA %u: %s", bar.offset + SHARED_BASE,
                     bar.cta->rank, mbarrier_error_text(e));
}

void async_mbarrier_store(SharedPlace bar, uint64_t word) {
  set_shared_word(bar, word);
  bar.cta->grid->progress++;
}

ExecResult async_mbarrier_arrive(Warp *w, const Instr *in, int lane, SharedPlace bar, uint32_t count, int64_t tx,
                                bool drop, bool no_complete) {
  uint64_t word = shared_word(bar);
  bool flipped;
  MbarrierError e = mbarrier_arrive(&word, count, tx, drop, no_complete, &flipped);
  if (e) return async_mbarrier_fail(w, in, lane, bar, e);
  async_mbarrier_store(bar, word);
  return agent_mbarrier_arrive(w, in, lane, bar, flipped);
}

// Counts bytes that have arrived for an mbarrier.
static ExecResult complete_tx(AsyncOp *op, SharedPlace bar, uint32_t bytes) {
  uint64_t word;
  bool flipped;
  memcpy(&word, shared_host(bar), 8);
  MbarrierError e = mbarrier_complete_tx(&word, bytes, &flipped);
  if (e)
    return async_report(op, REPORT_MBARRIER, "completing %u bytes on the mbarrier at shared+0x%x of CTA %u: %s", bytes,
                        bar.offset + SHARED_BASE, bar.cta->rank, mbarrier_error_text(e));
  memcpy(shared_host(bar), &word, 8);
  op->cluster->grid->progress++;
  return agent_bytes_complete(op, bar, flipped);
}

// ---- cp.async

static bool copies_pending(const AsyncOp *arrive, uint32_t mask) {
  for (const AsyncOp *o = async_of_cluster(arrive->cluster)->first; o; o = o->next)
    if (o->kind == ASYNC_COPY && o->warp == arrive->warp && o->seq < arrive->seq && (o->copy.mask & mask)) return true;
  return false;
}

ExecResult async_perform_copy(AsyncOp *op, uint32_t mask) {
  AsyncCopy *c = &op->copy;
  mask &= c->mask;
  FOR_LANES(l, mask) {
    uint8_t *dst = shared_host(c->dst[l]);
    if (c->src_bytes[l]) memcpy(dst, c->src[l], c->src_bytes[l]);   // a copy that reads no byte may have no source
    memset(dst + c->src_bytes[l], 0, (size_t)(c->bytes - c->src_bytes[l]));
  }
  undef_copy_landed(op, mask);
  c->mask &= ~mask;
  if (!c->mask) retire(op);
  return EXEC_NEXT;
}

static ExecResult perform_arrive(AsyncOp *op) {
  AsyncArrive *a = &op->arrive;
  FOR_LANES(l, a->mask) {
    agent_arrive_acquire(op);  // the arrival comes after the lane's copies
    TRY(async_mbarrier_arrive(op->warp, op->in, l, a->bar[l], 1, 0, false, false));
  }
  retire(op);
  return EXEC_NEXT;
}

// ---- bulk copies

static bool load_run(void *user, const TensorMapRun *run) {
  AsyncOp *op = user;
  AsyncBulk *b = &op->bulk;
  for (uint32_t i = 0; i < b->num_dst; i++) {
    // The walk starts at destination 0. The other destinations have the same layout at other addresses.
    uint8_t *dst = b->dst[i].cta->shared + (run->shared - SHARED_BASE);
    if (run->in_bounds) tensormap_load(&b->map, dst, (const uint8_t *)(uintptr_t)run->global, run->bytes);
    else tensormap_fill(&b->map, dst, run->bytes);
    undef_bulk_landed(op, (SharedPlace){b->dst[i].cta, run->shared - SHARED_BASE},
                      run->in_bounds ? run->global : 0, run->bytes);
  }
  return true;
}

static bool store_run(void *user, const TensorMapRun *run) {
  AsyncOp *op = user;
  AsyncBulk *b = &op->bulk;
  if (run->in_bounds) {
    uint8_t *dst = (uint8_t *)(uintptr_t)run->global;
    const uint8_t *src = b->buffer + (run->shared - SHARED_BASE - b->src.offset);
    if (b->is_reduce) tensormap_reduce(b->dtype, b->reduce, dst, src, run->bytes);
    else memcpy(dst, src, run->bytes);
    undef_bulk_stored(op, run->global, (SharedPlace){b->src.cta, run->shared - SHARED_BASE}, run->bytes);
  }
  return true;
}

ExecResult async_read_bulk(AsyncOp *op) {
  AsyncBulk *b = &op->bulk;
  if (b->read_done || b->src.cta == NULL) return EXEC_NEXT;
  // Swizzling permutes 16-byte chunks within 1 KB of an address, and never moves one out of an aligned box.
  if (!b->buffer || b->buffer_cap < b->extent) {
    b->buffer = realloc(b->buffer, b->extent + 1u);
    b->buffer_cap = b->extent;
  }
  memcpy(b->buffer, shared_host(b->src), b->extent);
  b->read_done = true;
  return EXEC_NEXT;
}

static ExecResult perform_bulk(AsyncOp *op) {
  AsyncBulk *b = &op->bulk;
  if (b->to_shared && b->is_tensor) {
    tensormap_walk(&b->map, b->coords, b->dst[0].offset + SHARED_BASE, false, load_run, op);
  } else if (b->to_shared) {
    async_read_bulk(op);
    const uint8_t *src = b->src.cta ? b->buffer : b->global;
    for (uint32_t i = 0; i < b->num_dst; i++) {
      if (b->is_reduce) tensormap_reduce(b->dtype, b->reduce, shared_host(b->dst[i]), src, b->bytes);
      else memcpy(shared_host(b->dst[i]), src, b->bytes);
      undef_bulk_landed(op, b->dst[i], b->src.cta ? 0 : (uint64_t)(uintptr_t)b->global, b->bytes);
    }
  } else {
    async_read_bulk(op);
    if (b->is_tensor) {
      tensormap_walk(&b->map, b->coords, b->src.offset + SHARED_BASE, !b->is_reduce, store_run, op);
    } else {
      if (b->is_reduce) tensormap_reduce(b->dtype, b->reduce, b->global, b->buffer, b->bytes);
      else memcpy(b->global, b->buffer, b->bytes);
      undef_bulk_stored(op, (uint64_t)(uintptr_t)b->global, b->src, b->bytes);
    }
  }
  ExecResult r = EXEC_NEXT;
  for (uint32_t i = 0; i < b->num_dst && r == EXEC_NEXT; i++) r = complete_tx(op, b->bar[i], b->bytes);
  retire(op);
  return r;
}

static ExecResult perform_store(AsyncOp *op) {
  AsyncStore *s = &op->store;
  if (s->is_reduce) tensormap_reduce(s->dtype, s->reduce, shared_host(s->dst), s->value, s->bytes);
  else memcpy(shared_host(s->dst), s->value, s->bytes);
  undef_bulk_landed(op, s->dst, 0, s->bytes);
  ExecResult r = complete_tx(op, s->bar, s->bytes);
  retire(op);
  return r;
}

// ---- when

bool async_can_perform(const AsyncOp *op) {
  if (op->kind == ASYNC_ARRIVE) return !copies_pending(op, op->arrive.mask);
  if (op->kind != ASYNC_WGMMA) return true;
  if (op->wgmma.issued != 15) return false;
  for (const AsyncOp *o = op->prev; o; o = o->prev)  // one warpgroup's products are computed in order
    if (o->kind == ASYNC_WGMMA && o->warp == op->warp) return false;
  return true;
}

ExecResult async_finish(AsyncOp *op) {
  switch (op->kind) {
  case ASYNC_COPY: return async_perform_copy(op, op->copy.mask);
  case ASYNC_ARRIVE: return perform_arrive(op);
  case ASYNC_BULK: return perform_bulk(op);
  case ASYNC_STORE: return perform_store(op);
  case ASYNC_WGMMA: {
    ExecResult r = wgmma_perform(op);
    retire(op);
    return r;
  }
  default: return EXEC_NEXT;
  }
}

// A destination in shared memory holds garbage until the operation completes.
static void poison(const AsyncOp *op) {
  enum { POISON = 0xcb };
  if (op->kind == ASYNC_COPY) FOR_LANES(l, op->copy.mask) memset(shared_host(op->copy.dst[l]), POISON, op->copy.bytes);
  if (op->kind != ASYNC_BULK || !op->bulk.to_shared || op->bulk.is_reduce) return;
  if (op->bulk.extent != op->bulk.bytes) return;  // the padding stays as it is
  for (uint32_t i = 0; i < op->bulk.num_dst; i++) memset(shared_host(op->bulk.dst[i]), POISON, op->bulk.bytes);
}

ExecResult async_issue(AsyncOp *op) {
  append(op);
  Grid *g = op->cluster->grid;
  g->progress++;
  AsyncPolicy policy = async_policy(g);
  bool now = policy == POLICY_EARLY || (policy == POLICY_RANDOM && rng_next(&g->rng) % 4 == 0);
  if (now && async_can_perform(op)) return async_finish(op);
  poison(op);
  return EXEC_NEXT;
}

bool async_advance(Cluster *c, bool force) {
  ClusterAsync *q = c->async;
  Grid *g = c->grid;
  if (!q || !q->count) return false;
  AsyncPolicy policy = async_policy(g);
  bool now = force || policy == POLICY_EARLY || (policy == POLICY_RANDOM && rng_next(&g->rng) % 8 == 0);
  if (!now) return false;
  // One that can be performed: the oldest when late, else any.
  uint32_t skip = policy == POLICY_RANDOM ? rng_next(&g->rng) % q->count : 0;
  AsyncOp *pick = NULL;
  for (AsyncOp *o = q->first; o; o = o->next) {
    if (!async_can_perform(o)) continue;
    pick = o;
    if (skip-- == 0) break;
  }
  if (!pick) return false;
  async_finish(pick);
  return true;
}

// ---- the end

static bool touches_cta(const AsyncOp *op, const Cta *c) {
  if (op->warp->cta == c) return true;
  if (op->kind == ASYNC_STORE) return op->store.dst.cta == c;
  if (op->kind == ASYNC_BULK)
    for (uint32_t i = 0; i < op->bulk.num_dst; i++)
      if (op->bulk.dst[i].cta == c || op->bulk.bar[i].cta == c) return true;
  return false;
}

// Reports operations that may still access the shared memory of a CTA that has exited, even if this schedule
// completed them in time.
void async_cta_end(Cta *c) {
  ClusterAsync *q = c->cluster->async;
  for (AsyncOp *o = q ? q->first : NULL, *next; o; o = next) {
    next = o->next;
    if (!touches_cta(o, c) || o->kind == ASYNC_WGMMA) continue;
    bool reads_only = o->kind == ASYNC_BULK && !o->bulk.to_shared;
    if ((c->grid->checks & CHECK_ASYNC) && !c->grid->failed && !(reads_only && o->bulk.read_done))
      async_report(o, REPORT_ASYNC, "the CTA %llu exits while this %s (ptx:%u) may still access its shared memory",
                   (unsigned long long)c->linear, op_name(o), o->in->line);
    if (!c->grid->failed && async_can_perform(o)) async_finish(o);
    else retire(o);
    next = q->first;  // performing one can perform others
  }
  async_free_warps(c);
}

void async_free_warps(Cta *c) {
  for (uint32_t i = 0; c->warps && i < c->num_warps; i++) {
    WarpAsync *wa = c->warps[i].async;
    if (!wa) continue;
    free(wa->flight), free(wa->alias), free(wa->acc_count), free(wa->src_count), free(wa->written), free(wa);
    c->warps[i].async = NULL;
  }
}

void async_reserve_slots(Warp *w, uint32_t slots) {
  WarpAsync *wa = async_of_warp(w);
  if (slots <= wa->num_slots) return;
  uint32_t n = slots + 64, more = n - wa->num_slots;
  wa->acc_count = realloc(wa->acc_count, n * sizeof *wa->acc_count);
  wa->src_count = realloc(wa->src_count, n * sizeof *wa->src_count);
  wa->written = realloc(wa->written, n * sizeof *wa->written);
  memset(wa->acc_count + wa->num_slots, 0, more * sizeof *wa->acc_count);
  memset(wa->src_count + wa->num_slots, 0, more * sizeof *wa->src_count);
  memset(wa->written + wa->num_slots, 0, more * sizeof *wa->written);
  wa->num_slots = n;
}

void async_cluster_end(Cluster *c) {
  ClusterAsync *q = c->async;
  if (!q) return;
  for (AsyncOp *op = q->all, *older; op; op = older) {
    older = op->older;
    if (op->kind == ASYNC_BULK) free(op->bulk.buffer);
    free(op);
  }
  free(q);
  c->async = NULL;
}

const char *async_describe(Cluster *c, Arena *a) {
  const char *text = "";
  ClusterAsync *q = c->async;
  for (AsyncOp *o = q ? q->first : NULL; o; o = o->next)
    text = arena_printf(a, "%s  pending %s of CTA %llu warp %u, ptx:%u\n", text, op_name(o),
                        (unsigned long long)o->warp->cta->linear, o->warp->id, o->in->line);
  return text;
}
