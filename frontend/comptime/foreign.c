// Names of other languages and libraries: the rows of foreign.def.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"
#include "ir/nearest.h"

typedef struct { ForeignUse use; const char *names, *instead; } Row;
static const Row rows[] = {
#define FOREIGN(use, names, instead) {FOREIGN_##use, names, instead},
#include "frontend/comptime/foreign.def"
};

static const char *find(ForeignUse use, const char *name) {
  for (size_t i = 0; i < countof(rows); i++)
    if (rows[i].use == use && ct_has_word(rows[i].names, name)) return rows[i].instead;
  return NULL;
}

const char *comptime_foreign(ForeignUse use, const char *name) { return find(use, name); }

const char *comptime_foreign_dtype(const char *name) {
  DtypeKind kind;
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  if (dtype_find(last, &kind)) return dtype_info[kind].name;
  const char *known = find(FOREIGN_DTYPE, last);
  if (known) return known;
  const char *names[NUM_DTYPE_KINDS];
  for (uint32_t i = 0; i < NUM_DTYPE_KINDS; i++) names[i] = dtype_info[i].name;
  return nearest_name(last, names, NUM_DTYPE_KINDS);
}

// Decorators and other names of the module level.
static const char *const of_triton[] = {"jit",  "kernel", "autotune",           "heuristics",
                                        "Config", "cdiv", "constexpr_function", "next_power_of_2"};

const char *const comptime_constants[3] = {"True", "False", "None"};

const char *ct_name_hint(Comptime *ct, const char *name, const CtEnv *env) {
  const char *known = find(FOREIGN_MODULE, name);
  if (!known) known = find(FOREIGN_VALUE, name);
  if (known) return known;
  struct { const char **data; uint32_t count, capacity; } names = {0};
  for (const CtEnv *e = env; e; e = e->parent)
    for (uint32_t i = 0; i < e->count; i++) vec_push(ct->arena, &names, e->bindings[i].name);
  const char *near = nearest_name(name, names.data, names.count);
  if (!near) near = nearest_name(name, comptime_constants, countof(comptime_constants));
  if (!near) near = nearest_name(name, of_triton, countof(of_triton));
  return near ? arena_printf(ct->arena, "did you mean `%s`?", near) : NULL;
}

const char *ct_call_hint(Comptime *ct, const char *builtin) {
  const char *dot = strchr(builtin, '.'), *last = dot ? dot + 1 : builtin;
  if (!dot || (strncmp(builtin, "triton.", 7) != 0 && strncmp(builtin, "tl.", 3) != 0)) return NULL;
  for (uint32_t i = 0; i < countof(of_triton); i++)
    if (strcmp(last, of_triton[i]) == 0) return arena_printf(ct->arena, "write triton.%s", last);
  const char *near = nearest_name(last, of_triton, countof(of_triton));
  return near ? arena_printf(ct->arena, "did you mean triton.%s?", near) : NULL;
}
