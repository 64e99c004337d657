// libtile-rt has neither simulator nor interpreter inside.
#include "runtime/rt/device.h"

const LinkedParts linked_parts = {NULL, NULL};
