// Imports: the built-in modules, files beside the importing one or on -I, and the statements.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

typedef struct { const char *name, *prefix; } BuiltinModule;

// The dotted name as imported, and the prefix of its attributes' canonical names.
static const BuiltinModule builtin_modules[] = {
    {"triton", "triton"},
    {"triton.language", "tl"},
    {"triton.language.core", "tl"},
    {"triton.language.standard", "tl"},
    {"triton.language.random", "tl"},
    {"triton.language.math", "tl.math"},
    {"triton.language.target_info", "tl.target_info"},
    {"triton.language.libdevice", "libdevice"},
    {"triton.language.extra", "tl.extra"},
    {"triton.language.extra.libdevice", "libdevice"},
    {"triton.language.extra.cuda", "tl.extra.cuda"},
    {"triton.language.extra.cuda.libdevice", "libdevice"},
    {"triton.language.extra.cuda.utils", "tl.extra.cuda"},
    {"triton.tools", "triton.tools"},
    {"triton.tools.tensor_descriptor", "triton.tools.tensor_descriptor"},
    {"triton.profiler", "triton.profiler"},
    {"triton.profiler.language", "tl"},   // enter_scope, exit_scope, scope
    {"triton.runtime", "triton.runtime"},
    {"triton.runtime.jit", "triton.runtime"},
    {"triton.runtime.autotuner", "triton.runtime"},
    {"triton.testing", "triton.testing"},
    {"triton.experimental", "triton.experimental"},
    {"triton.experimental.gluon", "gluon"},
    {"triton.experimental.gluon.language", "gl"},
    {"triton.experimental.gluon.language.nvidia", "gl.nvidia"},
    {"triton.experimental.gluon.language.nvidia.ampere", "gl.nvidia.ampere"},
    {"triton.experimental.gluon.language.nvidia.ampere.async_copy", "gl.nvidia.ampere.async_copy"},
    {"triton.experimental.gluon.language.nvidia.ampere.mbarrier", "gl.nvidia.ampere.mbarrier"},
    {"triton.experimental.gluon.language.nvidia.hopper", "gl.nvidia.hopper"},
    {"triton.experimental.gluon.language.nvidia.hopper.tma", "gl.nvidia.hopper.tma"},
    {"triton.experimental.gluon.language.nvidia.hopper.mbarrier", "gl.nvidia.hopper.mbarrier"},
    {"triton.experimental.gluon.language.nvidia.hopper.async_copy", "gl.nvidia.hopper.async_copy"},
    {"triton.experimental.gluon.language.nvidia.blackwell", "gl.nvidia.blackwell"},
    {"triton.experimental.gluon.language.nvidia.blackwell.tma", "gl.nvidia.blackwell.tma"},
    {"triton.experimental.gluon.language.nvidia.blackwell.mbarrier", "gl.nvidia.blackwell.mbarrier"},
    {"triton.experimental.gluon.language.nvidia.blackwell.async_copy", "gl.nvidia.blackwell.async_copy"},
    {"triton.experimental.gluon.language.nvidia.blackwell.float2", "gl.nvidia.blackwell.float2"},
    {"triton.experimental.gluon.language.extra", "gl.extra"},
    {"triton.experimental.gluon.nvidia", "gluon.nvidia"},
    {"triton.experimental.gluon.nvidia.hopper", "gluon.nvidia.hopper"},
    {"math", "math"},
    {"importlib", "importlib"},
    {"importlib.util", "importlib.util"},
    {"itertools", "itertools"},
    {"functools", "functools"},
    {"collections", "collections"},
    {"collections.abc", "typing"},
    {"typing", "typing"},
    {"typing_extensions", "typing"},
    {"operator", "operator"},
    {"copy", "copy"},
    {"dataclasses", "dataclasses"},
    {"enum", "enum"},
    {"os", "os"},
    {"sys", "sys"},
    {"warnings", "warnings"},
    {"__future__", "__future__"},
    {"packaging", "packaging"},
    {"packaging.version", "packaging.version"},
};

CtModule *ct_builtin_module(Comptime *ct, const char *dotted) {
  for (size_t i = 0; i < countof(builtin_modules); i++) {
    if (strcmp(builtin_modules[i].name, dotted)) continue;
    CtModule *m = arena_new(ct->arena, CtModule);
    m->name = builtin_modules[i].name;
    m->prefix = builtin_modules[i].prefix;
    return m;
  }
  return NULL;
}

static CtValue *module_value(Comptime *ct, CtModule *m) {
  CtValue *v = ct_new(ct->ctx, CT_MODULE);
  v->module = m;
  return v;
}

// ---- attributes of built-in modules ----

static bool is_language(const CtModule *m) { return !strcmp(m->prefix, "tl") || !strcmp(m->prefix, "gl"); }

// Python 3.11's, the one that the language is checked against.
static CtValue *version_info(Comptime *ct) {
  Context *ctx = ct->ctx;
  CtValue *type[2] = {ct_str(ctx, "version_info"), ct_str(ctx, "major minor micro releaselevel serial")};
  CtValue *fields[5] = {ct_int(ctx, 3), ct_int(ctx, 11), ct_int(ctx, 0), ct_str(ctx, "final"), ct_int(ctx, 0)};
  CtValue *cls = ct_call_builtin(ct, NULL, "collections.namedtuple", &(CtArgs){.args = type, .num_args = 2});
  return cls ? ct_call(ct, cls, &(CtArgs){.args = fields, .num_args = 5}) : NULL;
}

static CtValue *constant(Comptime *ct, const CtModule *m, const char *name) {
  Context *ctx = ct->ctx;
  DtypeKind dtype;
  if (is_language(m) && dtype_find(name, &dtype) && strlen(name) > 1 && !strcmp(dtype_info[dtype].name, name))
    return ct_dtype(ctx, ct_type_scalar(ctx, dtype));
  if (is_language(m) && !strcmp(name, "pi32_t"))
    return ct_dtype(ctx, ct_type_pointer(ctx, ct_type_scalar(ctx, DT_INT32), false));
  if (is_language(m) && !strcmp(name, "TRITON_MAX_TENSOR_NUMEL")) return ct_int(ctx, 1048576);
  if (!strcmp(m->prefix, "triton") && !strcmp(name, "__version__")) return ct_str(ctx, "3.6.0");
  if (!strcmp(m->prefix, "sys") && !strcmp(name, "version_info")) return version_info(ct);
  // a compilation does not depend on the host's state: these are empty
  if (!strcmp(m->prefix, "sys") && (!strcmp(name, "path") || !strcmp(name, "argv"))) return ct_list(ct->ctx, NULL, 0);
  if (!strcmp(m->prefix, "sys") && !strcmp(name, "modules")) return ct_dict(ct->ctx);
  if (!strcmp(m->prefix, "sys") && !strcmp(name, "platform")) return ct_str(ctx, "linux");
  if (!strcmp(m->prefix, "os") && !strcmp(name, "environ")) return ct_dict(ctx);
  if (!strcmp(m->prefix, "typing") && !strcmp(name, "TYPE_CHECKING")) return ct_bool(false);
  if (!strcmp(m->prefix, "math")) {
    static const struct { const char *name; double value; } constants[] = {
        {"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}, {"tau", 6.28318530717958647692},
        {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < countof(constants); i++)
      if (!strcmp(constants[i].name, name)) return ct_float(ctx, constants[i].value);
  }
  return NULL;
}

CtValue *ct_module_attr(Comptime *ct, CtModule *module, const char *name) {
  if (module->env) {
    CtValue *v = ct_env_get_local(module->env, name);
    if (v) return v;
    return !strcmp(name, "__name__") ? ct_str(ct->ctx, module->name) : NULL;
  }
  CtModule *sub = ct_builtin_module(ct, arena_printf(ct->arena, "%s.%s", module->name, name));
  if (sub) return module_value(ct, sub);
  CtValue *v = constant(ct, module, name);
  if (v) return v;
  return ct_builtin(ct->ctx, arena_printf(ct->arena, "%s.%s", module->prefix, name));
}

// ---- files ----

static bool file_exists(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f) fclose(f);
  return f != NULL;
}

// dir/a/b.tile, dir/a/b.py, dir/a/b/__init__.py; NULL if there is none.
static const char *find_in(Comptime *ct, const char *dir, const char *dotted) {
  static const char *const suffixes[] = {".tile", ".py", "/__init__.py"};
  char *relative = arena_strndup(ct->arena, dotted, strlen(dotted));
  for (char *c = relative; *c; c++)
    if (*c == '.') *c = '/';
  for (size_t i = *relative ? 0 : 2; i < countof(suffixes); i++) {
    const char *path = arena_printf(ct->arena, "%s%s%s", dir, relative, *relative ? suffixes[i] : suffixes[i] + 1);
    if (file_exists(path)) return path;
  }
  return NULL;
}

// The folder of a path with its slash, `up` levels higher; "" for the current one.
static const char *folder_of(Comptime *ct, const char *path, uint32_t up) {
  size_t n = strlen(path);
  while (n && path[n - 1] != '/') n--;
  const char *dir = arena_strndup(ct->arena, path, n);
  for (; up > 0; up--) {
    size_t last = n > 1 ? n - 1 : 0;   // where the last component begins
    while (last && dir[last - 1] != '/') last--;
    if (n > last + 1 && strcmp(dir + last, "./") && strcmp(dir + last, "../"))
      dir = arena_strndup(ct->arena, dir, n = last);
    else n = strlen(dir = arena_printf(ct->arena, "%s../", dir));
  }
  return dir;
}

// The folder that holds the outermost package a file belongs to, where absolute imports start; NULL outside packages.
static const char *package_root(Comptime *ct, const char *file) {
  enum { DEEPEST = 32 };
  for (uint32_t up = 0; up < DEEPEST; up++) {
    const char *dir = folder_of(ct, file, up);
    if (!file_exists(arena_printf(ct->arena, "%s__init__.py", dir))) return up ? dir : NULL;
  }
  return NULL;
}

// Finds a.b.c for the importer x/a/d/e.py beside the folder a, whether that has an __init__.py or not.
static const char *find_in_namesake(Comptime *ct, const char *file, const char *dotted) {
  size_t n = strcspn(dotted, ".");
  for (const char *slash = strrchr(file, '/'); slash;) {
    const char *begin = slash;
    while (begin > file && begin[-1] != '/') begin--;
    if ((size_t)(slash - begin) == n && !strncmp(begin, dotted, n)) {
      const char *path = find_in(ct, arena_strndup(ct->arena, file, (size_t)(begin - file)), dotted);
      if (path) return path;
    }
    slash = begin > file ? begin - 1 : NULL;
  }
  return NULL;
}

static const char *find_file(Comptime *ct, const char *dotted, uint32_t level, const CtModule *from) {
  const char *importer = from->file ? from->file->path : "", *root = level ? NULL : package_root(ct, importer);
  const char *path = root ? find_in(ct, root, dotted) : NULL;
  if (!path && !level) path = find_in_namesake(ct, importer, dotted);
  if (!path) path = find_in(ct, folder_of(ct, importer, level ? level - 1 : 0), dotted);
  for (uint32_t i = 0; !path && !level && i < ct->options.num_include_paths; i++) {
    const char *dir = ct->options.include_paths[i];
    size_t n = strlen(dir);
    path = find_in(ct, n && dir[n - 1] != '/' ? arena_printf(ct->arena, "%s/", dir) : dir, dotted);
  }
  return path;
}

static CtValue *load_from(Comptime *ct, const char *path, const char *dotted, Span span) {
  bool found;
  CtModule *m = ct_load_file(ct, path, intern(ct->ctx, dotted), &found);
  if (m && !m->failed) return module_value(ct, m);
  if (ct->error) return NULL;
  if (found) {   // its own errors have been reported
    ct_fail(ct, span, "ImportError", "module '%s' has errors", dotted);
    ct->error->is_fatal = true;
    return NULL;
  }
  return ct_missing(ct, dotted, arena_printf(ct->arena, "%s cannot be read", path), span);
}

static bool is_torch(const char *dotted) { return !strcmp(dotted, "torch") || !strncmp(dotted, "torch.", 6); }

// The packages that a file beside the importing one does not replace: the tables here say what they contain.
static bool is_known_package(const char *dotted) { return !strncmp(dotted, "triton.", 7) || is_torch(dotted); }

CtValue *ct_import_module(Comptime *ct, const char *dotted, uint32_t level, CtModule *from, Span span) {
  CtModule *m = level ? NULL : ct_builtin_module(ct, dotted);
  if (m) return module_value(ct, m);
  const char *path = !level && is_known_package(dotted) ? NULL : find_file(ct, dotted, level, from);
  if (path) return load_from(ct, path, *dotted ? dotted : "__init__", span);
  const char *why =
      !level && is_torch(dotted)
          ? arena_printf(ct->arena, "'%s' belongs to the host: nothing of it runs here", dotted)
          : arena_printf(ct->arena, "no module '%s%s' is built in, beside this file or on -I", level ? "." : "",
                         dotted);
  return ct_missing(ct, intern(ct->ctx, dotted), why, span);
}

static CtValue *import_from(Comptime *ct, CtValue *module, const char *name, Span span) {
  if (module->kind == CT_MISSING) return ct_missing_from(ct, module, "%s", name);
  CtValue *v = ct_module_attr(ct, module->module, name);
  if (v) return v;
  // from package import submodule
  const CtModule *package = module->module;
  if (package->file) {
    const char *path = find_in(ct, folder_of(ct, package->file->path, 0), name);
    if (path && strcmp(path, package->file->path)) return load_from(ct, path, name, span);
  }
  if (!package->is_loading)
    return ct_missing(ct, name, arena_printf(ct->arena, "module '%s' has no '%s'", package->name, name), span);
  v = ct_missing(ct, name,
                 arena_printf(ct->arena, "module '%s' imports this one before it has '%s'", package->name, name), span);
  vec_push(ct->arena, &module->module->awaited, ((CtBinding){name, v}));
  return v;
}

// ---- the statements ----

// A folder without __init__: a module whose names are the modules imported from it.
static CtValue *folder_module(Comptime *ct, const char *dotted) {
  CtModule *m = arena_new(ct->arena, CtModule);
  m->name = dotted;
  m->env = ct_env_new(ct, NULL, m);
  CtValue *v = ct_new(ct->ctx, CT_MODULE);
  v->module = m;
  return v;
}

// import a.b.c binds a, whose attribute b has the attribute c, which is `last`. NULL after an error.
static CtValue *import_chain(Comptime *ct, const char *dotted, CtValue *last, const CtEnv *env, Span span) {
  CtValue *first = NULL, *parent = NULL;
  for (const char *part = dotted, *end; part; part = *end ? end + 1 : NULL) {
    end = part + strcspn(part, ".");
    const char *name = intern_n(ct->ctx, part, (size_t)(end - part)),
               *path = intern_n(ct->ctx, dotted, (size_t)(end - dotted));
    CtModule *into = parent && parent->kind == CT_MODULE ? parent->module : NULL;
    CtValue *v = *end ? ct_import_module(ct, path, 0, env->module, span) : last;
    if (!v) return NULL;
    if (v->kind == CT_MISSING) {
      const CtEnv *scope = !parent ? env : into ? into->env : NULL;
      CtValue *old = scope ? ct_env_get_local(scope, name) : NULL;
      if (old && old->kind == CT_MODULE) v = old;
      else if (last->kind == CT_MODULE) v = folder_module(ct, path);
    }
    if (into && into->env) ct_env_set(ct->ctx, into->env, name, v);
    if (!first) first = v;
    parent = v;
  }
  return first;
}

bool ct_exec_import(Comptime *ct, const Node *n, CtEnv *env) {
  for (uint32_t i = 0; i < n->import.aliases.count; i++) {
    const Node *a = n->import.aliases.data[i];
    const char *name = a->alias.name, *dot = strchr(name, '.');
    CtValue *m = ct_import_module(ct, name, 0, env->module, a->span);
    if (!m) return false;
    if (dot && !a->alias.asname) {
      CtValue *first = import_chain(ct, name, m, env, a->span);
      if (!first) return false;
      ct_env_set(ct->ctx, env, intern_n(ct->ctx, name, (size_t)(dot - name)), first);
    } else {
      ct_env_set(ct->ctx, env, a->alias.asname ? a->alias.asname : name, m);
    }
  }
  return true;
}

static bool import_star(Comptime *ct, CtValue *module, CtEnv *env) {
  if (module->kind != CT_MODULE || !module->module->env) {
    vec_push(ct->arena, &env->stars, module);
    return true;
  }
  const CtEnv *from = module->module->env;
  CtValue *all = ct_env_get_local(from, intern(ct->ctx, "__all__"));
  for (uint32_t i = 0; i < from->count; i++) {
    const char *name = from->bindings[i].name;
    bool public = name[0] != '_';
    if (all && (all->kind == CT_LIST || all->kind == CT_TUPLE)) {
      public = false;
      for (uint32_t k = 0; k < all->list.count; k++)
      public |= all->list.data[k]->kind == CT_STR && !strcmp(all->list.data[k]->str.data, name);
    }
    if (public) ct_env_set(ct->ctx, env, name, from->bindings[i].value);
  }
  return true;
}

bool ct_exec_import_from(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *m = ct_import_module(ct, n->import.module ? n->import.module : "", n->import.level, env->module, n->span);
  if (!m) return false;
  for (uint32_t i = 0; i < n->import.aliases.count; i++) {
    const Node *a = n->import.aliases.data[i];
    if (!strcmp(a->alias.name, "*")) {
      if (!import_star(ct, m, env)) return false;
      continue;
    }
    CtValue *v = import_from(ct, m, a->alias.name, a->span);
    if (v && v->kind == CT_MISSING && m->kind == CT_MISSING) {   // a module in a folder that has no __init__.py
      const char *base = n->import.module,
                 *name = base ? arena_printf(ct->arena, "%s.%s", base, a->alias.name) : a->alias.name;
      CtValue *sub = ct_import_module(ct, name, n->import.level, env->module, a->span);
      if (!sub || sub->kind != CT_MISSING) v = sub;
      else if (!n->import.level && !strncmp(name, "triton.language.", 16)) v = ct_missing_from(ct, m, "%s", name);
    }
    if (!v) return false;
    ct_env_set(ct->ctx, env, a->alias.asname ? a->alias.asname : a->alias.name, v);
  }
  return true;
}

CtValue *ct_star_name(Comptime *ct, const CtEnv *env, const char *name) {
  const CtValue *missing = NULL;
  for (; env; env = env->parent)
    for (uint32_t i = env->stars.count; i-- > 0;) {
      CtValue *m = env->stars.data[i];
      if (m->kind == CT_MISSING && !missing) missing = m;
      if (m->kind != CT_MODULE || is_language(m->module)) continue;   // comptime_lookup finds the language's names
      const bool is_type = !strcmp(m->module->prefix, "typing") && name[0] >= 'A' && name[0] <= 'Z';
      if (is_type || constant(ct, m->module, name) ||
          comptime_has_function(arena_printf(ct->arena, "%s.%s", m->module->prefix, name)))
        return ct_module_attr(ct, m->module, name);
    }
  return missing ? ct_missing_from(ct, missing, "%s", name) : NULL;
}

// An import that finds no module raises ModuleNotFoundError if it stands in a `try` that handles it; otherwise it binds
// missing values. torch and numpy are there: who runs the kernels has them.
bool ct_import_must_raise(const Node *try_node) {
  for (uint32_t i = 0; i < try_node->try_.handlers.count; i++) {
    const Node *type = try_node->try_.handlers.data[i]->handler.type;
    const NodeList *types = type && type->kind == NODE_TUPLE ? &type->list : NULL;
    for (uint32_t k = 0; k < (types ? types->count : 1); k++) {
      const Node *t = types ? types->data[k] : type;
      if (!t) return true;
      if (t->kind == NODE_NAME && ct_exception_matches("ModuleNotFoundError", t->name.id)) return true;
    }
  }
  return false;
}

static bool is_of_package(const char *dotted, const char *package) {
  const size_t n = strlen(package);
  return dotted && !strncmp(dotted, package, n) && (!dotted[n] || dotted[n] == '.');
}

bool ct_import_check(Comptime *ct, const Node *n, const CtEnv *env) {
  for (uint32_t i = 0; i < n->import.aliases.count; i++) {
    const Node *a = n->import.aliases.data[i];
    const char *dotted = n->import.module ? n->import.module : a->alias.name;
    const bool is_there = is_of_package(dotted, "torch") || is_of_package(dotted, "numpy");
    const CtValue *v = ct_env_get_local(env, ct_import_bound_name(ct, a));
    if (is_there) continue;
    if (v && v->kind == CT_MISSING) return ct_fail(ct, a->span, "ModuleNotFoundError", "%s", v->missing.why) != NULL;
  }
  return true;
}
