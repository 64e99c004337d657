// Diagnostics, positions, interned strings.
#include "ir/buf.h"
#include "ir/context.h"
#include "tests/unit/unit.h"

static const SourceFile *add(Context *ctx, const char *text) { return source_add(ctx, "k.tile", text, strlen(text)); }

static void expect_one(const char *text, uint32_t begin, uint32_t end, const char *want) {
  Context ctx;
  context_init(&ctx);
  const SourceFile *f = add(&ctx, text);
  assert_false(diag_error(&ctx, span_of(f->base + begin, f->base + end), "bad"));
  assert_string_equal(diag_render(&ctx, false), want);
  context_free(&ctx);
}

TEST(test_caret) {
  expect_one("x = foo + 1\n", 4, 7, "k.tile:1:5: error: bad\n  x = foo + 1\n      ^~~\n");
  expect_one("a\nbc", 3, 4, "k.tile:2:2: error: bad\n  bc\n   ^\n");
  // End of file: the caret stands after the last character.
  expect_one("ab", 2, 2, "k.tile:1:3: error: bad\n  ab\n    ^\n");
  expect_one("", 0, 0, "k.tile:1:1: error: bad\n  \n  ^\n");
  // A span over several lines ends with its first.
  expect_one("abc\ndef\n", 1, 6, "k.tile:1:2: error: bad\n  abc\n   ^~\n");
}

TEST(test_width) {
  expect_one("\tx", 1, 2, "k.tile:1:2: error: bad\n          x\n          ^\n");
  expect_one("ab\tx", 3, 4, "k.tile:1:4: error: bad\n  ab      x\n          ^\n");
  expect_one("\"\xe6\x97\xa5\xe6\x9c\xac\" z", 9, 10, "k.tile:1:10: error: bad\n  \"\xe6\x97\xa5\xe6\x9c\xac\" z\n         ^\n");
  expect_one("\xe6\x97\xa5", 0, 3, "k.tile:1:1: error: bad\n  \xe6\x97\xa5\n  ^~\n");
  expect_one("e\xcc\x81 z", 4, 5, "k.tile:1:5: error: bad\n  e\xcc\x81 z\n    ^\n");
  expect_one("\x1b z", 2, 3, "k.tile:1:3: error: bad\n  <1B> z\n       ^\n");
  expect_one("\xff\xc0\x80 z", 4, 5, "k.tile:1:5: error: bad\n  <FF><C0><80> z\n               ^\n");
  expect_one("\xe2\x80\xaez", 3, 4, "k.tile:1:4: error: bad\n  <U+202E>z\n          ^\n");
}

TEST(test_long_line) {
  Context ctx;
  context_init(&ctx);
  char *text = arena_alloc(&ctx.arena, 100001);
  memset(text, 'a', 100000);
  const SourceFile *f = add(&ctx, text);
  diag_error(&ctx, span_of(f->base + 50000, f->base + 50001), "bad");
  assert_true(strlen(diag_render(&ctx, false)) < 500);
  context_free(&ctx);
}

// A replacement stands below what it replaces, insertions where they go; a note's place has none of its own.
TEST(test_fixits) {
  Context ctx;
  context_init(&ctx);
  const SourceFile *f = add(&ctx, "\tx is 16 and y is 3\n");
  diag_error(&ctx, span_of(f->base + 1, f->base + 8), "bad");
  diag_note(&ctx, (Span){0, 0}, "why");
  diag_fixit(&ctx, span_of(f->base + 3, f->base + 5), "==");
  diag_fixit(&ctx, span_of(f->base + 15, f->base + 17), "==");
  diag_fixit(&ctx, span_of(f->base + 19, f->base + 19), "0");
  assert_string_equal(diag_render(&ctx, false),
                      "k.tile:1:2: error: bad\n          x is 16 and y is 3\n          ^~~~~~~\n"
                      "            ==          ==  0\nnote: why\n");
  // Past the limit of errors there is nothing to which a fix-it belongs.
  ctx.error_limit = 1;
  diag_error(&ctx, span_of(f->base + 1, f->base + 2), "worse");
  diag_fixit(&ctx, span_of(f->base + 1, f->base + 2), "z");
  assert_null(strstr(diag_render(&ctx, false), "z"));
  context_free(&ctx);
}

// Warnings come in the order of the source, each once, with its notes; what is no warning stays where it was.
TEST(test_warnings) {
  Context ctx;
  context_init(&ctx);
  const SourceFile *f = add(&ctx, "abcdef");
  const SourceFile *ours = source_add_embedded(&ctx, "ours.tile", "abc", 3);
  diag_tell(&ctx, span_of(f->base + 5, f->base + 6), "told");
  for (uint32_t i = 4; i > 1; i--)
    for (int again = 0; again < 2; again++)
      if (diag_warning(&ctx, WARN_UNREACHABLE, span_of(f->base + i, f->base + i + 1), "w%u", i))
        diag_note(&ctx, (Span){0, 0}, "n%u", i);
  diag_error(&ctx, span_of(f->base, f->base + 1), "e");
  assert_false(diag_warning(&ctx, WARN_NONE_COMPARE, span_of(f->base, f->base + 1), "off"));
  assert_false(diag_warning(&ctx, WARN_UNREACHABLE, span_of(ours->base, ours->base + 1), "in the prelude"));
  diag_sort_warnings(&ctx);
  static const char *const order[] = {"told", "w2", "n2", "w3", "n3", "w4", "n4", "e"};
  const Diag *d = ctx.diags;
  for (uint32_t i = 0; i < countof(order); i++, d = d->next) assert_string_equal(d->text, order[i]);
  assert_null(d);
  assert_ptr_equal(ctx.last_diag, ctx.last_message);
  assert_string_equal(diag_text(&ctx, ctx.diags->next), "w2 [-Wunreachable]");
  context_free(&ctx);
}

// The text of an error is cut where nobody reads on, between characters.
TEST(test_long_text) {
  Context ctx;
  context_init(&ctx);
  Buf b = buf_make(&ctx.arena);
  buf_putc(&b, 'a');
  for (int i = 0; i < 100000; i++) buf_puts(&b, "\xc3\xa9");
  diag_error(&ctx, (Span){0, 0}, "%s", buf_str(&b));
  const char *text = ctx.diags->text;
  size_t n = strlen(text);
  assert_true(n < 5000);
  assert_string_equal(text + n - 5, "\xc3\xa9\xe2\x80\xa6");
  context_free(&ctx);
}

TEST(test_notes_and_limit) {
  Context ctx;
  context_init(&ctx);
  ctx.error_limit = 2;
  const SourceFile *f = add(&ctx, "abc");
  const SourceFile *g = source_add(&ctx, "b.tile", "xyz", 3);
  for (uint32_t i = 0; i < 4; i++) {
    diag_error(&ctx, span_of(g->base + (i & 1), g->base + (i & 1) + 1), "e%u", i);
    if (i == 0) diag_note(&ctx, span_of(f->base, f->base + 3), "see here");
    if (i == 3) diag_note(&ctx, (Span){0, 0}, "lost with its error");
  }
  assert_int_equal(diag_error_count(&ctx), 4);
  assert_string_equal(diag_render(&ctx, false),
                      "b.tile:1:1: error: e0\n  xyz\n  ^\nk.tile:1:1: note: see here\n  abc\n  ^~~\n"
                      "b.tile:1:2: error: e1\n  xyz\n   ^\ntilec: 2 more errors not shown\n");
  context_free(&ctx);
}

// An error of one place and text is shown once, with its notes; what counts errors sees each.
TEST(test_repeated) {
  Context ctx;
  context_init(&ctx);
  ctx.error_limit = 2;
  const SourceFile *f = add(&ctx, "abc");
  const Span a = span_of(f->base, f->base + 1), b = span_of(f->base + 1, f->base + 2);
  for (int i = 0; i < 3; i++) {
    diag_error(&ctx, a, "e");
    diag_note(&ctx, (Span){0, 0}, "of e");
    diag_fixit(&ctx, a, "x");
  }
  diag_tell(&ctx, b, "told");
  diag_error(&ctx, b, "e");
  diag_note(&ctx, (Span){0, 0}, "of the other");
  assert_int_equal(diag_error_count(&ctx), 4);
  assert_string_equal(diag_render(&ctx, false),
                      "k.tile:1:1: error: e\n  abc\n  ^\n  x\nnote: of e\n"
                      "k.tile:1:2: note: told\n  abc\n   ^\n"
                      "k.tile:1:2: error: e\n  abc\n   ^\nnote: of the other\n");
  diag_forget(&ctx);
  assert_int_equal(diag_error_count(&ctx), 0);
  diag_error(&ctx, a, "e");
  assert_string_equal(ctx.diags->text, "e");
  context_free(&ctx);
}

TEST(test_no_place) {
  Context ctx;
  context_init(&ctx);
  diag_error(&ctx, (Span){0, 0}, "cannot read 'a\nb'");
  diag_note(&ctx, (Span){0, 0}, "pass -D");
  assert_string_equal(diag_render(&ctx, false), "tilec: error: cannot read 'a<0A>b'\nnote: pass -D\n");
  assert_non_null(strstr(diag_render(&ctx, true), "\033[1;31merror:"));
  context_free(&ctx);
}

TEST(test_locate) {
  Context ctx;
  context_init(&ctx);
  const SourceFile *f[3];
  for (int i = 0; i < 3; i++) f[i] = add(&ctx, "a\n\nbc\n");
  for (int i = 0; i < 3; i++) {
    LineCol at = source_locate(&ctx, f[i]->base + 4);
    assert_ptr_equal(at.file, f[i]);
    assert_int_equal(at.line, 3);
    assert_int_equal(at.col, 2);
    at = source_locate(&ctx, f[i]->base + 6);
    assert_ptr_equal(at.file, f[i]);
    assert_int_equal(at.line, 4);
  }
  assert_null(source_locate(&ctx, 0).file);
  assert_null(source_locate(&ctx, ctx.next_loc).file);
  context_free(&ctx);
}

TEST(test_intern) {
  Context ctx;
  context_init(&ctx);
  const char *first[2000];
  for (int i = 0; i < 2000; i++) first[i] = intern(&ctx, arena_printf(&ctx.arena, "s%d", i));
  for (int i = 0; i < 2000; i++) assert_ptr_equal(first[i], intern(&ctx, arena_printf(&ctx.arena, "s%d", i)));
  assert_ptr_not_equal(intern_n(&ctx, "a\0b", 3), intern_n(&ctx, "a\0c", 3));
  assert_ptr_equal(intern_n(&ctx, "abc", 2), intern(&ctx, "ab"));
  context_free(&ctx);
}

TEST(test_ice) {
  Context ctx;
  context_init(&ctx);
  jmp_buf out;
  ctx.on_ice = &out;
  if (setjmp(out) == 0) ice(&ctx, "op %d", 7);
  assert_string_equal(ctx.ice_text, "op 7");
  context_free(&ctx);
}

TEST(test_buf) {
  Context ctx;
  context_init(&ctx);
  Buf b = buf_make(&ctx.arena);
  assert_string_equal(buf_str(&b), "");
  for (int i = 0; i < 500; i++) buf_printf(&b, "%d,", i % 10);
  assert_int_equal(b.size, 1000);
  b = buf_make(&ctx.arena);
  buf_quote(&b, "a\"\\\n\x01", 5);
  assert_string_equal(buf_str(&b), "\"a\\\"\\\\\\n\\x01\"");
  context_free(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_caret),  cmocka_unit_test(test_width),  cmocka_unit_test(test_long_line), cmocka_unit_test(test_long_text), cmocka_unit_test(test_notes_and_limit),
      cmocka_unit_test(test_repeated),
      cmocka_unit_test(test_no_place), cmocka_unit_test(test_locate), cmocka_unit_test(test_intern),  cmocka_unit_test(test_ice),
      cmocka_unit_test(test_buf), cmocka_unit_test(test_fixits), cmocka_unit_test(test_warnings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
