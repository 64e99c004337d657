// What a program is linked against on a machine without a driver: the names of libcuda.so.1, each of which fails.
#define STUB(name) int name(void) { return 34; }   // CUDA_ERROR_STUB_LIBRARY
STUB(cuInit)
STUB(cuDeviceGet)
STUB(cuDeviceGetName)
STUB(cuCtxCreate_v2)
STUB(cuModuleLoadData)
STUB(cuModuleGetFunction)
STUB(cuMemAlloc_v2)
STUB(cuMemcpyHtoD_v2)
STUB(cuMemcpyDtoH_v2)
STUB(cuStreamCreate)
STUB(cuStreamSynchronize)
STUB(cuLaunchKernel)
