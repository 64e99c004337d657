// The deadlock report: what the warps of the resident blocks wait for.
#include <string.h>

#include "runtime/sim/async.h"
#include "runtime/sim/shadow.h"

enum { MAX_BLOCKS = 4, MAX_GROUPS = 16 };

static const char polls[] = "poll without end", runs[] = "run", meets[] = "wait for other lanes of their warp";

// Warps of a block whose lanes wait at one place for the same thing.
typedef struct {
  const char *what;
  int barrier;             // -1: none
  uint32_t pc, lanes, warps;
  Warp *first;             // of the warps
  char missing[360];       // an mbarrier's; "": nothing is known
} Group;
typedef struct { Group *data; uint32_t count; } Groups;

// Describes what is missing from the mbarrier phase that the lane waits for.
static void put_missing(char *text, size_t size, Warp *w, const Instr *in, int lane) {
  *text = 0;
  if (in->op != OP_mbarrier || !has_any(in, M_try_wait, M_test_wait)) return;
  w->r = w->regs + (size_t)w->lane_base[lane] * WARP_SIZE;
  const uint64_t address = mem_operand_address(w, &in->ops[1], lane);
  const uint32_t at = ((uint32_t)address & ((1u << SHARED_RANK_SHIFT) - 1)) - SHARED_BASE;
  if (at > w->cta->shared_size || w->cta->shared_size - at < 8) return;
  const MbarrierState s = mbarrier_unpack(shared_word((SharedPlace){w->cta, at}));
  char phase[32] = "", arrivals[64] = "", bytes[96] = "";
  const bool by_parity = has_mod(in, M_parity), untouched = s.pending == s.expected && !s.tx;
  const char *join = s.pending ? ", and " : ": ";
  const uint32_t done = agent_phases(w->cta, at);
  if (untouched && done > 1)
    snprintf(bytes, sizeof bytes, "; %u phases are complete", done);
  if (by_parity) snprintf(phase, sizeof phase, ", the phase of parity %d", s.parity);
  if (s.pending) snprintf(arrivals, sizeof arrivals, ": %u of %u arrivals are missing", s.pending, s.expected);
  if (s.tx > 0) snprintf(bytes, sizeof bytes, "%s%d bytes are still expected that no copy is bringing", join, s.tx);
  if (s.tx < 0)
    snprintf(bytes, sizeof bytes, "%s%d more bytes arrived than were expected: expect counts bytes", join, -s.tx);
  const bool awaits_second = by_parity && untouched && s.parity && done < 2;
  snprintf(text, size, "for the mbarrier at shared+0x%x%s%s%s%s", at + SHARED_BASE, phase, arrivals, bytes,
           awaits_second ? "; nothing has happened in it since the phase of parity 0 completed: the first phase has "
                           "parity 0"
                         : "");
}

// The first instruction from here on that has a place in the source.
static const Instr *placed(const PtxModule *m, uint32_t pc) {
  for (uint32_t i = pc, line; i < m->num_code; i++)
    if (report_user_line(m, &m->code[i], &line)) return &m->code[i];
  return &m->code[pc];
}

static void add_group(Groups *gs, Group g) {
  const Instr *in = g.pc < g.first->grid->module->num_code ? &g.first->grid->module->code[g.pc] : NULL;
  if (in) put_missing(g.missing, sizeof g.missing, g.first, in, __builtin_ctz(g.lanes));
  for (uint32_t i = 0; i < gs->count; i++) {
    Group *o = &gs->data[i];
    if (o->pc != g.pc || o->lanes != g.lanes || o->what != g.what || o->barrier != g.barrier) continue;
    if (strcmp(o->missing, g.missing)) continue;
    o->warps |= g.warps;
    return;
  }
  gs->data = realloc(gs->data, (gs->count + 1) * sizeof g);
  gs->data[gs->count++] = g;
}

static void add_lanes(Groups *gs, Warp *w, uint32_t lanes, int barrier, const char *what) {
  const Instr *code = w->grid->module->code;
  uint32_t at[WARP_SIZE];
  FOR_LANES(l, lanes) at[l] = barrier < 0 ? w->lane_pc[l] : (uint32_t)(w->lane_barrier_instr[l] - code);
  while (lanes) {   // lanes at one instruction together
    const uint32_t pc = at[__builtin_ctz(lanes)], here = LANES_WHERE(l, lanes, at[l] == pc);
    add_group(gs, (Group){.what = what, .barrier = barrier, .pc = pc, .lanes = here, .warps = 1u << w->id, .first = w});
    lanes &= ~here;
  }
}

static void add_warp(Groups *gs, Warp *w) {
  warp_save_group(w);
  uint32_t live = live_lanes(w), loop;
  if (live && endless_repeats(w, &loop)) {
    add_group(gs, (Group){.what = polls, .barrier = -1, .pc = loop, .lanes = live, .warps = 1u << w->id, .first = w});
    return;
  }
  for (uint32_t id = 0; id < NUM_BARRIERS; id++)
    add_lanes(gs, w, LANES_WHERE(l, w->in_barrier & live, w->lane_barrier[l] == id), (int)id, "wait at barrier");
  live &= ~w->in_barrier;
  add_lanes(gs, w, live & w->stalled, -1, meets);
  add_lanes(gs, w, live & w->waiting & ~w->stalled, -1, "wait");
  add_lanes(gs, w, live & ~w->stalled & ~w->waiting, -1, w->grid->max_steps ? runs : polls);
}

// "warp 3", "warps 0 to 3", "warps 0, 2 to 5"
static void put_warps(FILE *f, uint32_t warps) {
  fprintf(f, "    warp%s", warps & (warps - 1) ? "s" : "");
  for (const char *join = " "; warps; join = ", ") {
    const uint32_t from = (uint32_t)__builtin_ctz(warps), rest = ~(warps >> from);
    const uint32_t n = rest ? (uint32_t)__builtin_ctz(rest) : 32;
    fprintf(f, "%s%u", join, from);
    if (n > 1) fprintf(f, n == 2 ? ", %u" : " to %u", from + n - 1);
    warps &= n == 32 ? 0 : ~(((1u << n) - 1) << from);
  }
}

static void put_group(FILE *f, const Group *g) {
  const PtxModule *m = g->first->grid->module;
  put_warps(f, g->warps);
  fprintf(f, " lanes %#010x %s", g->lanes, g->what);
  if (g->barrier >= 0) fprintf(f, " %d", g->barrier);
  fprintf(f, "%s%s\n", *g->missing ? " " : "", g->missing);
  if (g->pc < m->num_code) report_place(f, m, placed(m, g->pc), 6);
}

// What the group does, in the words of the source: "program (0, 0, 0) waits here for the mbarrier at …".
static const char *story(Arena *a, const Group *g, const char *what) {
  const Grid *grid = g->first->grid;
  const char *program = report_program_of(a, g->first->cta);
  if (grid->max_steps && grid->steps > grid->max_steps) return arena_printf(a, "%s: %s is here", what, program);
  if (g->what == polls || g->what == runs)
    return arena_printf(a, "this loop of %s never ends: an iteration changes neither its variables nor memory",
                        program);
  if (g->what == meets) return arena_printf(a, "threads of %s wait here for others of their warp", program);
  if (g->barrier >= 0) return arena_printf(a, "%s waits here at a barrier that not all of its warps reach", program);
  return arena_printf(a, "%s waits here%s%s", program, *g->missing ? " " : "", g->missing);
}

// The access of global memory by which the loop waits, as far as its first instructions tell; NULL: there is none.
static const Instr *polling(const Group *g) {
  enum { FIRST = 100 };
  const PtxModule *m = g->first->grid->module;
  for (uint32_t i = g->pc; i < m->num_code && i < g->pc + FIRST; i++)
    if (m->code[i].op == OP_atom || (m->code[i].op == OP_ld && m->code[i].space == SPACE_GLOBAL)) return &m->code[i];
  return NULL;
}

// What changed the place that the loop reads last; NULL if nothing is known.
static const LastChange *last_change(const Group *g) {
  const Instr *in = g->what == polls ? polling(g) : NULL;
  if (!in) return NULL;
  Warp *w = g->first;
  const int lane = __builtin_ctz(g->lanes);
  w->r = w->regs + (size_t)w->lane_base[lane] * WARP_SIZE;
  return last_change_of(w->grid, mem_operand_address(w, &in->ops[1], lane));
}

static bool has_ended(const Grid *g, const uint32_t program[3]) {
  for (const Cluster *cl = g->resident; cl; cl = cl->next)
    for (uint32_t i = 0; i < cl->num_ctas; i++) {
      uint32_t id[3];
      report_program(cl->ctas[i], id);
      if (!memcmp(id, program, sizeof id) && cl->ctas[i]->warps_done < cl->ctas[i]->num_warps) return false;
    }
  return true;
}

// Where a program changed last what this one tries to take: a lock.
static const char *way_out_of_lock(Arena *a, const Group *g, const LastChange *c) {
  const Instr *in = polling(g);
  uint32_t own[3];
  if (in->op != OP_atom || (in->sel != M_cas && in->sel != M_exch)) return NULL;
  report_program(g->first->cta, own);
  if (!memcmp(own, c->program, sizeof own))
    return "the program changed itself last what it waits for: one that holds a lock does not take it again";
  if (!has_ended(g->first->grid, c->program)) return NULL;
  return arena_printf(a, "%s changed last what it waits for, and has ended: a program that takes a lock gives it back "
                      "on every path, before a `return`, too, by the value that the others wait for",
                      report_program_name(a, c->program));
}

// Where arrivals are missing, in a Gluon kernel: its author counts them.
static const char *way_out(Arena *a, const Group *g, const PlaceNote *place) {
  const Grid *grid = g->first->grid;
  if (g->what == polls && grid->next_cta < grid->num_ctas)
    return arena_printf(a, "%llu of %llu programs have not begun, because no more run at once: a wait for all of the "
                        "grid needs a grid that fits, which launch_cooperative_grid=True checks",
                        (unsigned long long)(grid->num_ctas - grid->next_cta), (unsigned long long)grid->num_ctas);
  const LastChange *change = last_change(g);
  const char *about_lock = change ? way_out_of_lock(a, g, change) : NULL;
  if (about_lock) return about_lock;
  if (g->what == polls)
    return polling(g) && grid->num_ctas > 1
               ? "no program changes what it reads any more: it waits for a value that others have passed or never "
                 "reach, or for a program that waits, too"
               : NULL;
  return place->is_gluon && strstr(g->missing, "arrivals are missing")
             ? "the count of mbarrier.init is that of the arrivals in a phase: mbarrier.expect is one, and "
               "mbarrier.arrive as many as its count says"
             : NULL;
}

// Whether the group polls in a `for` whose step is a run-time value, which must then be 0. place: the loop's.
static bool stands_still(const Group *g, PlaceNote *place) {
  const Grid *grid = g->first->grid;
  const PtxModule *m = grid->module;
  PlaceNote its;
  if (g->what != polls) return false;
  for (uint32_t i = g->pc; i < m->num_code && m->code[i].func == m->code[g->pc].func; i++) {
    if (m->code[i].op != OP_bra || m->code[i].target > g->pc) continue;
    if (!report_note(grid, &m->code[i], &its) || !its.has_step) return false;
    *place = its;
    return true;
  }
  return false;
}

// The first group with a place is the error, the next at another place its note.
static void lead(const Groups *gs, ReportKind kind, const char *what) {
  for (uint32_t i = 0; i < gs->count; i++) {
    const Group *g = &gs->data[i];
    Grid *grid = g->first->grid;
    const PtxModule *m = grid->module;
    PlaceNote place;
    if (g->pc >= m->num_code || !report_note(grid, placed(m, g->pc), &place)) continue;
    Arena scratch;
    arena_init(&scratch);
    const bool is_still = stands_still(g, &place);
    const char *text = is_still ? arena_printf(&scratch, "the step of this loop is 0 in %s: it never ends",
                                               report_program_of(&scratch, g->first->cta))
                                : story(&scratch, g, what);
    const char *error = arena_printf(&scratch, "%s: %s", report_kind_name(kind), text);
    if (grid->has_lead) report_lead_note(grid, &place, text);
    else {
      report_lead(grid, &place, error, is_still ? report_zero_step : way_out(&scratch, g, &place));
      const LastChange *c = last_change(g);
      if (c && report_note(grid, c->by, &place))
        report_lead_note(grid, &place, arena_printf(&scratch, "%s changed last here what it waits for",
                                                    report_program_name(&scratch, c->program)));
    }
    arena_free(&scratch);
  }
}

static void describe_block(FILE *f, const Cta *c, ReportKind kind, const char *what) {
  fprintf(f, "  block (%u,%u,%u): %u of %u warps have exited\n", c->ctaid[0], c->ctaid[1], c->ctaid[2], c->warps_done,
          c->num_warps);
  bool repeats = false;   // a barrier inside a polling loop is in an arbitrary state
  for (uint32_t k = 0; k < c->num_warps; k++) repeats |= endless_repeats(&c->warps[k], NULL);
  for (uint32_t b = 0; b < NUM_BARRIERS; b++) {
    const ThreadBarrier *bar = &c->bars[b];
    if (!bar->arrived || repeats) continue;
    if (bar->expected) fprintf(f, "    barrier %u: %u of %u threads have arrived\n", b, bar->arrived, bar->expected);
    else
      fprintf(f, "    barrier %u: %u threads have arrived; it waits for all that have not exited\n", b, bar->arrived);
  }
  Groups gs = {0};
  for (uint32_t k = 0; k < c->num_warps; k++) add_warp(&gs, &c->warps[k]);
  for (uint32_t i = 0; i < gs.count && i < MAX_GROUPS; i++) put_group(f, &gs.data[i]);
  if (gs.count > MAX_GROUPS) fprintf(f, "    … and %u more groups of warps\n", gs.count - MAX_GROUPS);
  lead(&gs, kind, what);
  free(gs.data);
}

static bool is_divergent(const Cta *c) {
  for (uint32_t k = 0; k < c->num_warps; k++)
    if (c->warps[k].state == WARP_STUCK && c->warps[k].stalled) return true;
  return false;
}

void deadlock_report(Grid *g, const char *what) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return;
  bool divergent = false;
  for (Cluster *cl = g->resident; cl; cl = cl->next)
    for (uint32_t i = 0; i < cl->num_ctas; i++) divergent |= is_divergent(cl->ctas[i]);
  const ReportKind kind = divergent ? REPORT_DIVERGENT : REPORT_DEADLOCK;
  uint32_t blocks = 0;
  for (Cluster *cl = g->resident; cl; cl = cl->next) {
    for (uint32_t i = 0; i < cl->num_ctas; i++) {
      const Cta *c = cl->ctas[i];
      if (c->warps_done < c->num_warps && blocks++ < MAX_BLOCKS) describe_block(f, c, kind, what);
    }
    if (cl->bar.arrived) fprintf(f, "  cluster barrier: %u threads have arrived\n", cl->bar.arrived);
    if (g->hooks.describe) {
      Arena a;
      arena_init(&a);
      const char *more = g->hooks.describe(cl, &a);
      if (more) fputs(more, f);
      arena_free(&a);
    }
  }
  if (blocks > MAX_BLOCKS) fprintf(f, "  … and %u more blocks\n", blocks - MAX_BLOCKS);
  fclose(f);
  if (size && text[size - 1] == '\n') text[size - 1] = 0;
  sim_report(g, NULL, NULL, -1, kind, "%s\n%s",
             divergent ? "threads of a warp wait for others that never reach the same instruction"
                       : what,
             text);
  free(text);
}
