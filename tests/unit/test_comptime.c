// The compile-time evaluator: Python's meaning of expressions and statements, decorators, missing imports, limits, errors.
// Expected values were taken from CPython.
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/comptime/comptime.h"

typedef struct { Context ctx; Comptime *ct; CtModule *module; } World;

static bool is_language_name(const char *name) { return !strcmp(name, "program_id"); }

static void load(World *w, const char *text) {
  ComptimeOptions options = {.is_language_name = is_language_name, .step_limit = 200000};
  context_init(&w->ctx);
  w->ct = comptime_new(&w->ctx, &options);
  w->module = comptime_load_source(w->ct, source_add(&w->ctx, "t.tile", text, strlen(text)), "t");
}

static void load_ok(World *w, const char *text) {
  load(w, text);
  if (!w->module) print_error("%s", diag_render(&w->ctx, false));
  assert_non_null(w->module);
  assert_int_equal(diag_error_count(&w->ctx), 0);
}

static CtValue *get(World *w, const char *name) {
  CtValue *v = ct_env_get_local(w->module->env, intern(&w->ctx, name));
  assert_non_null(v);
  return v;
}

static void check_var(World *w, const char *name, const char *repr) { assert_string_equal(ct_repr(&w->ctx, get(w, name)), repr); }

typedef struct { const char *expr, *repr; } Case;

static void check_cases(const Case *cases, size_t n) {
  World w;
  load_ok(&w, "import math, itertools, functools\nimport triton\nimport triton.language as tl\nfrom collections import namedtuple\nP = namedtuple('P', 'x y')\n");
  for (size_t i = 0; i < n; i++) {
    CtValue *v = comptime_eval_text(w.ct, w.module, "test", cases[i].expr, NULL, 0);
    if (!v) print_error("%s\n%s", cases[i].expr, diag_render(&w.ctx, false));
    assert_non_null(v);
    assert_string_equal(ct_repr(&w.ctx, v), cases[i].repr);
  }
  context_free(&w.ctx);
}

static void test_numbers(void **state) {
  static const Case cases[] = {
      {"7 // -2", "-4"}, {"-7 % 3", "2"}, {"7 % -3", "-2"}, {"2 ** 10", "1024"}, {"2 ** -1", "0.5"}, {"10 / 4", "2.5"}, {"7.5 // 2", "3.0"},
      {"-7.5 % 2", "0.5"}, {"1e16", "1e+16"}, {"0.1 + 0.2", "0.30000000000000004"}, {"1 << 70", "1180591620717411303424"}, {"~5", "-6"}, {"-0.0", "-0.0"},
      {"3 < 4 < 5", "True"}, {"-5 >> 1", "-3"}, {"3.7 // 0.1", "36.0"}, {"True & False", "False"}, {"True + 1", "2"}, {"round(2.5)", "2"},
      {"round(3.14159, 2)", "3.14"}, {"int('0x1f', 16)", "31"}, {"int(-3.7)", "-3"}, {"float('1e3')", "1000.0"}, {"float('inf')", "inf"}, {"5e-324", "5e-324"},
      {"1/3", "0.3333333333333333"}, {"1e15", "1000000000000000.0"}, {"divmod(-7, 2)", "(-4, 1)"}, {"abs(-2.5)", "2.5"}, {"hex(-255)", "'-0xff'"},
      {"math.ceil(2.1)", "3"}, {"math.log2(8)", "3.0"}, {"math.gcd(12, 18)", "6"}, {"math.isqrt(99)", "9"}, {"1 == 1.0 == True", "True"},
      {"(-2) ** 3", "-8"}, {"0 ** 0", "1"}, {"1e308 * 10", "inf"}, {"5 in range(1, 10, 2)", "True"}, {"(64).bit_length()", "7"}};
  (void)state;
  check_cases(cases, countof(cases));
}

static void test_text(void **state) {
  static const Case cases[] = {
      {"'ab' * 2 + \"c\"", "'ababc'"}, {"'it\\'s'", "\"it's\""}, {"'abc'[::-1]", "'cba'"}, {"len('\xc3\xa9')", "1"}, {"'a,b,,c'.split(',')", "['a', 'b', '', 'c']"},
      {"' x  y '.split()", "['x', 'y']"}, {"'-'.join(str(i) for i in range(3))", "'0-1-2'"}, {"'abc'.startswith(('x', 'ab'))", "True"}, {"'aXbX'.replace('X', '--')", "'a--b--'"},
      {"f'{3:>5}|{3.14159:.2f}|{\"x\":^5}|{255:#x}|{1234567:,}'", "'    3|3.14|  x  |0xff|1,234,567'"}, {"f'{-5:05d}|{0.5:%}|{1e10:g}|{\"abc\":.2}'", "'-0005|50.000000%|1e+10|ab'"},
      {"f'{True!r} {[1, \"a\"]} {None}'", "\"True [1, 'a'] None\""}, {"'%d %s %5.2f %x %r' % (3, 'a', 2.5, 255, 'q')", "\"3 a  2.50 ff 'q'\""},
      {"'{1} {0:>4} {a}'.format(1, 2, a=3)", "'2    1 3'"}, {"'bc' in 'abcd'", "True"}, {"'%5s|%-5s|' % ('a', 'b')", "'    a|b    |'"}, {"'a' < 'b'", "True"}};
  (void)state;
  check_cases(cases, countof(cases));
}

static void test_collections(void **state) {
  static const Case cases[] = {
      {"[i * j for i in range(3) for j in range(i) if j % 2 == 0]", "[0, 0]"}, {"{k: v for k, v in zip('ab', range(3))}", "{'a': 0, 'b': 1}"},
      {"[1, 2, 3, 4, 5][1:-1:2]", "[2, 4]"}, {"list(range(10, 0, -3))", "[10, 7, 4, 1]"}, {"sorted(['bb', 'a', 'ccc'], key=lambda s: -len(s))", "['ccc', 'bb', 'a']"},
      {"sorted([3, 1, 2], reverse=True)", "[3, 2, 1]"}, {"max([], default=9)", "9"}, {"min((3, 'c'), (3, 'b'))", "(3, 'b')"}, {"sum([[1], [2]], [])", "[1, 2]"},
      {"list(enumerate('ab', 1))", "[(1, 'a'), (2, 'b')]"}, {"{True, False}", "{True, False}"}, {"{2, 1, 2}", "{2, 1}"}, {"{1, 2} & {2, 3}", "{2}"},
      {"{**{'a': 1}, 'b': 2}", "{'a': 1, 'b': 2}"}, {"[*range(2), *'ab']", "[0, 1, 'a', 'b']"}, {"(1,) + (2,)", "(1, 2)"}, {"[] or 'x'", "'x'"}, {"0 and 1", "0"},
      {"list(itertools.product([1, 2], 'ab'))", "[(1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')]"}, {"list(itertools.combinations([1, 2, 3], 2))", "[(1, 2), (1, 3), (2, 3)]"},
      {"functools.reduce(lambda x, y: x * y, [1, 2, 3, 4])", "24"}, {"functools.partial(lambda a, b: a - b, 5)(b=3)", "2"}, {"tuple(P(1, y=2))", "(1, 2)"}, {"P(1, 2).y", "2"},
      {"{1: 'a'} == {1.0: 'a'}", "True"}, {"next((q for q in [4, 5] if q > 4), None)", "5"}, {"dict(a=1).get('z', 7)", "7"}, {"[x for x in [1, 2] if (y := x * 2) > 2]", "[2]"},
      {"isinstance(True, int), isinstance(3, (str, float))", "(True, False)"}, {"tl.float16.primitive_bitwidth", "16"}, {"tl.float32.is_floating(), tl.int8.is_int_signed()", "(True, True)"},
      {"tl.pointer_type(tl.float16)", "*fp16"}, {"tl.bfloat16 == bf16", "True"}, {"triton.cdiv(10, 4), triton.next_power_of_2(33)", "(3, 64)"},
      {"tl.constexpr(4) * 2", "constexpr[8]"}, {"tl.constexpr(4).value", "4"}, {"tl.load", "<built-in tl.load>"}, {"program_id", "<built-in tl.program_id>"}};
  (void)state;
  check_cases(cases, countof(cases));
}

static void test_statements(void **state) {
  World w;
  (void)state;
  load_ok(&w,
          "x, (y, *z) = 1, (2, 3, 4)\n"
          "l = [5, 3, 9]; l.sort(); l += [1]; l.insert(1, 7); l[0] = 0; l[1:2] = [8, 8]; del l[-1]\n"
          "d = {}; d['k'] = 1; d.setdefault('m', []).append(2); del d['k']\n"
          "def f(a, b=2, *args, c=3, **kw): return (a, b, args, c, kw)\n"
          "c1 = f(*[1, 2, 9], **{'c': 4, 'r': 5})\n"
          "def gen(n):\n  for i in range(n):\n    if i % 2: continue\n    yield i\n  yield from [7]\n"
          "g = list(gen(4))\n"
          "def outer():\n  n = 0\n  def inner():\n    nonlocal n\n    n += 1\n    return n\n  inner()\n  return inner()\n"
          "o = outer()\n"
          "G = 5\ndef setg():\n  global G\n  G = 6\nsetg()\n"
          "class A:\n  k = 3\n  def __init__(self, v=1): self.v = v\n  def m(self, x): return self.v * x + self.k\n"
          "  @property\n  def p(self): return self.v + 1\n  @staticmethod\n  def s(x): return x * 2\n  def __add__(self, o): return A(self.v + o.v)\n"
          "class B(A):\n  k = 4\n"
          "a1, a2, a3, a4 = B(2).m(3), A(5).p, A.s(4), (A(1) + A(2)).v\n"
          "try:\n  1 / 0\nexcept ZeroDivisionError as e:\n  t = str(e)\nfinally:\n  fin = 1\n"
          "class E(ValueError): pass\n"
          "try:\n  raise E('bad %d' % 3)\nexcept (TypeError, ValueError) as e:\n  u = str(e)\n"
          "for i in range(10):\n  if i == 5: break\nelse:\n  i = 99\n"
          "n = 0\nwhile n < 5: n += 1\nelse: n = 50\n"
          "todo = [1]\nfor x in todo:\n  if x < 5: todo.append(x + 1)\n"
          "left = [1, 2, 3, 4]\nfor x in left: left.pop()\n");
  check_var(&w, "z", "[3, 4]");
  check_var(&w, "l", "[0, 8, 8, 5, 9]");
  check_var(&w, "d", "{'m': [2]}");
  check_var(&w, "c1", "(1, 2, (9,), 4, {'r': 5})");
  check_var(&w, "g", "[0, 2, 7]");
  check_var(&w, "o", "2");
  check_var(&w, "G", "6");
  check_var(&w, "a1", "10");
  check_var(&w, "a2", "6");
  check_var(&w, "a3", "8");
  check_var(&w, "a4", "3");
  check_var(&w, "t", "'division by zero'");
  check_var(&w, "u", "'bad 3'");
  check_var(&w, "i", "5");
  check_var(&w, "n", "50");
  check_var(&w, "todo", "[1, 2, 3, 4, 5]");
  check_var(&w, "left", "[1, 2]");
  context_free(&w.ctx);
}

// ---- kernels ----

static const char kernel_text[] =
    "import torch, triton\nimport triton.language as tl\n"
    "def hook(nargs):\n  nargs['d'].block_shape = [nargs['B'], 8]\n  nargs['seen'] = nargs['B'] // 2\n"
    "def configs(pre=None):\n  out = []\n  for b in [64, 128]:\n    for s in {3, 2}:\n"
    "      if b == 128 and s == 2: continue\n      out.append(triton.Config({'B': b}, num_stages=s, num_warps=b // 16, pre_hook=pre))\n  return out\n"
    "def prune(configs, named_args, **kw):\n  return [c for c in configs if c.kwargs['B'] < named_args['n']]\n"
    "@libentry()\n"
    "@triton.autotune(configs=configs(pre=hook), key=['n'], prune_configs_by={'early_config_prune': prune}, reset_to_zero=['o'])\n"
    "@triton.heuristics({'EVEN': lambda args: args['n'] % args['B'] == 0})\n"
    "@triton.heuristics(values={'SECOND': lambda args: args['EVEN']})\n"
    "@triton.jit(do_not_specialize=['n', 0])\n"
    "def k1(x, o: tl.const, n: tl.int32, f: float, eps=torch.finfo(torch.float32).max, B: tl.constexpr = 4, EVEN: 'tl.constexpr' = None,\n"
    "       p: '*fp16:16' = None, q: torch.Tensor = None, d: 'tensordesc<fp16[B, 8]>' = None):\n  tl.store(o, tl.load(x))\n"
    "@triton.jit\ndef helper(a): return a + 1\n"
    "def plain(x: *fp32, y: *kfp16): x\n"
    "k2 = triton.jit(plain)\n";

static void test_kernels(void **state) {
  World w;
  (void)state;
  char *text = malloc(sizeof kernel_text + 64);
  sprintf(text, "from fg import libentry\n%s", kernel_text);
  load_ok(&w, text);
  free(text);
  CtKernelList kernels = comptime_kernels(w.ct, w.module);
  assert_int_equal(kernels.count, 2);
  const CtFunction *k = kernels.data[0];
  assert_string_equal(k->name, "k1");
  assert_true(k->params[0].do_not_specialize && k->params[2].do_not_specialize && !k->params[1].do_not_specialize);
  assert_true(k->params[1].is_const);
  assert_string_equal(k->params[2].type_text, "i32");
  assert_string_equal(k->params[3].type_text, "fp32");
  assert_int_equal(k->params[4].default_value->kind, CT_MISSING);
  assert_true(k->params[5].is_constexpr && k->params[6].is_constexpr);
  assert_string_equal(k->params[7].type_text, "*fp16:16");
  assert_null(k->params[8].type_text);
  assert_string_equal(k->params[9].type_text, "tensordesc<fp16[B, 8]>");
  assert_string_equal(kernels.data[1]->params[0].type_text, "*fp32");
  assert_string_equal(kernels.data[1]->params[1].type_text, "*kfp16");

  // Sets keep their written order: stages 3, 2 for B = 64.
  assert_int_equal(k->autotune->num_configs, 3);
  assert_int_equal(k->autotune->configs[0].num_stages, 3);
  assert_int_equal(k->autotune->configs[1].num_stages, 2);
  assert_int_equal(k->autotune->configs[2].num_warps, 8);
  assert_string_equal(ct_repr(&w.ctx, k->autotune->key), "['n']");

  // The outer heuristic runs first, and its value is there for the inner one.
  assert_int_equal(k->num_heuristics, 2);
  assert_string_equal(k->heuristics[0].name, "EVEN");
  CtValue *args = ct_dict(&w.ctx);
  ct_dict_set_str(&w.ctx, args->dict, "n", ct_int(&w.ctx, 128));
  ct_dict_set_str(&w.ctx, args->dict, "B", ct_int(&w.ctx, 64));
  CtValue *even = comptime_call(w.ct, k->heuristics[0].fn, &args, 1, NULL, 0, (Span){0, 0});
  assert_true(even && ct_is_true(even));

  // A prune function takes configs and arguments and returns some of them.
  CtValue *objects = ct_list(&w.ctx, NULL, 0);
  for (uint32_t i = 0; i < 3; i++) vec_push(&w.ctx.arena, &objects->list, k->autotune->configs[i].object);
  CtValue *both[2] = {objects, args};
  CtValue *kept = comptime_call(w.ct, ct_dict_get_str(k->autotune->prune_configs_by->dict, "early_config_prune"), both, 2, NULL, 0, (Span){0, 0});
  CtConfig config;
  assert_int_equal(kept->list.count, 2);
  assert_true(comptime_read_config(w.ct, kept->list.data[1], &config));
  assert_int_equal(config.num_stages, 2);

  // A hook changes the dictionary it is given.
  World desc;
  load_ok(&desc, "class D: pass\nd = D()\n");
  ct_dict_set_str(&w.ctx, args->dict, "d", get(&desc, "d"));
  assert_non_null(comptime_call(w.ct, k->autotune->configs[0].pre_hook, &args, 1, NULL, 0, (Span){0, 0}));
  assert_string_equal(ct_repr(&w.ctx, ct_dict_get_str(args->dict, "seen")), "32");
  assert_string_equal(ct_repr(&w.ctx, comptime_get_attr(w.ct, get(&desc, "d"), "block_shape")), "[64, 8]");
  context_free(&desc.ctx);
  context_free(&w.ctx);
}

static void test_native_spelling(void **state) {
  World w;
  (void)state;
  load_ok(&w, "@jit\ndef h(a): pass\n@kernel\ndef add(x: *fp32, n: i32, B: constexpr = 1024):\n  pass\n");
  CtKernelList kernels = comptime_kernels(w.ct, w.module);
  assert_int_equal(kernels.count, 1);
  assert_string_equal(kernels.data[0]->params[0].type_text, "*fp32");
  assert_string_equal(kernels.data[0]->params[1].type_text, "i32");
  assert_true(kernels.data[0]->params[2].is_constexpr);
  assert_string_equal(ct_repr(&w.ctx, kernels.data[0]->params[2].default_value), "1024");
  context_free(&w.ctx);
}

static void test_constexpr_function(void **state) {
  World w;
  (void)state;
  load_ok(&w,
          "import triton.language as tl\nfrom triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n"
          "@gluon.constexpr_function\ndef warps(m, n):\n  w = [4, 1]\n  while w[0] * w[1] != n:\n    if m > 16 * w[0]: w[0] *= 2\n    else: w[1] *= 2\n  return w\n"
          "a = warps(tl.constexpr(128), 8)\nb = warps(64, 8)\n"
          "l = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=a, instr_shape=[16, 64, 16])\n");
  check_var(&w, "a", "[8, 1]");
  check_var(&w, "b", "[4, 2]");
  check_var(&w, "l", "gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[8, 1], instr_shape=[16, 64, 16])");
  context_free(&w.ctx);
}

// ---- what is not there ----

static void test_missing(void **state) {
  World w;
  (void)state;
  load_ok(&w,
          "import torch, os\n"
          "from nowhere import thing as t2\n"
          "try:\n  from triton.language.extra.libdevice import tanh\nexcept ModuleNotFoundError:\n  tanh = None\n"
          "try:\n  import flash_attn\n  HAS = True\nexcept ImportError:\n  HAS = False\n"
          "if torch.version.hip:\n  from hip import rsqrt\nelse:\n  from triton.language.extra.libdevice import rsqrt\n"
          "a, b = torch.ones(3).shape\n"
          "lst = [1]\nlst.append(2 + torch.x)\nbad = [1]\nfor q in torch.things: bad.append(q)\n"
          "with torch.no_grad():\n  w = 3\n"
          "n = int(os.environ.get('N', 3))\n"
          "class F(torch.autograd.Function):\n  x = 1\n"
          "@torch.compile\ndef host(x): return x\n"
          "if __name__ == '__main__':\n  raise SystemExit(1)\n"
          "assert torch.cuda.is_available()\n"
          "last = 1\n");
  check_var(&w, "tanh", "<built-in libdevice.tanh>");
  check_var(&w, "rsqrt", "<built-in libdevice.rsqrt>");
  check_var(&w, "HAS", "False");
  check_var(&w, "n", "3");
  check_var(&w, "last", "1");
  const char *missing[] = {"torch", "t2", "a", "b", "bad", "q", "w", "F", "host"};
  for (size_t i = 0; i < countof(missing); i++) assert_int_equal(get(&w, missing[i])->kind, CT_MISSING);
  check_var(&w, "lst", "[1, <missing torch.x>]");

  assert_false(comptime_report_missing(w.ct, get(&w, "t2"), (Span){1, 2}));
  assert_non_null(strstr(diag_render(&w.ctx, false), "error: 'thing' is not known at compile time"));
  assert_non_null(strstr(diag_render(&w.ctx, false), "note: no module 'nowhere' is built in, beside this file or on -I"));
  context_free(&w.ctx);
}

static void test_target(void **state) {
  World w;
  (void)state;
  load_ok(&w,
          "import torch, triton\nimport triton.language as tl\nfrom packaging.version import Version\nfrom some.utils import is_amd, version_ok\n"
          "def is_cuda(): return triton.runtime.driver.active.get_current_target().backend == 'cuda'\n"
          "def pick():\n  if is_cuda(): return [1]\n  else: return [2]\n"
          "a = pick()\nb = 64 if is_amd() else 128\nc = torch.cuda.get_device_capability()[0] >= 9\nd = 2 if torch.version.hip else 3\n"
          "if Version(triton.__version__) >= Version('3.0.0'): e = 'new'\nelse: e = 'old'\n"
          "if version_ok('3.0'):\n  from triton.language.extra.libdevice import tanh\n  cast = tl.cast\nelse:\n  tanh = tl.math.tanh\n");
  check_var(&w, "a", "[1]");
  check_var(&w, "b", "128");
  check_var(&w, "c", "True");
  check_var(&w, "d", "3");
  check_var(&w, "e", "'new'");
  check_var(&w, "tanh", "<built-in libdevice.tanh>");
  check_var(&w, "cast", "<built-in tl.cast>");
  context_free(&w.ctx);
}

static void write_file(const char *dir, const char *name, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void test_files(void **state) {
  char dir[] = "/tmp/tile-comptime-XXXXXX", path[300];
  (void)state;
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/pkg", dir);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/ring", dir);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(dir, "pkg/deep.py", "from .side import S\nD = S + 1\n");
  write_file(dir, "pkg/side.tile", "S = 41\n");
  write_file(dir, "helper.py", "import torch\n_hidden = 1\nH = 7\ncount = []\n");
  write_file(dir, "main.py", "from pkg.deep import D\nfrom helper import *\nimport helper as h2\nfrom helper import absent\nh2.count.append(1)\nfrom pkg import side\nS = side.S\n");
  write_file(dir, "cycle.py", "A = 1\nimport cycle2\nfrom cycle2 import seen\nclass Late:\n  pass\nB = cycle2.later\n");
  write_file(dir, "cycle2.py", "import cycle\nfrom cycle import A as seen, Late, absent\ndef later(): return Late\n");
  write_file(dir, "ring/__init__.py", "from ring import part\nfrom .part import P\nFOLDER = __path__[0][-4:] + __package__\n");
  write_file(dir, "pkg/deeper.py", "from pkg.side import S as T\n");   // no __init__.py there
  write_file(dir, "ring/part.py", "import ring\nfrom ring import FOLDER\nP = 5\nQ = P.nothing()\nR = [P]\nR.append(P.nothing())\ndef wrong(f): return P.nothing()\ndef twice(x): return 2 * x\nWHERE = twice.__module__\n");
  write_file(dir, "rings.py", "from ring import P\nfrom ring.part import FOLDER, Q, R, wrong, WHERE\n@wrong\ndef host(): pass\n");
  write_file(dir, "broken.py", "x = = 1\n");
  write_file(dir, "uses_broken.py", "import broken\n");

  Context ctx;
  context_init(&ctx);
  Comptime *ct = comptime_new(&ctx, NULL);
  snprintf(path, sizeof path, "%s/main.py", dir);
  CtModule *m = comptime_load_file(ct, path);
  if (!m) print_error("%s", diag_render(&ctx, false));
  assert_non_null(m);
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "D"))), "42");
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "S"))), "41");
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "H"))), "7");
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "count"))), "[1]");   // evaluated once
  assert_null(ct_env_get_local(m->env, intern(&ctx, "_hidden")));
  assert_int_equal(ct_env_get_local(m->env, intern(&ctx, "absent"))->kind, CT_MISSING);
  assert_int_equal(comptime_num_files(ct), 4);

  snprintf(path, sizeof path, "%s/cycle.py", dir);
  m = comptime_load_file(ct, path);   // as in Python, with what is there so far; names that come later are filled in
  assert_non_null(m);
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "seen"))), "1");
  CtModule *other = ct_env_get_local(m->env, intern(&ctx, "cycle2"))->module;
  assert_int_equal(ct_env_get_local(other->env, intern(&ctx, "Late"))->kind, CT_CLASS);
  assert_int_equal(ct_env_get_local(other->env, intern(&ctx, "absent"))->kind, CT_MISSING);
  snprintf(path, sizeof path, "%s/pkg/deeper.py", dir);
  m = comptime_load_file(ct, path);
  assert_non_null(m);
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "T"))), "41");
  snprintf(path, sizeof path, "%s/rings.py", dir);
  m = comptime_load_file(ct, path);
  assert_non_null(m);
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "P"))), "5");
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "FOLDER"))), "'ringring'");
  assert_int_equal(ct_env_get_local(m->env, intern(&ctx, "Q"))->kind, CT_MISSING);   // an imported module's host code may fail
  assert_int_equal(ct_env_get_local(m->env, intern(&ctx, "R"))->kind, CT_MISSING);
  assert_int_equal(ct_env_get_local(m->env, intern(&ctx, "host"))->kind, CT_MISSING);
  assert_string_equal(ct_repr(&ctx, ct_env_get_local(m->env, intern(&ctx, "WHERE"))), "'part'");
  snprintf(path, sizeof path, "%s/uses_broken.py", dir);
  assert_null(comptime_load_file(ct, path));
  assert_non_null(strstr(diag_render(&ctx, false), "unexpected '='"));
  snprintf(path, sizeof path, "%s/none.py", dir);
  assert_null(comptime_load_file(ct, path));
  assert_non_null(strstr(diag_render(&ctx, false), "none.py: cannot be read"));
  context_free(&ctx);

  const char *files[] = {"pkg/deep.py", "pkg/deeper.py", "pkg/side.tile", "helper.py", "main.py", "cycle.py", "cycle2.py", "broken.py", "uses_broken.py", "pkg", "ring/__init__.py", "ring/part.py", "rings.py", "ring", ""};
  for (size_t i = 0; i < countof(files); i++) {
    snprintf(path, sizeof path, "%s/%s", dir, files[i]);
    assert_int_equal(remove(path), 0);
  }
}

// ---- errors and limits ----

static void check_error(const char *text, const char *expected) {
  World w;
  load(&w, text);
  assert_null(w.module);
  assert_int_equal(diag_error_count(&w.ctx), 1);
  LineCol at = source_locate(&w.ctx, w.ctx.diags->span.begin);
  assert_string_equal(arena_printf(&w.ctx.arena, "%u:%u %s", at.line, at.col, w.ctx.diags->text), expected);
  context_free(&w.ctx);
}

TEST(test_errors) {
  check_error("x = 1\ny = zzz\n", "2:5 name 'zzz' is not defined");
  check_error("def g(a): return a.foo\ng(3)\n", "1:18 'int' has no attribute 'foo'");
  check_error("x = {}['q']\n", "1:5 no entry for key 'q'");
  check_error("x = [1, 2][5]\n", "1:5 index 5 is out of range for 'list' of length 2");
  check_error("a, b = 1, 2, 3\n", "1:1 3 values cannot be unpacked into 2 targets");
  check_error("x = 'a' + 1\n", "1:5 unsupported operand types for +: 'str' and 'int'");
  check_error("raise ValueError('hi')\n", "1:1 ValueError raised: hi");
  check_error("assert 1 > 2, 'no'\n", "1:1 assertion failed: no");
  check_error("def f(a): pass\nf(1, 2)\n", "2:1 f() takes 1 positional arguments, not 2");
  check_error("x = 2 ** 500\n", "1:5 integer result does not fit in 128 bits");
  check_error("x = 999999999999999999999999999999999999999999\n", "1:5 integer literal does not fit in 128 bits");
  check_error("import triton\n@triton.autotune(configs=[1], key=[])\n@triton.jit\ndef k(x): pass\n", "2:2 configs[0] is a 'int', not a triton.Config: write triton.Config({…}, num_warps=…)");
}

TEST(test_limits) {
  check_error("while True: pass\n", "1:7 evaluation at compile time did not end within 200000 steps");
  check_error("try:\n  while True: pass\nexcept Exception: pass\n", "2:3 evaluation at compile time did not end within 200000 steps");
  check_error("def f(n): return f(n + 1)\nf(0)\n", "1:18 more than 400 nested calls of 'f' at compile time");
  check_error("x = 'a' * 10 ** 12\n", "1:5 a value of 16777217 elements is too large to make at compile time");
  check_error("x = [0]\nwhile True: x = x + x\n", "2:17 a value of 33554432 elements is too large to make at compile time");
  // Cyclic and exponentially shared values are compared, hashed and printed in bounded time.
  World w;
  load_ok(&w, "l = []\nl.append(l)\ns = str(l)[:3]\nt = u = ()\nfor i in range(200): t = (t, t); u = (u, u)\nd = {t: 1}\nsame = t == u\n");
  check_var(&w, "s", "'[[['");
  context_free(&w.ctx);
}

static void test_call_notes(void **state) {
  World w;
  (void)state;
  load(&w, "def g(a): return 1 / a\ndef h(b): return g(b)\nh(0)\n");
  const char *text = diag_render(&w.ctx, false);
  assert_non_null(strstr(text, "t.tile:1:18: error: division by zero"));
  assert_non_null(strstr(text, "t.tile:2:18: note: in the call of 'g'"));
  assert_non_null(strstr(text, "t.tile:3:1: note: in the call of 'h'"));
  context_free(&w.ctx);
}

static void test_eval_text(void **state) {
  World w;
  (void)state;
  load_ok(&w, "N = 100\nK = 8\n");
  CtBinding extra[] = {{"N", ct_int(&w.ctx, 1000)}, {"BLOCK", ct_int(&w.ctx, 128)}};
  CtValue *v = comptime_eval_text(w.ct, w.module, "--grid", "(cdiv(N, BLOCK), K)", extra, 2);
  assert_string_equal(ct_repr(&w.ctx, v), "(8, 8)");
  assert_null(comptime_eval_text(w.ct, w.module, "-D BLOCK", "1 +", NULL, 0));
  assert_non_null(strstr(diag_render(&w.ctx, false), "-D BLOCK:1:4: error: unexpected end of file"));
  context_free(&w.ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),  cmocka_unit_test(test_text),         cmocka_unit_test(test_collections), cmocka_unit_test(test_statements),
      cmocka_unit_test(test_kernels),  cmocka_unit_test(test_native_spelling), cmocka_unit_test(test_constexpr_function), cmocka_unit_test(test_missing),      cmocka_unit_test(test_target),
      cmocka_unit_test(test_files),    cmocka_unit_test(test_errors),       cmocka_unit_test(test_limits),      cmocka_unit_test(test_call_notes),
      cmocka_unit_test(test_eval_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
