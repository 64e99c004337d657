// The stub driver's functions that do nothing: every entry point that libtile looks for, weakly, so that driver.c replaces those it knows.
#include "runtime/rt/cuda_types.h"

#define CUDA_FN(member, symbol, ...) __attribute__((weak)) CUresult symbol(__VA_ARGS__); __attribute__((weak)) CUresult symbol(__VA_ARGS__) { return CUDA_SUCCESS; }
#include "runtime/rt/cuda.def"
