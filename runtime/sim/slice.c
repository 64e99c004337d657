#include "runtime/sim/slice.h"

#include <stdlib.h>

typedef struct {
  bool *slots, *preds;         // what the value depends on
  bool shared, changed;        // shared: also on shared memory
} Slice;

static void need(Slice *s, const PtxOperand *o) {
  bool *all = o->kind == OPND_PRED ? s->preds : o->kind == OPND_REG ? s->slots : NULL;
  if (all && !all[o->slot]) all[o->slot] = s->changed = true;
  for (uint32_t i = 0; o->kind == OPND_VEC && i < o->count; i++) need(s, &o->sub[i]);
}

static bool writes(const Slice *s, const PtxOperand *o) {
  for (uint32_t i = 0; o->kind == OPND_VEC && i < o->count; i++)
    if (writes(s, &o->sub[i])) return true;
  if (o->pair && writes(s, o->pair)) return true;
  return o->kind == OPND_REG ? s->slots[o->slot] : o->kind == OPND_PRED && s->preds[o->slot];
}

static bool is_shared(const Instr *in) { return in->space == SPACE_SHARED || in->space == SPACE_SHARED_CLUSTER; }

static void need_sources(Slice *s, const Instr *in, uint32_t from) {
  for (uint32_t i = from; i < in->num_ops; i++) need(s, &in->ops[i]);
  if (in->guard >= 0) need(s, &(PtxOperand){.kind = OPND_PRED, .slot = (uint32_t)in->guard});
}

// Whether the value depends on the instruction.
static bool add(Slice *s, const Instr *in) {
  if ((in->op == OP_st && is_shared(in)) || in->op == OP_stmatrix) {
    if (s->shared) need_sources(s, in, 1);
    return s->shared;
  }
  if (in->op == OP_cp) return s->shared;
  if (!instr_has_dst(in) || !writes(s, &in->ops[0])) return false;
  const bool from_shared = in->op == OP_ldmatrix || in->op == OP_wgmma || (in->op == OP_ld && is_shared(in));
  if (from_shared && !s->shared) s->shared = s->changed = true;
  if (in->op != OP_ld) need_sources(s, in, 1);
  return true;
}

void slice_walk(const PtxModule *m, const Instr *in, bool with_address, void (*visit)(void *user, const Instr *in),
                void *user) {
  const PtxFunction *f = in->func;
  Slice s = {.slots = calloc(f->num_slots + 1, sizeof(bool)), .preds = calloc(f->num_preds + 1, sizeof(bool))};
  for (uint32_t i = 0; i < in->num_ops && s.slots && s.preds; i++) {
    need(&s, &in->ops[i]);
    const PtxOperand base = {.kind = OPND_REG, .slot = in->ops[i].slot};
    if (with_address && in->ops[i].kind == OPND_MEM && in->ops[i].base_kind == OPND_REG) need(&s, &base);
  }
  if (with_address && in->guard >= 0) need(&s, &(PtxOperand){.kind = OPND_PRED, .slot = (uint32_t)in->guard});
  for (s.changed = s.slots && s.preds; s.changed;) {
    s.changed = false;   // backwards, because most definitions stand before their uses
    for (uint32_t i = f->end; i-- > f->first;)
      if (add(&s, &m->code[i])) visit(user, &m->code[i]);
  }
  free(s.slots);
  free(s.preds);
}
