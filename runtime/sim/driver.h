// The door of the simulator: the CUDA driver's entry points, by name.
#ifndef TILE_RUNTIME_SIM_DRIVER_H
#define TILE_RUNTIME_SIM_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CUfunc_st;
struct KernelFault;
struct PlaceNote;

// Returns the simulator's implementation of the driver function of that name ("cuInit", "cuMemAlloc_v2", …), or NULL.
// Eleven names are the simulator's own: "simLastReport" is sim_last_report, "simReset" is sim_reset, "simCountLaunches"
// is sim_count_launches, "simSetStop" is sim_set_stop, "simNamePointer" is sim_name_pointer, "simShowSource" is
// sim_show_source, "simNotePlace" is sim_note_place, "simSizePointer" is sim_size_pointer, "simLastFault" is
// sim_last_fault, "simNextWarning" is sim_next_warning, "simUseSchedules" is sim_use_schedules.
void *sim_driver_symbol(const char *name);
// Returns the text of the last failure: why a call was refused, or what a kernel did wrong. Never NULL; valid until
// the calling thread's next call into the driver.
#pragma GCC visibility push(default)
const char *sim_last_report(void);
// Frees all state. The next cuInit reads the options from the environment again.
void sim_reset(void);
// Turns the counting of later launches on or off (runtime/rt/line_counts.h). Returns the counts of the last counted
// launch, or NULL; they are valid until the next counted launch.
const struct LaunchCounts *sim_count_launches(bool on);
// Launches of the calling thread ask should_stop every few milliseconds. If it returns true, they end with
// CUDA_ERROR_NOT_READY, and the context stays usable. NULL: launches ask nobody.
void sim_set_stop(bool (*should_stop)(void *user), void *user);
// Says what reports call a pointer among a kernel's parameters. Without a call they have the names of the PTX.
void sim_name_pointer(struct CUfunc_st *function, uint32_t index, const char *name);
// Gives the text of a source file, from its line first_line (from 1) on, that line information of the function's module
// may name: reports then show the line with a caret. Copies the text. Without a call they have file, line and column.
void sim_show_source(struct CUfunc_st *function, const char *file, uint32_t first_line, const char *text, size_t size);
// Says how many bytes the elements have that a pointer among a kernel's parameters points to.
void sim_size_pointer(struct CUfunc_st *function, uint32_t index, uint32_t elem_bytes);
// Says what is known of a place in the source of the function's module (runtime/rt/fault.h). Copies the note.
void sim_note_place(struct CUfunc_st *function, const struct PlaceNote *note);
// Returns the last failure as an error with a place in the source, which leads its report; NULL: it has none. Valid
// until the calling thread's next call into the driver.
const struct KernelFault *sim_last_fault(void);
// Returns the next warning of the launches so far, each once and in order, or NULL. Valid as the above.
const struct KernelFault *sim_next_warning(void);
// Overrides the environment: each later launch runs with `num` seeds, the first launch from `seed` on, each one after it
// from `step` further on.
void sim_use_schedules(uint64_t seed, uint32_t num, uint64_t step);
#pragma GCC visibility pop

#endif
