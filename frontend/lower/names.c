// What the language's names mean: a row of the builtin table, or a function of the prelude. Each function of the
// prelude is loaded here on first use.
#include "frontend/lower/builtins.h"
#include "frontend/lower/term.h"

#include <ctype.h>
#include <string.h>

#include "frontend/prelude/prelude.h"

// ---- functions of the prelude ----
static Prelude *load_imports(Lower *L, uint32_t i) {
  Frontend *fe = L->fe;
  if (!fe->prelude) {
    uint32_t n = 0;
    while (prelude_file(n)) n++;
    fe->prelude = arena_array(L->arena, Prelude, n);
  }
  Prelude *p = &fe->prelude[i];
  if (p->module) return p;
  const PreludeFile *f = prelude_file(i);
  const SourceFile *file = source_add_embedded(L->ctx, f->path, f->text, f->size);
  p->module = comptime_load_start(L->ct, file, f->path, prelude_imports_size(f));
  if (!p->module) ice(L->ctx, "the prelude file %s does not load: %s", f->path, diag_render(L->ctx, false));
  size_t n;
  for (const char *at = f->text, *name; (name = prelude_next_function(&at, &n));)
    map_at(L->arena, &p->unread, intern_n(L->ctx, name, n))->number = (uint64_t)(name - f->text);
  return p;
}

static size_t word_size(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
  return n;
}

// Loads a function of the file and the functions of the file that its text names.
static void load_function(Lower *L, const PreludeFile *f, Prelude *p, const char *name) {
  MapSlot *slot = map_get(&p->unread, name);
  if (!slot || !slot->number) return;
  const PreludePart part = prelude_function(f, f->text + slot->number);
  slot->number = 0;
  if (!comptime_load_more(L->ct, p->module, part.begin, part.end))
    ice(L->ctx, "%s of the prelude file %s does not load: %s", name, f->path, diag_render(L->ctx, false));
  for (const char *s = f->text + part.begin, *end = f->text + part.end; s < end;) {
    const size_t n = word_size(s);
    if (n && s[-1] != '.') load_function(L, f, p, intern_n(L->ctx, s, n));
    s += n ? n : 1;
  }
}

static CtValue *function_of(Lower *L, uint32_t i, const char *name) {
  Prelude *p = load_imports(L, i);
  load_function(L, prelude_file(i), p, intern(L->ctx, name));
  return ct_env_get_local(p->module->env, intern(L->ctx, name));
}

static Term *prelude_find(Lower *L, const char *name, bool libdevice) {
  const PreludeFile *f;
  for (uint32_t i = 0; (f = prelude_file(i)); i++) {
    if ((libdevice && !f->is_math) || !prelude_defines(f, name)) continue;
    CtValue *v = function_of(L, i, name);
    if (v) return term_const(L, v);
    size_t stem = strlen(name) - 1;   // name_rz is _name_r with a direction
    v = function_of(L, i, arena_printf(L->arena, "_%.*s", (int)stem, name));
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

const char *lower_prelude_name(Lower *L, Span span) {
  const char *name = NULL;
  for (const CallSite *c = L->b.inlined_at; c && lower_in_prelude(L, span); c = c->outer) {
    name = c->function;
    span = c->span;
  }
  return name;
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
