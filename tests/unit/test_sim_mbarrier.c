// runtime/sim/mbarrier: phases, counts and transactions of the mbarrier word.
#include "tests/unit/unit.h"

#include "runtime/sim/mbarrier.h"

TEST(test_phases) {
  uint64_t w = 0;
  bool flipped;
  assert_int_equal(mbarrier_arrive(&w, 1, 0, false, false, &flipped), MBAR_NOT_INIT);
  w = UINT64_MAX;
  assert_int_equal(mbarrier_arrive(&w, 1, 0, false, false, &flipped), MBAR_NOT_INIT);
  assert_int_equal(mbarrier_init(&w, 0), MBAR_BAD_COUNT);
  assert_int_equal(mbarrier_init(&w, 1 << 20), MBAR_BAD_COUNT);
  assert_int_equal(mbarrier_init(&w, 3), MBAR_OK);
  assert_true(mbarrier_test_parity(w, true));     // the phase before the first counts as complete
  assert_false(mbarrier_test_parity(w, false));
  uint64_t token = w;
  assert_int_equal(mbarrier_arrive(&w, 2, 0, false, false, &flipped), MBAR_OK);
  assert_false(flipped);
  assert_int_equal(mbarrier_pending_count(w), 1);
  assert_int_equal(mbarrier_arrive(&w, 2, 0, false, false, &flipped), MBAR_TOO_MANY);
  assert_int_equal(mbarrier_arrive(&w, 1, 0, false, true, &flipped), MBAR_COMPLETES);
  assert_false(mbarrier_test_token(w, token));
  assert_int_equal(mbarrier_arrive(&w, 1, 0, false, false, &flipped), MBAR_OK);
  assert_true(flipped);
  assert_true(mbarrier_test_token(w, token));
  assert_true(mbarrier_test_parity(w, false));
  assert_false(mbarrier_test_parity(w, true));
  assert_int_equal(mbarrier_pending_count(w), 3);
}

TEST(test_transactions) {
  uint64_t w;
  bool flipped;
  mbarrier_init(&w, 1);
  assert_int_equal(mbarrier_complete_tx(&w, 96, &flipped), MBAR_OK);   // bytes may land before they are expected
  assert_false(flipped);
  assert_int_equal(mbarrier_arrive(&w, 1, 128, false, false, &flipped), MBAR_OK);
  assert_false(flipped);
  assert_int_equal(mbarrier_unpack(w).tx, 32);
  assert_int_equal(mbarrier_complete_tx(&w, 32, &flipped), MBAR_OK);
  assert_true(flipped);
  assert_int_equal(mbarrier_expect_tx(&w, MBARRIER_MAX_TX, &flipped), MBAR_OK);
  assert_false(flipped);
  assert_int_equal(mbarrier_expect_tx(&w, 1, &flipped), MBAR_TX_RANGE);
  assert_int_equal(mbarrier_unpack(w).tx, MBARRIER_MAX_TX);
  mbarrier_init(&w, 1);
  assert_int_equal(mbarrier_complete_tx(&w, MBARRIER_MAX_TX, &flipped), MBAR_OK);
  assert_int_equal(mbarrier_unpack(w).tx, -MBARRIER_MAX_TX);
  assert_int_equal(mbarrier_complete_tx(&w, 1, &flipped), MBAR_TX_RANGE);
}

// Bytes land first, the arrival comes next, and expecting them is what completes the phase.
TEST(test_expected_last) {
  uint64_t w;
  bool flipped;
  mbarrier_init(&w, 1);
  assert_int_equal(mbarrier_complete_tx(&w, 64, &flipped), MBAR_OK);
  assert_int_equal(mbarrier_arrive(&w, 1, 0, false, false, &flipped), MBAR_OK);
  assert_false(flipped);
  assert_int_equal(mbarrier_expect_tx(&w, 64, &flipped), MBAR_OK);
  assert_true(flipped);
  assert_true(mbarrier_test_parity(w, 0));
}

TEST(test_drop) {
  uint64_t w;
  bool flipped;
  mbarrier_init(&w, 3);
  assert_int_equal(mbarrier_arrive(&w, 1, 0, true, false, &flipped), MBAR_OK);
  assert_int_equal(mbarrier_arrive(&w, 2, 0, false, false, &flipped), MBAR_OK);
  assert_true(flipped);
  assert_int_equal(mbarrier_pending_count(w), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_phases), cmocka_unit_test(test_transactions), cmocka_unit_test(test_expected_last), cmocka_unit_test(test_drop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
