// libtile has the simulator and the interpreter inside.
#include "runtime/device.h"
#ifdef TILE_HAVE_SIM
#include "runtime/sim/driver.h"
#else
#define sim_driver_symbol NULL
#endif

const LinkedParts linked_parts = {sim_driver_symbol, device_open_interp};
