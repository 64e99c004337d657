// The simulated driver: modules, libraries, functions, launches.
#include <stdlib.h>
#include <string.h>

#include "ir/c_locale.h"
#include "ir/outside_terms.h"
#include "runtime/sim/driver_state.h"


// --------------------------------------------------------------------------------------------------------- modules

static void write_log(unsigned n, const CUjit_option *options, void **values, const char *text) {
  char *buffer = NULL;
  size_t size = 0;
  void **used = NULL;
  for (unsigned i = 0; i < n; i++) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = values[i];
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) size = (size_t)(uintptr_t)values[i], used = &values[i];
  }
  if (!buffer || !size) return;
  snprintf(buffer, size, "%s", text);
  if (used) *used = (void *)(uintptr_t)strlen(buffer);
}

static CUresult load(CUmodule *out, const void *image, unsigned n, const CUjit_option *options, void **values) {
  IN_C_LOCALE;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(out && image, "no module image");
  // strncmp does not read past the end of a text that is shorter than the magic numbers of cubin and fatbin.
  if (!strncmp(image, "\177ELF", 4) || !strncmp(image, "\x50\xed\x55\xba", 4) ||
      !strncmp(image, "\xb1\x43\x62\x46", 4)) {
    const char *text = "the simulator runs PTX only: this is a cubin or fatbin";
    write_log(n, options, values, text);
    return driver_fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "%s", text);
  }
  PtxModule *m = ptx_module_load(context->device, image, strlen(image));
  if (m->error) {
    CUresult r = driver_fail(m->error_code, "%s", m->error);
    write_log(n, options, values, m->error);
    ptx_module_free(m);
    return r;
  }
  CUmodule module = calloc(1, sizeof *module);
  if (!module) return CUDA_ERROR_OUT_OF_MEMORY;
  SimDriver *d = driver_state();
  *module = (struct CUmod_st){m, d->modules};
  d->modules = module;
  m->handle = module;
  *out = module;
  return CUDA_SUCCESS;
}
CUresult sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options, void **values) {
  LOCKED;
  return load(module, image, n, options, values);
}
CUresult sim_cuModuleLoadData(CUmodule *module, const void *image) {
  LOCKED;
  return load(module, image, 0, NULL, NULL);
}
CUresult sim_cuModuleLoad(CUmodule *module, const char *path) {
  LOCKED;
  FILE *f = path ? fopen(path, "rb") : NULL;
  if (!f) return driver_fail(CUDA_ERROR_FILE_NOT_FOUND, "cannot open %s", path ? path : "(null)");
  char *text = NULL;
  size_t size = 0;
  FILE *t = open_memstream(&text, &size);
  for (int c; t && (c = fgetc(f)) != EOF;) fputc(c, t);
  fclose(f);
  if (t) fclose(t);
  CUresult r = text ? load(module, text, 0, NULL, NULL) : CUDA_ERROR_OUT_OF_MEMORY;
  free(text);
  return r;
}
CUresult sim_cuModuleUnload(CUmodule module) {
  LOCKED;
  for (CUmodule *at = &driver_state()->modules; *at; at = &(*at)->next)
    if (*at == module) {
      *at = module->next;
      ptx_module_free(module->module);
      free(module);
      return CUDA_SUCCESS;
    }
  return driver_fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
}
CUresult sim_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(function && module && name, "a null argument");
  PtxFunction *f = ptx_module_find(module->module, name);
  if (!f || !f->is_entry || !f->is_defined)
    return driver_fail(CUDA_ERROR_NOT_FOUND, "the module has no kernel %s", name);
  *function = (CUfunction)(void *)f;
  return CUDA_SUCCESS;
}
CUresult sim_cuModuleGetGlobal(CUdeviceptr *address, size_t *size, CUmodule module, const char *name) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(module && name, "a null argument");
  const SymbolVec *v = &module->module->globals;
  for (uint32_t i = 0; i < v->count; i++) {
    if (strcmp(v->data[i]->name, name)) continue;
    if (address) *address = v->data[i]->addr;
    if (size) *size = v->data[i]->size;
    return CUDA_SUCCESS;
  }
  return driver_fail(CUDA_ERROR_NOT_FOUND, "the module has no global %s", name);
}
CUresult sim_cuModuleGetLoadingMode(int *mode) {
  LOCKED;
  *mode = 1;   // eager
  return CUDA_SUCCESS;
}
CUresult sim_cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule module) {
  LOCKED;
  RETURN_INVALID_UNLESS(functions && module, "a null argument");
  unsigned n = 0;
  for (uint32_t i = 0; i < module->module->funcs.count && n < count; i++)
    if (module->module->funcs.data[i]->is_entry) functions[n++] = (CUfunction)(void *)module->module->funcs.data[i];
  return CUDA_SUCCESS;
}
CUresult sim_cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
  LOCKED;
  RETURN_INVALID_UNLESS(count && module, "a null argument");
  *count = 0;
  for (uint32_t i = 0; i < module->module->funcs.count; i++) *count += module->module->funcs.data[i]->is_entry;
  return CUDA_SUCCESS;
}
// A library is a module: all of it is loaded at once, on the device of the current context.
CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit, void **jit_values,
                               unsigned num_jit, CUlibraryOption *options, void **values, unsigned num_options) {
  LOCKED;
  (void)options; (void)values; (void)num_options;
  CUmodule m = NULL;
  CUresult r = load(&m, image, num_jit, jit, jit_values);
  if (!r) *library = (CUlibrary)(void *)m;
  return r;
}
static CUmodule module_of(CUlibrary l) { return (CUmodule)(void *)l; }
CUresult sim_cuLibraryUnload(CUlibrary library) { LOCKED; return sim_cuModuleUnload(module_of(library)); }
CUresult sim_cuLibraryGetModule(CUmodule *module, CUlibrary library) {
  LOCKED;
  *module = module_of(library);
  return CUDA_SUCCESS;
}
CUresult sim_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  LOCKED;
  CUfunction f = NULL;
  CUresult r = sim_cuModuleGetFunction(&f, module_of(library), name);
  if (!r) *kernel = (CUkernel)(void *)f;
  return r;
}
CUresult sim_cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name) {
  LOCKED;
  return sim_cuModuleGetGlobal(address, size, module_of(library), name);
}
CUresult sim_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  LOCKED;
  *function = (CUfunction)(void *)kernel;
  return CUDA_SUCCESS;
}

// ------------------------------------------------------------------------------------------------------- functions

static PtxFunction *function_of(CUfunction f) { return (PtxFunction *)(void *)f; }

// The number by which line information names a file; that of the files if no code is from there.
static uint32_t number_of_file(const PtxModule *m, const char *file) {
  uint32_t i = 0;
  while (i < m->files.count && !(m->files.data[i] && !strcmp(m->files.data[i], file))) i++;
  return i;
}

CUresult sim_cuFuncGetModule(CUmodule *module, CUfunction function) {
  LOCKED;
  RETURN_INVALID_UNLESS(module && function, "a null argument");
  *module = function_of(function)->module->handle;
  return CUDA_SUCCESS;
}
CUresult sim_cuFuncGetName(const char **name, CUfunction function) {
  LOCKED;
  RETURN_INVALID_UNLESS(name && function, "a null argument");
  *name = function_of(function)->name;
  return CUDA_SUCCESS;
}
CUresult sim_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  LOCKED;
  RETURN_INVALID_UNLESS(function && index < function_of(function)->num_params, "the kernel has no parameter %zu",
                        index);
  const Symbol *s = function_of(function)->params[index];
  if (offset) *offset = s->addr;
  if (size) *size = s->size;
  return CUDA_SUCCESS;
}
void sim_name_pointer(CUfunction function, uint32_t index, const char *name) {
  LOCKED;
  PtxFunction *f = function_of(function);
  if (index >= f->num_params) return;
  f->params[index]->argument = arena_strndup(&f->module->arena, name, strlen(name));
  f->names_pointers = true;
}
void sim_show_source(CUfunction function, const char *file, uint32_t first_line, const char *text, size_t size) {
  LOCKED;
  PtxModule *m = function_of(function)->module;
  const uint32_t i = number_of_file(m, file);
  if (i == m->files.count) return;   // no code is from there
  const SourceText s = {m->files.data[i], arena_strndup(&m->arena, text, size), size, first_line};
  vec_push(&m->arena, &m->sources, s);
}
void sim_size_pointer(CUfunction function, uint32_t index, uint32_t elem_bytes) {
  LOCKED;
  const PtxFunction *f = function_of(function);
  if (index < f->num_params) f->params[index]->elem_bytes = elem_bytes;
}
void sim_note_place(CUfunction function, const PlaceNote *note) {
  LOCKED;
  PtxModule *m = function_of(function)->module;
  PlaceNote n = *note;
  n.file = arena_strndup(&m->arena, note->file, strlen(note->file));
  if (n.way_out) n.way_out = arena_strndup(&m->arena, note->way_out, strlen(note->way_out));
  if (n.way_out_before) n.way_out_before = arena_strndup(&m->arena, n.way_out_before, strlen(n.way_out_before));
  for (int k = 0; k < 3; k++)
    if (n.by_program[k]) n.by_program[k] = arena_strndup(&m->arena, n.by_program[k], strlen(n.by_program[k]));
  if (n.moved) n.moved = arena_strndup(&m->arena, n.moved, strlen(n.moved));
  if (n.buffer) n.buffer = arena_strndup(&m->arena, note->buffer, strlen(note->buffer));
  if (n.update.atomic) n.update.atomic = arena_strndup(&m->arena, n.update.atomic, strlen(n.update.atomic));
  if (n.terms) {
    OutsideTerms *terms = arena_new(&m->arena, OutsideTerms);
    *terms = *note->terms;
    n.terms = terms;
  }
  if (n.exchange) n.exchange = arena_strndup(&m->arena, note->exchange, strlen(note->exchange));
  vec_push(&m->arena, &m->notes, n);
  vec_push(&m->arena, &m->note_locs, ((SrcLoc){number_of_file(m, n.file), n.line, n.col, NULL}));
}
CUresult sim_cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  LOCKED;
  (void)config;
  RETURN_INVALID_UNLESS(function, "no function");
  return CUDA_SUCCESS;
}

static uint32_t volume(const uint32_t v[3]) { return v[0] * v[1] * v[2]; }
// As volume, but at most limit, without overflow.
static uint64_t volume_within(const uint32_t v[3], uint64_t limit) {
  uint64_t n = (uint64_t)v[0] * v[1];
  return n && v[2] > limit / n ? limit : n * v[2];
}
static int64_t max_dynamic(const PtxFunction *f) {
  return f->max_dynamic_shared >= 0 ? f->max_dynamic_shared : max_i64(0, 48 * 1024 - (int64_t)f->static_shared);
}
// The number that ptxas would report is unknown: returns a directive's bound, or what the largest block leaves to
// each thread.
static uint32_t registers(const PtxFunction *f) {
  if (f->maxnreg) return f->maxnreg;
  uint32_t threads = volume(f->reqntid) ? volume(f->reqntid) : volume(f->maxntid);
  return threads > 256 ? 65536 / threads : 255;
}

CUresult sim_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  LOCKED;
  RETURN_INVALID_UNLESS(value && function, "a null argument");
  const PtxFunction *f = function_of(function);
  uint32_t threads = volume(f->reqntid) ? volume(f->reqntid) : volume(f->maxntid);
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = threads ? (int)threads : 1024; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)f->static_shared; break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)f->frame_bytes; break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)registers(f); break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)f->module->version; break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = 90; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = (int)max_dynamic(f); break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = -1; break;
  case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = f->explicit_cluster && !volume(f->reqcluster); break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)f->reqcluster[0]; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = (int)f->reqcluster[1]; break;
  case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = (int)f->reqcluster[2]; break;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->nonportable_cluster; break;
  default: *value = 0; break;
  }
  return CUDA_SUCCESS;
}
CUresult sim_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(function, "no function");
  PtxFunction *f = function_of(function);
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    RETURN_INVALID_UNLESS(value >= 0 && (int64_t)value + f->static_shared <= context->device->shared_optin,
                          "%d bytes of dynamic shared memory and %u of static exceed the block's %d", value,
                          f->static_shared, context->device->shared_optin);
    f->max_dynamic_shared = value;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: f->nonportable_cluster = value != 0; return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
  case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return CUDA_SUCCESS;
  default: return driver_fail(CUDA_ERROR_INVALID_VALUE, "function attribute %d cannot be set", (int)attribute);
  }
}
CUresult sim_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  LOCKED;
  (void)device;
  return sim_cuFuncGetAttribute(value, attribute, (CUfunction)(void *)kernel);
}
CUresult sim_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  LOCKED;
  (void)device;
  return sim_cuFuncSetAttribute((CUfunction)(void *)kernel, attribute, value);
}

// ---------------------------------------------------------------------------------------------------------- launch

static CUresult check_launch(const Device *d, const LaunchParams *lp) {
  const PtxFunction *f = lp->func;
  const uint32_t *g = lp->grid, *b = lp->block, *c = lp->cluster;
  RETURN_INVALID_UNLESS(g[0] && g[1] && g[2] && b[0] && b[1] && b[2] && c[0] && c[1] && c[2],
                        "%s: a dimension of the grid, block or cluster is 0", f->name);
  RETURN_INVALID_UNLESS(g[0] <= INT32_MAX && g[1] <= 65535 && g[2] <= 65535,
                        "%s: grid (%u,%u,%u) exceeds (2147483647,65535,65535)", f->name, g[0], g[1], g[2]);
  RETURN_INVALID_UNLESS(b[0] <= 1024 && b[1] <= 1024 && b[2] <= 64 && (uint64_t)b[0] * b[1] * b[2] <= 1024,
                        "%s: block (%u,%u,%u) exceeds 1024 threads or (1024,1024,64)", f->name, b[0], b[1], b[2]);
  uint32_t threads = volume(b);
  RETURN_INVALID_UNLESS(!f->reqntid[0] || !memcmp(f->reqntid, b, sizeof f->reqntid),
                        "%s: block (%u,%u,%u), but the kernel has .reqntid %u,%u,%u", f->name, b[0], b[1], b[2],
                        f->reqntid[0], f->reqntid[1], f->reqntid[2]);
  if (f->maxntid[0] && threads > volume(f->maxntid))
    return driver_fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "%s: %u threads per block, but the kernel has .maxntid %u",
                       f->name, threads, volume(f->maxntid));
  if (f->maxnreg && (uint64_t)f->maxnreg * ((threads + 31) / 32 * 32) > 65536)
    return driver_fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "%s: %u threads of %u registers exceed 65536 registers",
                       f->name, threads, f->maxnreg);
  RETURN_INVALID_UNLESS(
      (int64_t)lp->dynamic_shared <= max_dynamic(f),
      "%s: %u bytes of dynamic shared memory exceed the function's limit of %lld "
      "(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES raises it)",
      f->name, lp->dynamic_shared, (long long)max_dynamic(f));
  RETURN_INVALID_UNLESS((int64_t)lp->dynamic_shared + f->static_shared <= d->shared_optin,
                        "%s: %u + %u bytes of shared memory exceed the block's %d", f->name, f->static_shared,
                        lp->dynamic_shared, d->shared_optin);
  if (f->reqcluster[0] && memcmp(f->reqcluster, c, sizeof f->reqcluster))
    return driver_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                       "%s: cluster (%u,%u,%u), but the kernel has .reqnctapercluster %u,%u,%u", f->name, c[0], c[1],
                       c[2], f->reqcluster[0], f->reqcluster[1], f->reqcluster[2]);
  uint64_t cluster = (uint64_t)c[0] * c[1] * c[2], limit = f->nonportable_cluster ? MAX_CLUSTER : 8;
  if (f->max_cluster_rank && f->max_cluster_rank < limit) limit = f->max_cluster_rank;
  if (cluster > limit)
    return driver_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE, "%s: a cluster of %llu blocks, at most %llu are allowed",
                       f->name, (unsigned long long)cluster, (unsigned long long)limit);
  if (g[0] % c[0] || g[1] % c[1] || g[2] % c[2])
    return driver_fail(CUDA_ERROR_INVALID_CLUSTER_SIZE, "%s: grid (%u,%u,%u) is no multiple of cluster (%u,%u,%u)",
                       f->name, g[0], g[1], g[2], c[0], c[1], c[2]);
  const int per_sm = sim_occupancy(d, f, threads, lp->dynamic_shared);   // one at least, within the limits above
  if (lp->cooperative && (uint64_t)g[0] * g[1] * g[2] > (uint64_t)per_sm * (uint64_t)d->num_sms)
    return driver_fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "%s: %llu blocks, but only %d are resident at a time",
                       f->name, (unsigned long long)((uint64_t)g[0] * g[1] * g[2]), per_sm * d->num_sms);
  return CUDA_SUCCESS;
}

static CUresult gather_params(const PtxFunction *f, void **params, void **extra, uint8_t *block) {
  if (extra) {
    const void *buffer = NULL;
    size_t size = 0;
    for (uint32_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[i + 1];
      else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *(size_t *)extra[i + 1];
      else return driver_fail(CUDA_ERROR_INVALID_VALUE, "unknown entry in `extra`");
    }
    RETURN_INVALID_UNLESS(size >= f->param_bytes && (buffer || !f->param_bytes),
                          "%s: %zu bytes of parameters, the kernel takes %u", f->name, size, f->param_bytes);
    if (f->param_bytes) memcpy(block, buffer, f->param_bytes);
    return CUDA_SUCCESS;
  }
  RETURN_INVALID_UNLESS(params || !f->num_params, "%s: no parameters are given, the kernel takes %u", f->name,
                        f->num_params);
  for (uint32_t i = 0; i < f->num_params; i++) {
    RETURN_INVALID_UNLESS(params[i], "%s: parameter %u is a null pointer", f->name, i);
    memcpy(block + f->params[i]->addr, params[i], f->params[i]->size);
  }
  return CUDA_SUCCESS;
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(config && function, "a null argument");
  PtxFunction *f = function_of(function);
  LaunchParams lp = {.func = f,
                     .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                     .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                     .cluster = {1, 1, 1},
                     .dynamic_shared = config->sharedMemBytes};
  if (f->reqcluster[0]) memcpy(lp.cluster, f->reqcluster, sizeof lp.cluster);
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute *a = &config->attrs[i];
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      lp.cluster[0] = a->value.clusterDim.x, lp.cluster[1] = a->value.clusterDim.y,
      lp.cluster[2] = a->value.clusterDim.z;
      break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: lp.cooperative = a->value.cooperative != 0; break;
    default: break;   // ordering and cache hints: work runs in order anyway
    }
  }
  CUresult r = check_launch(context->device, &lp);
  if (r) return r;
  uint8_t *block = calloc(1, f->param_bytes + 1);
  if (!block) return CUDA_ERROR_OUT_OF_MEMORY;
  r = gather_params(f, params, extra, block);
  lp.params = block;
  if (!r)
    r = driver_submit(config->hStream, &(StreamWork){.kind = WORK_LAUNCH, .launch = lp, .module = f->module->handle});
  free(block);
  return r;
}
// From the parameters that both old launch functions have.
#define LAUNCH_CONFIG                                                                        \
  {.gridDimX = gx, .gridDimY = gy, .gridDimZ = gz, .blockDimX = bx, .blockDimY = by, .blockDimZ = bz, \
   .sharedMemBytes = shared, .hStream = stream}
CUresult sim_cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, CUstream stream, void **params, void **extra) {
  LOCKED;
  CUlaunchConfig c = LAUNCH_CONFIG;
  return sim_cuLaunchKernelEx(&c, function, params, extra);
}
CUresult sim_cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                       unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params) {
  LOCKED;
  CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
  CUlaunchConfig c = LAUNCH_CONFIG;
  c.attrs = &a;
  c.numAttrs = 1;
  return sim_cuLaunchKernelEx(&c, function, params, NULL);
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, CUfunction function, int block,
                                                                  size_t dynamic_shared, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(count && function && block > 0, "a null argument or an empty block");
  *count = block > 1024 ? 0 : sim_occupancy(context->device, function_of(function), (uint32_t)block, dynamic_shared);
  return CUDA_SUCCESS;
}
CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function, int block,
                                                         size_t dynamic_shared) {
  LOCKED;
  return sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, block, dynamic_shared, 0);
}
CUresult sim_cuOccupancyMaxActiveClusters(int *count, CUfunction function, const CUlaunchConfig *config) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(count && function && config, "a null argument");
  uint64_t cluster = 1;
  for (unsigned i = 0; i < config->numAttrs; i++)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = volume_within((const uint32_t[3]){config->attrs[i].value.clusterDim.x,
                                                  config->attrs[i].value.clusterDim.y,
                                                  config->attrs[i].value.clusterDim.z},
                              UINT32_MAX);
  RETURN_INVALID_UNLESS(cluster, "an empty cluster");
  uint64_t threads = volume_within((const uint32_t[3]){config->blockDimX, config->blockDimY, config->blockDimZ}, 1025);
  int per_sm = threads > 1024
                   ? 0
                   : sim_occupancy(context->device, function_of(function), (uint32_t)threads, config->sharedMemBytes);
  *count = (int)((uint64_t)per_sm * (uint64_t)context->device->num_sms / cluster);
  return CUDA_SUCCESS;
}
CUresult sim_cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config) {
  LOCKED;
  (void)config;
  RETURN_INVALID_UNLESS(size && function, "a null argument");
  *size = function_of(function)->nonportable_cluster ? MAX_CLUSTER : 8;
  return CUDA_SUCCESS;
}
