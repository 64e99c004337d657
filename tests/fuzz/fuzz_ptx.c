// Any bytes as PTX: refused with a message, or loaded and each kernel run briefly. A kernel's misdeeds end in a report.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/sim.h"

enum { BUFFER = 1 << 16, THREADS = 64, MAX_STEPS = 2000, MAX_PARAMS = 4096, MAX_KERNELS = 4, MAX_SHARED = 1 << 17, MAX_FRAME = 1 << 16 };

static void discard(void *user, const char *text, size_t n) {
  (void)user, (void)text, (void)n;
}

static void run_kernel(Sim *sim, PtxFunction *f, uint64_t buffer) {
  // Beyond these the driver refuses a launch, or a run would take longer than it is worth.
  if (f->param_bytes > MAX_PARAMS || f->static_shared > MAX_SHARED || f->frame_bytes > MAX_FRAME || f->reqcluster[0]) return;
  uint64_t params[MAX_PARAMS / 8 + 1];
  for (size_t i = 0; i < countof(params); i++) params[i] = buffer;
  LaunchParams lp = {.func = f, .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .cluster = {1, 1, 1}, .params = (const uint8_t *)params};
  CUresult rc = grid_run(sim, &sim->devices[0], &lp);
  if (rc && (!sim->report || !*sim->report)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Sim sim;
  sim_init(&sim);
  sim.max_steps = MAX_STEPS;
  sim.seed = size;
  sim.print = discard;
  Device *d = &sim.devices[0];
  d->total_mem = 1 << 26;
  uint64_t buffer = device_alloc(d, BUFFER, 512, ALLOC_DEVICE);
  PtxModule *m = ptx_module_load(d, (const char *)data, size);
  if (m->error && (!*m->error || m->error_code == CUDA_SUCCESS)) abort();
  for (uint32_t i = 0; !m->error && i < m->funcs.count && i < MAX_KERNELS; i++)
    if (m->funcs.data[i]->is_entry && m->funcs.data[i]->is_defined) run_kernel(&sim, m->funcs.data[i], buffer);
  ptx_module_free(m);
  sim_free(&sim);
  return 0;
}
