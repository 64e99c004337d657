#include "ir/target.h"

#include <string.h>

static const Target targets[] = {
#define TARGET(name, sm, specific, ptx, shared, sms, threads, blocks, cp, tma, wgmma, fp8m, fp8c, stm, cluster, red) \
  {name, sm, specific, ptx, shared, sms, threads, blocks, cp, tma, wgmma, fp8m, fp8c, stm, cluster, red},
#include "ir/target.def"
};

const Target *target_find(const char *name) {
  for (uint32_t i = 0; i < countof(targets); i++)
    if (strcmp(targets[i].name, name) == 0) return &targets[i];
  return NULL;
}

const Target *target_at(uint32_t i) { return i < countof(targets) ? &targets[i] : NULL; }

bool target_is_ptx_version(uint32_t v) { return (v >= 70 && v <= 78) || (v >= 80 && v <= 88) || v == 90; }
