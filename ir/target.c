#include "ir/target.h"

#include <string.h>

#define IS_PTX_VERSION(v) (((v) >= 70 && (v) <= 78) || ((v) >= 80 && (v) <= 88) || (v) == 90)

static const Target targets[] = {
#define TARGET(name, sm, specific, ptx, shared, threads, blocks, cp, tma, wgmma, fp8m, fp8c, stm, cluster, bf16, red) \
  {name, sm, specific, ptx, shared, threads, blocks, cp, tma, wgmma, fp8m, fp8c, stm, cluster, bf16, red},
#include "ir/target.def"
};

#define ROW(name, condition, why) _Static_assert(condition, "target.def, " name ": " why);
#define TARGET(name, sm, specific, ptx, shared, threads, blocks, cp, tma, wgmma, fp8m, fp8c, stm, cluster, bf16, red)  \
  ROW(name, sizeof name == sizeof "sm_" + ((sm) < 100 ? 2 : 3) + (specific),                                           \
      "the name is sm_, the number, and `a` if arch_specific")                                                         \
  ROW(name, IS_PTX_VERSION(ptx), "LLVM cannot print this version of PTX")                                              \
  ROW(name, (shared) % 1024 == 0 && (shared) < 256 * 1024, "shared memory is counted in bytes, whole KiB")             \
  ROW(name, (threads) % WARP_SIZE == 0 && (blocks) <= (threads) / WARP_SIZE, "a block has a warp at least")            \
  ROW(name, (cp) >= (tma) && (tma) >= (wgmma) && (specific) >= (wgmma),                                                \
      "wgmma needs TMA and the `a` suffix, TMA goes with cp.async")
#include "ir/target.def"

const Target *target_find(const char *name) {
  for (uint32_t i = 0; i < countof(targets); i++)
    if (strcmp(targets[i].name, name) == 0) return &targets[i];
  return NULL;
}

const Target *target_at(uint32_t i) { return i < countof(targets) ? &targets[i] : NULL; }

bool target_is_ptx_version(uint32_t v) { return IS_PTX_VERSION(v); }
