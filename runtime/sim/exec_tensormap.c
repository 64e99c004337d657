// Edits of a tensor map by the kernel itself, and fences: tensormap.replace, tensormap.cp_fenceproxy, fence, membar.
#include "runtime/sim/async.h"
#include "runtime/sim/shadow.h"

#include <string.h>

typedef enum {
  FIELD_ADDRESS, FIELD_RANK, FIELD_BOX, FIELD_DIM, FIELD_STRIDE, FIELD_ELEMENT_STRIDE, FIELD_TYPE, FIELD_INTERLEAVE,
  FIELD_SWIZZLE, FIELD_FILL, FIELD_COUNT
} MapField;
// bits of the new value; limit: values of an enumeration, 0 for none; indexed: one per dimension.
static const struct { PtxMod mod; uint8_t bits, limit; bool indexed;
} fields[FIELD_COUNT] = {
    [FIELD_ADDRESS] = {M_global_address, 64, 0, false},
    [FIELD_RANK] = {M_rank, 32, 0, false},
    [FIELD_BOX] = {M_box_dim, 32, 0, true},
    [FIELD_DIM] = {M_global_dim, 32, 0, true},
    [FIELD_STRIDE] = {M_global_stride, 64, 0, true},
    [FIELD_ELEMENT_STRIDE] = {M_element_stride, 32, 0, true},
    [FIELD_TYPE] = {M_elemtype, 32, TMAP_DTYPE_COUNT, false},
    [FIELD_INTERLEAVE] = {M_interleave_layout, 32, 3, false},
    [FIELD_SWIZZLE] = {M_swizzle_mode, 32, 4, false},
    [FIELD_FILL] = {M_fill_mode, 32, 2, false},
};
// The instruction counts types in another order than the driver.
static const TensorMapDtype element_types[] = {TMAP_UINT8,       TMAP_UINT16,  TMAP_UINT32,   TMAP_INT32,
                                               TMAP_UINT64,      TMAP_INT64,   TMAP_FLOAT16,  TMAP_FLOAT32,
                                               TMAP_FLOAT32_FTZ, TMAP_FLOAT64, TMAP_BFLOAT16, TMAP_TFLOAT32,
                                               TMAP_TFLOAT32_FTZ};

_Static_assert(countof(element_types) == TMAP_DTYPE_COUNT,
               "a data type of tensor maps without its number in the instruction");

static void set_field(TensorMap *m, MapField f, uint32_t i, uint64_t value) {
  uint32_t v = (uint32_t)value;
  switch (f) {
  case FIELD_ADDRESS: m->address = value; break;
  case FIELD_RANK: m->rank = v < TENSORMAP_MAX_RANK ? v + 1 : TENSORMAP_MAX_RANK + 1; break;
  case FIELD_BOX: m->box[i] = v; break;
  case FIELD_DIM: m->dim[i] = v; break;
  case FIELD_STRIDE: m->stride[i + 1] = value; break;
  case FIELD_ELEMENT_STRIDE: m->element_stride[i] = v; break;
  case FIELD_TYPE: m->dtype = element_types[v]; break;
  case FIELD_INTERLEAVE: m->interleave = (TensorMapInterleave)v; break;
  case FIELD_SWIZZLE: m->swizzle = (TensorMapSwizzle)v; break;
  case FIELD_FILL: m->fill = (TensorMapFill)v; break;
  case FIELD_COUNT: break;
  }
}

// A copy reads its map when it begins, possibly long after its issue. A store that wait_group.read covers has read
// it.
static ExecResult check_in_use(Warp *w, const Instr *in, int lane, uint64_t address) {
  if (!(w->grid->checks & CHECK_ASYNC)) return EXEC_NEXT;
  for (const AsyncOp *o = async_of_cluster(w->cta->cluster)->first; o; o = o->next)
    if (o->kind == ASYNC_BULK && o->bulk.is_tensor && !o->bulk.read_done && o->bulk.map_address == address)
      return warp_report(
          w, in, lane, REPORT_ASYNC,
          "the tensor map is changed while the tensor copy of ptx:%u, which uses it, is still in flight", o->in->line);
  return EXEC_NEXT;
}

static ExecResult exec_replace(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  TRY(mem_resolve(w, in, &in->ops[0], in->space, TENSORMAP_BYTES, 64, ACCESS_WRITE, mask, &a));
  FOR_LANES(l, mask) {
    if (a.space[l] == SPACE_GLOBAL) {
      TRY(check_in_use(w, in, l, a.addr[l]));
    }
    TensorMap m;
    if (tensormap_is_blank(a.host[l])) m = (TensorMap){.rank = 1};
    else if (!tensormap_unpack(a.host[l], &m))
      return warp_report(w, in, l, REPORT_ASYNC, "there is neither a tensor map nor zeros here to edit");
    set_field(&m, (MapField)in->sel, in->num_ops == 3 ? (uint32_t)in->ops[1].lanes[0] : 0,
              src_at(w, in, in->num_ops - 1)[l]);
    tensormap_pack(&m, a.host[l]);
  }
  return EXEC_NEXT;
}

// The warp copies the map as one. The addresses of its first lane count.
static ExecResult exec_copy_map(Warp *w, const Instr *in, uint32_t mask) {
  if (mask != live_lanes(w)) return EXEC_STALL;
  if (w->grid->hooks.warp_sync) w->grid->hooks.warp_sync(w, mask);
  uint32_t lane = (uint32_t)__builtin_ctz(mask);
  MemAccess dst, src;
  ExecResult r = mem_resolve(w, in, &in->ops[1], SPACE_SHARED, TENSORMAP_BYTES, 128, ACCESS_READ, 1u << lane, &src);
  if (r == EXEC_NEXT)
    r = mem_resolve(w, in, &in->ops[0], SPACE_GLOBAL, TENSORMAP_BYTES, 128, ACCESS_WRITE, 1u << lane, &dst);
  if (r == EXEC_NEXT) r = check_in_use(w, in, lane, dst.addr[lane]);
  if (r != EXEC_NEXT) return r;
  FOR_LANES(l, mask)
    if (mem_operand_address(w, &in->ops[0], l) != dst.addr[lane])
      return warp_report(w, in, l, REPORT_INVALID,
                         "the addresses of tensormap.cp_fenceproxy differ between the threads of a warp");
  TensorMap m;
  if (!tensormap_is_blank(src.host[lane]) && !tensormap_unpack(src.host[lane], &m))
    return warp_report(w, in, lane, REPORT_ASYNC, "there is no tensor map here to copy");
  memcpy(dst.host[lane], src.host[lane], TENSORMAP_BYTES);
  w->grid->progress++;
  return proxy_map_released(w, in, lane, dst.alloc[lane], dst.addr[lane]);
}

static bool want_128(PtxParser *p, Instr *in, uint32_t i) {
  return decode_operand(p, in, i, 'i') &&
         (in->ops[i].lanes[0] == TENSORMAP_BYTES || decode_error(p, "the size of a tensor map is 128"));
}

static bool decode_copy_map(PtxParser *p, Instr *in) {
  bool scoped = has_any(in, M_cta, M_cluster, M_gpu, M_sys);
  if (!has_mod(in, M_global) || !has_mod(in, M_shared_cta) || !has_mod(in, M_tensormap_generic) ||
      !has_mod(in, M_release) || !has_mod(in, M_sync) || !has_mod(in, M_aligned) || !scoped)
    return decode_error(p, "unknown instruction: this form of tensormap.cp_fenceproxy");
  return decode_as(p, in, exec_copy_map, "mm.") && want_128(p, in, 2);
}

bool decode_tensormap(PtxParser *p, Instr *in) {
  if (has_mod(in, M_cp_fenceproxy)) return decode_copy_map(p, in);
  MapField f = FIELD_COUNT;
  for (int i = 0; i < FIELD_COUNT; i++)
    if (has_mod(in, fields[i].mod)) f = (MapField)i;
  bool space = in->space == SPACE_GENERIC || in->space == SPACE_GLOBAL || has_mod(in, M_shared_cta);
  if (!has_mod(in, M_replace) || !has_mod(in, M_tile) || !has_mod(in, M_b1024) || f == FIELD_COUNT || !space ||
      in->num_types != 1 || in->type[0] != (fields[f].bits == 64 ? T_B64 : T_B32))
    return decode_error(p, "unknown instruction: this form of tensormap");
  if (!decode_operands(p, in, fields[f].indexed ? "mis" : "ms")) return false;
  if (fields[f].indexed && in->ops[1].lanes[0] >= (f == FIELD_STRIDE ? TENSORMAP_MAX_RANK - 1 : TENSORMAP_MAX_RANK))
    return decode_error(p, "a tensor map has no dimension %llu here", (unsigned long long)in->ops[1].lanes[0]);
  if (fields[f].limit) {
    if (!decode_operand(p, in, 1, 'i')) return false;
    if (in->ops[1].lanes[0] >= fields[f].limit)
      return decode_error(p, "%llu is no value of this field of a tensor map on sm_90",
                          (unsigned long long)in->ops[1].lanes[0]);
  }
  in->sel = (uint16_t)f;
  in->exec = exec_replace;
  return true;
}

// ---- fences

static ExecResult exec_fence(Warp *w, const Instr *in, uint32_t mask) {
  if (in->num_ops) {
    FOR_LANES(l, mask) {
      MemAccess a;
      TRY(mem_resolve_one(w, in, l, SPACE_GENERIC, mem_operand_address(w, &in->ops[0], l), TENSORMAP_BYTES, 64,
                          ACCESS_READ, &a));
      if (a.space[l] != SPACE_GLOBAL)
        return warp_report(w, in, l, REPORT_ASYNC, "the tensor map of this fence must lie in global memory");
    }
  }
  return w->grid->hooks.fence ? w->grid->hooks.fence(w, in, mask) : EXEC_NEXT;
}

bool decode_fence(PtxParser *p, Instr *in) {
  in->exec = exec_fence;
  bool scoped = has_any(in, M_cta, M_cluster, M_gpu, M_sys, M_gl);
  if (!has_mod(in, M_proxy)) {
    bool order = in->op == OP_membar || has_any(in, M_sc, M_acq_rel, M_acquire, M_release);
    return scoped && order && decode_operands(p, in, "");
  }
  if (!has_mod(in, M_tensormap_generic)) return (has_any(in, M_async, M_alias)) && decode_operands(p, in, "");
  if (in->op == OP_membar || !scoped) return false;
  if (has_mod(in, M_release)) return decode_operands(p, in, "");
  return has_mod(in, M_acquire) && decode_operands(p, in, "m.") && want_128(p, in, 1);
}
