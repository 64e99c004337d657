// The door of the simulator: the CUDA driver's entry points, by name.
#ifndef TILE_RUNTIME_SIM_DRIVER_H
#define TILE_RUNTIME_SIM_DRIVER_H

#include <stdbool.h>

// Returns the simulator's implementation of the driver function of that name ("cuInit", "cuMemAlloc_v2", …), or NULL.
// Three names are the simulator's own: "simLastReport" is sim_last_report, "simReset" is sim_reset, "simCountLaunches"
// is sim_count_launches.
void *sim_driver_symbol(const char *name);
// Returns the text of the last failure: why a call was refused, or what a kernel did wrong. Never NULL; valid until
// the calling thread's next call into the driver.
#pragma GCC visibility push(default)
const char *sim_last_report(void);
// Frees all state. The next cuInit reads the options from the environment again.
void sim_reset(void);
// Whether later launches are counted (runtime/rt/line_counts.h). Returns the counts of the last launch that was, or
// NULL; they are valid until the next launch that is counted.
const struct LaunchCounts *sim_count_launches(bool on);
#pragma GCC visibility pop

#endif
