// For reports: the parameter that an address was computed from.
#include <stdlib.h>

#include "runtime/sim/exec.h"

typedef struct {
  const PtxFunction *func;
  bool *slots;                 // registers that the address depends on
  bool *params;                // of the kernel: loaded into one of them
  bool changed;
} Origin;

static void need_register(Origin *o, const PtxOperand *from) {
  if (from->bits != 64 || o->slots[from->slot]) return;   // a value of fewer bits is no address but an offset
  o->slots[from->slot] = o->changed = true;
}

static void need(Origin *o, const PtxOperand *from) {
  for (uint32_t i = 0; from->kind == OPND_VEC && i < from->count; i++) need(o, &from->sub[i]);
  if (from->kind == OPND_REG) need_register(o, from);
}

static bool writes_needed(const Origin *o, const PtxOperand *to) {
  for (uint32_t i = 0; to->kind == OPND_VEC && i < to->count; i++)
    if (writes_needed(o, &to->sub[i])) return true;
  return to->kind == OPND_REG && o->slots[to->slot];
}

static void visit(Origin *o, const Instr *in) {
  if (!instr_has_dst(in) || !writes_needed(o, &in->ops[0])) return;
  for (uint32_t i = 1; i < in->num_ops; i++) {
    const PtxOperand *from = &in->ops[i];
    for (uint32_t k = 0; from->sym && k < o->func->num_params; k++) o->params[k] |= o->func->params[k] == from->sym;
    if (from->kind != OPND_MEM) need(o, from);
    else if (in->space == SPACE_PARAM && from->base_kind == OPND_REG) need_register(o, from);   // a chosen parameter
  }
}

// How far addr is from the allocation.
static uint64_t distance(const Alloc *a, uint64_t addr) {
  return addr < a->base ? a->base - addr : addr - a->base;
}

// The nearest of the pointers that the address depends on, or the only one, if it points to no memory.
static void choose(const Origin *o, const Grid *g, uint64_t addr, AddressOrigin *out) {
  for (uint32_t i = 0, astray = 0; i < o->func->num_params; i++) {
    const Symbol *p = o->func->params[i];
    if (!o->params[i] || p->size != 8 || (o->func->names_pointers && !p->argument)) continue;
    const uint64_t pointer = *(const uint64_t *)(uintptr_t)(g->param_addr + p->addr);
    const AddressOrigin it = {p->argument ? p->argument : p->name, pointer, p->elem_bytes,
                              device_find(g->device, pointer)};
    if (it.alloc && (!out->alloc || distance(it.alloc, addr) < distance(out->alloc, addr))) *out = it;
    else if (!it.alloc && !out->alloc) *out = astray++ ? (AddressOrigin){0} : it;
  }
}

AddressOrigin origin_in(const Warp *w, const Instr *in, const Alloc *a) {
  AddressOrigin out = {0};
  for (uint32_t i = 0; a && in->func->is_entry && i < in->func->num_params; i++) {
    const Symbol *p = in->func->params[i];
    if (p->size != 8 || !(p->argument || !in->func->names_pointers)) continue;
    const uint64_t pointer = *(const uint64_t *)(uintptr_t)(w->grid->param_addr + p->addr);
    if (device_find(w->grid->device, pointer) != a) continue;
    if (out.name) return (AddressOrigin){0};
    out = (AddressOrigin){p->argument ? p->argument : p->name, pointer, p->elem_bytes, a};
  }
  return out;
}

AddressOrigin origin_of(Warp *w, const Instr *in, int lane, uint64_t addr) {
  enum { MAX_ACCESS = 32 };   // bytes
  Origin o = {.func = in->func};
  AddressOrigin out = {0};
  if (!in->func->is_entry || !(o.slots = calloc(in->func->num_slots + in->func->num_params, sizeof(bool)))) return out;
  o.params = o.slots + in->func->num_slots;
  for (uint32_t i = 0; i < in->num_ops; i++) {
    const PtxOperand *m = &in->ops[i];
    if (m->kind == OPND_MEM && m->base_kind == OPND_REG &&
        (lane < 0 || addr - mem_operand_address(w, m, lane) < MAX_ACCESS))
      need_register(&o, m);
  }
  while (o.changed) {
    o.changed = false;   // backwards, because most definitions stand before their uses
    for (uint32_t i = in->func->end; i-- > in->func->first;) visit(&o, &w->grid->module->code[i]);
  }
  choose(&o, w->grid, addr, &out);
  free(o.slots);
  return out;
}
