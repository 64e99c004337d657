// What the driver's source files share.
#ifndef TILE_RUNTIME_SIM_DRIVER_STATE_H
#define TILE_RUNTIME_SIM_DRIVER_STATE_H

#include <pthread.h>

#include "runtime/sim/driver.h"
#include "runtime/sim/sim.h"

struct CUctx_st { Device *device; uint32_t refs; bool primary; CUresult failed; };
struct CUmod_st { PtxModule *module; CUmodule next; };

// One unit of stream work. Streams run work at once; only a capture into a graph stores it.
typedef enum { WORK_LAUNCH, WORK_COPY, WORK_SET, WORK_HOST } WorkKind;
typedef struct StreamWork {
  WorkKind kind;
  LaunchParams launch;         // params owned by the stored copy
  CUmodule module;             // WORK_LAUNCH: the kernel's
  uint64_t to, from;
  size_t size;                 // bytes; WORK_SET: elements
  uint32_t value, element;     // WORK_SET
  size_t pitch;                // WORK_SET: bytes from one element to the next
  CUhostFn fn;
  void *user;
} StreamWork;
struct CUgraph_st { StreamWork *work; uint32_t count, capacity; uint64_t serial; };   // serial: nth capture
struct CUgraphExec_st { struct CUgraph_st graph; };
struct CUstream_st { CUstream next; CUgraph capture; bool origin; unsigned flags; int priority; CUcontext context; };
struct CUevent_st {
  double time;
  bool recorded;
  unsigned flags;
  uint64_t capture;
};   // serial of the capture it was recorded in, or 0

enum { MAX_CONTEXT_STACK = 32 };
typedef struct SimDriver {
  Sim sim;
  bool ready;
  struct CUctx_st primary[64];
  CUmodule modules;                     // all that are loaded
  struct CUstream_st legacy;            // the default stream; head of the list of all streams
  uint64_t captures;                    // begun so far
  uint64_t generation;                  // sim_reset's count: what a thread remembers of an earlier one does not count
} SimDriver;

// The state of one host thread.
typedef struct {
  uint64_t generation;
  CUcontext stack[MAX_CONTEXT_STACK];   // the current context is on top
  uint32_t depth;
  bool (*should_stop)(void *user);      // asked during launches; NULL: none
  void *stop_user;
  char message[2048];                   // why a call was refused
  char report[16384];                   // what a kernel did wrong, copied
  KernelFault fault;                    // the same, as an error with a place
} SimThread;

SimDriver *driver_state(void);
SimThread *driver_thread(void);
// One thread at a time uses the driver: each of its functions begins with LOCKED, which unlocks when the function
// returns.
SimDriver *driver_lock(void);
void driver_unlock(SimDriver **locked);
#define LOCKED __attribute__((cleanup(driver_unlock), unused)) SimDriver *locked_ = driver_lock()
// Records why and returns code.
CUresult driver_fail(CUresult code, const char *fmt, ...) PRINTF_LIKE(2, 3);
CUresult driver_context(CUcontext *out);         // the current one, which must exist and not have failed
CUresult driver_device(CUdevice ordinal, Device **out);
CUresult driver_submit(CUstream stream, const StreamWork *work);
Alloc *driver_find(uint64_t addr, Device **d);   // on any device

// Visible, so that libtile-sim.so can export them under the driver's names; libtile's export list keeps them inside.
#pragma GCC visibility push(default)
#define SIM_FN(name, ...) CUresult sim_##name(__VA_ARGS__);
#include "runtime/sim/driver.def"
#undef SIM_FN
#pragma GCC visibility pop

// These return from the function that they stand in, with the reason recorded.
#define RETURN_INVALID_UNLESS(condition, ...) \
  do { if (!(condition)) return driver_fail(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__); } while (0)
#define RETURN_IF_NOT_READY(driver) \
  do { if (!(driver)->ready) return driver_fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called"); } while (0)
// Declares `context`, the current one.
#define RETURN_IF_NO_CONTEXT(context)              \
  CUcontext context = NULL;                        \
  CUresult context##_error = driver_context(&context); \
  if (context##_error) return context##_error
// Declares `device`, the one of that ordinal.
#define RETURN_IF_NO_DEVICE(device, ordinal)       \
  Device *device = NULL;                           \
  CUresult device##_error = driver_device(ordinal, &device); \
  if (device##_error) return device##_error

#endif
