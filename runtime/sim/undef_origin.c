// For reports of undefined values: the load of global memory that such a value comes from. Each load that reads memory
// which nothing has written is remembered; a report follows the operands of its instruction back to one of them.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/lead.h"
#include "runtime/sim/slice.h"

struct FreshLoad { uint64_t address, cta; int lane; };

void fresh_note(Warp *w, const Instr *in, int lane, uint64_t address) {
  Grid *g = w->grid;
  if (!g->fresh) g->fresh = calloc(g->module->num_accesses + 1, sizeof *g->fresh);
  FreshLoad *f = g->fresh ? &g->fresh[in->access] : NULL;
  const bool is_first = f && (f->cta != w->cta->linear + 1 || address < f->address);
  if (is_first) *f = (FreshLoad){address, w->cta->linear + 1, lane};
}

typedef struct { Warp *w; const Instr *found; } Search;

static void visit(void *user, const Instr *in) {
  Search *s = user;
  const bool is_load = in->op == OP_ld || in->op == OP_cp;
  if (is_load && s->w->grid->fresh[in->access].cta == s->w->cta->linear + 1 && (!s->found || in > s->found)) s->found = in;
}

// The last of the loads in the code that the operands depend on; NULL: there is none.
static const Instr *find_load(Warp *w, const Instr *in) {
  Search s = {.w = w};
  slice_walk(w->grid->module, in, true, visit, &s);
  return s.found;
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
