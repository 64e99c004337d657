// The pass manager. It runs passes one by one. Around each it checks the stage, verifies, prints, times, stops after n
// (bisecting) and does the torture round trip (print, parse back, continue with the copy), as the options ask.
#include <string.h>

#include "ir/clock.h"
#include "passes/pass.h"
#include "passes/pipelines.h"

typedef struct {
  const char *name;
  void (*run)(PassCtx *p);
  uint32_t stages_in, stage_out;
  const char *text;
} PassRow;

static const PassRow pass_rows[NUM_PASSES] = {
#define PASS(name, stage_in, stage_out, text) {#name, pass_##name, stage_in, stage_out, text},
#include "passes/passes.def"
};

typedef struct {
  PassCtx ctx;
  const PassOptions *options;
  int num_run;               // passes run so far, for stop_after
  bool stopped;
} Manager;

const char *passes_list(uint32_t i, const char **text) {
  if (i >= NUM_PASSES) return NULL;
  if (text) *text = pass_rows[i].text;
  return pass_rows[i].name;
}

static const char *stage_name(uint32_t stage) {
  return stage == STAGE_TILE ? "tile" : stage == STAGE_LAID_OUT ? "laid-out" : "allocated";
}

static PassId find_pass(Context *ctx, const char *name, size_t len) {
  uint32_t id = 0;
  while (id < NUM_PASSES && (strlen(pass_rows[id].name) != len || memcmp(pass_rows[id].name, name, len))) id++;
  if (id == NUM_PASSES) ice(ctx, "there is no pass named '%.*s'", (int)len, name);
  return (PassId)id;
}

// Whether a comma-separated list holds the word, or is "all".
static bool list_holds(const char *list, const char *word) {
  if (!list) return false;
  if (!strcmp(list, "all")) return true;
  size_t n = strlen(word);
  for (const char *s = list; *s;) {
    size_t len = strcspn(s, ",");
    if (len == n && !memcmp(s, word, n)) return true;
    s += len + (s[len] == ',');
  }
  return false;
}

// Prints the module, parses the text back and puts the copy in its place: what a pass leaves must survive the text
// form.
static void torture_round_trip(Manager *mg, const char *pass) {
  Context *ctx = mg->ctx.ctx;
  Module *m = mg->ctx.module;
  Buf first = buf_make(&ctx->arena), second = buf_make(&ctx->arena);
  ir_print_module(&first, m);
  const SourceFile *file = source_add(ctx, arena_printf(&ctx->arena, "<after %s>", pass), buf_str(&first), first.size);
  Module *copy = ir_parse(ctx, file);
  if (!copy) ice(ctx, "the IR printed after %s does not parse:\n%s", pass, diag_render(ctx, false));
  ir_print_module(&second, copy);
  if (first.size != second.size || memcmp(buf_str(&first), buf_str(&second), first.size))
    ice(ctx, "the IR printed after %s reads back differently", pass);
  *m = *copy;
  EACH_FUNC(f, m) f->module = m;
}

// False after diagnostics or if the caller's hook stops the pipeline.
static bool run_pass(Manager *mg, PassId id) {
  const PassRow *row = &pass_rows[id];
  const PassOptions *o = mg->options;
  Context *ctx = mg->ctx.ctx;
  Module *m = mg->ctx.module;
  if (o && o->stop_after >= 0 && mg->num_run >= o->stop_after) {
    mg->stopped = true;
    return true;
  }
  mg->num_run++;
  context_poll(ctx);
  if (!(row->stages_in & m->stage))
    return diag_error(ctx, (Span){0, 0}, "pass %s does not run on a module at stage %s", row->name,
                      stage_name(m->stage));
  uint32_t errors = diag_error_count(ctx);
  ctx->current_pass = row->name;
  double start = clock_ms();
  row->run(&mg->ctx);
  clock_row(o ? o->times : NULL, &start, row->name);
  bool ok = diag_error_count(ctx) == errors;
  if (ok && row->stage_out) m->stage = (Stage)row->stage_out;
  if (o && o->printed && list_holds(o->print_after, row->name)) {
    buf_printf(o->printed, "// ---- after %s ----\n", row->name);
    ir_print_module(o->printed, m);
  }
  if (ok && o && o->verify_each && !ir_verify(m)) {
    diag_note(ctx, (Span){0, 0}, "pass %s broke the module (run with --print-after=%s to see it)", row->name,
              row->name);
    ok = false;
  }
  if (ok && o && o->torture) torture_round_trip(mg, row->name);
  if (ok && o && o->after_pass && !o->after_pass(o->user, row->name, m)) ok = false;
  ctx->current_pass = NULL;
  return ok;
}

// What a kernel that names machine ops itself may need of the target; passes make no others.
static const char *target_that_has(const Target *t, const Op *op) {
  if (op_is(op, TRAIT_WGMMA) && !t->has_wgmma) return "sm_90a";
  return op_is(op, TRAIT_TMA) && !t->has_tma ? "sm_90 or later" : NULL;
}

static void check_op(Op *op, void *user) {
  const Module *m = user;
  const char *needed = target_that_has(m->target, op);
  if (needed && !diag_error_count(m->ctx))
    diag_error(m->ctx, op->span, "`%s` needs %s, this is %s", op_info[op->opcode].name, needed, m->target->name);
}

bool passes_run(Module *m, Stage until, const PassOptions *options) {
  Manager mg = {.ctx = {.ctx = m->ctx, .module = m}, .options = options};
  const Pipeline *p;
  Stage came_at = m->stage;
  if (m->stage == STAGE_ALLOCATED) return true;   // its barriers are its own
  if (m->stage == STAGE_LAID_OUT) {
    module_walk(m, check_op, m);
    if (diag_error_count(m->ctx)) return false;
  }
  for (uint32_t i = 0; (p = pipeline_at(i)) && p->reaches <= until; i++) {
    if (p->reaches < m->stage) continue;
    for (uint32_t k = 0; k < p->num_steps; k++) {
      const PassRow *row = &pass_rows[p->steps[k].pass];
      if (!(row->stages_in & m->stage)) {
        // A module that came in between TILE and this pipeline's end skips what it is past.
        if (came_at == STAGE_TILE)
          ice(m->ctx, "pipelines.c has a step for %s at stage %s", row->name, stage_name(m->stage));
        continue;
      }
      if (p->steps[k].when && !p->steps[k].when(m)) continue;
      if (!run_pass(&mg, p->steps[k].pass)) return false;
      if (mg.stopped) return true;
    }
  }
  return true;
}

bool passes_run_named(Module *m, const char *names, const PassOptions *options) {
  Manager mg = {.ctx = {.ctx = m->ctx, .module = m}, .options = options};
  for (const char *s = names; *s;) {
    size_t len = strcspn(s, ",");
    if (len) {
      if (!run_pass(&mg, find_pass(m->ctx, s, len))) return false;
      if (mg.stopped) return true;
    }
    s += len + (s[len] == ',');
  }
  return true;
}
