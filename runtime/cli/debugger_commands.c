// The debugger's commands.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/debugger_int.h"
#include "runtime/cli/expression.h"

// ---- expressions ----

typedef struct { const InterpStop *stop; InterpVars vars; const Func *func; Arena *arena; } Scope;

static const Nd *find(void *user, const char *name) {
  const Scope *s = user;
  VEC_EACH(v, s->vars)
    if (!strcmp(v->name, name)) return debugger_array(s->arena, v);
  for (uint32_t i = 0; i < s->func->num_constexprs; i++)
    if (!strcmp(s->func->constexpr_names[i], name)) {
      double value;
      const bool is_true = !strcmp(s->func->constexpr_values[i], "True");
      return cli_read_number(s->func->constexpr_values[i], &value) ? nd_scalar(s->arena, value)
                                                                   : is_true ? nd_scalar(s->arena, 1) : NULL;
    }
  if (strcmp(name, "program")) return NULL;
  Nd *p = nd_new(s->arena, 1, &(int64_t){3});
  for (int i = 0; i < 3; i++) p->data[i] = s->stop->program[i];
  return p;
}

static const Nd *eval(Context *ctx, const InterpStop *stop, const char *text) {
  Arena *a = &ctx->arena;
  Scope s = {stop, interp_stop_vars(a, stop), stop->op->parent->func, a};
  const char **names = arena_array(a, const char *, s.vars.count + s.func->num_constexprs + 1);
  uint32_t n = 0;
  VEC_EACH(v, s.vars) names[n++] = v->name;
  for (uint32_t i = 0; i < s.func->num_constexprs; i++) {   // a variable of the same name comes first in `find`, too
    uint32_t same = 0;
    while (same < n && strcmp(names[same], s.func->constexpr_names[i])) same++;
    if (same == n) names[n++] = s.func->constexpr_names[i];
  }
  const ExpressionScope scope = {find, &s, names, n, "is no variable here that has a value"};
  return expression_eval(ctx, "(expression)", text, &scope);
}

// Evaluates text in a Context of its own and hands the value to `use`. False after printing what is wrong.
typedef void (*UseFn)(Context *ctx, const Nd *value, void *user);
static bool evaluate(Debug *d, const InterpStop *stop, const char *text, UseFn use, void *user) {
  Context ctx;
  jmp_buf on_ice;
  volatile bool ok = false;
  context_init(&ctx);
  if (setjmp(on_ice)) {
    ctx.on_ice = NULL;
    puts("this expression cannot be evaluated: there is not enough memory");
  } else {
    ctx.on_ice = &on_ice;
    const Nd *value = eval(&ctx, stop, text);
    if (value) use(&ctx, value, user), ok = true;
    else fputs(diag_render(&ctx, cli_color(d->session->run->options)), stdout);
    ctx.on_ice = NULL;
  }
  context_free(&ctx);
  return ok;
}

static void use_condition(Context *ctx, const Nd *value, void *user) {
  (void)ctx;
  for (uint64_t i = 0; i < value->count; i++) *(bool *)user |= value->data[i] != 0;
}

bool debugger_holds(Debug *d, const InterpStop *stop, const char *cond) {
  bool holds = false;
  return !evaluate(d, stop, cond, use_condition, &holds) || holds;
}

// ---- variables ----

static uint64_t hash_of(const InterpVar *v) {
  uint64_t h = UINT64_C(14695981039346656037);
  const bool is_data = v->type && (v->type->kind == TYPE_TENSOR || v->type->kind == TYPE_SCALAR ||
                                   v->type->kind == TYPE_PTR);
  const size_t n = is_data ? (size_t)type_numel(v->type) * type_elem_bytes(v->type) : v->type ? 0 : strlen(v->constant);
  const uint8_t *bytes = v->type ? v->data : (const uint8_t *)v->constant;
  for (size_t i = 0; i < n; i++) h = (h ^ bytes[i]) * UINT64_C(1099511628211);
  return h;
}

// Whether the variable differs from what it was at the last look, which this one replaces.
static bool has_changed(Debug *d, const char *function, const InterpVar *v) {
  const uint64_t hash = hash_of(v);
  VEC_EACH(s, d->seen)
    if (!strcmp(s->name, v->name) && !strcmp(s->function, function)) {
      const bool changed = s->hash != hash;
      s->hash = hash;
      return changed;
    }
  SeenVar seen = {function, arena_strndup(d->arena, v->name, strlen(v->name)), hash};
  vec_push(d->arena, &d->seen, seen);
  return true;
}

void debugger_show_changes(Debug *d, const InterpStop *stop, bool prints, bool all) {
  Buf b = buf_make(&d->shown);
  const Place p = debugger_place(d, stop);
  const InterpVars vars = interp_stop_vars(&d->shown, stop);
  VEC_EACH(v, vars) {
    const bool changed = has_changed(d, debugger_function(&p), v);
    if (prints && (changed || all)) debugger_put_var(&b, &d->session->program->ctx, v, false);
  }
  fputs(buf_str(&b), stdout);
}

typedef struct { const char *text; bool is_full; } Print;

static void use_value(Context *ctx, const Nd *value, void *user) {
  const Print *p = user;
  Buf b = buf_make(&ctx->arena);
  debugger_put_value(&b, p->text, NULL, value, p->is_full);
  fputs(buf_str(&b), stdout);
}

static bool print(Debug *d, const InterpStop *stop, const char *text, bool is_full) {
  if (!*text) return puts("what? p x, p x[0:4, :8], p max(x, 1)"), false;
  ArenaMark mark = arena_mark(&d->shown);
  const InterpVars vars = interp_stop_vars(&d->shown, stop);
  bool found = false;
  VEC_EACH(v, vars) {
    if (strcmp(v->name, text)) continue;
    Buf b = buf_make(&d->shown);
    debugger_put_var(&b, &d->session->program->ctx, v, is_full);
    fputs(buf_str(&b), stdout);
    found = true;
  }
  arena_rewind(&d->shown, mark);
  if (!found) evaluate(d, stop, text, use_value, &(Print){text, is_full});
  return false;
}

// ---- commands: each returns whether the program goes on ----

typedef bool (*CommandFn)(Debug *d, const InterpStop *stop, const char *args);

static bool go(Debug *d, DebugMode mode, uint32_t deepest) {
  d->mode = mode;
  d->deepest = deepest;
  return true;
}

static bool cmd_step(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop, (void)args;
  return go(d, DEBUG_STEP, UINT32_MAX);
}
static bool cmd_next(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop, (void)args;
  return go(d, DEBUG_STEP, d->last.depth);
}
static bool cmd_finish(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop, (void)args;
  return d->last.depth ? go(d, DEBUG_STEP, d->last.depth - 1) : go(d, DEBUG_CONTINUE, 0);
}
static bool cmd_continue(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop, (void)args;
  return go(d, DEBUG_CONTINUE, 0);
}
static bool cmd_run(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop, (void)args;
  return go(d, DEBUG_RUN, 0);
}
static bool cmd_quit(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop, (void)args;
  return d->has_quit = true;
}

static bool cmd_break(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop;
  const char *wrong = *args ? debugger_add_break(d, args) : NULL;
  if (wrong) return printf("%s\n", wrong), false;
  for (uint32_t i = *args ? d->breaks.count - 1 : 0; i < d->breaks.count; i++) {
    const Break *b = &d->breaks.data[i];
    if (b->is_deleted) continue;
    printf("breakpoint %u at %s:%u%s%s\n", i + 1, b->file->path, b->line, b->cond ? " if " : "",
           b->cond ? b->cond : "");
  }
  return false;
}

static bool cmd_delete(Debug *d, const InterpStop *stop, const char *args) {
  (void)stop;
  const unsigned long n = strtoul(args, NULL, 10);
  if (*args && (!n || n > d->breaks.count || d->breaks.data[n - 1].is_deleted))
    return printf("there is no breakpoint %s\n", args), false;
  for (uint32_t i = 0; i < d->breaks.count; i++)
    if (!*args || i + 1 == n) d->breaks.data[i].is_deleted = true;
  return false;
}

static bool cmd_print(Debug *d, const InterpStop *stop, const char *args) { return print(d, stop, args, false); }
static bool cmd_print_all(Debug *d, const InterpStop *stop, const char *args) { return print(d, stop, args, true); }

static bool cmd_variables(Debug *d, const InterpStop *stop, const char *args) {
  (void)args;
  ArenaMark mark = arena_mark(&d->shown);
  debugger_show_changes(d, stop, true, true);
  arena_rewind(&d->shown, mark);
  return false;
}

static bool cmd_list(Debug *d, const InterpStop *stop, const char *args) {
  enum { AROUND = 5 };
  (void)stop;
  const SourceFile *f = d->last.at.file;
  const unsigned long given = strtoul(args, NULL, 10);
  const uint32_t middle = given && given <= UINT32_MAX - AROUND ? (uint32_t)given : d->last.at.line;
  if (!f) return false;
  for (uint32_t i = middle > AROUND ? middle - AROUND : 1; i <= middle + AROUND && i <= f->num_lines; i++) {
    bool stops = false;
    VEC_EACH(b, d->breaks) stops |= !b->is_deleted && b->file == f && b->line == i;
    debugger_put_source(f, i, i == d->last.at.line ? (stops ? ">*" : "> ") : stops ? " *" : "  ");
  }
  return false;
}

static void put_frame(uint32_t number, const char *function, LineCol at) {
  printf("#%u  %s at %s:%u\n", number, function, at.file ? at.file->path : "?", at.line);
}

static bool cmd_backtrace(Debug *d, const InterpStop *stop, const char *args) {
  (void)args;
  const Context *ctx = &d->session->program->ctx;
  const char *kernel = stop->op->parent->func->name;
  uint32_t n = 0;
  put_frame(n++, debugger_function(&d->last), d->last.at);
  for (const CallSite *c = d->last.site; c; c = c->outer)
    put_frame(n++, c->outer && c->outer->function ? c->outer->function : kernel, source_locate(ctx, c->span.begin));
  return false;
}

static bool cmd_help(Debug *d, const InterpStop *stop, const char *args);

static const struct { const char *name, *other, *args, *help; CommandFn fn; } commands[] = {
    {"s", "step", "", "go on to the next line of this program, into functions too, and show what changed", cmd_step},
    {"n", "next", "", "the same, over the lines of called functions", cmd_next},
    {"f", "finish", "", "go on to the caller", cmd_finish},
    {"c", "continue", "", "go on to the next breakpoint", cmd_continue},
    {"r", "run", "", "run to the end without stopping", cmd_run},
    {"b", "break", "[FILE:]LINE [if COND]", "stop before this line if COND holds; without arguments, list breakpoints",
     cmd_break},
    {"d", "delete", "[N]", "delete breakpoint N, or all", cmd_delete},
    {"p", "print", "EXPR", "print a variable or an expression: p x[0:4, :8], p max(x, 1), p program[0]", cmd_print},
    {"pp", "printall", "EXPR", "the same, every element", cmd_print_all},
    {"v", "variables", "", "print all variables of this function", cmd_variables},
    {"l", "list", "[LINE]", "list the source around this line", cmd_list},
    {"bt", "backtrace", "", "print the calls that led here", cmd_backtrace},
    {"q", "quit", "", "end the run", cmd_quit},
    {"h", "help", "", "list the commands; an empty line repeats the last step", cmd_help},
};

static bool cmd_help(Debug *d, const InterpStop *stop, const char *args) {
  (void)d, (void)stop, (void)args;
  for (size_t i = 0; i < countof(commands); i++) {
    const int n = printf("  %s, %s %s", commands[i].name, commands[i].other, commands[i].args);
    printf("%*s  %s\n", n < 34 ? 34 - n : 0, "", commands[i].help);
  }
  return false;
}

static bool run_command(Debug *d, const InterpStop *stop, const char *line) {
  const size_t n = strcspn(line, " ");
  const char *args = line + n + strspn(line + n, " ");
  for (size_t i = 0; i < countof(commands); i++) {
    const char *name = commands[i].name, *other = commands[i].other;
    if ((strlen(name) != n || strncmp(line, name, n)) && (strlen(other) != n || strncmp(line, other, n))) continue;
    if (commands[i].fn == cmd_step || commands[i].fn == cmd_next) d->step = name;
    return commands[i].fn(d, stop, args);
  }
  printf("there is no command %.*s; h lists the commands\n", (int)n, line);
  return false;
}

bool debugger_prompt(Debug *d, const InterpStop *stop) {
  const bool is_terminal = isatty(STDIN_FILENO);
  for (char *line = NULL;;) {
    size_t capacity = 0;
    fputs("> ", stdout);
    fflush(stdout);
    const ssize_t n = getline(&line, &capacity, stdin);
    if (n < 0) {   // nobody is there to ask
      free(line);
      putchar('\n');
      return go(d, DEBUG_RUN, 0);
    }
    if (!is_terminal) printf("%s%s", line, line[n - 1] == '\n' ? "" : "\n");
    size_t size = (size_t)n, from = strspn(line, " \t");
    while (size > from && isspace((unsigned char)line[size - 1])) line[--size] = 0;
    const bool goes_on = run_command(d, stop, size > from ? line + from : d->step);
    free(line);
    line = NULL;
    if (goes_on) return !d->has_quit;
  }
}
