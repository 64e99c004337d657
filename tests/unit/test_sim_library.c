// libtile-sim.so as a program that knows only the driver sees it: dlopen, cuInit, cuGetProcAddress.
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/rt/cuda_types.h"

TEST(test_exports) {
  void *lib = dlopen(TILE_SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!lib) fail_msg("%s", dlerror());
  CUresult (*init)(unsigned) = (CUresult(*)(unsigned))dlsym(lib, "cuInit");
  assert_non_null(init);
  assert_int_equal(init(0), CUDA_SUCCESS);
  CUresult (*get)(const char *, void **, int, uint64_t, CUdriverProcAddressQueryResult *) =
    (CUresult(*)(const char *, void **, int, uint64_t, CUdriverProcAddressQueryResult *))dlsym(lib, "cuGetProcAddress_v2");
  void *fn = NULL;
  assert_int_equal(get("cuDeviceGetCount", &fn, 12000, 0, NULL), CUDA_SUCCESS);
  int count = 0;
  assert_int_equal(((CUresult(*)(int *))fn)(&count), CUDA_SUCCESS);
  assert_int_equal(count, 1);
  assert_non_null(dlsym(lib, "cuMemAlloc_v2"));
  assert_non_null(dlsym(lib, "sim_last_report"));
  assert_null(dlsym(lib, "ptx_module_load"));   // nothing else leaks out
  // And in this process, which has the simulator linked in, no name of the driver exists.
  assert_null(dlsym(RTLD_DEFAULT, "cuInit"));
  // It stays loaded, as a driver does.
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_exports)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
