// What libtile links in as devices: the simulator and the interpreter.
#include "runtime/compile/device.h"
#include "runtime/sim/driver.h"

const LinkedParts linked_parts = {sim_driver_symbol, device_open_interp};
