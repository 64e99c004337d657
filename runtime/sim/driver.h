// The door of the simulator: the CUDA driver's entry points, by name.
#ifndef TILE_RUNTIME_SIM_DRIVER_H
#define TILE_RUNTIME_SIM_DRIVER_H

// The implementation of the driver's function of that name ("cuInit", "cuMemAlloc_v2", …), NULL when there is none. Two
// names are the simulator's own: "simLastReport" is sim_last_report, "simReset" is sim_reset.
void *sim_driver_symbol(const char *name);
// The account of the last failure: what a call was refused for, or what a kernel did wrong. Never NULL; valid until the
// calling thread's next call into the driver.
#pragma GCC visibility push(default)
const char *sim_last_report(void);
// Forgets all state, as a new process would: options are read from the environment again by the next cuInit.
void sim_reset(void);
#pragma GCC visibility pop

#endif
