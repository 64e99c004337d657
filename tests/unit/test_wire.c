// What a compiler process reads of a launch: a whole one comes back as it was sent, one that ends early is refused.
#include "unit.h"

#include "runtime/jit/wire.h"

static Buf sent(Arena *a) {
  tile_tensor tensor = {.base = 64};
  tile_arg args[] = {tile_arg_int(7), {.kind = TILE_ARG_TENSOR, .value.tensor = &tensor}};
  const WireLaunch l = {.config = -1, .options = TILE_JIT_LAUNCH_OPTIONS_INIT, .args = args, .num_args = 2};
  Buf b = buf_make(a);
  wire_put_launch(&b, &l);
  return b;
}

TEST(test_whole) {
  Arena a;
  arena_init(&a);
  const Buf b = sent(&a);
  WireReader r = {b.data, b.size, &a, false};
  WireLaunch l;
  wire_take_launch(&r, &l);
  assert_false(r.bad);
  assert_int_equal(r.left, 0);
  assert_int_equal(l.num_args, 2);
  assert_int_equal(l.args[1].value.tensor->base, 64);
  arena_free(&a);
}

TEST(test_cut) {
  Arena a;
  arena_init(&a);
  const Buf b = sent(&a);
  for (size_t n = 0; n < b.size; n++) {
    WireReader r = {b.data, n, &a, false};
    WireLaunch l;
    wire_take_launch(&r, &l);
    assert_true(r.bad);
  }
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
