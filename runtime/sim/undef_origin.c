// For reports of undefined values: the load of global memory that such a value comes from. Each load that reads memory
// which nothing has written is remembered; a report follows the operands of its instruction back to one of them.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/lead.h"

struct FreshLoad { uint64_t address, cta; int lane; };

void fresh_note(Warp *w, const Instr *in, int lane, uint64_t address) {
  Grid *g = w->grid;
  if (!g->fresh) g->fresh = calloc(g->module->num_accesses + 1, sizeof *g->fresh);
  FreshLoad *f = g->fresh ? &g->fresh[in->access] : NULL;
  const bool is_first = f && (f->cta != w->cta->linear + 1 || address < f->address);
  if (is_first) *f = (FreshLoad){address, w->cta->linear + 1, lane};
}

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

// Whether the instruction is a load that the value depends on.
static bool visit(Slice *s, const Instr *in) {
  if ((in->op == OP_st && is_shared(in)) || in->op == OP_stmatrix) {
    if (s->shared) need_sources(s, in, 1);
    return false;
  }
  if (in->op == OP_cp) return s->shared;
  if (!instr_has_dst(in) || !writes(s, &in->ops[0])) return false;
  const bool from_shared = in->op == OP_ldmatrix || in->op == OP_wgmma || (in->op == OP_ld && is_shared(in));
  if (from_shared && !s->shared) s->shared = s->changed = true;
  if (in->op == OP_ld && !is_shared(in)) return true;
  if (in->op != OP_ld) need_sources(s, in, 1);
  return false;
}

// The last of the loads in the code that the operands depend on; NULL: there is none.
static const Instr *find_load(Warp *w, const Instr *in) {
  const PtxFunction *f = in->func;
  const Grid *g = w->grid;
  Slice s = {.slots = calloc(f->num_slots + 1, sizeof(bool)), .preds = calloc(f->num_preds + 1, sizeof(bool))};
  const Instr *found = NULL;
  if (s.slots && s.preds) {
    for (uint32_t i = 0; i < in->num_ops; i++) {
      need(&s, &in->ops[i]);
      const PtxOperand base = {.kind = OPND_REG, .slot = in->ops[i].slot};
      if (in->ops[i].kind == OPND_MEM && in->ops[i].base_kind == OPND_REG) need(&s, &base);
    }
    if (in->guard >= 0) need(&s, &(PtxOperand){.kind = OPND_PRED, .slot = (uint32_t)in->guard});
    for (s.changed = true; s.changed;) {
      s.changed = false;
      for (uint32_t i = f->end; i-- > f->first;) {
        const Instr *it = &g->module->code[i];
        if (visit(&s, it) && g->fresh[it->access].cta == w->cta->linear + 1 && (!found || it > found)) found = it;
      }
    }
  }
  free(s.slots);
  free(s.preds);
  return found;
}

// Whether the program has stored to the argument before.
static bool has_stored_to(Warp *w, const char *argument, PlaceNote *store) {
  const PtxModule *m = w->grid->module;
  for (uint32_t i = w->grid->func->first; i < w->grid->func->end; i++) {
    const Instr *in = &m->code[i];
    if (in->op != OP_st || in->space != SPACE_GLOBAL || in->ops[0].kind != OPND_MEM) continue;
    bool has_run = false;
    for (uint32_t k = 0; k < w->cta->num_warps; k++) has_run |= w->cta->warps[k].accesses[in->access] != 0;
    if (!has_run) continue;
    const AddressOrigin to = origin_of(w, in, 0, mem_operand_address(w, &in->ops[0], 0));
    if (to.name && !strcmp(to.name, argument) && report_note(w->grid, in, store)) return true;
  }
  return false;
}

bool fresh_lead(Warp *w, const Instr *in, const char *said) {
  Grid *g = w->grid;
  PlaceNote at, load, store;
  const Instr *from = g->fresh && in->func->is_entry ? find_load(w, in) : NULL;
  if (!from || g->failed || !report_note(g, in, &at) || !report_note(g, from, &load)) return false;
  const FreshLoad *f = &g->fresh[from->access];
  Arena a;
  arena_init(&a);
  const char *what = lead_element(&a, w, from, f->lane, f->address, load.elem_bytes, NULL);
  if (!what) return arena_free(&a), false;
  const char *argument = strstr(what, " of ") + strlen(" of ");
  const bool waits = g->num_ctas > 1 && has_stored_to(w, argument, &store);
  const char *way_out =
      waits ? arena_printf(&a, "%s is stored to at line %u of this kernel: programs of one launch do not wait for each "
                           "other, so load in a second kernel what another program stores", argument, store.line)
            : arena_printf(&a, "memory has no value until the host or a kernel stores one: set %s before this launch, or "
                           "do not load it", what);
  report_lead(g, &at, arena_printf(&a, "use of an undefined value in %s: %s", report_program_of(&a, w->cta), said),
              way_out);
  report_lead_note(g, &load, arena_printf(&a, "this loads %s, which nothing has written", what));
  arena_free(&a);
  return true;
}
