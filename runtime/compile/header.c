// Writes a C header that holds a package and, for each kernel, functions with its parameters' types. The header has no
// state: the caller owns what it loads, so any file may include the header and any thread may use it.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/pack.h"

enum { BYTES_PER_LINE = 32 };

// A parameter's name as a C identifier that is neither a keyword nor one of the function's own names.
static const char *c_name(Arena *a, const char *name) {
  static const char *const taken[] = {"family", "grid", "stream", "error", "args", "options", "int", "long", "short",
                                      "char", "float", "double", "signed", "unsigned", "const", "static", "void",
                                      "auto", "register", "volatile", "default", "case", "switch", "struct", "union",
                                      "enum", "do", "goto", "sizeof", "extern", "inline", "restrict", "typedef", "bool",
                                      "true", "false", "NULL", "alignof", "constexpr", "nullptr", "static_assert",
                                      "thread_local", "typeof", "typeof_unqual", "errno", "linux", "unix",
                                      // of C++
                                      "new", "delete", "this", "template", "operator", "namespace", "private",
                                      "protected", "public", "virtual", "friend", "using", "typename", "catch", "throw",
                                      "explicit", "export", "mutable", "alignas", "asm", "xor", "bitand", "bitor",
                                      "compl", "and_eq", "or_eq", "xor_eq", "not_eq", "char8_t", "char16_t", "char32_t",
                                      "wchar_t", "concept", "requires", "consteval", "constinit", "co_await",
                                      "co_return", "co_yield", "const_cast", "dynamic_cast", "reinterpret_cast",
                                      "static_cast", "decltype", "noexcept", "typeid"};
  size_t n = strlen(name);
  while (n && name[n - 1] == '_') n--;   // "error" becomes "error_", therefore "error_" becomes "error__"
  for (uint32_t i = 0; i < countof(taken); i++)
    if (strlen(taken[i]) == n && !memcmp(name, taken[i], n)) return arena_printf(a, "%s_", name);
  return name;
}

typedef enum { ARG_POINTER, ARG_TENSOR, ARG_FLOAT, ARG_INT } ArgClass;

static ArgClass class_of(const char *type) {
  if (type[0] == '*' || !*type) return ARG_POINTER;   // no type: None in every variant, passed as a null pointer
  if (!strncmp(type, "tensordesc<", 11)) return ARG_TENSOR;
  return type[0] == 'i' || type[0] == 'u' ? ARG_INT : ARG_FLOAT;
}

static const char *c_type(Arena *a, const char *type) {
  switch (class_of(type)) {
  case ARG_POINTER: return "uint64_t ";
  case ARG_TENSOR: return "const tile_tensor *";
  case ARG_FLOAT: return !strcmp(type, "fp64") ? "double " : "float ";
  default: return !strcmp(type + 1, "1") ? "bool " : arena_printf(a, "%sint%s_t ", type[0] == 'u' ? "u" : "", type + 1);
  }
}

static void put_launch(Buf *b, const PackKernel *k) {
  static const char *const makers[] =
      {[ARG_POINTER] = "pointer(", [ARG_TENSOR] = "tensor(", [ARG_FLOAT] = "float(", [ARG_INT] = "int((int64_t)"};
  buf_printf(b, "static inline tile_status %s_launch(const tile_family *family, const uint32_t grid[3], void *stream",
             k->name);
  for (uint32_t i = 0; i < k->num_params; i++)
    buf_printf(b, ",\n    %s%s", c_type(b->arena, k->params[i].type), c_name(b->arena, k->params[i].name));
  buf_printf(
      b,
      ",\n    tile_error **error) {\n  tile_arg args[%u];\n  tile_launch_options options = TILE_LAUNCH_OPTIONS_INIT;\n",
      k->num_params ? k->num_params : 1);
  for (uint32_t i = 0; i < k->num_params; i++)
    buf_printf(b, "  args[%u] = tile_arg_%s%s);\n", i, makers[class_of(k->params[i].type)],
               c_name(b->arena, k->params[i].name));
  buf_printf(
      b,
      "  for (int i = 0; i < 3; i++) options.grid[i] = grid[i];\n"
      "  options.stream = stream;\n"
      "  return tile_family_launch(family, &options, args, %u, error);\n}\n",
      k->num_params);
}

static void put_params(Buf *b, const PackKernel *k) {
  for (uint32_t i = 0; i < k->num_params; i++) {
    const PackParam *p = &k->params[i];
    buf_printf(b, " *   %s: %s", c_name(b->arena, p->name), *p->type ? p->type : "None");
    if (class_of(p->type) == ARG_POINTER) buf_puts(b, ", the address of an array on the device");
    if (p->divisible > 1)
      buf_printf(b, ", a multiple of %lld%s", (long long)p->divisible,
                 class_of(p->type) == ARG_POINTER ? " bytes" : "");
    buf_putc(b, '\n');
  }
}

// Makes a constexpr that is the same integer in all variants an enumerator: hosts compute grids from it.
static void put_constants(Buf *b, const PackKernel *k) {
  const PackVariant *first = &k->variants.data[0];
  for (uint32_t i = 1; i < k->variants.count; i++)
    if (strcmp(first->constexprs, k->variants.data[i].constexprs)) return;
  for (uint32_t i = 0; i < first->num_constexprs; i++) {
    const char *name = first->constexpr_names[i], *value = first->constexpr_values[i];
    if (!strcmp(name, "load") || !strcmp(name, "launch") || !strcmp(name, "image"))
      continue;   // the names of the functions and of the package's bytes
    char *end;
    long long v = strtoll(value, &end, 10);
    if (*value && !*end && v >= INT32_MIN && v <= INT32_MAX)
      buf_printf(b, "enum { %s_%s = %lld };\n", k->name, name, v);
  }
}

// Puts text in a C comment: a constexpr's string may contain the end of one.
static void put_in_comment(Buf *b, const char *text) {
  for (; *text; text++) {
    buf_putc(b, *text);
    if ((text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*')) buf_putc(b, ' ');
  }
}

static void put_kernel(Buf *b, const PackKernel *k, const char *image) {
  buf_printf(b, "\n/* ---- %s ---- */\n\n", k->name);
  put_constants(b, k);
  buf_printf(b,
             "/* Loads the kernel, once per device. Free it by tile_family_free. */\n"
             "static inline tile_status %s_load(tile_device *device, tile_family **family, tile_error **error) {\n"
             "  return tile_family_load_memory(device, %s, sizeof %s, \"%s\", family, error);\n}\n",
             k->name, image, image, k->name);
  buf_printf(b, "\n/* Queues a launch of %s.\n", k->name);
  put_params(b, k);
  buf_puts(b, " * Variants, in the order in which they are tried:\n");
  for (uint32_t i = 0; i < k->variants.count; i++) {
    const PackVariant *v = &k->variants.data[i];
    buf_puts(b, " *   (");
    put_in_comment(b, v->condition);
    buf_puts(b, ") for");
    for (uint32_t t = 0; t < v->targets.count; t++)
      buf_printf(b, "%s %s", t ? "," : "", v->targets.data[t].target->name);
    buf_printf(b, "; %s\n", v->targets.data[0].description);
    if (!*v->constexprs) continue;
    buf_puts(b, " *     compiled in: ");
    put_in_comment(b, v->constexprs);
    buf_putc(b, '\n');
  }
  buf_puts(b, " */\n");
  put_launch(b, k);
}

void header_write(Pack *pack, Buf *b) {
  Buf image = buf_make(b->arena), stem = buf_make(b->arena), guard = buf_make(b->arena);
  pack_write(pack, &image);
  for (uint32_t i = 0; i < pack->kernels.count; i++) buf_printf(&stem, "%s_", pack->kernels.data[i].name);
  for (const char *s = buf_str(&stem); *s; s++) buf_putc(&guard, (char)toupper((unsigned char)*s));
  const char *name = arena_printf(b->arena, "%simage", buf_str(&stem));
  buf_printf(
      b,
      "/* Made by tilec %s; do not edit. Link with libtile-rt or libtile. */\n"
      "#ifndef TILE_KERNEL_%sH\n#define TILE_KERNEL_%sH\n\n#include <tile/rt.h>\n\n",
      tile_version(), buf_str(&guard), buf_str(&guard));
  const unsigned char *bytes = (const unsigned char *)buf_str(&image);
  buf_printf(b, "static const unsigned char %s[%zu] = {", name, image.size);
  for (size_t i = 0; i < image.size; i++) buf_printf(b, "%s%u,", i % BYTES_PER_LINE ? "" : "\n", bytes[i]);
  buf_puts(b, "\n};\n");
  for (uint32_t i = 0; i < pack->kernels.count; i++) put_kernel(b, &pack->kernels.data[i], name);
  buf_puts(b, "\n#endif\n");
}
