// Packages and metadata: what is written is what is read, a launch takes the right variant, damage is found.
#include "tile_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compile.h"

static const char source[] =
  "@kernel\n"
  "def scale(x, n, stride, BLOCK: constexpr = 128):\n"
  "    offs = program_id(0) * BLOCK + arange(0, BLOCK)\n"
  "    store(x + offs * stride, load(x + offs * stride, offs < n) * 2.0, offs < n)\n";

static const char products[] =
  "@kernel\n"
  "def product(a, b, c, n, flag, BN: constexpr = 64):\n"
  "    x = a.load([program_id(0) * 64, 0])\n"
  "    r = arange(0, 64)\n"
  "    y = load(b + r[:, None] * BN + r[None, :])\n"
  "    store(c + r[:, None] * n + r[None, :], dot(x, y))\n";

static const char pointers[] =
  "@kernel\n"
  "def through(table, x):\n"
  "    store(x, load(load(table)))\n";

// text is a kernel or the name of a file.
static tile_program *compile_signature(const char *text, const char *signature, const char *arch) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  tile_program *p;
  tile_error *e = NULL;
  o.signature = signature;
  o.arch = arch;
  tile_status status = text[0] == '@' ? tile_compile_memory("k.tile", text, strlen(text), &o, &p, &e) : tile_compile_file(text, &o, &p, &e);
  if (status != TILE_OK) fail_msg("%s", tile_error_message(e));
  return p;
}

static Buf make_package(Arena *a, const char *const (*jobs)[2], size_t count) {
  Pack pack = {.arena = a};
  const PackOptions o = {.assembler = NULL};
  for (size_t i = 0; i < count; i++) {
    tile_program *p = compile_signature(source, jobs[i][0], jobs[i][1]);
    tile_error *e = NULL;
    if (pack_add(&pack, p, &o, &e) != TILE_OK) fail_msg("%s", tile_error_message(e));
    tile_program_free(p);
  }
  Buf b = buf_make(a);
  pack_write(&pack, &b);
  return b;
}

// The description that is read from PTX says what the compiled program says.
TEST(same_description) {
  const struct { const char *text, *signature, *arch; } cases[] = {
    {source, "*fp32:16, i32:16, 1", "sm_90a"}, {source, "*bf16, i64, i32", "sm_80"}, {pointers, "**fp32, *fp64", "sm_80"}, {source, "*fp32:16, u32, i32:16", "sm_120a"},
    {products, "tensordesc<fp16[64, 64]>, *kfp16:16, *fp32, i32:16, i1", "sm_90a"}, {products, "tensordesc<fp16[64, 64]>, *fp16, *fp32, i32, i1", "sm_80"},
    {"examples/matmul.tile", "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1, 128, 128, 64, 8", "sm_90a"}};
  bool has_kind[NUM_PARAM_KINDS] = {false};
  for (size_t n = 0; n < countof(cases); n++) {
    tile_program *p = compile_signature(cases[n].text, cases[n].signature, cases[n].arch);
    tile_error *e = NULL;
    const Module *m = p->module;
    const Func *f = m->funcs;
    size_t size;
    const char *ptx = tile_program_output(p, TILE_EMIT_PTX, &size);
    tile_kernel *got = kernel_from_ptx(NULL, ptx, size, NULL, &e);
    if (!got) fail_msg("%s", tile_error_message(e));
    assert_string_equal(got->name, f->name);
    assert_ptr_equal(got->target, m->target);
    assert_int_equal(got->num_params, f->num_params);
    assert_int_equal(got->num_threads, m->num_warps * WARP_SIZE);
    assert_int_equal(got->num_ctas, m->num_ctas);
    assert_int_equal(got->shared_bytes, m->shared_bytes);
    assert_int_equal(got->scratch_bytes, m->scratch_bytes);
    assert_int_equal(got->ptx_version, p->ptx_version);
    assert_int_equal(got->num_constexprs, f->num_constexprs);
    for (uint32_t i = 0; i < f->num_params; i++) {
      const KernelParam *g = &got->params[i];
      const FuncParam *w = &f->params[i];
      const Type *type = f->body->args[i]->type;
      has_kind[w->kind] = true;
      assert_string_equal(g->name, w->name);
      assert_int_equal(g->kind, w->kind);
      assert_int_equal(g->is_pointer, type->kind == TYPE_PTR);
      assert_int_equal(g->divisible, w->divisible > 1 ? w->divisible : 1);
      assert_int_equal(g->bytes, type->kind == TYPE_SCALAR ? type_elem_bytes(type) : 8);
      if (type->kind == TYPE_PTR) assert_int_equal(g->elem_bytes, type->elem->kind == TYPE_SCALAR ? type_elem_bytes(type->elem) : 8);
      if (type->kind == TYPE_SCALAR) assert_int_equal(g->is_float, scalar_is_float(type->scalar));
      if (type->kind == TYPE_SCALAR) assert_int_equal(g->scalar, type->scalar);
      if (type->kind == TYPE_DESC) assert_int_equal(g->rank, type->rank);
      if (type->kind == TYPE_DESC) assert_int_equal(g->scalar, type->elem->scalar);
      if (w->kind != PARAM_DESC && w->kind != PARAM_AUTO_TENSORMAP) continue;
      assert_int_equal(g->swizzle_bytes, w->swizzle_bytes);
      assert_int_equal(g->padding, w->padding);
      assert_int_equal(g->is_unsigned, !w->is_signed);
      assert_memory_equal(g->box, w->box, g->rank * sizeof *w->box);
      if (w->kind == PARAM_DESC) continue;
      assert_int_equal(g->base_param, w->base_param);
      assert_memory_equal(g->extent_params, w->extent_params, g->rank * sizeof *w->extent_params);
      assert_memory_equal(g->stride_params, w->stride_params, g->rank * sizeof *w->stride_params);
      for (uint32_t r = 0; r < g->rank; r++) {
        if (w->extent_params[r] < 0) assert_int_equal(g->extent_values[r], w->extent_values[r]);
        if (w->stride_params[r] < 0) assert_int_equal(g->stride_values[r], w->stride_values[r]);
      }
    }
    tile_kernel_free(got);
    tile_program_free(p);
  }
  assert_true(has_kind[PARAM_DESC] && has_kind[PARAM_DESC_FIELDS] && has_kind[PARAM_AUTO_TENSORMAP]);
}

static const char *const jobs[][2] = {
  {"*fp32, i32, i32", "sm_80"},       {"*fp32:16, i32, 1", "sm_80"},  {"*fp32:16, i32:16, 1", "sm_80"},
  {"*fp32, i32, i32", "sm_90a"},      {"*fp32:16, i32, 1", "sm_90a"}, {"*fp32:16, i32:16, 1", "sm_90a"},
  {"*fp32, i64, i64", "sm_80"},       {"*fp32, i64, i64", "sm_90a"},
};

TEST(dispatch) {
  Arena a;
  arena_init(&a);
  Buf b = make_package(&a, jobs, countof(jobs));
  tile_device *device = case_device("sim");
  tile_family *family;
  OK(tile_family_load_memory(device, b.data, b.size, NULL, &family, &error));
  assert_string_equal(tile_family_name(family), "scale");
  assert_int_equal(tile_family_num_args(family), 3);
  assert_int_equal(tile_family_num_kernels(family), 4);
  enum { N = 320 };
  static float data[N];
  uint64_t x = case_buffer(device, NULL, sizeof data);
  const struct { uint64_t offset; int64_t n, stride; size_t variant; } cases[] = {
    {0, 160, 1, 0}, {0, 150, 1, 1}, {4, 150, 1, 2}, {0, 160, 2, 2}, {0, INT64_C(1) << 33, 1, 3}};
  for (size_t i = 0; i < countof(cases); i++) {
    const tile_arg args[] = {tile_arg_pointer(x + cases[i].offset), tile_arg_int(cases[i].n), tile_arg_int(cases[i].stride)};
    tile_kernel *taken;
    OK(tile_family_select(family, args, 3, &taken, &error));
    assert_ptr_equal(taken, tile_family_kernel(family, cases[i].variant));
    assert_string_equal(tile_kernel_constexpr(taken, "BLOCK"), "128");
    if (cases[i].n > N) continue;
    for (int k = 0; k < N; k++) data[k] = 1;
    OK(tile_memory_upload(device, x, data, sizeof data, &error));
    tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
    o.grid[0] = 2;
    OK(tile_family_launch(family, &o, args, 3, &error));
    OK(tile_memory_download(device, data, x, sizeof data, &error));
    for (int64_t k = 0; k < N; k++) {
      int64_t at = k - (int64_t)cases[i].offset / 4;
      bool doubled = at >= 0 && at % cases[i].stride == 0 && at / cases[i].stride < cases[i].n;
      if (data[k] != (doubled ? 2.0f : 1.0f)) fail_msg("case %zu: element %d is %g", i, (int)k, (double)data[k]);
    }
  }
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  // An empty array, whose address is a null pointer.
  tile_arg args[] = {tile_arg_pointer(0), tile_arg_int(0), tile_arg_int(1)};
  OK(tile_family_launch(family, &o, args, 3, &error));
  OK(tile_device_synchronize(device, &error));
  REFUSED(tile_family_launch(family, &o, args, 2, &error), TILE_ERROR_USAGE, "scale takes 3 arguments, got 2: ");
  args[0] = tile_arg_float(1);
  REFUSED(tile_family_launch(family, &o, args, 3, &error), TILE_ERROR_USAGE, "expects a pointer, got a float");
  args[0] = tile_arg_pointer(x);
  o.grid[0] = 0;
  OK(tile_family_launch(family, &o, args, 3, &error));
  tile_memory_free(device, x, NULL);
  tile_family_free(family);
  tile_device_close(device);
  arena_free(&a);
}

TEST(choices) {
  Arena a;
  arena_init(&a);
  tile_device *device;
  tile_family *family;
  OK(tile_device_open("sim", &device, &error));
  Buf old = make_package(&a, jobs, 3);
  OK(tile_family_load_memory(device, old.data, old.size, "scale", &family, &error));   // sm_80 runs on sm_90
  tile_family_free(family);
  REFUSED(tile_family_load_memory(device, old.data, old.size, "skale", &family, &error), TILE_ERROR_USAGE, "the package has no kernel 'skale'; there is scale");
  static const char *const later[][2] = {{"*fp32, i32, i32", "sm_100a"}};
  Buf new = make_package(&a, later, 1);
  REFUSED(tile_family_load_memory(device, new.data, new.size, NULL, &family, &error), TILE_ERROR_USAGE, "the package has code for sm_100a, and Simulated H200 (sm_90) runs none of it; pack it for sm_90a too");
  assert_null(family);
  static const char *const fixed[][2] = {{"*fp32, i32, 1", "sm_90a"}};
  Buf one = make_package(&a, fixed, 1);
  OK(tile_family_load_memory(device, one.data, one.size, NULL, &family, &error));
  const tile_arg args[] = {tile_arg_pointer(64), tile_arg_int(1), tile_arg_int(3)};
  REFUSED(tile_family_launch(family, NULL, args, 3, &error), TILE_ERROR_USAGE, "argument 'stride' was compiled in as 1; no variant of the package takes another value");
  tile_family_free(family);
  tile_device_close(device);
  OK(tile_device_open("interp", &device, &error));
  REFUSED(tile_family_load_memory(device, one.data, one.size, NULL, &family, &error), TILE_ERROR_USAGE, "the interpreter runs IR");
  tile_device_close(device);
  arena_free(&a);
}

TEST(several_kernels) {
  Arena a;
  arena_init(&a);
  Pack pack = {.arena = &a};
  const PackOptions o = {.assembler = NULL};
  static const char *const texts[] = {source, products}, *const signatures[] = {"*fp32, i32, i32, 128", "tensordesc<fp16[64, 64]>, *fp16, *fp32, i32, i1"};
  for (size_t i = 0; i < countof(texts); i++) {
    tile_program *p = compile_signature(texts[i], signatures[i], "sm_90a");
    OK(pack_add(&pack, p, &o, &error));
    tile_program_free(p);
  }
  Buf b = buf_make(&a);
  pack_write(&pack, &b);
  tile_device *device = case_device("sim");
  tile_family *family;
  REFUSED(tile_family_load_memory(device, b.data, b.size, NULL, &family, &error), TILE_ERROR_USAGE, "the package has several kernels (scale, product): name one");
  tile_device_close(device);
  arena_free(&a);
}

TEST(cannot_be_packed) {
  Arena a;
  arena_init(&a);
  Pack pack = {.arena = &a};
  const PackOptions o = {.assembler = NULL};
  const struct { const char *signature, *says; } cases[] = {
    {"*fp32, i32, i32, 128", NULL}, {"*fp32, i32, i32, 256", "take the same arguments"}, {"*fp32, i32, i32, 128", "given twice"},
    {"*fp16, i32, i32, 128", "x is *fp32 in one signature and *fp16 in another"}};
  for (size_t i = 0; i < countof(cases); i++) {
    tile_program *p = compile_signature(source, cases[i].signature, "sm_90a");
    if (cases[i].says) REFUSED(pack_add(&pack, p, &o, &error), TILE_ERROR_USAGE, cases[i].says);
    else OK(pack_add(&pack, p, &o, &error));
    tile_program_free(p);
  }
  arena_free(&a);
}

// More arguments than a launch keeps on its stack, some of which are compiled in.
TEST(many_arguments) {
  enum { WIDE = 300 };
  static char text[1 << 13], signature[1 << 12];
  char *at = text + sprintf(text, "@kernel\ndef wide(out"), *s = signature + sprintf(signature, "*i32");
  for (int i = 0; i < WIDE; i++) at += sprintf(at, ", a%d", i), s += sprintf(s, i == 7 ? ", 1" : ", i32");
  sprintf(at, "):\n    store(out, a0 + a7 * 10 + a%d * 100)\n", WIDE - 1);
  Arena a;
  arena_init(&a);
  Pack pack = {.arena = &a};
  tile_program *p = compile_signature(text, signature, "sm_90a");
  OK(pack_add(&pack, p, &(PackOptions){.assembler = NULL}, &error));
  tile_program_free(p);
  Buf b = buf_make(&a);
  pack_write(&pack, &b);
  tile_device *device = case_device("sim");
  tile_family *family;
  OK(tile_family_load_memory(device, b.data, b.size, NULL, &family, &error));
  assert_int_equal(tile_family_num_args(family), WIDE + 1);
  int32_t got = 0;
  const uint64_t out = case_buffer(device, &got, sizeof got);
  tile_arg args[WIDE + 1] = {tile_arg_pointer(out)};
  for (int i = 0; i < WIDE; i++) args[i + 1] = tile_arg_int(i == 7 ? 1 : i + 3);
  OK(tile_family_launch(family, NULL, args, WIDE + 1, &error));
  case_fetch(device, &got, out, sizeof got);
  assert_int_equal(got, 3 + 10 + (WIDE + 2) * 100);
  args[8] = tile_arg_int(2);
  REFUSED(tile_family_launch(family, NULL, args, WIDE + 1, &error), TILE_ERROR_USAGE, "argument 'a7' was compiled in as 1");
  tile_family_free(family);
  OK(tile_memory_free(device, out, &error));
  tile_device_close(device);
  arena_free(&a);
}

// Every byte matters: none can be changed, and none cut off, unseen. What is made up is refused without a crash.
TEST(damage) {
  Arena a;
  arena_init(&a);
  Buf b = make_package(&a, &jobs[3], 1);
  tile_package *p;
  assert_int_equal(tile_package_open_memory(b.data, b.size, &p, NULL), TILE_OK);
  assert_int_equal(tile_package_num_entries(p), 1);
  tile_package_entry e = TILE_PACKAGE_ENTRY_INIT;
  assert_true(tile_package_get_entry(p, 0, &e));
  assert_string_equal(e.arch, "sm_90a");
  assert_string_equal(e.kind, "ptx");
  assert_int_equal(strlen(e.code), e.code_size);
  assert_false(tile_package_get_entry(p, 1, &e));
  tile_package_close(p);
  for (size_t cut = 0; cut < b.size; cut += cut < 80 ? 1 : 97) assert_int_equal(tile_package_open_memory(b.data, cut, &p, NULL), TILE_ERROR_FILE);
  const size_t reserved = offsetof(PackageHeader, reserved);
  for (size_t i = 0; i < b.size; i += i < 80 ? 1 : 13) {
    if (i >= reserved && i < sizeof(PackageHeader)) continue;
    b.data[i] ^= 0x10;
    assert_int_equal(tile_package_open_memory(b.data, b.size, &p, NULL), TILE_ERROR_FILE);
    b.data[i] ^= 0x10;
  }
  // With a checksum that fits, the index itself is what is checked.
  tile_device *device;
  tile_family *family;
  assert_int_equal(tile_device_open("sim", &device, NULL), TILE_OK);
  PackageHeader h;
  memcpy(&h, b.data, sizeof h);
  uint32_t seed = 1;
  for (int round = 0; round < 3000; round++) {
    char *copy = malloc(b.size);
    memcpy(copy, b.data, b.size);
    for (int n = 0; n < 3; n++) {
      seed = seed * 1664525u + 1013904223u;
      copy[h.index_offset + (seed >> 8) % h.index_size] = (char)("0123456789-\"{}[],:ax"[(seed >> 3) % 20]);
    }
    PackageHeader changed = h;
    changed.checksum = package_checksum(copy + sizeof h, b.size - sizeof h);
    memcpy(copy, &changed, sizeof changed);
    if (tile_family_load_memory(device, copy, b.size, NULL, &family, NULL) == TILE_OK) tile_family_free(family);
    free(copy);
  }
  tile_device_close(device);
  arena_free(&a);
}

// A description that has more arguments than a launch of a family can map, and a folder for a file.
TEST(foreign) {
  Arena a;
  arena_init(&a);
  Buf ptx = buf_make(&a), b = buf_make(&a);
  buf_puts(&ptx, ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(");
  for (int i = 0; i < 4000; i++) buf_printf(&ptx, "%s.param .u32 a%d", i ? ", " : "", i);
  buf_puts(&ptx, ") { ret; }\n");
  PackageHeader h = {.magic = PACKAGE_MAGIC, .format = PACKAGE_FORMAT, .header_size = sizeof h};
  buf_write(&b, (const char *)&h, sizeof h);
  buf_write(&b, buf_str(&ptx), ptx.size + 1);
  h.index_offset = b.size;
  buf_puts(&b, "{\"tile_package\": 1, \"kernels\": [{\"name\": \"k\", \"params\": [{\"name\": \"a3999\"}], \"variants\": [{\"targets\": [{\"metadata\": {\"format\": 1, "
               "\"name\": \"k\", \"arch\": \"sm_90a\", \"threads\": 32, \"cluster\": 1, \"shared_bytes\": 0, \"scratch_bytes\": 0, \"params\": [");
  for (int i = 0; i < 4000; i++) buf_printf(&b, "%s{\"name\": \"a%d\", \"type\": \"i32\", \"kind\": \"plain\"}", i ? ", " : "", i);
  buf_printf(&b, "]}, \"code\": [{\"kind\": \"ptx\", \"offset\": %zu, \"size\": %zu}]}]}]}]}", sizeof h, ptx.size);
  h.file_size = b.size;
  h.index_size = b.size - h.index_offset;
  h.checksum = package_checksum(b.data + sizeof h, b.size - sizeof h);
  memcpy(b.data, &h, sizeof h);
  tile_device *device = case_device("sim");
  tile_family *family;
  REFUSED(tile_family_load_memory(device, b.data, b.size, NULL, &family, &error), TILE_ERROR_FILE, "the package's entry of k is damaged; pack it again");
  tile_device_close(device);
  tile_package *p;
  REFUSED(tile_package_open_file("/tmp", &p, &error), TILE_ERROR_FILE, "cannot read /tmp: Is a directory");
  arena_free(&a);
}

TEST(json) {
  Arena a;
  arena_init(&a);
  size_t where;
  const char good[] = " {\"a\": [1, -2.5e1, true, null, \"x\\u00e4\\n\\ud83d\\ude00\"], \"b\": {}} ";
  const JsonValue *v = json_read(&a, good, sizeof good - 1, &where);
  assert_non_null(v);
  const JsonValue *const *items;
  assert_int_equal(json_get_items(v, "a", &items), 5);
  assert_int_equal(items[0]->i, 1);
  assert_true(items[1]->f == -25 && !items[1]->is_int);
  assert_string_equal(items[4]->s, "x\xc3\xa4\n\xf0\x9f\x98\x80");
  static const char *const bad[] = {"", "{", "[1,]", "{\"a\" 1}", "[1] 2", "\"\\u0000\"", "\"\\ud800\"", "\"a", "nul", "-", "[\"\n\"]", "\"\\", "{1: 2}"};
  for (size_t i = 0; i < countof(bad); i++)
    if (json_read(&a, bad[i], strlen(bad[i]), &where)) fail_msg("taken: %s", bad[i]);
  // Cut off, alone, overlong, a surrogate, too large, in a key: strings are UTF-8, and where one is not is known.
  static const char *const foreign[] = {"[\"a\xd0\"]", "[\"a\x80\"]", "[\"a\xc1\x81\"]", "[\"a\xed\xa0\x80\"]", "[\"a\xf4\x90\x80\x80\"]", "{\"a\xff\": 1}"};
  for (size_t i = 0; i < countof(foreign); i++) {
    assert_null(json_read(&a, foreign[i], strlen(foreign[i]), &where));
    assert_int_equal(where, 3);
  }
  char deep[400];
  memset(deep, '[', sizeof deep);
  assert_null(json_read(&a, deep, sizeof deep, &where));
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_description), cmocka_unit_test(dispatch), cmocka_unit_test(choices),
                                     cmocka_unit_test(several_kernels), cmocka_unit_test(many_arguments), cmocka_unit_test(cannot_be_packed), cmocka_unit_test(damage), cmocka_unit_test(foreign), cmocka_unit_test(json)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
