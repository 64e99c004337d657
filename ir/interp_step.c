// Breakpoints, and stepping from one through a program, line by line of the source: what its variables are and which of
// them changed. A variable is the last value that carries its name. Lines of the prelude belong to the line that called
// it.
#include <string.h>

#include "ir/interp_int.h"

static LineCol place_of(const Prog *p, const Op *op) {
  return source_locate(p->run->ctx, op_user_span(p->run->ctx, op).begin);
}

static void set_variable(Prog *p, const char *name, const Value *v) {
  InterpRun *run = p->run;
  for (uint32_t i = 0; i < run->step_vars.count; i++)
    if (strcmp(run->step_vars.data[i].name, name) == 0) {
      run->step_vars.data[i].value = v;
      return;
    }
  StepVar var = {name, v, ""};
  vec_push(&run->ctx->arena, &run->step_vars, var);
}

// All variables as text; `changed` gets those that have changed since they were last shown.
static const char *show(Prog *p, Buf *changed) {
  Arena *a = &p->run->ctx->arena;
  Buf all = buf_make(a);
  for (uint32_t i = 0; i < p->run->step_vars.count; i++) {
    StepVar *var = &p->run->step_vars.data[i];
    Buf b = buf_make(a);
    interp_put_variable(p, &b, var->name, var->value);
    const char *text = buf_str(&b);
    buf_puts(&all, text);
    if (strcmp(text, var->text) != 0) buf_puts(changed, text);
    var->text = text;
  }
  return buf_str(&all);
}

// Shows the host where the program is, before op or (NULL) at its end, and does what the host says.
static void stop(Prog *p, const Op *op, bool is_step, LineCol at) {
  const InterpLaunch *l = p->run->launch;
  Buf changed = buf_make(&p->run->ctx->arena);
  const char *all = show(p, &changed);
  InterpAction action =
      l->breakpoint(l->user, op, p->id, &(InterpStop){is_step, is_step ? buf_str(&changed) : all, all});
  p->run->stepper = op && action == INTERP_STEP ? p : NULL;
  p->run->step_at = at;
}

bool interp_breakpoint(Prog *p, Op *op) {
  const uint8_t *c = interp_operand_data(p, op, 0);
  bool any = false;
  for (uint32_t i = 0, n = interp_value_count(p, operand_type(op, 0)); i < n; i++) any |= c[i] != 0;
  if (!any || !p->run->launch->breakpoint) return true;
  p->run->step_vars.count = 0;
  const char *name = op_str(op, ATTR_NAMES, "");
  for (uint32_t i = 1; i < op->num_operands; i++) {
    size_t n = strcspn(name, ",");
    if (n) set_variable(p, arena_strndup(&p->run->ctx->arena, name, n), op_operand(op, i));
    name += n + (name[n] == ',');
  }
  stop(p, op, false, place_of(p, op));
  return true;
}

void interp_step_into(Prog *p, const Block *b) {
  for (uint32_t i = 0; i < b->num_args; i++)
    if (b->args[i]->name) set_variable(p, b->args[i]->name, b->args[i]);
}

void interp_step_before(Prog *p, const Op *op) {
  LineCol at = place_of(p, op), last = p->run->step_at;
  if (at.file && (at.file != last.file || at.line != last.line)) stop(p, op, true, at);
}

void interp_step_after(Prog *p, const Op *op) {
  for (uint32_t i = 0; i < op->num_results; i++)
    if (op->results[i].name) set_variable(p, op->results[i].name, &op->results[i]);
}

void interp_step_end(Prog *p) {
  if (p->run->stepper == p) stop(p, NULL, true, (LineCol){0});
}
