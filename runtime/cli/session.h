// A device with a program compiled for it and a run's buffers on it.
#ifndef TILE_RUNTIME_SESSION_H
#define TILE_RUNTIME_SESSION_H

#include "runtime/cli/run.h"

typedef struct {
  Run *run;
  tile_device *device;
  tile_program *program;
  tile_kernel *kernel;
  tile_arg *args;              // of the kernel
} Session;

// A kernel's time in milliseconds, and what it does in it. Other devices than a GPU tell what they took on this host.
typedef struct {
  double median, low, high, bytes, flops;
  uint32_t runs;
  bool is_gpu;
  bool has_unused_sweep;       // the one that is set after a failure
  const char *kernel, *device;
} BenchResult;

// Options of the simulator, before a device is opened.
tile_status session_set_up_simulator(const Options *o, Arena *arena, tile_error **error);
// The file of TILE_SIM_TRACE is an output if the device is the simulator and --sim-trace names no other.
tile_status session_use_trace(const Options *o, const tile_device *device, FileUses *uses, tile_error **error);
// How many schedules of the simulator --check launches, each one by itself.
int64_t session_schedules(const Options *o);
// On the simulator: with --check each schedule is a launch of its own, which is compared with the first.
void session_use_schedules(const Session *s);
// Compiles for the device. config: as in CompileJob.
tile_status session_compile(Session *s, const CompileJob *base, int config, tile_error **error);
tile_status session_prepare(Session *s, tile_error **error);   // loads the kernel, and the buffers
// Prepares, launches, and brings the buffers back into result (or reference).
tile_status session_run(Session *s, bool is_reference, tile_error **error);
tile_status session_launch(Session *s, tile_error **error);   // again, and waits for its end
tile_status session_download(Session *s, const RunBuffer *b, HostTensor *to, tile_error **error);
tile_status session_time(Session *s, BenchResult *out, tile_error **error);
void session_close(Session *s);
// The buffers, between guards where the device does not check addresses itself.
tile_status session_upload(const Run *run, tile_device *device, tile_error **error);
void session_free_buffers(const Run *run, tile_device *device);
// One timed run, from the beginning and without output. What it reads must not be among the outputs in uses.
tile_status session_measure(const Options *o, Arena *arena, const StrList *swept, FileUses *uses, BenchResult *out,
                            tile_error **error);

#endif
