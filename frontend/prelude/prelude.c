// The prelude: builtins written in the language itself, embedded in the library, each file parsed on first use.
#include "frontend/lower/lower.h"

#include <string.h>

#include "frontend/prelude/prelude.h"

typedef struct { const char *name, *text; size_t size; bool is_math; } PreludeFile;

static const PreludeFile *file_at(uint32_t i) {
  static const PreludeFile files[] = {
#define PRELUDE(id, is_math) {"<prelude>/" #id ".tile", prelude_##id, sizeof prelude_##id - 1, is_math},
      PRELUDE_FILES(PRELUDE)
#undef PRELUDE
  };
  return i < countof(files) ? &files[i] : NULL;
}

bool is_prelude_file(const SourceFile *f) { return strncmp(f->path, "<prelude>/", 10) == 0; }

static bool defines(const PreludeFile *f, const char *name) {
  size_t n = strlen(name);
  for (const char *p = f->text; (p = strstr(p, "\ndef ")); p++)
    if (strncmp(p + 5, name, n) == 0 && p[5 + n] == '(') return true;
  return false;
}

bool is_language_name(const char *name) {
  if (builtin_find(name)) return true;
  for (uint32_t i = 0; file_at(i); i++)
    if (defines(file_at(i), name)) return true;
  return false;
}

static CtModule *load(Lower *L, uint32_t i) {
  Frontend *fe = L->fe;
  if (!fe->prelude) {
    uint32_t n = 0;
    while (file_at(n)) n++;
    fe->prelude = arena_array(&L->ctx->arena, CtModule *, n);
  }
  if (fe->prelude[i]) return fe->prelude[i];
  const PreludeFile *f = file_at(i);
  const SourceFile *source = source_add(L->ctx, f->name, f->text, f->size);
  fe->prelude[i] = comptime_load_source(L->ct, source, f->name);
  if (!fe->prelude[i]) ice(L->ctx, "the prelude file %s does not load: %s", f->name, diag_render(L->ctx, false));
  return fe->prelude[i];
}

Term *prelude_find(Lower *L, const char *name, bool libdevice) {
  for (uint32_t i = 0; file_at(i); i++) {
    if ((libdevice && !file_at(i)->is_math) || !defines(file_at(i), name)) continue;
    CtValue *v = env_get_local(load(L, i)->env, intern(L->ctx, name));
    return v ? term_const(L, v) : NULL;
  }
  return NULL;
}

Term *prelude_call(Lower *L, const char *name, Term *const *args, uint32_t n, Span span) {
  Term *fn = prelude_find(L, name, false);
  if (!fn) ice(L->ctx, "the prelude has no function %s", name);
  return lower_call_positional(L, fn, args, n, span);
}

const char *frontend_nearest_builtin(Frontend *fe, const char *name) {
  NameVec names = {0};
  Arena *arena = &fe->ctx->arena;
  const BuiltinRow *row;
  for (uint32_t i = 0; (row = builtin_at(i)); i++)
    if (row->name[0] != '_' && !strchr(row->name, '.')) vec_push(arena, &names, row->name);
  for (uint32_t i = 0; file_at(i); i++)
    for (const char *p = file_at(i)->text; (p = strstr(p, "\ndef ")); p++) {
      size_t n = strcspn(p + 5, "(");
      if (p[5] != '_') vec_push(arena, &names, arena_strndup(arena, p + 5, n));
    }
  return find_nearest(name, names.data, names.count);
}
