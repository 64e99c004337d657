// The mbarrier object: arithmetic on a 64-bit word in shared memory. The word is opaque to programs. Here bit 63 is
// the phase parity, 62 initialised, 61..42 expected arrivals, 41..22 pending arrivals, 21 zero, 20..0 the signed
// transaction count; neither all zeros nor all ones is an initialised word. A token (the state that arrive returns)
// is the word before the arrival. Invariant: outside these functions no phase is complete, i.e. pending > 0 or the
// transaction count is not 0.
#ifndef TILE_SIM_MBARRIER_H
#define TILE_SIM_MBARRIER_H

#include "ir/base.h"

enum { MBARRIER_MAX_COUNT = (1 << 20) - 1, MBARRIER_MAX_TX = (1 << 20) - 1 };
typedef enum {
  MBAR_OK,
  MBAR_BAD_COUNT,        // init or arrive count out of range
  MBAR_NOT_INIT,         // the word is not an initialised mbarrier
  MBAR_TOO_MANY,         // more arrivals than are pending in this phase
  MBAR_TX_RANGE,         // the transaction count leaves its range
  MBAR_COMPLETES,        // a .noComplete arrival would complete the phase
} MbarrierError;
typedef struct { bool valid; bool parity; uint32_t expected, pending; int32_t tx; } MbarrierState;

MbarrierState mbarrier_unpack(uint64_t word);
uint64_t mbarrier_pack(MbarrierState s);
MbarrierError mbarrier_init(uint64_t *word, uint32_t count);
// Adds `tx` to the transaction count, then subtracts `count` pending arrivals; drop also lowers the expected arrivals
// of later phases. *flipped says whether the phase completed.
MbarrierError mbarrier_arrive(uint64_t *word, uint32_t count, int64_t tx, bool drop, bool no_complete, bool *flipped);
MbarrierError mbarrier_expect_tx(uint64_t *word, int64_t bytes, bool *flipped);
MbarrierError mbarrier_complete_tx(uint64_t *word, int64_t bytes, bool *flipped);
bool mbarrier_test_token(uint64_t word, uint64_t token);    // has the token's phase completed?
bool mbarrier_test_parity(uint64_t word, bool parity);      // has the phase of this parity completed?
uint32_t mbarrier_pending_count(uint64_t token);
const char *mbarrier_error_text(MbarrierError e);

#endif
