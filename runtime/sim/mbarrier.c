// The mbarrier object as arithmetic on its word; see mbarrier.h.
#include "runtime/sim/mbarrier.h"

MbarrierState mbarrier_unpack(uint64_t w) {
  return (MbarrierState){.valid = (w >> 62 & 1) && !(w >> 21 & 1),
                         .parity = w >> 63,
                         .expected = (uint32_t)(w >> 42 & MBARRIER_MAX_COUNT),
                         .pending = (uint32_t)(w >> 22 & MBARRIER_MAX_COUNT),
                         .tx = (int32_t)((int64_t)(w << 43) >> 43)};
}
uint64_t mbarrier_pack(MbarrierState s) {
  return (uint64_t)s.parity << 63 | (uint64_t)s.valid << 62 | (uint64_t)s.expected << 42 | (uint64_t)s.pending << 22 |
         ((uint64_t)(int64_t)s.tx & 0x1fffff);
}

MbarrierError mbarrier_init(uint64_t *word, uint32_t count) {
  if (count < 1 || count > MBARRIER_MAX_COUNT) return MBAR_BAD_COUNT;
  *word = mbarrier_pack((MbarrierState){.valid = true, .expected = count, .pending = count});
  return MBAR_OK;
}

static MbarrierError settle(uint64_t *word, MbarrierState s, bool *flipped) {
  if (s.tx > MBARRIER_MAX_TX || s.tx < -MBARRIER_MAX_TX) return MBAR_TX_RANGE;
  *flipped = s.pending == 0 && s.tx == 0;
  if (*flipped) s.parity = !s.parity, s.pending = s.expected;
  *word = mbarrier_pack(s);
  return MBAR_OK;
}

static MbarrierError add_tx(MbarrierState *s, int64_t bytes) {
  int64_t tx = s->tx + bytes;
  if (tx > MBARRIER_MAX_TX || tx < -MBARRIER_MAX_TX) return MBAR_TX_RANGE;
  s->tx = (int32_t)tx;
  return MBAR_OK;
}

MbarrierError mbarrier_arrive(uint64_t *word, uint32_t count, int64_t tx, bool drop, bool no_complete, bool *flipped) {
  MbarrierState s = mbarrier_unpack(*word);
  *flipped = false;
  if (!s.valid) return MBAR_NOT_INIT;
  if (count < 1 || count > MBARRIER_MAX_COUNT) return MBAR_BAD_COUNT;
  MbarrierError e = add_tx(&s, tx);
  if (e) return e;
  if (count > s.pending || (drop && count > s.expected)) return MBAR_TOO_MANY;
  if (no_complete && count == s.pending) return MBAR_COMPLETES;
  s.pending -= count;
  if (drop) s.expected -= count;
  return settle(word, s, flipped);
}

MbarrierError mbarrier_expect_tx(uint64_t *word, int64_t bytes, bool *flipped) {
  MbarrierState s = mbarrier_unpack(*word);
  *flipped = false;
  if (!s.valid) return MBAR_NOT_INIT;
  MbarrierError e = add_tx(&s, bytes);
  return e ? e : settle(word, s, flipped);
}

MbarrierError mbarrier_complete_tx(uint64_t *word, int64_t bytes, bool *flipped) {
  MbarrierState s = mbarrier_unpack(*word);
  *flipped = false;
  if (!s.valid) return MBAR_NOT_INIT;
  MbarrierError e = add_tx(&s, -bytes);
  return e ? e : settle(word, s, flipped);
}

bool mbarrier_test_token(uint64_t word, uint64_t token) { return word >> 63 != token >> 63; }
bool mbarrier_test_parity(uint64_t word, bool parity) { return word >> 63 != parity; }
uint32_t mbarrier_pending_count(uint64_t token) { return mbarrier_unpack(token).pending; }

const char *mbarrier_error_text(MbarrierError e) {
  static const char *const text[] = {
    [MBAR_OK] = "no error",
    [MBAR_BAD_COUNT] = "the count is outside 1 to 1048575",
    [MBAR_NOT_INIT] = "there is no initialised mbarrier at this address",
    [MBAR_TOO_MANY] = "more arrivals than the phase still expects",
    [MBAR_TX_RANGE] = "the transaction count leaves its range of 1048575 bytes",
    [MBAR_COMPLETES] = "an arrival marked .noComplete would complete the phase",
  };
  return text[e];
}
