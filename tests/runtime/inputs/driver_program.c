// A program that knows the CUDA driver only: declarations of its own, linked against libcuda.so.1.
#include <stdint.h>
#include <stdio.h>

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int size, int device);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params, void **extra);

static const char ptx[] =
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry square(.param .u64 x) {\n.reg .b64 %d<3>; .reg .b32 %r<3>;\n"
  "ld.param.u64 %d1, [x]; mov.u32 %r1, %tid.x; mad.wide.u32 %d1, %r1, 4, %d1; ld.global.u32 %r2, [%d1]; mul.lo.u32 %r2, %r2, %r2; st.global.u32 [%d1], %r2; ret;\n}\n";

#define TRY(call) do { int e = call; if (e) { printf("%s: error %d\n", #call, e); return 1; } } while (0)

int main(void) {
  int device;
  char name[64];
  void *context, *module, *function, *stream;
  uint64_t x;
  uint32_t v[8];
  for (uint32_t i = 0; i < 8; i++) v[i] = i + 1;
  TRY(cuInit(0));
  TRY(cuDeviceGet(&device, 0));
  TRY(cuDeviceGetName(name, sizeof name, device));
  TRY(cuCtxCreate_v2(&context, 0, device));
  printf("on %s; a cubin: error %d\n", name, cuModuleLoadData(&module, "\177ELF\2\1\1"));
  TRY(cuModuleLoadData(&module, ptx));
  TRY(cuModuleGetFunction(&function, module, "square"));
  TRY(cuMemAlloc_v2(&x, sizeof v));
  TRY(cuMemcpyHtoD_v2(x, v, sizeof v));
  TRY(cuStreamCreate(&stream, 0));
  TRY(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, stream, (void *[]){&x}, NULL));
  TRY(cuStreamSynchronize(stream));
  TRY(cuMemcpyDtoH_v2(v, x, sizeof v));
  for (uint32_t i = 0; i < 8; i++) printf("%u ", v[i]);
  printf("\n");
  return 0;
}
