// runtime/cli/expression.c: what --expect computes, and what it refuses. Each expression is compared with another one that
// says the result; the results are NumPy's.
#include "unit.h"

#include <math.h>

#include "runtime/cli/expression.h"

// x = [[0, 1, 2], [3, 4, 5]], v = [1, -2, 3], n = 3.
static const Nd *find(void *user, const char *name) {
  Arena *a = user;
  Nd *r = NULL;
  static const double v[] = {1, -2, 3};
  if (!strcmp(name, "x")) r = nd_new(a, 2, (const int64_t[]){2, 3});
  if (!strcmp(name, "v")) r = nd_new(a, 1, (const int64_t[]){3});
  for (uint64_t i = 0; r && i < r->count; i++) r->data[i] = r->rank == 2 ? (double)i : v[i];
  return !strcmp(name, "n") ? nd_scalar(a, 3) : r;
}

static const Nd *eval(Context *ctx, const char *text) {
  static const char *const names[] = {"x", "v", "n"};
  const ExpressionScope scope = {find, &ctx->arena, names, countof(names), "is not an argument, a buffer or a constexpr of the kernel"};
  return expression_eval(ctx, "--expect out", text, &scope);
}

static const char *text_of(Context *ctx, const Nd *x) {
  Buf b = buf_make(&ctx->arena);
  if (!x) return diag_render(ctx, false);
  buf_puts(&b, nd_shape_text(&ctx->arena, x));
  for (uint64_t i = 0; i < x->count; i++) buf_printf(&b, " %.12g", x->data[i] + 0.0);
  return buf_str(&b);
}

TEST(values) {
  static const struct { const char *text, *result; } cases[] = {
      {"1 + 2 * 3 - 4 / 2", "5"},
      {"[7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 7 & 5, 6 | 1, 6 ^ 3, 1 << 4, 17 >> 2, ~5]",
       "[3, -4, 1, 2, 1024, 5, 7, 5, 16, 4, -6]"},
      {"[True, False, +n, -n, not n]", "[1, 0, 3, -3, 0]"},
      {"x + v", "[[1, -1, 5], [4, 2, 8]]"},
      {"x + v[:2, None]", "[[1, 2, 3], [1, 2, 3]]"},
      {"(x > 1) & (x <= 4)", "[[0, 0, 1], [1, 1, 0]]"},
      {"1 < x < 4", "[[0, 0, 1], [1, 0, 0]]"},
      {"where(v < 0, 0, v)", "[1, 0, 3]"},
      {"[x == 3, x != 3, x >= 3]", "[[[0,0,0],[1,0,0]], [[1,1,1],[0,1,1]], [[0,0,0],[1,1,1]]]"},
      // axes
      {"sum(x)", "15"},
      {"x.sum(axis=0)", "[3, 5, 7]"},
      {"np.sum(x, -1)", "[3, 12]"},
      {"x.sum(axis=1, keepdims=True)", "[[3], [12]]"},
      {"x.sum(axis=(0, 1))", "15"},
      {"x.sum(axis=None, keepdims=True)", "[[15]]"},
      {"[x.max(), x.min(), mean(x), prod(v), v.argmax(), argmin(v), any(v > 2), all(v > 2)]",
       "[5, 0, 2.5, -6, 2, 1, 1, 0]"},
      {"[var([1, 2, 3, 4]), std([1, 1, 3, 3])]", "[1.25, 1]"},
      {"max([1, nan, 2])", "nan"},
      {"cumsum(x, axis=0)", "[[0, 1, 2], [3, 5, 7]]"},
      {"x.cumsum(1)", "[[0, 1, 3], [3, 7, 12]]"},
      {"cumprod(v)", "[1, -2, -6]"},
      {"sort(v)", "[-2, 1, 3]"},
      {"flip(x, axis=0)", "[[3, 4, 5], [0, 1, 2]]"},
      {"softmax([0, 0])", "[0.5, 0.5]"},
      {"softmax(x, axis=0)", "exp(x) / exp(x).sum(axis=0)"},
      {"softmax([1000, 1000])", "[0.5, 0.5]"},
      {"log_softmax([0, 0])", "[-log(2), -log(2)]"},
      {"logsumexp([[1000, 1000], [0, -inf]], axis=1)", "[1000 + log(2), 0]"},
      // shapes
      {"x.T", "[[0, 3], [1, 4], [2, 5]]"},
      {"x.shape", "[2, 3]"},
      {"x.shape[1] * 2", "6"},
      {"x.reshape(3, 2)", "[[0, 1], [2, 3], [4, 5]]"},
      {"reshape(x, (3, -1))", "[[0, 1], [2, 3], [4, 5]]"},
      {"x.flatten()", "arange(6)"},
      {"arange(2, 8, 3)", "[2, 5]"},
      {"transpose(x)", "x.T"},
      {"transpose(x.reshape(1, 2, 3), (2, 0, 1)).shape", "[3, 1, 2]"},
      {"x.reshape(1, 2, 3).transpose(0, 2, 1)[0]", "x.T"},
      {"swapaxes(x, 0, -1)", "x.T"},
      {"x.reshape(2, 3, 1).mT.shape", "[2, 1, 3]"},
      {"broadcast_to(v, (2, 3)).sum(0)", "2 * v"},
      {"expand_dims(v, 1).shape", "[3, 1]"},
      {"[zeros(2), ones((2,))]", "[[0, 0], [1, 1]]"},
      // indices
      {"x[1]", "[3, 4, 5]"},
      {"x[-1, -1]", "5"},
      {"x[:, 1]", "[1, 4]"},
      {"x[:, ::-1]", "[[2, 1, 0], [5, 4, 3]]"},
      {"x[:, 1:]", "[[1, 2], [4, 5]]"},
      {"x[..., 0]", "[0, 3]"},
      {"x[0:100, -2:-1]", "[[1], [4]]"},
      {"v[None, :, None].shape", "[1, 3, 1]"},
      {"x[1:1].sum(0)", "[0, 0, 0]"},
      // matrix products
      {"x @ v", "[4, 10]"},
      {"v @ x.T", "[4, 10]"},
      {"v @ v", "14"},
      {"x @ x.T", "[[5, 14], [14, 50]]"},
      {"matmul(x.reshape(1, 2, 3), [x.T, x.T]).shape", "[2, 2, 2]"},
      {"([x, x + 1] @ x.T)[1]", "(x + 1) @ x.T"},
      // functions
      {"[exp(0), log(e), sqrt(9), rsqrt(4), abs(-2), floor(-0.5), ceil(0.5), round(2.5), sign(-3), square(3)]",
       "[1, 1, 3, 0.5, 2, -1, 1, 2, -1, 9]"},
      {"[sigmoid(0), relu(-1), relu(2), tanh(0), silu(0), gelu(0), erf(0), cos(pi)]", "[0.5, 0, 2, 0, 0, 0, 0, -1]"},
      {"[maximum(1, 2), minimum(1, 2), power(2, 3), fmod(-7, 3), clip(5, 0, 3)]", "[2, 1, 8, -1, 3]"},
      {"clip(v, -1, 1)", "[1, -1, 1]"},
      {"[fp16(0.1), (0.1 + 0 * v[0]).to(tl.float16), v.astype('float32')[0]]", "[0.0999755859375, 0.0999755859375, 1]"},
      {"isnan([nan, 1])", "[1, 0]"},
  };
  Context ctx;
  for (uint32_t i = 0; i < countof(cases); i++) {
    context_init(&ctx);
    const char *got = text_of(&ctx, eval(&ctx, cases[i].text)), *want = text_of(&ctx, eval(&ctx, cases[i].result));
    if (strcmp(got, want)) fail_msg("%s gives %s, not %s", cases[i].text, got, want);
    context_free(&ctx);
  }
}

TEST(refusals) {
  static const struct { const char *text, *says; } cases[] = {
      {"y + 1", "`y` is not an argument, a buffer or a constexpr of the kernel"},
      {"softmx(x)", "there is no function `softmx` here\n  softmx(x)\n  ^~~~~~\nnote: did you mean `softmax`?"},
      {"x.frobnicate()", "there is no function `frobnicate` here\n  x.frobnicate()\n  ^~~~~~~~~~~~\nnote: docs/running.md lists what there is; for the rest give a file, @ref.npy"},
      {"x + [1, 2]", "the shapes (2, 3) and (2,) do not go together"},
      {"x @ x", "the shapes (2, 3) and (2, 3) do not go together in a matrix product; transpose the second with .T"},
      {"n @ x", "a matrix product of a number"},
      {"x.sum(axis=2)", "an array of shape (2, 3) has no axis 2\n  x.sum(axis=2)\n             ^"},
      {"x.sum(axis=v)", "a single number is needed, not an array of shape (3,)"},
      {"x.sum(along=1)", "sum takes x axis keepdims"},
      {"exp(x, 1)", "exp takes x"},
      {"maximum(x)", "maximum needs argument 2"},
      {"x[2]", "index 2 is outside of axis 0, which has 2 elements"},
      {"x[0, 0, 0]", "an array of shape (2, 3) has no axis 2"},
      {"x[::0]", "a step of 0"},
      {"x[0.5]", "a whole number is needed, not 0.5"},
      {"x.reshape(4)", "an array of shape (2, 3) has 6 elements"},
      {"x.reshape(1,1,1,1,1,1,1,2,3)", "an array has at most 8 axes"},
      {"transpose(x, (0, 0))", "each axis must be named once"},
      {"transpose(x, (0, 1, 2))", "an array of shape (2, 3) needs 2 axes"},
      {"zeros(-1)", "this is no shape of an array that fits in memory"},
      {"zeros()", "zeros needs a shape"},
      {"arange()", "arange needs an end"},
      {"expand_dims(x, 5)", "an array of shape (2, 3) has no place for that axis"},
      {"broadcast_to(x, (2, 2))", "the shape is (2, 3), not (2, 2)"},
      {"x.to(fp12)", "to needs a dtype, as in to(x, fp16)"},
      {"softmax(n)", "softmax needs an array"},
      {"x.dtype", "an array has no attribute `dtype`; there are T, mT and shape"},
      {"x and v", "`and` is not for arrays: write (a) & (b) with parentheses"},
      {"x in v", "the operator `in` is not for arrays"},
      {"[v, n]", "the parts of a list must have one shape"},
      {"(lambda: 1)()", "this is not the name of a function"},
      {"x if n else v", "this cannot be part of an expression over arrays"},
      {"x +", "unexpected end of file"},
  };
  Context ctx;
  for (uint32_t i = 0; i < countof(cases); i++) {
    context_init(&ctx);
    const Nd *r = eval(&ctx, cases[i].text);
    const char *said = diag_render(&ctx, false);
    if (r || !strstr(said, cases[i].says)) fail_msg("%s says: %s", cases[i].text, r ? text_of(&ctx, r) : said);
    context_free(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
