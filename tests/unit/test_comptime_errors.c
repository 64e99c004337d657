// What the compile-time evaluator says of one wrong expression after another.
#include "frontend/comptime/comptime.h"
#include "tests/unit/unit.h"

#define NEST1(x) "-(-(-(-(-(-(-(-(" x "))))))))"
#define NEST2(x) NEST1(NEST1(NEST1(NEST1(x))))
#define NEST(x) NEST2(NEST2(NEST2(NEST2(x))))

// What the expressions name.
static const char *const prelude =
    "import triton\n"
    "import triton.language as tl\n"
    "import math, functools, copy, itertools, operator, enum\n"
    "from typing import NamedTuple\n"
    "nested = []\n"
    "for i in range(300): nested = [nested]\n"
    "def f(a, b=0): return a\n"
    "@triton.jit\n"
    "def k(x): pass\n"
    "class P(NamedTuple):\n"
    "  a: int\n"
    "  b: int\n"
    "class Color(enum.Enum):\n"
    "  RED = 1\n"
    "class Empty: pass\n"
    "config = triton.Config({})\n"
    "config.kwargs = 3\n"
    "def climb(n): return " NEST("climb(n + 1)") "\n";

static const struct { const char *expression, *error; } cases[] = {
    {"abs(1, 2, 3)", "abs() takes 1 argument, not 3"},
    {"int(float('inf'))", "inf has no integer value"},
    {"int('12x')", "'12x' is not an integer"},
    {"int('9' * 60)", "integer does not fit in 128 bits"},
    {"int([])", "this function does not take an argument of type 'list'"},
    {"float('abc')", "'abc' is not a number"},
    {"range(1, 2, 0)", "range() step cannot be zero"},
    {"{[1]}", "'list' cannot be a dictionary key or in a set"},
    {"{[1]: 2}", "'list' cannot be a dictionary key or in a set"},
    {"dict([1])", "'int' cannot be iterated over"},
    {"dict([(1, 2, 3)])", "dict() needs pairs of a key and a value"},
    {"max([])", "no elements to choose from"},
    {"min()", "min() takes 1 or more arguments, not 0"},
    {"next(iter([]))", "the iterator has no further element"},
    {"next([1])", "'list' is not an iterator: take next(iter(…))"},
    {"zip([1], [2], [3, 4], strict=True)", "zip() argument 3 is longer than arguments 1-2"},
    {"zip([1], [], strict=True)", "zip() argument 2 is shorter than argument 1"},
    {"[].pop()", "index -1 is out of range for 'list' of length 0"},
    {"{}.popitem()", "there is no entry to remove"},
    {"{}.nothing()", "'dict' has no attribute 'nothing'"},
    {"{1}.remove(2)", "no entry for key 2"},
    {"int('1', 1)", "the base of int() is 0 or 2 to 36, not 1"},
    {"int('!', -1)", "the base of int() is 0 or 2 to 36, not -1"},
    {"ord('ab')", "ord() takes one character, not 'ab'"},
    {"chr(-1)", "chr() takes 0 to 0x10ffff, not -1"},
    {"range(1 << 100)", "the bounds of a range do not fit in 64 bits"},
    {"'%d' % float('inf')", "inf has no integer value"},
    {"[] in {1: 2}", "'list' cannot be a dictionary key or in a set"},
    {"1.5 in 'abc'", "a text contains text, not 'float'"},
    {"format([1], '5')", "format '5' does not fit 'list'"},
    {"format('a', '=5')", "format '=5' does not fit 'str'"},
    {"format(1, '5.2')", "format '5.2' does not fit 'int'"},
    {"'abc' % 1", "too many values for the % format"},
    {"1 >= 'a'", "unsupported operand types for >=: 'int' and 'str'"},
    {"[1] > 'a'", "unsupported operand types for >: 'list' and 'str'"},
    {"math.sqrt(-1)", "math domain error"},
    {"math.log(0)", "math domain error"},
    {"math.isqrt(-1)", "isqrt() of a negative number"},
    {"functools.reduce(max, [])", "reduce() of nothing"},
    {"copy.deepcopy(nested)", "copy of a structure nested too deeply"},
    {"1 << -1", "negative shift count"},
    {"-'a'", "bad operand type for unary -: 'str'"},
    {"~1.5", "bad operand type for unary ~: 'float'"},
    {"len(3)", "'int' has no length"},
    {"list(3)", "'int' cannot be iterated over"},
    {"[1, 2]['a']", "'list' index must be an integer, not 'str'"},
    {"'abc'[1.0]", "'str' index must be an integer, not 'float'"},
    {"[1, 2][::0]", "slice step cannot be zero"},
    {"[1, 2][::'a']", "slice bounds must be integers"},
    {"{}[[1]]", "'list' cannot be a dictionary key or in a set"},
    {"3[0]", "'int' cannot be subscripted"},
    {"f(1, a=2)", "f() got two values for 'a'"},
    {"f()", "f() needs a value for 'a'"},
    {"f(b=1)", "f() needs a value for 'a'"},
    {"f(a=1, **{1: 2})", "keyword arguments need text keys"},
    {"f(*3)", "'int' cannot be iterated over"},
    {"f(**3)", "the argument of ** must be a dictionary, not 'int'"},
    {"3()", "'int' cannot be called"},
    {"'%d' % 'a'", "format 'd' does not fit 'str'"},
    {"'%(a)s' % 3", "%(name) needs a dictionary"},
    {"'%d %d' % 1", "not enough values for the % format"},
    {"'%d' % (1, 2)", "too many values for the % format"},
    {"'%' % 1", "incomplete % format"},
    {"'{} {}'.format(1)", "format() has no argument 1"},
    {"'{a}'.format(b=1)", "format() has no argument 'a'"},
    {"'{'.format(1)", "malformed format text"},
    {"format(1, '.99999999999d')", "malformed format '.99999999999d'"},
    {"format('a', 'd')", "format 'd' does not fit 'str'"},
    {"format(1.5, 'q!')", "malformed format 'q!'"},
    {"f'{1:>>>}'", "format '>>>' does not fit 'int'"},
    {"'a,b'.split('')", "empty separator"},
    {"'x'.join(3)", "'int' cannot be iterated over"},
    {"'x'.join([1])", "join() of 'int'"},
    {"'abc'.index('z')", "the text is not found"},
    {"'abc'.replace(1, 2)", "expected text, not 'int'"},
    {"'abc'.zfill('a')", "expected an integer, not 'str'"},
    {"'abc'.nothing()", "'str' has no attribute 'nothing'"},
    {"[1].index(2)", "2 is not in the list"},
    {"[1].remove(2)", "2 is not in the list"},
    {"[1].insert()", "insert() takes 2 arguments, not 0"},
    {"functools.partial()", "partial() needs a function"},
    {"functools.wraps(f)(f, f)", "a cache decorates one function"},
    {"tl.get_int_dtype(7, True)", "no integer type has 7 bits"},
    {"tl.block_type(tl.int32, [1] * 17)", "a block has at most 16 dimensions, not 17"},
    {"tl.dtype('float31')", "there is no dtype 'float31'"},
    {"triton.Config(3)", "Config's first argument must be a dictionary, not 'int'"},
    {"triton.Config({}, num_wraps=4)", "Config() has no parameter 'num_wraps'; did you mean 'num_warps'?"},
    {"triton.cdiv(1)", "cdiv() needs a value for 'y'"},
    {"triton.next_power_of_2('a')", "this function does not take an argument of type 'str'"},
    {"triton.jit(3)", "'int' cannot be compiled: it is not a function"},
    {"triton.jit(lambda x: x)", "a lambda cannot be compiled; write a def"},
    {"triton.autotune(configs=[], key=[])(3)", "autotune decorates a jit function, not 'int': put it above @triton.jit or @kernel"},
    {"triton.autotune(configs=[], key=[])(k, k)", "autotune decorates one function"},
    {"triton.heuristics({1: 2})(k)", "the keys of heuristics must be parameter names"},
    {"triton.heuristics({})(3)", "heuristics decorates a jit function, not 'int': put it above @triton.jit or @kernel"},
    {"triton.heuristics(3)", "heuristics takes a dictionary, not 'int'"},
    {"tl.core._aggregate(3)", "aggregate decorates a class"},
    {"P(1, 2, 3)", "P takes 2 values, not 3"},
    {"P(1)", "P needs a value for 'b'"},
    {"P(1, c=2)", "P has no field 'c'"},
    {"P(1, 2).c", "'P' has no attribute 'c'"},
    {"P(1, 2)._replace(z=3)", "no field 'z'"},
    {"Color.BLUE", "'type' has no attribute 'BLUE'"},
    {"Color['BLUE']", "no entry for key 'BLUE'"},
    {"Empty(1)", "Empty takes no arguments"},
    {"getattr(3, 'foo')", "'int' has no attribute 'foo'"},
    {"setattr(3, 'foo', 1)", "attribute 'foo' of 'int' cannot be set"},
    {"isinstance(3, 4)", "'int' is not a type"},
    {"sorted([1, 'a'])", "unsupported operand types for <: 'str' and 'int'"},
    {"sum(['a'])", "unsupported operand types for +: 'int' and 'str'"},
    {"zip(3)", "'int' cannot be iterated over"},
    {"round('a')", "this function does not take an argument of type 'str'"},
    {"pow(2, -1, 0)", "pow() takes 2 arguments, not 3"},
    {"divmod(1, 0)", "division by zero"},
    {"1 % 0", "division by zero"},
    {"1.5 // 0", "division by zero"},
    {"tl.float32 * 3", "unsupported operand types for *: 'dtype' and 'int'"},
    {"'b' in 3", "'int' cannot be iterated over"},
    {"[1] < 3", "unsupported operand types for <: 'list' and 'int'"},
    {"itertools.product(3)", "'int' cannot be iterated over"},
    {"operator.add(1)", "operator.add() takes 2 arguments, not 1"},
    {"(lambda x: x)()", "<lambda>() needs a value for 'x'"},
    {"triton.heuristics({}, 1)", "heuristics() takes at most 1 arguments, not 2"},
    {"config.all_kwargs()", "the kwargs of a Config are not a dictionary"},
    {"'a'.replace('b')", "replace() takes 2 to 3 arguments, not 1"},
    {"f(0)()", "'int' cannot be called"},
    {"climb(0)", "recursion too deep"},
    {"print(nosuch)", "name 'nosuch' is not defined"},
};

TEST(test_expressions) {
  for (size_t i = 0; i < countof(cases); i++) {
    Context ctx;
    context_init(&ctx);
    const char *text = arena_printf(&ctx.arena, "%sv = %s\n", prelude, cases[i].expression);
    const SourceFile *file = source_add(&ctx, "t.tile", text, strlen(text));
    assert_null(comptime_load_source(comptime_new(&ctx, NULL), file, "__main__"));
    assert_int_equal(diag_error_count(&ctx), 1);
    if (strcmp(ctx.diags->text, cases[i].error) != 0) fail_msg("%s: \"%s\", not \"%s\"", cases[i].expression, ctx.diags->text, cases[i].error);
    context_free(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_expressions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
