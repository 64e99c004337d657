// --emit=header: a compiled kernel inside a C header, with a launch function of its parameters' types. The header has no state:
// what is loaded belongs to the caller, so it may be included anywhere and used from any thread.
#include <ctype.h>
#include <string.h>

#include "runtime/compile.h"
#include "runtime/device.h"
#include "runtime/error.h"

enum { BYTES_PER_LINE = 32 };

// A parameter's name as a C identifier that meets neither a keyword nor the function's own names.
static const char *c_name(Arena *a, const char *name) {
  static const char *const taken[] = {"kernel", "grid", "stream", "error", "args", "options", "int", "long", "short", "char", "float", "double", "signed", "unsigned",
                                      "const", "static", "void", "auto", "register", "volatile", "default", "case", "switch", "struct", "union", "enum", "do",
                                      "goto", "sizeof", "extern", "inline", "restrict", "typedef", "new", "delete", "this", "class", "template", "operator"};
  for (uint32_t i = 0; i < countof(taken); i++)
    if (!strcmp(name, taken[i])) return arena_printf(a, "%s_", name);
  return name;
}

static bool is_tensor(const KernelParam *p) { return p->kind == PARAM_DESC || p->kind == PARAM_DESC_FIELDS; }

static const char *c_type(Arena *a, const KernelParam *p) {
  if (is_tensor(p)) return "const tile_tensor *";
  if (p->is_pointer) return "uint64_t ";
  if (p->is_float) return p->scalar == SC_F64 ? "double " : "float ";
  uint32_t bits = scalar_bits(p->scalar);
  return bits == 1 ? "bool " : arena_printf(a, "%sint%u_t ", p->is_unsigned ? "u" : "", bits);
}

static void put_params(Buf *b, const tile_kernel *k) {
  for (uint32_t i = 0; i < k->num_args; i++) {
    const KernelParam *p = &k->params[i];
    buf_printf(b, " * %s: %s", c_name(b->arena, p->name), p->spelling);
    if (p->is_pointer) buf_puts(b, ", the address of an array on the device");
    if (p->divisible > 1) buf_printf(b, ", a multiple of %lld%s", (long long)p->divisible, p->is_pointer ? " bytes" : "");
    buf_putc(b, '\n');
  }
}

static void put_launch(Buf *b, const tile_kernel *k) {
  buf_printf(b, "static inline tile_status %s_launch(tile_kernel *kernel, const uint32_t grid[3], void *stream", k->name);
  for (uint32_t i = 0; i < k->num_args; i++) buf_printf(b, ",\n    %s%s", c_type(b->arena, &k->params[i]), c_name(b->arena, k->params[i].name));
  buf_printf(b, ",\n    tile_error **error) {\n  tile_arg args[%u];\n  tile_launch_options options = TILE_LAUNCH_OPTIONS_INIT;\n", k->num_args ? k->num_args : 1);
  for (uint32_t i = 0; i < k->num_args; i++) {
    const KernelParam *p = &k->params[i];
    const char *make = is_tensor(p) ? "tensor" : p->is_pointer ? "pointer" : p->is_float ? "float" : "int";
    buf_printf(b, "  args[%u] = tile_arg_%s(%s%s);\n", i, make, !is_tensor(p) && !p->is_pointer && !p->is_float ? "(int64_t)" : "", c_name(b->arena, p->name));
  }
  buf_printf(b, "  for (int i = 0; i < 3; i++) options.grid[i] = grid[i];\n  options.stream = stream;\n  return tile_kernel_launch(kernel, &options, args, %u, error);\n}\n", k->num_args);
}

static void put_kernel(Buf *b, const tile_kernel *k) {
  Buf image = buf_make(b->arena);
  image_write(&image, k);
  const unsigned char *bytes = (const unsigned char *)buf_str(&image);
  buf_printf(b, "\nstatic const unsigned char %s_image[%zu] = {", k->name, image.size);
  for (size_t i = 0; i < image.size; i++) buf_printf(b, "%s%u,", i % BYTES_PER_LINE ? "" : "\n", bytes[i]);
  buf_printf(b, "\n};\n\n/* Loads the kernel, once per device; tile_kernel_free when it is not needed any more. */\n"
                "static inline tile_status %s_load(tile_device *device, tile_kernel **kernel, tile_error **error) {\n"
                "  return tile_kernel_load_image(device, %s_image, sizeof %s_image, kernel, error);\n}\n", k->name, k->name, k->name);
  buf_printf(b, "\n/* Queues a launch of %s for %s. %u threads per program, %u bytes of shared memory.\n", k->name, k->target->name, k->num_threads, k->shared_bytes);
  put_params(b, k);
  for (uint32_t i = 0; i < k->num_constexprs; i++) buf_printf(b, " * compiled in: %s = %s\n", k->constexpr_names[i], k->constexpr_values[i]);
  buf_puts(b, " */\n");
  put_launch(b, k);
}

tile_status header_write(tile_program *p, Buf *b, tile_error **error) {
  buf_printf(b, "/* Made by tilec %s; do not edit. Link with libtile. */\n#ifndef TILE_KERNEL_", tile_version());
  for (const Func *f = p->module->funcs; f; f = f->next)
    for (const char *s = f->name; *s; s++) buf_putc(b, (char)toupper((unsigned char)*s));
  buf_puts(b, "_H\n");
  const char *guard = strrchr(arena_strndup(b->arena, b->data, b->size - 1), ' ') + 1;
  buf_printf(b, "#define %s\n\n#include <tile/tile.h>\n", guard);
  for (const Func *f = p->module->funcs; f; f = f->next) {
    tile_error *e = NULL;
    tile_kernel *k = kernel_describe(NULL, p, f->name, &e);
    if (!k) {
      tile_status status = error_set(error, tile_error_status(e), "%s", tile_error_message(e));
      tile_error_free(e);
      return status;
    }
    put_kernel(b, k);
    tile_kernel_free(k);
  }
  buf_puts(b, "\n#endif\n");
  return TILE_OK;
}
