// Reads a kernel's description from its metadata: the JSON in the leading comments of PTX, in a package's index or in a
// file of --emit=json. The text may be damaged or made up: everything that a launch relies on is checked here.
#include <string.h>

#include "ir/c_locale.h"
#include "runtime/rt/error.h"
#include "runtime/rt/metadata.h"

enum { METADATA_FORMAT = 1, MAX_PARAMS = UINT16_MAX, MAX_WARPS = 32, MAX_CLUSTER = 16, MAX_TMA_BOX = 256 };

const char *const param_kind_names[NUM_PARAM_KINDS] = {[PARAM_PLAIN] = "plain",
                                                       [PARAM_DESC] = "descriptor",
                                                       [PARAM_AUTO_TENSORMAP] = "tensor_map",
                                                       [PARAM_SCRATCH] = "scratch",
                                                       [PARAM_DESC_FIELDS] = "descriptor_fields"};

// By the names of signatures.
static bool find_scalar(const char *name, size_t n, ScalarKind *out) {
  DtypeKind found;
  if (!dtype_find_n(name, n, &found) || found == DT_VOID) return false;
  return *out = dtype_info[found].scalar, true;
}

// "tensordesc<fp16[64, 32]>"
static bool read_desc_type(KernelParam *p) {
  const char *s = p->spelling + strlen("tensordesc<");
  size_t n = strcspn(s, "[");
  if (!s[n] || !find_scalar(s, n, &p->scalar)) return false;
  p->rank = 1;
  for (s += n; *s && *s != ']'; s++) p->rank += *s == ',';   // a layout may follow
  return p->rank <= MAX_DESC_RANK;
}

static bool read_type(KernelParam *p) {
  const char *s = p->spelling;
  p->bytes = 8;
  p->is_unsigned = s[0] == 'u' || p->kind == PARAM_DESC_FIELDS;
  if (p->kind == PARAM_DESC_FIELDS) return !strncmp(s, "tensordesc<", strlen("tensordesc<")) && read_desc_type(p);
  if (p->kind == PARAM_DESC || p->kind == PARAM_AUTO_TENSORMAP) return true;   // by their tensor maps
  p->is_pointer = s[0] == '*';
  if (p->is_pointer) {
    ScalarKind elem;
    s += 1 + (s[1] == 'k');
    p->elem_bytes = s[0] == '*' ? 8 : find_scalar(s, strlen(s), &elem) ? (scalar_bits(elem) + 7) / 8 : 1;
  }
  if (p->is_pointer || p->kind == PARAM_SCRATCH) return p->is_pointer;
  if (!find_scalar(s, strlen(s), &p->scalar)) return false;
  uint32_t bits = scalar_bits(p->scalar);
  p->is_float = scalar_is_float(p->scalar);
  p->bytes = bits < 8 ? 1 : bits / 8;
  return true;
}

static bool read_param(Arena *a, const JsonValue *json, KernelParam *p) {
  const char *kind = json_get_string(json, "kind", "");
  uint32_t i = 0;
  while (i < NUM_PARAM_KINDS && strcmp(kind, param_kind_names[i])) i++;
  if (i == NUM_PARAM_KINDS) return false;
  *p = (KernelParam){.kind = (FuncParamKind)i,
                     .name = arena_printf(a, "%s", json_get_string(json, "name", "")),
                     .spelling = arena_printf(a, "%s", json_get_string(json, "type", "")),
                     .divisible = json_get_int(json, "divisible", 1),
                     .padding = PAD_ZERO};
  return p->divisible >= 1 && read_type(p);
}

static bool read_ints(const JsonValue *json, const char *key, uint32_t rank, int64_t lo, int64_t hi, int64_t *to) {
  const JsonValue *const *items;
  if (json_get_items(json, key, &items) != rank) return false;
  for (uint32_t i = 0; i < rank; i++) {
    if (items[i]->kind != JSON_NUMBER || !items[i]->is_int || items[i]->i < lo || items[i]->i > hi) return false;
    to[i] = items[i]->i;
  }
  return true;
}

// Numbers of integer arguments, or -1.
static bool read_indices(const tile_kernel *k, const JsonValue *json, const char *key, uint32_t rank, int *to) {
  int64_t values[MAX_RANK];
  if (!read_ints(json, key, rank, -1, (int64_t)k->num_args - 1, values)) return false;
  for (uint32_t i = 0; i < rank; i++) {
    to[i] = (int)values[i];
    if (to[i] < 0) continue;
    const KernelParam *p = &k->params[to[i]];
    if (p->kind != PARAM_PLAIN || p->is_pointer || p->is_float) return false;
  }
  return true;
}

static bool read_tensor_map(tile_kernel *k, const JsonValue *json) {
  // The interpreter runs IR from before the pass that cuts boxes to what TMA takes: it may have none, or larger ones.
  const bool is_tma = !k->device || k->device->arch;
  int64_t index = json_get_int(json, "param", -1);
  if (index < 0 || index >= k->num_params) return false;
  KernelParam *p = &k->params[index];
  const char *element = json_get_string(json, "element", "");
  const JsonValue *const *box;
  p->rank = json_get_items(json, "box", &box);
  p->swizzle_bytes = (uint32_t)json_get_int(json, "swizzle", 0);
  p->is_unsigned = !json_get_bool(json, "signed");
  p->padding = !strcmp(json_get_string(json, "fill", ""), "nan") ? PAD_NAN : PAD_ZERO;
  if ((p->kind != PARAM_DESC && p->kind != PARAM_AUTO_TENSORMAP) || !p->rank || p->rank > MAX_DESC_RANK ||
      !scalar_find(element, &p->scalar) ||
      !read_ints(json, "box", p->rank, is_tma, is_tma ? MAX_TMA_BOX : INT32_MAX, p->box) ||
      (p->swizzle_bytes != 0 && p->swizzle_bytes != 32 && p->swizzle_bytes != 64 && p->swizzle_bytes != 128))
    return false;
  if (p->kind == PARAM_DESC) return true;
  int64_t base = json_get_int(json, "base_param", -1);
  if (base < 0 || base >= k->num_args || !k->params[base].is_pointer) return false;
  p->base_param = (int)base;
  const char *made_at = json_get_string(json, "made_at", "");
  p->made_at = *made_at ? arena_printf(&k->arena, " at %s", made_at) : "";
  return read_indices(k, json, "extent_params", p->rank, p->extent_params) &&
         read_indices(k, json, "stride_params", p->rank, p->stride_params) &&
         read_ints(json, "extent_values", p->rank, INT64_MIN, INT64_MAX, p->extent_values) &&
         read_ints(json, "stride_values", p->rank, INT64_MIN, INT64_MAX, p->stride_values);
}

static bool read_params(tile_kernel *k, const JsonValue *json) {
  const JsonValue *const *items = NULL;
  uint32_t n = json_get_items(json, "params", &items);
  if (n > MAX_PARAMS) return false;
  k->params = arena_array(&k->arena, KernelParam, n + 1);
  for (k->num_params = 0; k->num_params < n; k->num_params++) {
    KernelParam *p = &k->params[k->num_params];
    if (!read_param(&k->arena, items[k->num_params], p)) return false;
    bool is_hidden = p->kind == PARAM_AUTO_TENSORMAP || p->kind == PARAM_SCRATCH;
    if (!is_hidden && k->num_args != k->num_params) return false;   // hidden ones come last
    if (!is_hidden) k->num_args = k->num_params + 1;
  }
  n = json_get_items(json, "tensor_maps", &items);
  for (uint32_t i = 0; i < n; i++)
    if (!read_tensor_map(k, items[i])) return false;
  for (uint32_t i = 0; i < k->num_params; i++)
    if ((k->params[i].kind == PARAM_DESC || k->params[i].kind == PARAM_AUTO_TENSORMAP) && !k->params[i].rank)
      return false;
  return true;
}

static bool read_constexprs(tile_kernel *k, const JsonValue *json) {
  const JsonValue *o = json_get(json, "constexprs");
  uint32_t n = o && o->kind == JSON_OBJECT ? o->count : 0;
  k->constexpr_names = arena_array(&k->arena, const char *, n + 1);
  k->constexpr_values = arena_array(&k->arena, const char *, n + 1);
  for (k->num_constexprs = 0; k->num_constexprs < n; k->num_constexprs++) {
    if (o->items[k->num_constexprs]->kind != JSON_STRING) return false;
    k->constexpr_names[k->num_constexprs] = arena_printf(&k->arena, "%s", o->keys[k->num_constexprs]);
    k->constexpr_values[k->num_constexprs] = arena_printf(&k->arena, "%s", o->items[k->num_constexprs]->s);
  }
  return true;
}

static bool read_number(const JsonValue *json, const char *key, int64_t lo, int64_t hi, uint32_t *to) {
  int64_t v = json_get_int(json, key, -1);
  *to = (uint32_t)v;
  return v >= lo && v <= hi;
}

static uint32_t version_of(const char *text) {
  uint32_t major = 0, minor = 0;
  for (; *text >= '0' && *text <= '9' && major < 100; text++) major = major * 10 + (uint32_t)(*text - '0');
  if (*text == '.' && text[1] >= '0' && text[1] <= '9') minor = (uint32_t)(text[1] - '0');
  return major * 10 + minor;
}

// The part that is wrong, or NULL.
static const char *read_kernel(tile_kernel *k, const JsonValue *json) {
  const char *arch = json_get_string(json, "arch", "");
  k->name = arena_printf(&k->arena, "%s", json_get_string(json, "name", ""));
  k->target = target_find(arch);
  k->ptx_version = version_of(json_get_string(json, "ptx_version", ""));
  k->cooperative = json_get_bool(json, "cooperative");
  k->pdl = json_get_bool(json, "pdl");
  if (json_get_int(json, "format", 0) != METADATA_FORMAT) return "the format, which is another version's";
  if (!*k->name) return "the name";
  if (!k->target) return "the architecture";
  if (!read_number(json, "threads", WARP_SIZE, MAX_WARPS * WARP_SIZE, &k->num_threads)) return "the number of threads";
  if (!read_number(json, "cluster", 1, MAX_CLUSTER, &k->num_ctas)) return "the cluster size";
  if (!read_number(json, "shared_bytes", 0, INT32_MAX, &k->shared_bytes) ||
      !read_number(json, "scratch_bytes", 0, INT32_MAX, &k->scratch_bytes))
    return "the memory it needs";
  k->alike = (uint32_t)json_get_int(json, "alike", 0);
  if (!read_params(k, json)) return "the parameters";
  return read_constexprs(k, json) ? NULL : "the constexprs";
}

tile_kernel *kernel_from_metadata(tile_device *device, const JsonValue *json, tile_error **error) {
  tile_kernel *k = kernel_new(device);
  if (!k) return error_no_memory(error), NULL;
  jmp_buf on_empty;
  if (setjmp(on_empty)) {
    tile_kernel_free(k);
    return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading metadata"), NULL;
  }
  k->on_empty = &on_empty;
  const char *wrong = read_kernel(k, json);
  k->on_empty = NULL;
  if (!wrong) return k;
  error_set(error, TILE_ERROR_USAGE, "the kernel's metadata cannot be used: %s is missing or wrong", wrong);
  tile_kernel_free(k);
  return NULL;
}

// From the line "// {" to the line "// }", without the slashes.
static const char *metadata_of_ptx(Arena *a, const char *ptx, size_t size, size_t *json_size, size_t *end) {
  char *json = arena_alloc(a, size + 1), *to = json;
  bool inside = false;
  for (const char *s = ptx, *stop = ptx + size; s < stop && stop - s > 3 && !strncmp(s, "//", 2);) {
    const char *line_end = memchr(s, '\n', (size_t)(stop - s));
    if (!line_end) return NULL;
    bool is_last = inside && line_end - s == 4 && s[3] == '}';
    if (line_end - s == 4 && s[3] == '{') inside = true;
    if (inside && line_end - s > 3) {
      memcpy(to, s + 3, (size_t)(line_end - s - 3));
      to += line_end - s - 3;
      *to++ = '\n';
    }
    s = line_end + 1;
    if (!is_last) continue;
    *json_size = (size_t)(to - json);
    *end = (size_t)(s - ptx);
    return json;
  }
  return NULL;
}

size_t metadata_size_in_ptx(Arena *a, const char *ptx, size_t size) {
  size_t json_size, end;
  return metadata_of_ptx(a, ptx, size, &json_size, &end) ? end : 0;
}

static const JsonValue *find_kernel(const JsonValue *root, const char *name, tile_error **error) {
  const JsonValue *const *kernels = NULL;
  uint32_t n = json_get_items(root, "kernels", &kernels);
  if (json_get_int(root, "tile_metadata", 0) != METADATA_FORMAT || !n)
    return error_set(error, TILE_ERROR_USAGE, "this is not metadata of this tilec version; compile the kernel again"),
           NULL;
  if (!name && n > 1)
    return error_which_kernel(error, "the code", json_get_string(kernels[0], "name", "?"),
                              json_get_string(kernels[1], "name", "?"), n > 2),
           NULL;
  const char *names[64];
  for (uint32_t i = 0; i < n; i++) {
    const char *there = json_get_string(kernels[i], "name", "");
    if (!name || !strcmp(name, there)) return kernels[i];
    if (i < countof(names)) names[i] = there;
  }
  error_no_kernel(error, "the code", name, NULL, names, n < countof(names) ? n : countof(names));
  return NULL;
}

static tile_kernel *describe(tile_device *device, Arena *a, const char *json, size_t size, const char *name,
                             tile_error **error) {
  size_t where;
  const JsonValue *root = json_read(a, json, size, &where);
  if (!root)
    return error_set(error, TILE_ERROR_USAGE, "the metadata is not JSON from byte %zu on; compile the kernel again",
                     where),
           NULL;
  const JsonValue *found = find_kernel(root, name, error);
  return found ? kernel_from_metadata(device, found, error) : NULL;
}

static tile_kernel *from_text(tile_device *device, Arena *a, const char *text, size_t size, bool is_ptx,
                              const char *name, tile_error **error) {
  size_t json_size = size, end;
  const char *json = is_ptx ? metadata_of_ptx(a, text, size, &json_size, &end) : text;
  if (!json)
    return error_set(error, TILE_ERROR_USAGE,
                     "this PTX does not begin with the metadata that tilec writes; load it as tilec wrote it"),
           NULL;
  return describe(device, a, json, json_size, name, error);
}

// In a function of its own for setjmp's sake.
static tile_kernel *from_text_contained(tile_device *device, Arena *a, const char *text, size_t size, bool is_ptx,
                                        const char *name, tile_error **error) {
  IN_C_LOCALE;
  jmp_buf on_empty, *const empty = &on_empty;
  if (setjmp(on_empty)) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading metadata"), NULL;
  a->on_empty = &empty;
  tile_kernel *k = from_text(device, a, text, size, is_ptx, name, error);
  a->on_empty = NULL;
  return k;
}

tile_kernel *kernel_from_ptx(tile_device *device, const char *ptx, size_t size, const char *name, tile_error **error) {
  Arena a;
  arena_init_with(&a, device ? hooks_memory(&device->hooks) : (ArenaMemory){0}, NULL);
  tile_kernel *k = from_text_contained(device, &a, ptx, size, true, name, error);
  arena_free(&a);
  if (k) k->ptx = ptx;
  return k;
}

tile_kernel *kernel_from_json(tile_device *device, const char *json, size_t size, const char *name,
                              tile_error **error) {
  Arena a;
  arena_init_with(&a, device ? hooks_memory(&device->hooks) : (ArenaMemory){0}, NULL);
  tile_kernel *k = from_text_contained(device, &a, json, size, false, name, error);
  arena_free(&a);
  return k;
}
