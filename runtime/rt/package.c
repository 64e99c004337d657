// Packages, and families: the variants of one kernel, loaded on a device. A launch of a family takes the first variant
// that its arguments fit. The packer put the most specialised one first.
#include "runtime/rt/package.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/c_locale.h"
#include "runtime/rt/error.h"
#include "runtime/rt/metadata.h"

struct tile_package {
  Arena arena;
  jmp_buf *on_empty;
  const char *bytes;
  size_t size;
  void *own;                   // the bytes, if the package has read them itself
  const JsonValue *index;
  tile_package_entry *entries;
  size_t num_entries;
};

// FNV-1a over words of eight bytes: finds damage, not malice.
uint64_t package_checksum(const void *data, size_t size) {
  const unsigned char *p = data;
  uint64_t h = 0xcbf29ce484222325u;
  for (; size >= 8; p += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    h = (h ^ word) * 0x100000001b3u;
    h ^= h >> 29;
  }
  for (; size; p++, size--) h = (h ^ *p) * 0x100000001b3u;
  return h;
}

static const char *text_of(const JsonValue *o, const char *key) { return json_get_string(o, key, ""); }

// The bytes of a piece of code; NULL if they are not inside the package.
static const char *find_code(const tile_package *p, const JsonValue *code, size_t *size) {
  int64_t offset = json_get_int(code, "offset", -1), n = json_get_int(code, "size", -1);
  bool is_ptx = !strcmp(text_of(code, "kind"), "ptx");
  if (offset < (int64_t)sizeof(PackageHeader) || n <= 0 || (uint64_t)offset > p->size ||
      (uint64_t)n > p->size - (uint64_t)offset)
    return NULL;
  *size = (size_t)n;
  if (is_ptx && ((uint64_t)n >= p->size - (uint64_t)offset || p->bytes[offset + n])) return NULL;
  return p->bytes + offset;
}

static const char *read_header(tile_package *p) {
  PackageHeader h;
  if (p->size < sizeof h || memcmp(p->bytes, PACKAGE_MAGIC, sizeof h.magic)) return "it does not begin as one";
  memcpy(&h, p->bytes, sizeof h);
  if (h.format != PACKAGE_FORMAT || h.header_size != sizeof h) return "it is of another version";
  if (h.file_size > p->size) return "it is cut off";
  p->size = h.file_size;
  if (h.index_offset < sizeof h || h.index_offset > p->size || h.index_size > p->size - h.index_offset)
    return "its index is damaged";
  if (package_checksum(p->bytes + sizeof h, p->size - sizeof h) != h.checksum) return "its checksum is wrong";
  size_t where;
  p->index = json_read(&p->arena, p->bytes + h.index_offset, h.index_size, &where);
  if (!p->index || json_get_int(p->index, "tile_package", 0) != PACKAGE_FORMAT) return "its index is damaged";
  return NULL;
}

// Flat, for looking at: an entry per piece of code.
static const char *list_entries(tile_package *p) {
  VEC(tile_package_entry) all = {0};
  const JsonValue *const *kernels = NULL, *const *variants = NULL, *const *targets = NULL, *const *codes = NULL;
  uint32_t nk = json_get_items(p->index, "kernels", &kernels);
  for (uint32_t k = 0; k < nk; k++) {
    uint32_t nv = json_get_items(kernels[k], "variants", &variants);
    for (uint32_t v = 0; v < nv; v++) {
      uint32_t nt = json_get_items(variants[v], "targets", &targets);
      for (uint32_t t = 0; t < nt; t++) {
        uint32_t nc = json_get_items(targets[t], "code", &codes);
        for (uint32_t c = 0; c < nc; c++) {
          size_t size;
          const char *code = find_code(p, codes[c], &size);
          if (!code) return "its code is damaged";
          const tile_package_entry e = {sizeof e,
                                        text_of(kernels[k], "name"),
                                        text_of(variants[v], "signature"),
                                        text_of(json_get(targets[t], "metadata"), "arch"),
                                        text_of(codes[c], "kind"),
                                        text_of(codes[c], "made_by"),
                                        code,
                                        size};
          vec_push(&p->arena, &all, e);
        }
      }
    }
  }
  p->entries = all.data;
  p->num_entries = all.count;
  return all.count ? NULL : "it is empty";
}

static tile_status read_package(tile_package *p, const char *name, tile_error **error) {
  IN_C_LOCALE;
  jmp_buf on_empty;
  if (setjmp(on_empty)) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading %s", name);
  p->on_empty = &on_empty;
  const char *wrong = read_header(p);
  if (!wrong) wrong = list_entries(p);
  p->on_empty = NULL;
  return wrong ? error_set(error, TILE_ERROR_FILE, "%s is not a package of tilec %s: %s", name, tile_version(), wrong)
               : TILE_OK;
}

static tile_status open_package(const void *bytes, size_t size, void *own, const char *name, tile_package **out,
                                tile_error **error) {
  tile_package *p = calloc(1, sizeof *p);
  if (!p) {
    free(own);
    return error_no_memory(error);
  }
  arena_init_with(&p->arena, (ArenaMemory){0}, &p->on_empty);
  p->bytes = bytes;
  p->size = size;
  p->own = own;
  tile_status status = read_package(p, name, error);
  if (status == TILE_OK) *out = p;
  else tile_package_close(p);
  return status;
}

tile_status tile_package_open_memory(const void *bytes, size_t size, tile_package **package, tile_error **error) {
  RETURN_IF_NULL(bytes, "bytes");
  RETURN_IF_NULL(package, "package");
  *package = NULL;
  return open_package(bytes, size, NULL, "this memory", package, error);
}

static tile_status read_failed(const char *path, tile_error **error) {
  return error_set(error, TILE_ERROR_FILE, "cannot read %s: %s", path, strerror(errno));
}

tile_status tile_package_open_file(const char *path, tile_package **package, tile_error **error) {
  RETURN_IF_NULL(path, "path");
  RETURN_IF_NULL(package, "package");
  *package = NULL;
  FILE *f = fopen(path, "rbe");
  if (!f) return read_failed(path, error);
  struct stat st;
  if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {   // a directory's end is at the largest number
    fclose(f);
    errno = EISDIR;
    return read_failed(path, error);
  }
  long size = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
  if (size < 0 || fseek(f, 0, SEEK_SET)) {
    fclose(f);
    return read_failed(path, error);
  }
  char *bytes = malloc((size_t)size + 1);
  tile_status status = bytes ? TILE_OK : error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading %s", path);
  if (bytes && fread(bytes, 1, (size_t)size, f) != (size_t)size) status = read_failed(path, error);
  fclose(f);
  if (status == TILE_OK) return open_package(bytes, (size_t)size, bytes, path, package, error);
  free(bytes);
  return status;
}

void tile_package_close(tile_package *p) {
  if (!p) return;
  arena_free(&p->arena);
  free(p->own);
  free(p);
}

size_t tile_package_num_entries(const tile_package *p) { return p ? p->num_entries : 0; }
bool tile_package_get_entry(const tile_package *p, size_t i, tile_package_entry *out) {
  return GIVE_OUT(tile_package_entry, out, p && i < p->num_entries ? &p->entries[i] : NULL);
}

// ---- families ----

enum { MAX_ARGS = UINT16_MAX, NOT_FIXED = 0, FIXED_INT, FIXED_NONE, FIXED_FLOAT };
typedef struct {
  uint16_t arg;
  uint8_t kind;
  int64_t i;
  double f;
} Fixed;                       // an argument that is compiled in
typedef struct {
  tile_kernel *kernel;
  uint16_t *map;               // the family's argument that each of the kernel's is
  Fixed *fixed;
  uint32_t num_fixed;
} Variant;

struct tile_family {
  Arena arena;
  jmp_buf *on_empty;
  const char *name;
  const char **arg_names;
  uint32_t num_args;
  Variant *variants;
  uint32_t num_variants;
};

void tile_family_free(tile_family *f) {
  if (!f) return;
  for (uint32_t i = 0; i < f->num_variants; i++) tile_kernel_free(f->variants[i].kernel);
  arena_free(&f->arena);
  free(f);
}

static const JsonValue *find_kernel(const tile_package *p, const char *name, tile_error **error) {
  const JsonValue *const *kernels = NULL;
  uint32_t n = json_get_items(p->index, "kernels", &kernels);
  if (!name && n == 1) return kernels[0];
  if (!name)
    return error_which_kernel(error, "the package", text_of(kernels[0], "name"), text_of(kernels[1], "name"), n > 2),
           NULL;
  const char *names[64];
  for (uint32_t i = 0; i < n; i++) {
    const char *there = text_of(kernels[i], "name");
    if (!strcmp(there, name)) return kernels[i];
    if (i < countof(names)) names[i] = there;
  }
  error_no_kernel(error, "the package", name, NULL, names, n < countof(names) ? n : countof(names));
  return NULL;
}

// The richest target that the device runs; NULL after an error.
static const JsonValue *choose_target(const tile_device *d, const char *kernel, const JsonValue *variant,
                                      tile_error **error) {
  const JsonValue *const *targets = NULL, *best = NULL;
  const Target *best_target = NULL;
  char there[256] = "";
  uint32_t n = json_get_items(variant, "targets", &targets);
  for (uint32_t i = 0; i < n; i++) {
    const char *arch = text_of(json_get(targets[i], "metadata"), "arch");
    const Target *t = target_find(arch);
    size_t used = strlen(there);
    snprintf(there + used, sizeof there - used, "%s%s", used ? ", " : "", arch);
    if (t && target_runs_on(t, d->sm) && target_is_richer(t, best_target)) best = targets[i], best_target = t;
  }
  if (!best)
    error_set(error, TILE_ERROR_USAGE, "%s: the package has code for %s, and %s (sm_%d) runs none of it%s%s%s", kernel,
              there, d->name, d->sm, d->arch ? "; pack it for " : "", d->arch ? d->arch : "",
              d->arch ? " too" : "");
  return best;
}

static tile_kernel *load_target(tile_device *d, const tile_package *p, const JsonValue *target, tile_error **error) {
  tile_kernel *k = kernel_from_metadata(d, json_get(target, "metadata"), error);
  if (!k) return NULL;
  const JsonValue *const *codes = NULL;
  uint32_t n = json_get_items(target, "code", &codes);
  for (uint32_t i = 0; i < n; i++) {
    size_t size;
    const char *code = find_code(p, codes[i], &size);
    if (!strcmp(text_of(codes[i], "kind"), "ptx")) k->ptx = code;
    if (!strcmp(text_of(codes[i], "kind"), "cubin")) k->cubin = code, k->cubin_size = size;
  }
  return kernel_start(k, error) == TILE_OK ? k : NULL;
}

static bool read_fixed(const char *value, Fixed *to) {
  char *end;
  if (!strcmp(value, "None")) return to->kind = FIXED_NONE, true;
  to->kind = FIXED_INT;
  to->i = !strcmp(value, "True");
  if (to->i || !strcmp(value, "False")) return true;
  to->i = strtoll(value, &end, 10);
  if (end != value && !*end) return true;
  to->kind = FIXED_FLOAT;
  to->f = strtod(value, &end);
  return end != value && !*end;
}

// Finds which of the family's arguments are the kernel's, and what the others must be. False if they do not belong
// together.
static bool match_args(tile_family *f, Variant *v) {
  const tile_kernel *k = v->kernel;
  uint32_t used = 0;
  if (k->num_args > MAX_ARGS) return false;   // the family has no more than that either
  v->map = arena_array(&f->arena, uint16_t, k->num_args + 1);
  v->fixed = arena_array(&f->arena, Fixed, f->num_args + 1);
  for (uint32_t i = 0; i < f->num_args; i++) {
    uint32_t p = 0;
    while (p < k->num_args && strcmp(k->params[p].name, f->arg_names[i])) p++;
    if (p < k->num_args) {
      v->map[p] = (uint16_t)i;
      used++;
      continue;
    }
    const char *value = tile_kernel_constexpr(k, f->arg_names[i]);
    v->fixed[v->num_fixed].arg = (uint16_t)i;
    if (!value || !read_fixed(value, &v->fixed[v->num_fixed++])) return false;
  }
  return used == k->num_args;
}

static tile_status refuse_damaged(const tile_family *f, tile_error **error) {
  return error_set(error, TILE_ERROR_FILE, "the package's entry of %s is damaged; pack it again", f->name);
}

static tile_status load_variants(tile_family *f, tile_device *d, const tile_package *p, const JsonValue *kernel,
                                 tile_error **error) {
  const JsonValue *const *variants = NULL, *const *params = NULL;
  uint32_t n = json_get_items(kernel, "variants", &variants);
  f->num_args = json_get_items(kernel, "params", &params);
  f->name = arena_printf(&f->arena, "%s", text_of(kernel, "name"));
  if (!n || f->num_args > MAX_ARGS)
    return refuse_damaged(f, error);
  f->arg_names = arena_array(&f->arena, const char *, f->num_args + 1);
  for (uint32_t i = 0; i < f->num_args; i++)
    f->arg_names[i] = arena_printf(&f->arena, "%s", text_of(params[i], "name"));
  f->variants = arena_array(&f->arena, Variant, n);
  for (uint32_t i = 0; i < n; i++) {
    tile_error *why = NULL;
    const JsonValue *target = choose_target(d, f->name, variants[i], &why);
    Variant *v = &f->variants[i];
    v->kernel = target ? load_target(d, p, target, &why) : NULL;
    if (!v->kernel) return error_pass_on(error, why);
    f->num_variants = i + 1;
    if (!match_args(f, v))
      return refuse_damaged(f, error);
  }
  return TILE_OK;
}

static tile_status load_contained(tile_family *f, tile_device *d, const tile_package *p, const JsonValue *kernel,
                                  tile_error **error) {
  IN_C_LOCALE;
  jmp_buf on_empty;
  if (setjmp(on_empty)) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while loading a package");
  f->on_empty = &on_empty;
  tile_status status = load_variants(f, d, p, kernel, error);
  f->on_empty = NULL;
  return status;
}

tile_status tile_family_load(tile_device *d, const tile_package *p, const char *name, tile_family **family,
                             tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(p, "package");
  RETURN_IF_NULL(family, "family");
  *family = NULL;
  tile_error *why = NULL;
  if (device_check_compiled(d, &why) != TILE_OK) return error_pass_on(error, why);
  const JsonValue *kernel = find_kernel(p, name, &why);
  if (!kernel) return error_pass_on(error, why);
  tile_family *f = calloc(1, sizeof *f);
  if (!f) return error_no_memory(error);
  arena_init_with(&f->arena, hooks_memory(&d->hooks), &f->on_empty);
  tile_status status = load_contained(f, d, p, kernel, error);
  if (status == TILE_OK) *family = f;
  else tile_family_free(f);
  return status;
}

tile_status tile_family_load_memory(tile_device *d, const void *bytes, size_t size, const char *name,
                                    tile_family **family, tile_error **error) {
  tile_package *p;
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(family, "family");
  *family = NULL;
  RETURN_IF_FAILED(tile_package_open_memory(bytes, size, &p, error));
  const tile_status status = tile_family_load(d, p, name, family, error);
  tile_package_close(p);
  return status;
}

const char *tile_family_name(const tile_family *f) { return f ? f->name : NULL; }
size_t tile_family_num_args(const tile_family *f) { return f ? f->num_args : 0; }
size_t tile_family_num_kernels(const tile_family *f) { return f ? f->num_variants : 0; }
tile_kernel *tile_family_kernel(const tile_family *f, size_t i) {
  return f && i < f->num_variants ? f->variants[i].kernel : NULL;
}

// ---- choosing ----

static bool is_fixed(const Fixed *x, const tile_arg *a) {
  switch (x->kind) {
  case FIXED_NONE: return a->kind == TILE_ARG_NONE || (a->kind == TILE_ARG_POINTER && !a->value.pointer);
  case FIXED_INT: return (a->kind == TILE_ARG_INT || a->kind == TILE_ARG_BOOL) && a->value.i == x->i;
  default: return a->kind == TILE_ARG_FLOAT && a->value.f == x->f;
  }
}

// Fixed values, divisibility and whether an integer fits decide between variants. The launch checks the rest.
static bool fits(const Variant *v, const tile_arg *args, bool takes_null) {
  for (uint32_t i = 0; i < v->num_fixed; i++)
    if (!is_fixed(&v->fixed[i], &args[v->fixed[i].arg])) return false;
  for (uint32_t i = 0; i < v->kernel->num_args; i++) {
    const tile_arg *a = &args[v->map[i]];
    if (!launch_fits(&v->kernel->params[i], a)) return false;
    if (!takes_null && a->kind == TILE_ARG_POINTER && !a->value.pointer) return false;
  }
  return true;
}

// A null pointer is None where a variant has that compiled in, and else the address of an empty array.
static const Variant *choose(const tile_family *f, const tile_arg *args) {
  for (int takes_null = 0; takes_null < 2; takes_null++)
    for (uint32_t i = 0; i < f->num_variants; i++)
      if (fits(&f->variants[i], args, takes_null)) return &f->variants[i];
  return NULL;
}

// The last variant is the least specialised: what it objects to is what is wrong.
static tile_status refuse(const tile_family *f, const uint32_t grid[3], const tile_arg *args, tile_error **error) {
  const Variant *v = &f->variants[f->num_variants - 1];
  for (uint32_t i = 0; i < v->num_fixed; i++) {
    const Fixed *x = &v->fixed[i];
    if (is_fixed(x, &args[x->arg])) continue;
    return error_set(error, TILE_ERROR_USAGE,
                     "%s: argument '%s' was compiled in as %s; no variant of the package takes another value",
                     f->name, f->arg_names[x->arg], tile_kernel_constexpr(v->kernel, f->arg_names[x->arg]));
  }
  ArgList mapped;
  if (!arg_list_init(&mapped, v->kernel->num_args)) return error_no_memory(error);
  for (uint32_t i = 0; i < v->kernel->num_args; i++) mapped.data[i] = args[v->map[i]];
  tile_status status = launch_check_grid(v->kernel, grid, error);
  if (status == TILE_OK) status = launch_check_args(v->kernel, mapped.data, v->kernel->num_args, error);
  arg_list_free(&mapped);
  return status != TILE_OK
             ? status
             : error_set(error, TILE_ERROR_USAGE, "%s: no variant of the package takes these arguments", f->name);
}

// flat has room for the items of tuples.
static tile_status take_args(const tile_family *f, const tile_arg **args, size_t n, tile_arg *flat,
                             tile_error **error) {
  if (launch_has_tuples(*args, n)) {
    const tile_arg *given = *args;
    *args = flat;
    return launch_flatten(f->variants[f->num_variants - 1].kernel, f->name, f->arg_names, f->num_args, given, n, flat,
                          error);
  }
  return n == f->num_args ? TILE_OK : launch_wrong_count(f->name, f->arg_names, f->num_args, n, error);
}

tile_status tile_family_select(const tile_family *f, const tile_arg *args, size_t num_args, tile_kernel **kernel,
                               tile_error **error) {
  static const uint32_t any_grid[3] = {1, 1, 1};
  RETURN_IF_NULL(f, "family");
  if (num_args) RETURN_IF_NULL(args, "args");
  RETURN_IF_NULL(kernel, "kernel");
  *kernel = NULL;
  ArgList flat;
  if (!arg_list_init(&flat, f->num_args)) return error_no_memory(error);
  tile_status status = take_args(f, &args, num_args, flat.data, error);
  const Variant *v = status == TILE_OK ? choose(f, args) : NULL;
  if (v) *kernel = v->kernel;
  else if (status == TILE_OK) status = refuse(f, any_grid, args, error);
  arg_list_free(&flat);
  return status;
}

tile_status tile_family_launch(const tile_family *f, const tile_launch_options *given, const tile_arg *args,
                               size_t num_args, tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  RETURN_IF_NULL(f, "family");
  if (num_args) RETURN_IF_NULL(args, "args");
  RETURN_IF_FAILED(TAKE_GIVEN(tile_launch_options, &o, given, error));
  ArgList flat;
  if (!arg_list_init(&flat, f->num_args)) return error_no_memory(error);
  tile_status status = take_args(f, &args, num_args, flat.data, error);
  const Variant *v = status == TILE_OK ? choose(f, args) : NULL;
  if (v) status = kernel_launch(v->kernel, o.grid, o.stream, args, v->map, error);
  else if (status == TILE_OK) status = refuse(f, o.grid, args, error);
  arg_list_free(&flat);
  return status;
}
