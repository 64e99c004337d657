// The parser: trees of representative statements and expressions, and what malformed text reports.
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "frontend/syntax/syntax.h"
#include "ir/buf.h"

static Node *parse(Context *ctx, const char *text, size_t size) { return parse_module(ctx, source_add(ctx, "t.py", text, size)); }

static void check_tree(const char *text, const char *tree) {
  Context ctx;
  context_init(&ctx);
  const Node *n = parse(&ctx, text, strlen(text));
  if (diag_error_count(&ctx)) print_error("%s", diag_render(&ctx, false));
  assert_int_equal(diag_error_count(&ctx), 0);
  assert_int_equal(n->block.count, 1);
  // One line, single blanks: the layout of blocks is not what these tests are about.
  const char *dump = ast_dump(&ctx, n->block.data[0]);
  char *flat = arena_alloc(&ctx.arena, strlen(dump) + 1), *out = flat;
  for (const char *s = dump; *s; s++) {
    if (*s == '\n' || *s == ' ') {
      if (out > flat && out[-1] != ' ') *out++ = ' ';
    } else {
      *out++ = *s;
    }
  }
  while (out > flat && out[-1] == ' ') *--out = 0;
  assert_string_equal(flat, tree);
  context_free(&ctx);
}

TEST(test_expressions) {
  check_tree("a + b * c ** -d", "(expr (binary + (name a) (binary * (name b) (binary ** (name c) (unary - (name d))))))");
  check_tree("a - b - c", "(expr (binary - (binary - (name a) (name b)) (name c)))");
  check_tree("not a == b", "(expr (unary not (compare (name a) == (name b))))");
  check_tree("a < b <= c is not d not in e", "(expr (compare (name a) < (name b) <= (name c) is not (name d) not in (name e)))");
  check_tree("a and b and c or d", "(expr (bool-op or (bool-op and (name a) (name b) (name c)) (name d)))");
  check_tree("(a or b) or c", "(expr (bool-op or (bool-op or (name a) (name b)) (name c)))");
  check_tree("x if c else y", "(expr (if-exp (name x) (name c) (name y)))");
  check_tree("f(a, *b, k=1, **d)", "(expr (call (name f) (name a) (starred (name b)) (keyword k (int 1)) (keyword ** (name d))))");
  check_tree("k[grid](x)", "(expr (call (subscript (name k) (name grid)) (name x)))");
  check_tree("a[:, None, 1:2, ::3]",
             "(expr (subscript (name a) (tuple (slice - - -) (None) (slice (int 1) (int 2) -) (slice - - (int 3)))))");
  check_tree("lambda x, *a, y=1, **k: x", "(expr (lambda (params (param x - -) (param *a - -) (param kw y - (int 1)) (param **k - -)) (name x)))");
  check_tree("[i for i in r if a if b for j in s]",
             "(expr (list-comp (name i) (comp-for (name i) (name r) (name a) (name b)) (comp-for (name j) (name s))))");
  check_tree("{k: v for k, v in d}", "(expr (dict-comp (name k) (name v) (comp-for (tuple (name k) (name v)) (name d))))");
  check_tree("{1: 2, **d}", "(expr (dict (int 1) (int 2) ** (name d)))");
  check_tree("{1, 2}", "(expr (set (int 1) (int 2)))");
  check_tree("()", "(expr (tuple))");
  check_tree("(a,)", "(expr (tuple (name a)))");
  check_tree("any(x for x in y)", "(expr (call (name any) (generator (name x) (comp-for (name x) (name y)))))");
  check_tree("(n := 10)", "(expr (named-expr (name n) (int 10)))");
  check_tree("await f", "(expr (await (name f)))");
}

TEST(test_literals) {
  check_tree("0x_ff", "(expr (int 255))");
  check_tree("0b101", "(expr (int 5))");
  check_tree("0o17", "(expr (int 15))");
  check_tree("1_000_000", "(expr (int 1000000))");
  check_tree("170141183460469231731687303715884105727", "(expr (int 170141183460469231731687303715884105727))");
  check_tree("1e-3", "(expr (float 0.001))");
  check_tree("1e22", "(expr (float 1e+22))");
  check_tree(".5", "(expr (float 0.5))");
  check_tree("2j", "(expr (imag 2.0))");
  check_tree("'a' \"b\" '''c\nd'''", "(expr (str \"abc\\nd\"))");
  check_tree("'\\x41\\u00e9\\n\\\n\\q'", "(expr (str \"A\xc3\xa9\\n\\\\q\"))");
  check_tree("b'\\xff'[0:0]", "(expr (subscript (bytes \"\\xFF\") (slice (int 0) (int 0) -)))");
  check_tree("rb'\\n'", "(expr (bytes \"\\\\n\"))");
  check_tree("f'a{x}b'", "(expr (f-string (str \"a\") (format (name x)) (str \"b\")))");
  check_tree("f'{x!r:>{w}}'", "(expr (f-string (format (name x) !r (f-string (str \">\") (format (name w))))))");
  check_tree("f'{x = }'", "(expr (f-string (format (name x) text=\"x = \")))");
  check_tree("f'{{}}' 'z'", "(expr (f-string (str \"{}z\")))");
  check_tree("f\"{d['k']:.2f}\"", "(expr (f-string (format (subscript (name d) (str \"k\")) (f-string (str \".2f\")))))");
  check_tree("f\"{d[\"k\"]}\"", "(expr (f-string (format (subscript (name d) (str \"k\")))))");   // as Python 3.12 allows
  check_tree("f'{a != b}'", "(expr (f-string (format (compare (name a) != (name b)))))");
}

TEST(test_statements) {
  check_tree("a = b, *c = d", "(assign (name a) (tuple (name b) (starred (name c))) (name d))");
  check_tree("a.b[0] += 1", "(aug-assign + (subscript (attribute (name a) b) (int 0)) (int 1))");
  check_tree("x: tl.constexpr = 4", "(ann-assign (name x) (attribute (name tl) constexpr) (int 4))");
  check_tree("del a, b[0]", "(del (name a) (subscript (name b) (int 0)))");
  check_tree("import a.b as c, d", "(import (alias a.b c) (alias d -))");
  check_tree("from ..p.q import (x as y, z,)", "(import-from 2 p.q (alias x y) (alias z -))");
  check_tree("from . import *", "(import-from 1 - (alias * -))");
  check_tree("assert a, 'm'", "(assert (name a) (str \"m\"))");
  check_tree("raise E from e", "(raise (name E) (name e))");
  check_tree("if a: b\nelif c: d\nelse: e", "(if (name a) (then (expr (name b))) (else (if (name c) (then (expr (name d))) (else (expr (name e))))))");
  check_tree("for i, in x:\n  break\nelse:\n  pass\n", "(for (tuple (name i)) (name x) (body (break)) (else (pass)))");
  check_tree("while a:\n\tcontinue\n", "(while (name a) (body (continue)))");
  check_tree("with a as b, c: pass", "(with (with-item (name a) (name b)) (with-item (name c) -) (body (pass)))");
  check_tree("with (a as b, c as d): pass", "(with (with-item (name a) (name b)) (with-item (name c) (name d)) (body (pass)))");
  check_tree("try: a\nexcept (B, C) as e: pass\nexcept: pass\nelse: d\nfinally: f",
             "(try (body (expr (name a))) (handlers (except (tuple (name B) (name C)) e (pass)) (except - - (pass))) (else (expr (name d))) "
             "(finally (expr (name f))))");
  check_tree("class A(B, metaclass=M):\n  x: int = 1\n",
             "(class A (bases (name B)) (keywords (keyword metaclass (name M))) (body (ann-assign (name x) (name int) (int 1))))");
  check_tree("match x:\n  case [1, *r] if r: pass\n  case A(b=2) as c: pass\n",
             "(match (name x) (case (list (int 1) (starred (name r))) (name r) (pass)) (case (with-item (call (name A) (keyword b (int 2))) (name c)) - (pass)))");
  check_tree("match x:\n  case [A(B() as c, k=D() as d) as e, {'k': 1 as f}] | (g as h): pass\n",
             "(match (name x) (case (binary | (list (with-item (call (name A) (with-item (call (name B)) (name c)) (keyword k (with-item (call (name D)) (name d)))) (name e)) "
             "(dict (str \"k\") (with-item (int 1) (name f)))) (tuple (with-item (name g) (name h)))) - (pass)))");
  check_tree("with (a as b):\n  with (c as d): pass\n", "(with (with-item (name a) (name b)) (body (with (with-item (name c) (name d)) (body (pass)))))");
  check_tree("try: a\nexcept B, C: pass", "(try (body (expr (name a))) (handlers (except (tuple (name B) (name C)) - (pass))))");
  check_tree("type A = int", "(type-alias A (name int))");
  check_tree("type B[T: (int, str) = int, *Ts = *A, **P] = list[T]", "(type-alias B (subscript (name list) (name T)))");
  check_tree("type = type (x)", "(assign (name type) (call (name type) (name x)))");
  check_tree("def f[T, *Ts, **P](x): pass", "(def f (params (param x - -)) (body (pass)))");
  check_tree("class A[T = int]: pass", "(class A (body (pass)))");
  check_tree("match = case[0]", "(assign (name match) (subscript (name case) (int 0)))");
  check_tree("match(x)", "(expr (call (name match) (name x)))");
  check_tree("async def f():\n  async for i in x: await i\n",
             "(async-def f (body (async-for (name i) (name x) (body (expr (await (name i)))))))");
}

TEST(test_kernel_header) {
  check_tree("@triton.jit\ndef k(x: *fp32, p: '*fp16:16', /, n: i32, *, B: tl.constexpr = 8, **kw) -> None:\n  pass\n",
             "(def k (decorators (attribute (name triton) jit)) (params (param /x (pointer-type (name fp32)) -) (param /p (str \"*fp16:16\") -) "
             "(param n (name i32) -) (param kw B (attribute (name tl) constexpr) (int 8)) (param **kw - -)) (returns (None)) (body (pass)))");
}

TEST(test_lines) {
  check_tree("\xef\xbb\xbf# comment\r\n\r\nf(a,\r\n  b)  # c\r\n", "(expr (call (name f) (name a) (name b)))");
  check_tree("if a:\n\n  # odd comment\n      b\n # another\n      c", "(if (name a) (then (expr (name b)) (expr (name c))))");
  check_tree("a = 1 + \\\n  2\n", "(assign (name a) (binary + (int 1) (int 2)))");
  check_tree("if a:\n\tb\n\tc\n" "\f", "(if (name a) (then (expr (name b)) (expr (name c))))");
}

// ---- errors ----

static void check_errors(const char *text, const char *expected) {
  Context ctx;
  context_init(&ctx);
  parse(&ctx, text, strlen(text));
  Context *c = &ctx;
  char *got = arena_alloc(&c->arena, 4096), *out = got;
  for (const Diag *d = ctx.diags; d; d = d->next) {
    if (d->level == DIAG_NOTE) continue;
    LineCol at = source_locate(c, d->span.begin);
    out += sprintf(out, "%u:%u %s\n", at.line, at.col, d->text);
  }
  assert_string_equal(got, expected);
  context_free(&ctx);
}

TEST(test_errors) {
  check_errors("if x = 3:\n  pass\n", "1:6 unexpected '='\n");
  // What belongs to a header that failed is not reported again, nor what a bracket left open has swallowed.
  check_errors("if a b:\n  c\nelif d:\n  e\nelse:\n  f\ntry:\n  a\nexcept B C:\n  d\nfinally:\n  e f\nelse: g\n",
               "1:6 unexpected name 'b', expected ':'\n9:10 unexpected name 'C', expected ':'\n12:5 unexpected name 'f'\n");
  check_errors("match x:\n  case a b:\n    c\n  case d: e f\n  case g: h\ni j\n", "2:10 unexpected name 'b', expected ':'\n4:13 unexpected name 'f'\n6:3 unexpected name 'j'\n");
  check_errors("for a in f(3:\n  a b\n", "1:11 '(' is not closed\n2:5 unexpected name 'b'\n");
  check_errors("def f():\n  a(1\n  b = 2\n  c d\n", "2:4 '(' is not closed\n4:5 unexpected name 'd'\n");
  check_errors("a(1\n  b)\n", "2:3 unexpected name 'b'\n");
  check_errors("f(a as b)\nmatch x:\n  case A(b as c): pass\n[d as e]\n", "1:3 'as' is not allowed in an expression\n4:2 'as' is not allowed in an expression\n");
  check_errors("while True\n  x = 1\n", "1:11 unexpected end of line, expected ':'\n");
  check_errors("def f(x y): pass\ndef g(:\n  pass\nx = = 2\n",
               "1:9 unexpected name 'y', expected ')', ',', ':' or '='\n2:6 '(' is not closed\n4:5 unexpected '='\n");
  check_errors("foo(1,\ndef g(): pass\nx = 1\n", "1:4 '(' is not closed\n");
  check_errors("x = [1, 2)\n", "1:10 ')' does not close '['\n");
  check_errors("x = )\n", "1:5 ')' closes nothing\n");
  check_errors("if a:\nb = 1\n", "2:1 expected an indented block\n");
  check_errors("a = 1\n  b = 2\n  c = 3\nd = 4 4\n", "2:3 unexpected indentation\n4:7 unexpected number '4'\n");
  check_errors("if a:\n    b\n  c\n", "3:3 this indentation matches no outer block\n");
  check_errors("if a:\n        b\n\tc\n", "3:2 inconsistent use of tabs and spaces in indentation\n");
  check_errors("f(\"abc)\nx = (y + 'd)\nz = [\n  \"open,\n  2]\n", "1:3 string is not closed on this line\n2:10 string is not closed on this line\n4:3 string is not closed on this line\n");
  check_errors("x = 'abc\ny = 1\n", "1:5 string is not closed on this line\n");
  check_errors("x = '''abc\ny = 1\n", "1:5 string is not closed before the end of the file\n");
  check_errors("f() = 1\n1 += 2\nNone = 3\n", "1:1 cannot assign to a call\n2:1 cannot assign to a literal\n3:1 cannot assign to None\n");
  check_errors("f(a=1, a=2)\nf(a=1, b)\n", "1:8 argument 'a' is given twice\n2:8 a positional argument follows a keyword argument\n");
  check_errors("def f(a, a): pass\ndef g(a=1, b): pass\n", "1:10 parameter 'a' is declared twice\n2:12 parameter 'b' without a default follows one with a default\n");
  check_errors("x = 12ab\n", "1:5 malformed number '12ab'\n");
  check_errors("x = 012\n", "1:5 a decimal integer does not begin with 0\n");
  check_errors("x = \xe2\x80\x9c" "a\n", "1:5 unexpected character U+201C\n");
  check_errors("x = f'{a'\n", "1:7 '{' is not closed in the f-string\n");
  check_errors("x = f'{}'\n", "1:7 empty expression in an f-string\n");
  check_errors("x = f'{a b}'\ny = $\n", "1:10 unexpected name 'b'\n2:5 unexpected character '$'\n");
  check_errors("x = '\xff'\n", "1:6 byte 0xff is not valid UTF-8\n");
}

TEST(test_nul) {
  Context ctx;
  context_init(&ctx);
  assert_int_equal(parse(&ctx, "x\0y", 3)->block.count, 0);
  assert_string_equal(ctx.diags->text, "NUL byte in the source");
  context_free(&ctx);
}

// Text made of many copies of a piece must be refused, once, without running out of stack.
static void check_deep(const char *piece, size_t times, const char *message) {
  size_t n = strlen(piece);
  char *text = malloc(n * times + 1);
  for (size_t i = 0; i < times; i++) memcpy(text + i * n, piece, n);
  text[n * times] = 0;
  Context ctx;
  context_init(&ctx);
  parse(&ctx, text, n * times);
  assert_true(diag_error_count(&ctx) >= 1);
  assert_string_equal(ctx.diags->text, message);
  context_free(&ctx);
  free(text);
}

TEST(test_deep) {
  check_deep("(", 100000, "more than 200 nested brackets");
  check_deep("a+", 100000, "nested too deeply");
  check_deep("not ", 100000, "nested too deeply");
  check_deep("-", 100000, "nested too deeply");
  check_deep("lambda:", 100000, "nested too deeply");
  check_deep("if a:", 5, "unexpected 'if'");
}

// An expression in an f-string costs its nodes, not a parser.
TEST(test_many_fields) {
  enum { FIELDS = 5000 };
  Context ctx;
  context_init(&ctx);
  Buf b = buf_make(&ctx.arena);
  buf_puts(&b, "x = f'");
  for (int i = 0; i < FIELDS; i++) buf_puts(&b, "{1}");
  buf_puts(&b, "'\n");
  size_t before = ctx.arena.total;
  parse(&ctx, buf_str(&b), b.size);
  assert_int_equal(diag_error_count(&ctx), 0);
  assert_true(ctx.arena.total - before < FIELDS * 2000);
  context_free(&ctx);
}

TEST(test_indent_limit) {
  char text[70000], *s = text;
  for (int i = 0; i < 150; i++) s += sprintf(s, "%*sif a:\n", i, "");
  Context ctx;
  context_init(&ctx);
  parse(&ctx, text, strlen(text));
  assert_string_equal(ctx.diags->text, "more than 100 levels of indentation");
  context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expressions), cmocka_unit_test(test_literals), cmocka_unit_test(test_statements), cmocka_unit_test(test_kernel_header),
      cmocka_unit_test(test_lines),       cmocka_unit_test(test_errors),   cmocka_unit_test(test_nul),        cmocka_unit_test(test_deep),
      cmocka_unit_test(test_many_fields), cmocka_unit_test(test_indent_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
