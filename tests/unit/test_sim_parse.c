// The PTX front end on malformed text: the driver's error code, a message with line and source line, never a crash.
#include "ir/base.h"
#include "tests/unit/sim_host.h"

#define HEAD ".version 8.3\n.target sm_90a\n.address_size 64\n"
#define BODY(text) HEAD ".visible .entry k() {\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\n" text "\nret;\n}\n"

static void refuse(const char *ptx, CUresult code, const char *message) {
  CUmodule m = NULL;
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  CUresult r = CU(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **), &m, ptx, 2, options, values);
  if (r != code || !strstr(sim_last_report(), message)) fail_msg("%s\ngave %d, not %d; \"%s\", not \"%s\"", ptx, (int)r, (int)code, sim_last_report(), message);
  assert_string_equal(log, sim_last_report());
}

TEST(test_errors) {
  refuse("", CUDA_ERROR_INVALID_PTX, "no .version directive");
  refuse("hello world", CUDA_ERROR_INVALID_PTX, "ptx:1: error: syntax error");
  refuse(".version 8.3\n", CUDA_ERROR_INVALID_PTX, "no .target directive");
  refuse(".version 99.0\n.target sm_90\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX version 99.0 is not supported");
  refuse(".version 1e45\n.target sm_90\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX version 999999999999999929757289024535551219930759168.0 is not supported");
  refuse(".version 8.6\n.target sm_100a\n", CUDA_ERROR_NO_BINARY_FOR_GPU, "target sm_100a does not run on the simulated sm_90 device");
  refuse(".version 8.3\n.target sm_89x\n", CUDA_ERROR_INVALID_PTX, "unknown target sm_89x");
  refuse("\177ELF\2\1\1", CUDA_ERROR_NO_BINARY_FOR_GPU, "the simulator runs PTX only: this is a cubin or fatbin");
  refuse(BODY("frobnicate.u32 %r1, %r2;"), CUDA_ERROR_INVALID_PTX, "ptx:8: error: unknown instruction frobnicate\n  frobnicate.u32 %r1, %r2;");
  refuse(BODY("add.nonsense %r1, %r2, %r3;"), CUDA_ERROR_INVALID_PTX, "unknown instruction add: no modifier .nonsense is known");
  refuse(BODY("mul.wide.u64 %rd1, %rd2, %rd3;"), CUDA_ERROR_INVALID_PTX, "unknown instruction mul.wide.u64");
  refuse(BODY("add.u32 %r1, %r2;"), CUDA_ERROR_INVALID_PTX, "add takes 3 operands, not 2");
  refuse(BODY("add.u32 %p1, %r2, %r3;"), CUDA_ERROR_INVALID_PTX, "operand 1 of add must be a register");
  refuse(BODY("add.u32 %r1, %r2, %r9;"), CUDA_ERROR_INVALID_PTX, "unknown register %r9");
  refuse(BODY("bra nowhere;"), CUDA_ERROR_INVALID_PTX, "unknown label nowhere");
  refuse(BODY("a: a: add.u32 %r1, %r2, %r3;"), CUDA_ERROR_INVALID_PTX, "a is already declared on line 8");
  refuse(BODY("@%r1 bra a; a:"), CUDA_ERROR_INVALID_PTX, "%r1 is not a predicate");
  refuse(BODY("ld.global.u32 %r1, %rd1;"), CUDA_ERROR_INVALID_PTX, "operand 2 of ld must be a memory operand");
  refuse(BODY("ld.global.v4.u32 {%r1, %r2}, [%rd1];"), CUDA_ERROR_INVALID_PTX, "the vector has 2 elements, not 4");
  refuse(BODY("ld.global.u64 %r1, [%rd1];"), CUDA_ERROR_INVALID_PTX, "element 1 of ld must be a register of at least 64 bits");
  refuse(BODY("call nothing, (%r1);"), CUDA_ERROR_INVALID_PTX, "nothing is not a function");
  refuse(BODY("cvt.s32.f32 %r1, %r2;"), CUDA_ERROR_INVALID_PTX, "cvt from a floating-point to an integer type needs .rni, .rzi, .rmi or .rpi");
  refuse(BODY("setmaxnreg.inc.sync.aligned.u32 25;"), CUDA_ERROR_INVALID_PTX, "setmaxnreg takes 24 to 256 in steps of 8");
  refuse(HEAD ".entry k(.param .u32 a) {\n.reg .u64 %r<2>;\nld.param.u64 %r1, [a];\n}\n", CUDA_ERROR_INVALID_PTX, "the access does not lie within parameter a");
  refuse(HEAD ".global .u32 x[1000000000];\n.global .u32 y[1000000000];\n.extern .global .u32 z;\n", CUDA_ERROR_INVALID_PTX, "z is declared extern: there is nothing to link it with");
  refuse(HEAD ".global .u32 x[1] = {1, 2};\n", CUDA_ERROR_INVALID_PTX, "too many initial values for x");
  refuse(HEAD ".entry k() {\nret;\n", CUDA_ERROR_INVALID_PTX, "syntax error");
  refuse(HEAD "/* never closed", CUDA_ERROR_INVALID_PTX, "syntax error");
}

// Each form that is not one, by what is wrong with it.
TEST(test_forms) {
  static const struct { const char *text, *message; } bodies[] = {
      {"fma.rn.f32 %r1, %r2;", "fma takes 4 operands, not 2"},
      {"add %r1, %r2, %r3;", "add needs 1 type"},
      {"add.u32 %r1, %p1, %r2;", "operand 2 of add must be a register or an immediate"},
      {"and.pred %p1, %r1, %p2;", "operand 2 of and must be a predicate"},
      {"mov.u32 %r, 1;", "%r names a range of registers"},
      {"add.u32 %r1, %r2+4, %r3;", "a register plus a constant is an address: write it in brackets"},
      {"ld.global.u32 %r1, [1.5];", "bad address operand"},
      {"fma.rn.f32.f32.f32.f32.f32.f32 %r1, %r2, %r3, %r1;", "too many types"},
      {"cp.async.wait_group %r1;", "wait_group takes one constant"},
      {"cp.async.ca.shared.global [%r1], [%rd1], 3;", "cp.async.ca cannot copy 3 bytes"},
      {"cp.async.cg.shared.global [%r1], [%rd1], 8;", "cp.async.cg cannot copy 8 bytes"},
      {"cp.bulk.shared::cluster.global [%r1], [%rd1], 16;", "unknown instruction: cp without .async"},
      {"cp.async.bulk.shared::cluster [%r1], [%rd1], 16;", "a bulk copy names two state spaces"},
      {"cp.async.bulk.global.global [%rd1], [%rd2], 16;", "a bulk copy cannot go from global to global memory"},
      {"cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%rd1], 16, [%r2];", "the completion mechanism does not fit this bulk copy"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];", "a tensor copy needs as many coordinates as its .Nd says"},
      {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1, %r2, %r3}], [%r3], {%r1};", "unknown instruction: the im2col mode is not simulated"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.u32 [%rd1], [%r1], 16;", "cp.reduce needs an operation"},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.f32 [%rd1], [%r1], 16;", "unknown instruction: cp.reduce.async.bulk has no such operation on this type"},
      {"st.async.shared::cluster.u32 [%r1], %r2, [%r3];", "unknown instruction: this form of st.async"},
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u16 [%r1], %r2, [%r3];", "unknown instruction: st.async of this type"},
      {"red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.xor.f32 [%r1], %r2, [%r3];", "unknown instruction: red.async has no such operation on this type"},
      {"tensormap.cp_fenceproxy.global.shared::cta [%rd1], [%rd2], 128;", "unknown instruction: this form of tensormap.cp_fenceproxy"},
      {"bra k;", "k is not a label"},
      {"cp.async.ca.shared.global [%r1], [%rd1], 4, {%r1};", "operand 4 of cp must be a register or an immediate"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %p1, [%r3];", "operand 3 of cp must be a register or an immediate"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], 16, [%r3], %p1;", "operand 5 of cp must be a register or an immediate"},
      {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%p1}], [%r3];", "the coordinates of a tensor copy must be registers or immediates"},
      {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16, %r2;", "unknown instruction: .cp_mask is not in sm_90"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %p1, [%r3];", "operand 2 of st must be registers or immediates"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r1], {%r1, %p1}, [%r3];", "operand 2 of st must be registers or immediates"},
      {"red.global.exch.b32 [%rd1], %r1;", "unknown instruction red.global.exch.b32"},
      {"red.global.add.noftz.v2.f16 [%rd1], %r1;", "operand 2 of red must be a vector of 2"},
      {"mbarrier.init.shared.b64 [%r1], %p1;", "operand 2 of mbarrier must be a register or an immediate"},
      {"mbarrier.arrive.shared.b64 %rd1, [%r1], %p1;", "operand 3 of mbarrier must be a register or an immediate"},
      {"mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %p1;", "operand 2 of mbarrier must be a register or an immediate"},
      {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %p2;", "operand 3 of mbarrier must be a register or an immediate"},
      {"mbarrier.pending_count.b64 %r1, %p1;", "operand 2 of mbarrier must be a register or an immediate"},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b32 {%r1}, [%r2];", "unknown instruction: matrices of 8x8 elements of b16 only"},
      {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 64;", "the size of a tensor map is 128"},
      {"tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 5, 8;", "a tensor map has no dimension 5 here"},
      {"tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], 4;", "4 is no value of this field of a tensor map on sm_90"},
      {"add.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz"
       ".ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.ftz.f32 %r1, %r2, %r3;", "too many modifiers"},
      {"a: brx.idx %r1, a;", "a is not a table of targets"},
      {"call %p1;", "call needs a function"},
      {"cvt.rn.f32.f32.s32 %r1, %r2;", "unknown instruction cvt.rn.f32.f32.s32"},
      {"cvt.f32.s32 %r1, %r2;", "cvt from an integer to a floating-point type needs .rn, .rz, .rm or .rp"},
      {"mbarrier.init.global.b64 [%rd1], 1;", "an mbarrier lies in shared memory"},
      {"mbarrier.b64 [%rd1], 1;", "unknown instruction: this form of mbarrier"},
      {"ld.global.v2.u64 {%rd1, %r1}, [%rd2];", "element 2 of ld must be a register of at least 64 bits"},
      {"mov.b64 %rd1, {%r1, %p1};", "bad element in a vector of mov"},
      {"a: mov.u64 %rd1, a;", "a has no address"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.f16.f32 {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1};", "unknown instruction"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.u64.u64.f32 {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1};", "unknown instruction: mma on these types"},
      {"mma.sync.aligned.m16n8k8.col.row.f32.f16.f16.f32 {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1};", "mma takes A by rows and B by columns"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r1}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1};", "operand 1 must be a vector of 4 registers"},
      {"mma.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1};", "unknown instruction: this form of mma"},
      {"ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r1}, [%r2];", "unknown instruction"},
      {"ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r1}, [%rd2];", "a matrix lies in shared memory"},
      {"movmatrix.sync.aligned.m8n8.b16 %r1, %r2;", "unknown instruction: this form of movmatrix"},
      {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r1,%r1,%r1,%r1}, %rd1, %rd2, %r1, 0, 1, 1, 1, 0, 0;", "unknown instruction: sparse wgmma is not simulated"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.u64.f16 {%r1,%r1,%r1,%r1}, %rd1, %rd2, 1, 1, 1, 0, 0;", "unknown instruction: wgmma on these types"},
      {"wgmma.mma_async.sync.aligned.m64n7k16.f32.f16.f16 {%r1,%r1,%r1,%r1}, %rd1, %rd2, 1, 1, 1, 0, 0;", "unknown instruction"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1,%r1,%r1,%r1}, %rd1, %rd2, %p1, 2, 1, 0, 0;", "imm-scale must be 1 or -1"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1,%r1,%r1,%r1}, %rd1, %rd2, %p1, 1, 1, 2, 0;", "imm-trans must be 0 or 1"},
      {"wgmma.sync.aligned;", "unknown instruction: this form of wgmma"},
      {".reg .u32x %q;", "unknown type or attribute .u32x"},
      {".reg .v2 .u32 %q;", "bad type for register %q"},
      {".shared .align 3 .u32 q;", "bad alignment 3"},
      {".reg .b32 %q<0>;", "bad register range <0>"},
      {".local .b8 q[100000000];", "q does not fit the 512 KB of local memory"},
  }, tops[] = {
      {".address_size 32\n", "only .address_size 64 is supported"},
      {"add.u32 a, b, c;\n", "syntax error"},
      {".global .pred x;\n", "x has no memory type"},
      {".global .b128 x = 1.5;\n", "cannot initialise x with a floating-point number"},
      {".global .v4 .b128 x[4294967295];\n", "no memory for x (274877906880 bytes)"},
      {".alias a, b;\n", ".alias of unknown function b"},
      {".reg .b32 %r;\n", "register %r outside a function"},
      {".local .b32 x;\n", ".local x outside a function"},
      {".param .b32 x;\n", ".param x outside a function"},
      {".global .u32 x = y;\n", "cannot initialise x with the address of y"},
      {".global .u32 x[100000][100000];\n", "array x is too large"},
      {".func (.reg .u32 %r) f() { ret; }\n.func f() { ret; }\n", "f is already declared on line 4"},
      {".entry k(.reg .u32 %r) { ret; }\n", "bad parameter %r"},
      {".entry k(.param .b8 a[40000]) { ret; }\n", "parameters take more than 32764 bytes"},
      {".file 200000 \"a.c\"\n", "bad .file number"},
      {".entry k() .blocksareclusters { ret; }\n", ".blocksareclusters is not supported"},
  };
  char text[1024];
  for (size_t i = 0; i < countof(bodies); i++) {
    snprintf(text, sizeof text, HEAD ".visible .entry k() {\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\n.reg .pred %%p<3>;\n%s\nret;\n}\n", bodies[i].text);
    refuse(text, CUDA_ERROR_INVALID_PTX, bodies[i].message);
  }
  for (size_t i = 0; i < countof(tops); i++) {
    snprintf(text, sizeof text, HEAD "%s", tops[i].text);
    refuse(text, CUDA_ERROR_INVALID_PTX, tops[i].message);
  }
}

// Every prefix of a real module, and thousands of damaged copies: loads or reports, and a loaded kernel can be looked up.
TEST(test_damaged) {
  char *text = host_read("tests/sim/recorded/kernels.ptx");
  size_t n = strlen(text) < 12000 ? strlen(text) : 12000;
  char *copy = malloc(n + 1);
  for (size_t k = 0; k < n; k += 61) {
    memcpy(copy, text, k);
    copy[k] = 0;
    CUmodule m = NULL;
    if (!host_try_load(copy, &m)) CU(cuModuleUnload, (CUmodule), m);
  }
  uint32_t seed = 77;
  for (int round = 0; round < 400; round++) {
    memcpy(copy, text, n);
    copy[n] = 0;
    for (uint32_t edits = 1 + host_random(&seed) % 4; edits; edits--) {
      size_t at = host_random(&seed) % n, from = host_random(&seed) % n, len = host_random(&seed) % 24;
      if (host_random(&seed) & 1) copy[at] = (char)(1 + host_random(&seed) % 126);
      else if (at + len < n && from + len < n) memmove(copy + at, copy + from, len);
    }
    CUmodule m = NULL;
    if (!host_try_load(copy, &m)) CU(cuModuleUnload, (CUmodule), m);
    else assert_true(*sim_last_report());
  }
  free(copy);
  free(text);
}

TEST(test_nesting) {
  // Deep scopes end in an error, not in an overflow.
  size_t n = 200000, head = strlen(HEAD ".entry k() {\n");
  char *text = malloc(head + n + 1);
  memcpy(text, HEAD ".entry k() {\n", head);
  memset(text + head, '{', n);
  text[head + n] = 0;
  CUmodule m = NULL;
  assert_int_equal(host_try_load(text, &m), CUDA_ERROR_INVALID_PTX);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_forms), cmocka_unit_test(test_damaged), cmocka_unit_test(test_nesting)};
  return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
