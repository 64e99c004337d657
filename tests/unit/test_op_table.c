// Every elementwise row of ops.def on every type of element: what the row accepts means the same to the interpreter, to constant folding and
// to the code on the simulator; what it does not accept the verifier refuses. Driven by the table, so that a new row is tested by being there.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ir/fold.h"
#include "ir/interp.h"
#include "tests/unit/context.h"
#include "tests/unit/tile_case.h"

enum { N = 64, PTR = NUM_SCALARS, NUM_ELEMS };   // an element is a ScalarKind, or a pointer

typedef struct {
  Opcode oc;
  uint32_t from, to;         // elements: of the operand that the op works on, of the result
  uint32_t n;                // operands
  uint32_t elems[3];
  char name[32];             // of the function
  const char *text;
} Case;

static const char *elem_name(uint32_t e) { return e == PTR ? "ptr<f32>" : scalar_name((ScalarKind)e); }
static const Type *elem_type(Context *ctx, uint32_t e) {
  const Type *t = type_scalar(ctx, e == PTR ? SC_F32 : (ScalarKind)e);
  return e == PTR ? type_ptr(ctx, t, false) : t;
}
// In memory: i1 as bytes, pointers as integers.
static uint32_t stored(uint32_t e) { return e == SC_I1 ? SC_I8 : e == PTR ? SC_I64 : e; }
static uint32_t bytes_of(uint32_t e) { return scalar_bits((ScalarKind)stored(e)) / 8; }

static bool operand_is(Opcode oc, uint32_t i, const char *name) {
  const char *s = op_info[oc].operands;
  for (; i; i--) s = strchr(s, ' ') + 1;
  size_t n = strcspn(s, " ");
  return strlen(name) == n && !strncmp(s, name, n);
}

static void add_function(Buf *b, const Case *c, const char *attrs) {
  buf_printf(b, "func @%s(", c->name);
  for (uint32_t i = 0; i < c->n; i++) buf_printf(b, "%%p%u: ptr<%s> {divisible = 16}, ", i, elem_name(stored(c->elems[i])));
  buf_printf(b, "%%out: ptr<%s> {divisible = 16}) {\n  %%i = range {start = 0, end = 64} : tensor<64xi32>\n", elem_name(stored(c->to)));
  for (uint32_t i = 0; i < c->n; i++) {
    uint32_t e = c->elems[i];
    buf_printf(b, "  %%%c%u = load %%p%u, %%i, _, _ : tensor<64x%s>\n", stored(e) == e ? 'x' : 'l', i, i, elem_name(stored(e)));
    if (stored(e) != e) buf_printf(b, "  %%x%u = %s %%l%u : tensor<64x%s>\n", i, e == PTR ? "inttoptr" : "trunci", i, elem_name(e));
  }
  buf_printf(b, "  %%r = %s", op_info[c->oc].name);
  for (uint32_t i = 0; i < c->n; i++) buf_printf(b, "%s %%x%u", i ? "," : "", i);
  buf_printf(b, " %s : tensor<64x%s>\n", attrs, elem_name(c->to));
  bool as_is = stored(c->to) == c->to;
  if (!as_is) buf_printf(b, "  %%s = %s %%r : tensor<64x%s>\n", c->to == PTR ? "ptrtoint" : "extui", elem_name(stored(c->to)));
  buf_printf(b, "  store %%out, %%i, %%%c, _\n  return\n}\n", as_is ? 'r' : 's');
}

static Module *parse(Context *ctx, const char *text) {
  Module *m = ir_parse(ctx, source_add(ctx, "t.tir", text, strlen(text)));
  if (!m) fail_msg("%s\n%s", text, diag_render(ctx, false));
  return m;
}

// Whether the verifier accepts the op with the attributes that it asks for; else *why is its first message.
static bool accepted(Context *ctx, Case *c, const char **why) {
  static const char *const attrs[] = {"", "{pred = slt}", "{pred = olt}"};
  for (uint32_t a = 0; a < countof(attrs); a++) {
    Buf b = buf_make(&ctx->arena);
    add_function(&b, c, attrs[a]);
    c->text = buf_str(&b);
    diag_forget(ctx);
    if (ir_verify(parse(ctx, c->text))) return true;
    *why = ctx->diags->text;
    if (!strstr(*why, "predicate")) return false;
  }
  return false;
}

// ---- what it computes ----

typedef struct { _Alignas(16) uint8_t bytes[N * 8]; } Data;

static uint64_t get(const Data *d, uint32_t e, uint32_t i) {
  uint64_t bits = 0;
  memcpy(&bits, d->bytes + i * bytes_of(e), bytes_of(e));
  return e == SC_I1 ? bits & 1 : bits;
}

static void fill(Data *in, const Case *c) {
  static uint64_t seed = 1;
  for (uint32_t i = 0; i < N * 8; i++) in->bytes[i] = (uint8_t)((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 56);
  bool divides = op_info[c->oc].unit == UNIT_IDIV;   // by zero is undefined
  for (uint32_t i = 0; divides && i < N; i++) in->bytes[i * bytes_of(c->from)] |= 1;
  if (c->from < PTR && scalar_is_float((ScalarKind)c->from))   // numbers of usual size, too
    for (uint32_t i = 0; i < N / 2; i++) {
      uint64_t bits = num_encode(scalar_num_format((ScalarKind)c->from), ((double)i - 11.3) * 0.7, NUM_RNE, false);
      memcpy(in->bytes + i * bytes_of(c->from), &bits, bytes_of(c->from));
    }
}

static void interpret(Context *ctx, Module *m, const Case *c, Data *in, Data *out) {
  InterpArg args[4];
  InterpBuffer buffers[4];
  for (uint32_t i = 0; i <= c->n; i++) {
    uint64_t at = (uintptr_t)(i < c->n ? &in[i] : out);
    args[i] = (InterpArg){at, NULL};
    buffers[i] = (InterpBuffer){at, sizeof *out};
  }
  InterpLaunch l = {.func = m->funcs, .grid = {1, 1, 1}, .args = args, .num_args = c->n + 1, .buffers = buffers, .num_buffers = c->n + 1};
  if (!interp_run(ctx, &l)) fail_msg("%s\n%s", c->text, diag_render(ctx, false));
}

static void simulate(tile_device *d, tile_program *program, const Case *c, const Data *in, Data *out) {
  tile_kernel *kernel;
  OK(tile_kernel_load(d, program, c->name, &kernel, &error));
  tile_arg args[4];
  uint64_t at[4];
  for (uint32_t i = 0; i <= c->n; i++) args[i] = tile_arg_pointer(at[i] = case_buffer(d, i < c->n ? &in[i] : out, sizeof *out));
  tile_launch_options launch = TILE_LAUNCH_OPTIONS_INIT;
  launch.grid[0] = 1;
  OK(tile_kernel_launch(kernel, &launch, args, c->n + 1, &error));
  case_fetch(d, out, at[c->n], sizeof *out);
  for (uint32_t i = 0; i <= c->n; i++) OK(tile_memory_free(d, at[i], &error));
  tile_kernel_free(kernel);
}

// What the machine approximates may differ; a NaN may be any.
static bool agree(const Case *c, uint64_t got, uint64_t want) {
  if (got == want) return true;
  if (c->to == PTR || !scalar_is_float((ScalarKind)c->to)) return false;
  NumFormat k = scalar_num_format((ScalarKind)c->to);
  double a = num_decode(k, got), b = num_decode(k, want);
  if (isnan(b)) return isnan(a);
  bool approximate = op_info[c->oc].unit == UNIT_SFU || op_info[c->oc].unit == UNIT_FDIV;
  return approximate && fabs(a - b) <= fmax(fabs(b), 1e-3) * (c->to == SC_F64 ? 1e-14 : 1e-5);
}

static void compare(const Case *c, const Data *in, const Data *got, const Data *want, const char *who) {
  for (uint32_t i = 0; i < N; i++) {
    uint64_t a = get(got, c->to, i), b = get(want, c->to, i);
    if (!agree(c, a, b))
      fail_msg("%s: %s computes %llx, not %llx, of %llx, %llx", c->name, who, (unsigned long long)a, (unsigned long long)b,
               (unsigned long long)get(&in[0], c->elems[0], i), c->n > 1 ? (unsigned long long)get(&in[1], c->elems[1], i) : 0);
  }
}

static void fold(Module *m, const Case *c, const Data *in, Data *out) {
  const Op *op = m->funcs->body->first;
  while (op->opcode != c->oc || op->results[0].name == NULL || strcmp(op->results[0].name, "r") != 0) op = op->next;
  const Type *types[3];
  for (uint32_t j = 0; j < c->n; j++) types[j] = type_elem(op_operand(op, j)->type);
  for (uint32_t i = 0; i < N; i++) {
    uint64_t bits[3];
    for (uint32_t j = 0; j < c->n; j++) bits[j] = get(&in[j], c->elems[j], i);
    uint64_t r = eval_scalar(op, types, type_elem(op->results[0].type), bits);
    memcpy(out->bytes + i * bytes_of(c->to), &r, bytes_of(c->to));
    if (!op_has(c->oc, TRAIT_COMMUTES)) continue;
    uint64_t swapped = eval_scalar(op, types, type_elem(op->results[0].type), (uint64_t[]){bits[1], bits[0]});
    if (!agree(c, swapped, r)) fail_msg("%s: its row says that it commutes, but operands %u differ when swapped", c->name, i);
  }
}

// All cases of a row are one program on each architecture.
static void check_meaning(Context *ctx, Case *cases, uint32_t n, const char *arch) {
  Buf b = buf_make(&ctx->arena);
  buf_printf(&b, "module {stage = tile, target = \"%s\", num_warps = 1}\n", arch);
  for (uint32_t k = 0; k < n; k++) buf_puts(&b, cases[k].text);
  tile_program *program;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.arch = arch;
  OK(tile_compile_memory("row.tir", buf_str(&b), b.size, &o, &program, &error));
  tile_device *d = case_device("sim");
  for (uint32_t k = 0; k < n; k++) {
    Data in[3], folded = {0}, interpreted = {0}, simulated = {0};
    for (uint32_t i = 0; i < cases[k].n; i++) fill(&in[i], &cases[k]);
    Module *m = parse(ctx, cases[k].text);
    fold(m, &cases[k], in, &folded);
    interpret(ctx, m, &cases[k], in, &interpreted);
    compare(&cases[k], in, &interpreted, &folded, "the interpreter");
    simulate(d, program, &cases[k], in, &simulated);
    compare(&cases[k], in, &simulated, &folded, "the code");
  }
  tile_device_close(d);
  tile_program_free(program);
}

// Operands of two types would pass through passes and code that look at one of them.
static void check_mixed(Context *ctx, Case c) {
  const char *why, *text = c.text;
  for (uint32_t i = op_subject(c.oc) + 1; i < c.n; i++)
    for (uint32_t e = 0; e < NUM_ELEMS && !operand_is(c.oc, i, "offset"); e++) {
      if (e == c.from || !op_takes(c.oc, elem_type(ctx, e))) continue;
      c.elems[i] = e;
      if (accepted(ctx, &c, &why)) fail_msg("the verifier accepts operands of two types in\n%s\nand of one in\n%s", c.text, text);
      c.elems[i] = c.from;
    }
}

static void check_row(Context *ctx, Opcode oc) {
  Case cases[NUM_ELEMS * NUM_ELEMS];
  uint32_t count = 0;
  for (uint32_t from = 0; from < NUM_ELEMS; from++) {
    const char *why = "", *name = op_info[oc].name;
    bool takes = op_takes(oc, elem_type(ctx, from));
    uint32_t before = count;
    for (uint32_t to = 0; to < NUM_ELEMS; to++) {
      Case *c = &cases[count];
      *c = (Case){.oc = oc, .from = from, .to = to, .n = op_num_fixed(oc)};
      assert_true(c->n >= 1 && c->n <= 3);
      for (uint32_t i = 0; i < c->n; i++)
        c->elems[i] = i < op_subject(oc) ? SC_I1 : operand_is(oc, i, "offset") ? SC_I32 : from;
      snprintf(c->name, sizeof c->name, "%s_%u_%u", name, from, to);
      bool gives = op_gives(oc, elem_type(ctx, to));
      if (accepted(ctx, c, &why)) {
        if (!takes || !gives) fail_msg("the verifier accepts\n%s", c->text);
        check_mixed(ctx, *c);
        count++;
      } else if (!takes || !gives) {
        if (strncmp(why, name, strlen(name)) != 0 || !strstr(why, takes ? ": gives " : ": works on ")) fail_msg("%s\nrefused with '%s'", c->text, why);
      }
    }
    if (takes && !op_info[oc].gives && count == before) fail_msg("the row of %s accepts %s, the verifier does not: '%s'", name, elem_name(from), why);
  }
  if (!count) fail_msg("%s: no element is accepted", op_info[oc].name);
  check_meaning(ctx, cases, count, "sm_90a");
  check_meaning(ctx, cases, count, "sm_80");
}

static const char *checked;   // the op's name

static void name_op(int signal) {
  fprintf(stderr, "signal %d in the checks of %s: does its row have as many operands as its meaning and code?\n", signal, checked);
  _exit(1);
}

static void test_rows(void **state) {
  signal(SIGSEGV, name_op);
  signal(SIGABRT, name_op);
  for (uint32_t oc = 0; oc < NUM_OPS; oc++)
    if (eval_is_scalar_op((Opcode)oc)) {
      checked = op_info[oc].name;
      check_row(*state, (Opcode)oc);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_rows, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
