// The debugger: where to stop, and the commands at a stop. The interpreter tells it of every statement.
#include "runtime/cli/debugger.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/debugger_int.h"

bool debugger_is_wanted(const Options *o, const tile_device *device) {
  return !strcmp(device->kind, "interp") && (o->breaks.count || o->step || isatty(STDIN_FILENO));
}
bool debugger_has_quit(const Debug *d) { return d && d->has_quit; }

// ---- places ----

Place debugger_place(const Debug *d, const InterpStop *stop) {
  Place p = {.op = stop->op};
  const Context *ctx = &d->session->program->ctx;
  p.at = source_locate(ctx, op_user_place(ctx, stop->op, &p.site).begin);
  for (const CallSite *c = p.site; c; c = c->outer) p.depth++;
  return p;
}

const char *debugger_function(const Place *p) {
  return p->site && p->site->function ? p->site->function : p->op->parent->func->name;
}

void debugger_put_source(const SourceFile *file, uint32_t line, const char *mark) {
  const char *text = file->text + file->line_starts[line - 1];
  printf("%s%5u  %.*s\n", mark, line, (int)strcspn(text, "\r\n"), text);
}

static bool is_same_program(const uint32_t a[3], const uint32_t b[3]) { return !memcmp(a, b, 3 * sizeof *a); }

// ---- breakpoints ----

typedef struct { const Context *ctx; const SourceFile *file; uint32_t wanted, found; } FindLine;

static void find_line(Op *op, void *user) {
  FindLine *f = user;
  if (op->opcode != OP_BREAKPOINT || !op_int(op, ATTR_STATEMENT, 0)) return;
  const LineCol at = source_locate(f->ctx, op->span.begin);
  if (at.file == f->file && at.line >= f->wanted && (!f->found || at.line < f->found)) f->found = at.line;
}

// The file whose path ends with these path components.
static const SourceFile *find_file(const Context *ctx, const char *name, size_t n) {
  for (uint32_t i = 0; i < ctx->num_files; i++) {
    const SourceFile *f = ctx->files[i];
    const size_t size = strlen(f->path);
    if (f->is_embedded || size < n || memcmp(f->path + size - n, name, n)) continue;
    if (size == n || f->path[size - n - 1] == '/') return f;
  }
  return NULL;
}

const char *debugger_add_break(Debug *d, const char *text) {
  Arena *a = d->arena;
  const tile_program *p = d->session->program;
  const Context *ctx = &p->ctx;
  const char *cond = strstr(text, " if "), *colon = NULL;
  size_t n = cond ? (size_t)(cond - text) : strlen(text);
  while (n && text[n - 1] == ' ') n--;
  for (size_t i = 0; i < n; i++)
    if (text[i] == ':') colon = text + i;
  const char *number = colon ? colon + 1 : text;
  char *end;
  const unsigned long line = strtoul(number, &end, 10);
  if (end != text + n || end == number || !isdigit((unsigned char)*number) || !line || line > UINT32_MAX)
    return arena_printf(a, "a breakpoint is LINE or FILE:LINE, and perhaps ` if COND`, not '%s'", text);
  const SourceFile *file = colon ? find_file(ctx, text, (size_t)(colon - text))
                                 : source_locate(ctx, p->module->funcs->span.begin).file;
  if (!file) return arena_printf(a, "the kernel has no file %.*s", (int)(colon - text), text);
  FindLine f = {ctx, file, (uint32_t)line, 0};
  EACH_FUNC(func, p->module) block_walk(func->body, find_line, &f);
  if (!f.found)
    return arena_printf(a, "%s has no statement at line %lu or below it that this kernel runs", file->path, line);
  if (f.found != line)
    printf("line %lu of %s has no statement; the next one is in line %u\n", line, file->path, f.found);
  Break b = {file, f.found, cond && cond[4] ? arena_strndup(a, cond + 4, strlen(cond + 4)) : NULL, false};
  vec_push(a, &d->breaks, b);
  return NULL;
}

// The number of the breakpoint that stops here; 0: none. A condition that cannot be evaluated stops, and says why.
static uint32_t break_at(Debug *d, const InterpStop *stop, const Place *p) {
  for (uint32_t i = 0; i < d->breaks.count; i++) {
    const Break *b = &d->breaks.data[i];
    if (b->is_deleted || b->file != p->at.file || b->line != p->at.line) continue;
    if (!b->cond || debugger_holds(d, stop, b->cond)) return i + 1;
  }
  return 0;
}

// ---- stops ----

static void remember(Debug *d, const InterpStop *stop, const Place *p) {
  d->last = *p;
  memcpy(d->program, stop->program, sizeof d->program);
}

// Whether the statement is the first of its line: not one after a `;`, even if a call between them was entered.
static bool begins_line(Debug *d, const InterpStop *stop, const Place *p) {
  __typeof__(d->passed[0]) *last = &d->passed[p->depth < DEBUG_DEPTHS ? p->depth : DEBUG_DEPTHS - 1];
  const Place *o = &last->place;
  const bool goes_on = o->op && is_same_program(last->program, stop->program) && o->site == p->site &&
                       o->at.file == p->at.file && o->at.line == p->at.line && o->op->span.begin < p->op->span.begin;
  last->place = *p;
  memcpy(last->program, stop->program, sizeof last->program);
  return !goes_on;
}

static bool steps_to(const Debug *d, const InterpStop *stop, const Place *p) {
  if (d->mode == DEBUG_START) return true;
  if (d->mode != DEBUG_STEP || !is_same_program(d->program, stop->program)) return false;
  return p->depth <= d->deepest;
}

static bool at_end(Debug *d, const InterpStop *stop) {
  if (d->mode != DEBUG_STEP || !is_same_program(d->program, stop->program)) return true;
  printf("program (%u, %u, %u) has ended\n", stop->program[0], stop->program[1], stop->program[2]);
  d->mode = DEBUG_CONTINUE;
  return true;
}

static bool on_stop(void *user, const InterpStop *stop) {
  Debug *d = user;
  if (d->mode == DEBUG_RUN) return true;
  if (!stop->op) return at_end(d, stop);
  const Place p = debugger_place(d, stop);
  const bool begins = stop->is_statement && begins_line(d, stop, &p);
  const uint32_t number = begins ? break_at(d, stop, &p) : 0;
  const bool steps = begins && steps_to(d, stop, &p);
  if (stop->is_statement && !number && !steps) return true;
  ArenaMark mark = arena_mark(&d->shown);
  debugger_show_changes(d, stop, stop->is_statement ? steps && d->mode == DEBUG_STEP : true, !stop->is_statement);
  if (number) printf("breakpoint %u at ", number);
  else fputs(stop->is_statement ? "at " : "breakpoint at ", stdout);
  printf("%s:%u in %s, program (%u, %u, %u)\n", p.at.file ? p.at.file->path : "?", p.at.line, debugger_function(&p),
         stop->program[0], stop->program[1], stop->program[2]);
  if (p.at.file) debugger_put_source(p.at.file, p.at.line, "");
  arena_rewind(&d->shown, mark);
  remember(d, stop, &p);
  return debugger_prompt(d, stop);
}

tile_status debugger_attach(Session *s, Debug **out, tile_error **error) {
  Arena *a = s->run->arena;
  const Options *o = s->run->options;
  Debug *d = *out = arena_new(a, Debug);
  *d = (Debug){.session = s, .arena = a, .mode = o->step ? DEBUG_START : DEBUG_CONTINUE, .step = "s"};
  arena_init(&d->shown);
  for (uint32_t i = 0; i < o->breaks.count; i++) {
    const char *wrong = debugger_add_break(d, o->breaks.data[i]);
    if (wrong) return error_set(error, TILE_ERROR_USAGE, "--break: %s", wrong);
  }
  device_debug_interp(s->device, &(Debugger){.stop = on_stop, .user = d});
  return TILE_OK;
}

void debugger_free(Debug *d) {
  if (d) arena_free(&d->shown);
}
