// The part of the driver's interface that generated C code and its test use.
#pragma once
#include <stddef.h>
typedef int CUdevice, CUresult;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
enum { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
#define cuCtxCreate cuCtxCreate_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
CUresult cuInit(unsigned flags);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuMemAlloc(CUdeviceptr *address, size_t size);
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **args, void **extra);
