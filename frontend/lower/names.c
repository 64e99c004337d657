// What the language's names mean: a row of the builtin table, or a function of the prelude. Each text of the prelude is
// loaded here on first use.
#include "frontend/lower/lower.h"

#include <string.h>

#include "frontend/prelude/prelude.h"

// ---- functions of the prelude ----
static CtModule *load(Lower *L, uint32_t i) {
  Frontend *fe = L->fe;
  if (!fe->prelude) {
    uint32_t n = 0;
    while (prelude_file(n)) n++;
    fe->prelude = arena_array(L->arena, CtModule *, n);
  }
  if (fe->prelude[i]) return fe->prelude[i];
  const PreludeFile *f = prelude_file(i);
  fe->prelude[i] = comptime_load_source(L->ct, source_add_embedded(L->ctx, f->path, f->text, f->size), f->path);
  if (!fe->prelude[i]) ice(L->ctx, "the prelude file %s does not load: %s", f->path, diag_render(L->ctx, false));
  return fe->prelude[i];
}

static Term *prelude_find(Lower *L, const char *name, bool libdevice) {
  const PreludeFile *f;
  for (uint32_t i = 0; (f = prelude_file(i)); i++) {
    if ((libdevice && !f->is_math) || !prelude_defines(f, name)) continue;
    const CtEnv *env = load(L, i)->env;
    CtValue *v = ct_env_get_local(env, intern(L->ctx, name));
    if (v) return term_const(L, v);
    size_t stem = strlen(name) - 1;   // name_rz is _name_r with a direction
    v = ct_env_get_local(env, intern(L->ctx, arena_printf(L->arena, "_%.*s", (int)stem, name)));
    if (!v) return NULL;
    CtValue *named = arena_new(L->arena, CtValue);   // called name_rz in messages
    *named = *v;
    named->fn = arena_new(L->arena, CtFunction);
    *named->fn = *v->fn;
    named->fn->name = intern(L->ctx, name);
    Term *direction = term_int(L, strchr(PRELUDE_DIRECTIONS, name[stem]) - PRELUDE_DIRECTIONS);
    return term_bound(L, direction, term_const(L, named));
  }
  return NULL;
}

Term *lower_prelude_call(Lower *L, const char *name, Term *const *args, uint32_t n, Span span) {
  Term *fn = prelude_find(L, name, false);
  if (!fn) ice(L->ctx, "the prelude has no function %s", name);
  return lower_call_positional(L, fn, args, n, span);
}

bool lower_in_prelude(Lower *L, Span span) {
  const SourceFile *f = source_locate(L->ctx, span.begin).file;
  return f && f->is_embedded;
}

bool lower_is_language_name(const char *name) {
  if (builtin_find(name)) return true;
  const PreludeFile *f;
  for (uint32_t i = 0; (f = prelude_file(i)); i++)
    if (prelude_defines(f, name)) return true;
  return false;
}

// ---- canonical names ----
typedef enum { SPACE_PYTHON, SPACE_TL, SPACE_LIBDEVICE, SPACE_TRITON, SPACE_GLUON, SPACE_OTHER } NameSpace;

static NameSpace space_of(const char *canonical, const char **last) {
  static const char *const gluon[] = {"gl.", "nvidia.", "ampere.", "hopper.", "blackwell."};
  const char *dot = strrchr(canonical, '.');
  *last = dot ? dot + 1 : canonical;
  if (!dot) return SPACE_PYTHON;
  if (strncmp(canonical, "gl.", 3) == 0 && !strstr(canonical, "libdevice")) {
    for (uint32_t i = 0; i < countof(gluon); i++)
      if (strncmp(canonical, gluon[i], strlen(gluon[i])) == 0) canonical += strlen(gluon[i]);
    *last = canonical;
    return SPACE_GLUON;
  }
  if (strstr(canonical, "libdevice")) return SPACE_LIBDEVICE;
  if (strncmp(canonical, "tl.", 3) == 0 || strncmp(canonical, "triton.language.", 16) == 0) return SPACE_TL;
  if (strncmp(canonical, "triton.", 7) == 0) return SPACE_TRITON;
  if (strncmp(canonical, "py.", 3) == 0 || strncmp(canonical, "descriptor.", 11) == 0) {
    *last = canonical;
    return SPACE_TL;
  }
  return SPACE_OTHER;
}

static const BuiltinRow *python_row(const char *name) {
  char text[40] = "py.";
  if (strlen(name) > 32) return NULL;
  return builtin_find(strcat(text, name));
}

// Names whose libdevice function differs from the language's row.
static bool is_exact_libdevice(const char *name) {
  static const char *const names[] = {"exp", "exp2", "div_rn"};
  for (uint32_t i = 0; i < countof(names); i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

const BuiltinRow *builtin_row_of(const char *canonical) {
  const char *last;
  switch (space_of(canonical, &last)) {
  case SPACE_PYTHON: {
    const BuiltinRow *r = python_row(last);
    return r ? r : builtin_find(last);
  }
  case SPACE_TL:
    // Names of Triton 2: these take two operands, while tl.max reduces one.
    if (strcmp(canonical, "tl.math.max") == 0) return builtin_find("maximum");
    if (strcmp(canonical, "tl.math.min") == 0) return builtin_find("minimum");
    if (strcmp(canonical, "tl.tuple") == 0) return builtin_find("py.tuple");
    return builtin_find(last);
  case SPACE_GLUON: {
    const BuiltinRow *r = builtin_find_gluon(last);
    return r ? r : strchr(last, '.') ? NULL : builtin_find(last);
  }
  case SPACE_LIBDEVICE: return is_exact_libdevice(last) ? NULL : builtin_find(last);
  default: return NULL;
  }
}

Term *builtin_resolve(Lower *L, const char *canonical) {
  const char *last;
  NameSpace space = space_of(canonical, &last);
  const BuiltinRow *row = builtin_row_of(canonical);
  if (row) return term_const(L, ct_builtin(L->ctx, intern(L->ctx, canonical)));
  if (space == SPACE_OTHER) return NULL;
  return prelude_find(L, last, space == SPACE_LIBDEVICE);
}

// The method column of a prelude function; 0 if it is not a method.
static uint32_t prelude_method(const char *name) {
  static const struct { const char *name; uint8_t method; } methods[] = {
#define BUILTIN(name, params, fn, data, method, mark, doc)
#define PRELUDE_METHOD(name, method) {name, method},
#include "frontend/lower/builtins.def"
  };
  for (uint32_t i = 0; i < countof(methods); i++)
    if (strcmp(name, methods[i].name) == 0) return methods[i].method;
  return 0;
}

Term *builtin_find_method(Lower *L, const char *name) {
  const BuiltinRow *row = builtin_find(name);
  if (row && row->method) {
    const char *canonical = arena_printf(L->arena, "tl.%s", name);
    return term_const(L, ct_builtin(L->ctx, intern(L->ctx, canonical)));
  }
  return prelude_method(name) ? prelude_find(L, name, false) : NULL;
}

bool builtin_method_takes_half(const Term *fn) {
  if (!term_is_const(fn)) return false;
  if (fn->ct->kind == CT_FUNCTION) return prelude_method(fn->ct->fn->name) == 2;
  const BuiltinRow *row = fn->ct->kind == CT_BUILTIN ? builtin_row_of(fn->ct->builtin.name) : NULL;
  return row && row->method == 2;
}
