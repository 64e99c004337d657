// The simulated driver: the table of its functions by name.
#include <string.h>

#include "runtime/sim/driver_state.h"

// Two rows of one name do not compile here. A row without a function does not link. A function without a row lacks
// its prototype.
enum {
#define SIM_FN(name, ...) ROW_##name,
#include "runtime/sim/driver.def"
#undef SIM_FN
  NUM_ROWS
};
static const struct { const char *name; void *fn; } symbols[] = {
#define SIM_FN(name, ...) {#name, (void *)sim_##name},
#include "runtime/sim/driver.def"
#undef SIM_FN
  {"simLastReport", (void *)sim_last_report}, {"simReset", (void *)sim_reset},
  {"simCountLaunches", (void *)sim_count_launches}, {"simSetStop", (void *)sim_set_stop},
  {"simNamePointer", (void *)sim_name_pointer}, {"simShowSource", (void *)sim_show_source},
  {"simNotePlace", (void *)sim_note_place}, {"simSizePointer", (void *)sim_size_pointer},
  {"simLastFault", (void *)sim_last_fault}, {"simNextWarning", (void *)sim_next_warning},
  {"simUseSchedules", (void *)sim_use_schedules},
};

_Static_assert(countof(symbols) == NUM_ROWS + 11, "the rows of driver.def and the eleven names of the simulator's own");

static void *find_symbol(const char *name, size_t n) {
  for (size_t i = 0; i < countof(symbols); i++)
    if (strlen(symbols[i].name) == n && !memcmp(symbols[i].name, name, n)) return symbols[i].fn;
  return NULL;
}

void *sim_driver_symbol(const char *name) {
  static const char *const suffixes[] = {"_ptsz", "_ptds", "_v2", "_v3"};
  size_t n = strlen(name);
  void *fn = find_symbol(name, n);
  for (size_t i = 0; !fn && i < countof(suffixes); i++) {
    size_t k = strlen(suffixes[i]);
    if (n <= k || memcmp(name + n - k, suffixes[i], k)) continue;
    n -= k;
    fn = find_symbol(name, n);
  }
  return fn;
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **fn, int version, uint64_t flags,
                                 CUdriverProcAddressQueryResult *status) {
  LOCKED;
  (void)flags;
  RETURN_INVALID_UNLESS(symbol && fn, "cuGetProcAddress needs a name and a place for the result");
  // Since CUDA 12.0 the plain name means the newer of two signatures.
  *fn = !strcmp(symbol, "cuGetProcAddress") && version >= 12000 ? (void *)sim_cuGetProcAddress_v2
                                                                : sim_driver_symbol(symbol);
  if (status) *status = *fn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *fn ? CUDA_SUCCESS : driver_fail(CUDA_ERROR_NOT_FOUND, "the simulator has no %s", symbol);
}
CUresult sim_cuGetProcAddress(const char *symbol, void **fn, int version, uint64_t flags) {
  LOCKED;
  return sim_cuGetProcAddress_v2(symbol, fn, version, flags, NULL);
}
