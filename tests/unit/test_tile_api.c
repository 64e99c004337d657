// The public interface on IR text: compile, load, launch on every device that opens here, and what wrong arguments are told.
#include "tile_case.h"

#include <stdio.h>
#include <string.h>

enum { N = 1000 };
static const char add_ir[] =
  "module {stage = tile, target = \"sm_90a\", num_warps = 4}\n"
  "func @twice(%x: ptr<f32> {divisible = 16}, %out: ptr<f32> {divisible = 16}, %n: i32, %add: f16) {\n"
  "  %pid = program_id {axis = 0} : i32\n"
  "  %c = constant {value = 256} : i32\n"
  "  %b = muli %pid, %c : i32\n"
  "  %r = range {start = 0, end = 256} : tensor<256xi32>\n"
  "  %bs = splat %b : tensor<256xi32>\n"
  "  %o = addi %bs, %r : tensor<256xi32>\n"
  "  %ns = splat %n : tensor<256xi32>\n"
  "  %m = cmpi %o, %ns {pred = slt} : tensor<256xi1>\n"
  "  %v = load %x, %o, %m, _ : tensor<256xf32>\n"
  "  %w = addf %v, %v : tensor<256xf32>\n"
  "  %a = fpext %add : f32\n"
  "  %as = splat %a : tensor<256xf32>\n"
  "  %s = addf %w, %as : tensor<256xf32>\n"
  "  store %out, %o, %s, %m\n"
  "  return\n"
  "}\n";

static tile_program *compile_add(const char *arch) {
  tile_program *p = NULL;
  tile_error *e = NULL;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.arch = arch;
  if (tile_compile_memory("twice.tir", add_ir, strlen(add_ir), &o, &p, &e) != TILE_OK) fail_msg("%s", tile_error_message(e));
  assert_null(e);
  return p;
}

TEST(outputs) {
  tile_program *p = compile_add(NULL);
  size_t size = 0;
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, &size);
  assert_int_equal(size, strlen(ptx));
  assert_non_null(strstr(ptx, ".visible .entry twice"));
  assert_non_null(strstr(tile_program_output(p, TILE_EMIT_METADATA, NULL), "\"add\", \"type\": \"fp16\""));
  assert_null(tile_program_output(p, TILE_EMIT_LLVM, NULL));
  assert_null(tile_program_output(p, TILE_EMIT_PTX | TILE_EMIT_LLVM, NULL));
  assert_int_equal(tile_program_num_kernels(p), 1);
  assert_string_equal(tile_program_kernel_name(p, 0), "twice");
  assert_null(tile_program_kernel_name(p, 1));
  tile_program_free(p);
}

static void run_on(const char *name) {
  tile_device *device = case_device_or_skip(name);
  assert_string_equal(tile_device_kind(device), name);
  tile_program *program = compile_add(tile_device_arch(device));
  tile_kernel *kernel;
  OK(tile_kernel_load(device, program, NULL, &kernel, &error));
  assert_int_equal(tile_kernel_num_args(kernel), 4);
  assert_int_equal(tile_kernel_num_threads(kernel), 128);
  float data[N];
  for (int i = 0; i < N; i++) data[i] = (float)i;
  uint64_t x = case_buffer(device, data, sizeof data), out = case_buffer(device, data, sizeof data);
  tile_launch_options launch = TILE_LAUNCH_OPTIONS_INIT;
  launch.grid[0] = 4;
  tile_arg args[] = {tile_arg_pointer(x), tile_arg_pointer(out), tile_arg_int(N - 1), tile_arg_float(0.5)};
  OK(tile_kernel_launch(kernel, &launch, args, 4, &error));
  case_fetch(device, data, out, sizeof data);
  for (int i = 0; i < N; i++) assert_true(data[i] == (i < N - 1 ? 2 * (float)i + 0.5f : (float)i));

  REFUSED(tile_kernel_launch(kernel, &launch, args, 3, &error), TILE_ERROR_USAGE, "twice takes 4 arguments, got 3: x, out, n, add; constexprs are compiled in");
  const struct { int index; tile_arg arg; const char *says; } wrong[] = {
    {0, tile_arg_int(5), "argument 'x' (*fp32) expects a pointer, got an integer"},
    {1, tile_arg_pointer(out + 4), "'out' (*fp32) was compiled for addresses divisible by 16"},
    {2, tile_arg_float(1.5), "'n' (i32) expects an integer, got a float"},
    {2, tile_arg_int(INT64_C(1) << 31), "'n' (i32) cannot hold 2147483648"},
    {3, tile_arg_pointer(x), "'add' (fp16) expects a float, got a pointer"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tile_arg kept = args[wrong[i].index];
    args[wrong[i].index] = wrong[i].arg;
    REFUSED(tile_kernel_launch(kernel, &launch, args, 4, &error), TILE_ERROR_USAGE, wrong[i].says);
    args[wrong[i].index] = kept;
  }
  launch.grid[1] = 0;
  OK(tile_kernel_launch(kernel, &launch, args, 4, &error));
  launch.grid[1] = 70000;
  REFUSED(tile_kernel_launch(kernel, &launch, args, 4, &error), TILE_ERROR_RESOURCES, "70000 blocks on axis y; at most 65535");
  tile_kernel *none = NULL;
  REFUSED(tile_kernel_load(device, program, "thrice", &none, &error), TILE_ERROR_USAGE, "no kernel 'thrice'");
  assert_null(none);

  tile_kernel_free(kernel);
  tile_program_free(program);
  OK(tile_memory_free(device, x, &error));
  OK(tile_memory_free(device, out, &error));
  tile_device_close(device);
}

TEST(on_interp) { run_on("interp"); }
TEST(on_sim) { run_on("sim"); }
TEST(on_gpu) { run_on("gpu"); }

TEST(interp_reports_bounds) {
  tile_error *e = NULL;
  tile_device *device = case_device("interp");
  tile_kernel *kernel;
  tile_program *program = compile_add(NULL);
  OK(tile_kernel_load(device, program, "twice", &kernel, &error));
  uint64_t x = case_buffer(device, NULL, 64);
  tile_arg args[] = {tile_arg_pointer(x), tile_arg_pointer(x), tile_arg_int(17), tile_arg_int(0)};
  assert_int_equal(tile_kernel_launch(kernel, NULL, args, 4, &e), TILE_ERROR_RUN);
  assert_true(tile_error_num_diagnostics(e) > 0);
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  assert_true(tile_error_get_diagnostic(e, 0, &d));
  assert_string_equal(d.file, "twice.tir");
  assert_int_equal(d.line, 11);
  tile_error_free(e);
  // The next run starts afresh.
  args[2] = tile_arg_int(16);
  OK(tile_kernel_launch(kernel, NULL, args, 4, &error));
  REFUSED(tile_memory_free(device, x + 1, &error), TILE_ERROR_USAGE, "not the address of an allocation");
  tile_kernel_free(kernel);
  tile_program_free(program);
  tile_device_close(device);
}

TEST(compile_errors) {
  tile_error *e = NULL;
  tile_program *p;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  assert_int_equal(tile_compile_memory("bad.tir", "func @f(", 8, &o, &p, &e), TILE_ERROR_PROGRAM);
  assert_null(p);
  assert_true(tile_error_num_diagnostics(e) > 0);
  assert_non_null(strstr(tile_error_message(e), "bad.tir:1:"));
  tile_error_free(e);
  o.arch = "sm_42";
  REFUSED(tile_compile_memory("bad.tir", "", 0, &o, &p, &error), TILE_ERROR_USAGE, "no architecture sm_42");
  o.arch = NULL;
  const char *extra[] = {"num-warps=3"};
  o.options = extra;
  o.num_options = 1;
  REFUSED(tile_compile_memory("bad.tir", "", 0, &o, &p, &error), TILE_ERROR_USAGE, "`num_warps` takes a power of two, not 3");
  REFUSED(tile_compile_file("does/not/exist.tile", NULL, &p, &error), TILE_ERROR_FILE, "does/not/exist.tile");
  tile_device *device;
  REFUSED(tile_device_open("tpu", &device, &error), TILE_ERROR_USAGE, "no device 'tpu'");
  REFUSED(tile_device_open("sim:7", &device, &error), TILE_ERROR_NO_DEVICE, "there is no sim:7; the simulator has 1 device, TILE_SIM_DEVICES says how many");
  // A caller that wants no error objects passes NULL.
  assert_int_equal(tile_compile_memory("bad.tir", "?", 1, NULL, &p, NULL), TILE_ERROR_PROGRAM);
}

// Messages name the fields of the structures, not tilec's options.
TEST(fields_in_messages) {
  static const char source[] = "@kernel\ndef k(x, N: constexpr):\n  store(x, N)\n@kernel\ndef l(x):\n  store(x, 1)\n";
  tile_program *p;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
#define TOLD(status, text) REFUSED(tile_compile_memory("k.tile", source, strlen(source), &o, &p, &error), status, text)
  TOLD(TILE_ERROR_PROGRAM, "name it with `kernel` and give `signature` and `defines`");
  o.signature = "*fp32";
  TOLD(TILE_ERROR_USAGE, "`signature` needs to know which of the 2 kernels it is for");
  o.kernel = "k";
  TOLD(TILE_ERROR_PROGRAM, "give it with `defines` \"N=…\"");
  o.signature = "float*, 1";
  TOLD(TILE_ERROR_USAGE, "`float*` is not a type, in signature for parameter `x`");
  o.signature = NULL;
  TOLD(TILE_ERROR_PROGRAM, "give the types with `signature` \"TYPE\"");
  const char *defines[] = {"N", "M=1"};
  o.defines = defines;
  o.num_defines = 1;
  TOLD(TILE_ERROR_USAGE, "`defines` takes NAME=VALUE, not 'N'");
  o.defines = defines + 1;
  TOLD(TILE_ERROR_USAGE, "given by defines");
  o.num_defines = 0;
  o.maxnreg = 400;
  TOLD(TILE_ERROR_USAGE, "`maxnreg` takes a whole number from 1 to 255, not '400'");
}

// Warnings are chosen by options, told to the log with their names, and diagnostics of the program or of the error.
static void keep_warning(void *user, tile_level level, const char *text) {
  if (level == TILE_LEVEL_WARNING) snprintf(user, 200, "%s", text);
}

TEST(warnings) {
  static const char source[] = "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                               "def k(x: \"*fp32\", N: tl.constexpr = 3):\n  if N is 3:\n    tl.store(x, 1.0)\n";
  char said[200] = "";
  const tile_hooks hooks = {.struct_size = sizeof hooks, .user = said, .log = keep_warning};
  const char *choice[] = {"Wno-is-literal"};
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  tile_program *p;
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  tile_fixit f = TILE_FIXIT_INIT;
  o.hooks = &hooks;
  OK(tile_compile_memory("k.py", source, strlen(source), &o, &p, &error));
  const char *start = "k.py:6:6: warning: `is` with a literal compares identities, not values [-Wis-literal]\n"
                      "    if N is 3:\n       ^~~~~~\n         ==\nnote: ";
  assert_memory_equal(said, start, strlen(start));
  assert_int_equal(tile_program_num_diagnostics(p), 2);
  assert_true(tile_program_get_diagnostic(p, 0, &d) && tile_program_get_fixit(p, 0, 0, &f));
  assert_string_equal(d.name, "is-literal");
  assert_string_equal(d.text, "`is` with a literal compares identities, not values");
  assert_true(d.line == 6 && d.column == 6 && d.end_line == 6 && d.end_column == 12 && d.num_fixits == 1);
  assert_true(f.line == 6 && f.column == 8 && f.end_column == 10);
  assert_string_equal(f.text, "==");
  assert_false(tile_program_get_fixit(p, 0, 1, &f) || tile_program_get_fixit(p, 1, 0, &f));
  assert_true(tile_program_get_diagnostic(p, 1, &d) && d.note_of == 0 && !d.name);
  tile_program_free(p);

  o.options = choice;
  o.num_options = 1;
  OK(tile_compile_memory("k.py", source, strlen(source), &o, &p, &error));
  assert_int_equal(tile_program_num_diagnostics(p), 0);
  tile_program_free(p);

  tile_error *e = NULL;
  choice[0] = "Werror";
  assert_int_equal(tile_compile_memory("k.py", source, strlen(source), &o, &p, &e), TILE_ERROR_PROGRAM);
  assert_true(tile_error_get_diagnostic(e, 0, &d) && tile_error_get_fixit(e, 0, 0, &f));
  assert_int_equal(d.level, TILE_LEVEL_ERROR);
  assert_string_equal(d.name, "is-literal");
  assert_string_equal(f.text, "==");
  tile_error_free(e);
  choice[0] = "Wis-litera";
  REFUSED(tile_compile_memory("k.py", source, strlen(source), &o, &p, &error), TILE_ERROR_USAGE,
          "Wis-litera: there is no such warning; did you mean is-literal?");
  choice[0] = "Wxyz";
  REFUSED(tile_compile_memory("k.py", source, strlen(source), &o, &p, &error), TILE_ERROR_USAGE,
          "Wxyz: there is no such warning; docs/diagnostics.md lists them");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(outputs), cmocka_unit_test(on_interp), cmocka_unit_test(on_sim), cmocka_unit_test(on_gpu),
                                     cmocka_unit_test(interp_reports_bounds), cmocka_unit_test(compile_errors),
                                     cmocka_unit_test(fields_in_messages), cmocka_unit_test(warnings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
