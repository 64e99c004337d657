// Breakpoints and the watcher of ops: what the host is told while a program runs. The front end puts a breakpoint before
// each statement if a debugger asks for it.
#include <string.h>

#include "ir/interp_int.h"

static bool tell(Prog *p, const Op *op, bool is_statement) {
  const InterpLaunch *l = p->run->launch;
  const InterpStop stop = {op, is_statement, p->id, p};
  if (l->stop(l->user, &stop)) return true;
  p->failed = true;
  return false;
}

bool interp_breakpoint(Prog *p, Op *op) {
  const uint8_t *c = interp_operand_data(p, op, 0);
  bool any = false;
  for (uint32_t i = 0, n = interp_value_count(p, operand_type(op, 0)); i < n; i++) any |= c[i] != 0;
  if (!any || !p->run->launch->stop) return true;
  const bool is_statement = op_int(op, ATTR_STATEMENT, 0) != 0;
  p->home->has_stops |= is_statement;
  return tell(p, op, is_statement);
}

bool interp_watched(Prog *p, Op *op) {
  const InterpLaunch *l = p->run->launch;
  if (!l->watch || l->watch(l->user, &(InterpStep){op, p->id, p})) return true;
  p->failed = p->run->stopped = true;
  return false;
}

void *interp_step_data(const InterpStep *step, const Value *v) {
  return step->prog->slots[v->number].data ? (void *)interp_value_data(step->prog, v) : NULL;
}

size_t interp_step_count(const InterpStep *step, const Value *v) { return interp_value_count(step->prog, v->type); }

void interp_stop_at_end(Prog *p) {
  if (p->has_stops && !p->failed) tell(p, NULL, true);
}

InterpVars interp_stop_vars(Arena *a, const InterpStop *stop) {
  InterpVars vars = {0};
  uint32_t i = 1;
  for (const char *s = stop->op ? op_str(stop->op, ATTR_NAMES, "") : ""; *s;) {
    const size_t n = strcspn(s, ","), name = strcspn(s, ",=:");
    InterpVar v = {.name = arena_strndup(a, s, name)};
    if (s[name] == '=') {
      v.constant = arena_strndup(a, s + name + 1, n - name - 1);
    } else {
      const Value *value = op_operand(stop->op, i++);
      v.type = value->type;
      v.is_unsigned = s[name] == ':';
      v.data = interp_value_data(stop->prog, value);
    }
    if (name) vec_push(a, &vars, v);
    s += n + (s[n] == ',');
  }
  return vars;
}
