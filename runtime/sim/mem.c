// Addresses of kernels: what they point at, and whether the access is allowed.
#include "runtime/sim/counts.h"
#include "runtime/sim/lead.h"

uint64_t mem_symbol_address(const Warp *w, const Symbol *s, int lane) {
  switch (s->space) {
  case SPACE_SHARED:
    return (uint64_t)w->cta->rank << SHARED_RANK_SHIFT | (SHARED_BASE + w->grid->func->shared_offset[s->slot]);
  case SPACE_LOCAL: case SPACE_FRAME: return w->lane_local[lane] + s->addr;
  case SPACE_PARAM: return w->grid->param_addr + s->addr;
  default: return s->addr;
  }
}

uint64_t mem_operand_address(Warp *w, const PtxOperand *op, int lane) {
  switch (op->base_kind) {
  case OPND_REG: {
    uint64_t a = (w->r + (size_t)op->slot * WARP_SIZE)[lane] + (uint64_t)op->offset;
    return op->bits == 32 ? (uint32_t)a : a;
  }
  case OPND_SYM: return mem_symbol_address(w, op->sym, lane) + (uint64_t)op->offset;
  default: return op->lanes[lane];
  }
}

static const char *const space_names[] = {"generic", "global", "shared", "shared::cluster",
                                          "local",   "const",  "param",  "param"};
static const char *const access_names[] = {"read", "write", "atomic"};

// Tells where the address is by the argument that it was computed from, or else by the nearest allocation.
static ExecResult bad_global(Warp *w, const Instr *in, int lane, Space space, uint64_t addr, uint32_t size,
                             AccessKind kind, const MemAccess *access) {
  AddressOrigin from = origin_of(w, in, lane, addr);
  // A tensor map's address is of a parameter; one that a kernel loads may be of anything.
  if (!from.name && has_mod(in, M_tensor)) from = origin_in(w, in, device_nearest(w->grid->device, addr));
  const Alloc *a = from.name ? from.alloc : device_nearest(w->grid->device, addr);
  unsigned long long begin = !a ? 0 : from.name ? from.pointer : a->base, end = a ? a->base + a->size : 0;
  char where[480] = "nothing is allocated there", of[256];
  Outside o = {.buffer = from.name, .begin = begin, .size = end - begin, .address = addr, .elem_bytes = from.elem_bytes};
  if (a) lead_outside(w, in, lane, access, a, &o, kind, from.elem_bytes);
  const char *far = w->grid->has_lead ? "" : outside_far(&o);
  if (from.name) snprintf(of, sizeof of, "%.180s (%llu bytes at %#llx)", from.name, end - begin, begin);
  else snprintf(of, sizeof of, "the %llu-byte allocation at %#llx", end - begin, begin);
  if (from.name && !a)
    snprintf(where, sizeof where, "%.180s is %s", from.name,
             from.pointer ? "an address where nothing is allocated: of the host, or freed" : "a null pointer");
  else if (a && addr >= a->base)
    snprintf(where, sizeof where, "%llu bytes past the end of %s%s%s", addr + size - end, of, *far ? "; " : "", far);
  else if (a)
    snprintf(where, sizeof where, "%llu bytes before %s%s%s", begin - addr, of, *far ? "; " : "", far);
  return warp_report(w, in, lane, REPORT_OUT_OF_BOUNDS, "%s of %u bytes at %#llx in %s memory: %s", access_names[kind],
                     size, (unsigned long long)addr, space_names[space], where);
}

// addr is an address of the shared window; written is what the program wrote.
static ExecResult resolve_shared(Warp *w, const Instr *in, int lane, Space space, uint64_t addr, uint64_t written,
                                 uint32_t size, AccessKind kind, MemAccess *out) {
  uint32_t rank = (uint32_t)(addr >> SHARED_RANK_SHIFT), offset = (uint32_t)addr & ((1u << SHARED_RANK_SHIFT) - 1);
  const Cluster *cl = w->cta->cluster;
  if (addr >> 32 || rank >= cl->num_ctas)
    return warp_report(w, in, lane, REPORT_OUT_OF_BOUNDS,
                       "%s of %u bytes at %#llx in shared memory: no such block in the cluster", access_names[kind],
                       size, (unsigned long long)written);
  if (space == SPACE_SHARED && rank != w->cta->rank)
    return warp_report(w, in, lane, REPORT_OUT_OF_BOUNDS,
                       "%s at %#llx: the address belongs to block %u of the cluster, the access is .shared::cta",
                       access_names[kind], (unsigned long long)written, rank);
  Cta *c = cl->ctas[rank];
  if (offset < SHARED_BASE || offset - SHARED_BASE + size > c->shared_size)
    return warp_report(w, in, lane, REPORT_OUT_OF_BOUNDS,
                       "%s of %u bytes at %#llx in shared memory: the block has %u bytes from %#x on",
                       access_names[kind], size, (unsigned long long)written, c->shared_size, SHARED_BASE);
  if (c->warps_done == c->num_warps && c != w->cta)
    return warp_report(w, in, lane, REPORT_OUT_OF_BOUNDS,
                       "%s of shared memory of block %u of the cluster, which has exited", access_names[kind], rank);
  out->space[lane] = SPACE_SHARED;
  out->cta[lane] = c;
  out->addr[lane] = offset - SHARED_BASE;
  out->host[lane] = c->shared + (offset - SHARED_BASE);
  return EXEC_NEXT;
}

static ExecResult resolve_lane(Warp *w, const Instr *in, int lane, Space space, uint64_t addr, uint32_t size,
                               uint32_t align, AccessKind kind, MemAccess *out) {
  Grid *g = w->grid;
  uint64_t written = addr;
  if (addr & (align - 1)) {
    lead_misaligned(w, in, lane, addr, size, align, kind);
    return warp_report(w, in, lane, REPORT_MISALIGNED, "%s of %u bytes at %#llx in %s memory is not aligned to %u",
                       access_names[kind], size, (unsigned long long)addr, space_names[space], align);
  }
  if (space == SPACE_GENERIC) {
    if (addr - SHARED_WINDOW < WINDOW_SIZE) addr -= SHARED_WINDOW, space = SPACE_SHARED_CLUSTER;
    else if (addr - LOCAL_WINDOW < WINDOW_SIZE) addr -= LOCAL_WINDOW, space = SPACE_LOCAL;
    else space = SPACE_GLOBAL;
  }
  switch (space) {
  case SPACE_SHARED: case SPACE_SHARED_CLUSTER:
    return resolve_shared(w, in, lane, space, addr, written, size, kind, out);
  case SPACE_LOCAL: case SPACE_FRAME: {
    uint8_t *h = warp_local(w, in, lane, addr, size);
    if (!h)
      return warp_report(w, in, lane, REPORT_OUT_OF_BOUNDS,
                         "%s of %u bytes at %#llx in local memory: the thread has %u bytes", access_names[kind], size,
                         (unsigned long long)addr, w->lane_local[lane] + in->func->frame_bytes);
    out->space[lane] = SPACE_LOCAL;
    out->addr[lane] = addr;
    out->host[lane] = h;
    return EXEC_NEXT;
  }
  default: {
    Alloc *a = g->last_alloc;
    if (!a || addr < a->base || addr - a->base + size > a->size) {
      a = device_find(g->device, addr);
      for (int i = 0; !a && i < g->sim->num_devices; i++)
        a = device_find(&g->sim->devices[i], addr);   // pinned or peer memory
      if (!a || addr - a->base + size > a->size) return bad_global(w, in, lane, space, addr, size, kind, out);
      g->last_alloc = a;
    }
    if (kind != ACCESS_READ && (a->kind == ALLOC_CONST || a->kind == ALLOC_PARAM))
      return warp_report(w, in, lane, REPORT_OUT_OF_BOUNDS, "%s at %#llx: %s memory cannot be written",
                         access_names[kind], (unsigned long long)addr,
                         a->kind == ALLOC_CONST ? "constant" : "parameter");
    out->space[lane] = SPACE_GLOBAL;
    out->addr[lane] = addr;
    out->alloc[lane] = a;
    out->host[lane] = (uint8_t *)(uintptr_t)addr;
    return EXEC_NEXT;
  }
  }
}

static void begin_access(MemAccess *out, const PtxOperand *op, AccessKind kind, uint32_t mask, uint32_t size) {
  out->op = op;
  out->kind = kind;
  out->mask = mask;
  out->size = size;
}

ExecResult mem_resolve(Warp *w, const Instr *in, const PtxOperand *op, Space space, uint32_t size, uint32_t align,
                       AccessKind kind, uint32_t mask, MemAccess *out) {
  begin_access(out, op, kind, mask, size);
  FOR_LANES(l, mask) {
    TRY(resolve_lane(w, in, l, space, mem_operand_address(w, op, l), size, align, kind, out));
  }
  if (space != SPACE_SHARED) w->accesses[in->access]++;
  if (w->grid->counts) counts_access(w, in, out);
  return w->grid->hooks.access ? w->grid->hooks.access(w, in, out) : EXEC_NEXT;
}

ExecResult mem_resolve_one(Warp *w, const Instr *in, int lane, Space space, uint64_t addr, uint32_t size,
                           uint32_t align, AccessKind kind, MemAccess *out) {
  begin_access(out, NULL, kind, 1u << lane, size);
  return resolve_lane(w, in, lane, space, addr, size, align, kind, out);
}
