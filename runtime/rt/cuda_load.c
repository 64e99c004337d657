// Loads a kernel's code into the driver, and makes ready what its launches need.
#include "runtime/rt/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SHARED = 48 * 1024, PORTABLE_CLUSTER = 8, LOG_BYTES = 8192 };

static tile_status check_arch(const CudaDevice *d, const Target *t, tile_error **error) {
  if (target_runs_on(t, d->base.sm)) return TILE_OK;
  return error_set(error, TILE_ERROR_USAGE, "the program was compiled for %s and cannot run on %s, which is sm_%d%s%s",
                   t->name, d->base.name, d->base.sm, d->base.arch ? "; compile it for " : "",
                   d->base.arch ? d->base.arch : "");
}

// The CUDA release that a PTX version came with, ×10; PTX of a later release than the driver's is refused.
static int cuda_of_ptx(uint32_t ptx_version) {
  static const struct { uint8_t ptx, cuda; } releases[] = {
      {70, 110}, {71, 111}, {72, 112}, {73, 113}, {74, 114}, {75, 115}, {76, 116}, {77, 117}, {78, 118}, {80, 120},
      {81, 121}, {82, 122}, {83, 123}, {84, 124}, {85, 125}, {86, 127}, {87, 128}, {88, 129}, {90, 130}, {91, 131}};
  for (uint32_t i = 0; i < countof(releases); i++)
    if (releases[i].ptx >= ptx_version) return releases[i].cuda;
  return releases[countof(releases) - 1].cuda + 1;   // later than any that is known here
}

static tile_status refuse_old_driver(const CudaDevice *d, const tile_kernel *k, CUresult r, tile_error **error) {
  int needed = cuda_of_ptx(k->ptx_version);
  char wants[64] = "a newer driver";
  if (k->ptx_version) snprintf(wants, sizeof wants, "a driver of CUDA %d.%d or later", needed / 10, needed % 10);
  return error_set_cuda(error, TILE_ERROR_DRIVER, (int)r,
                        "%s: the driver (CUDA %d.%d) is too old for this PTX, which needs %s; or give it a cubin",
                        k->name, d->driver_version / 1000, d->driver_version % 1000 / 10, wants);
}

// Is the failure of a load the code's fault? Other failures are the device's: no memory, a kernel that failed before.
static bool is_about_code(CUresult r) {
  return (r >= CUDA_ERROR_INVALID_IMAGE && r < CUDA_ERROR_FILE_NOT_FOUND && r != CUDA_ERROR_INVALID_CONTEXT) ||
         r == CUDA_ERROR_NOT_SUPPORTED;
}

// said: LOG_BYTES zeros for what the assembler tells of code that it takes.
static tile_status load_code(CudaDevice *d, tile_kernel *k, const void *code, const char *what, char *said,
                             tile_error **error) {
  char *log = calloc(1, LOG_BYTES);
  if (!log) return error_no_memory(error);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void *const room = (void *)(uintptr_t)(LOG_BYTES - 1), *values[] = {log, room, said, room};
  CUresult r = d->cu.module_load(&k->module, code, countof(options), options, values);
  tile_status status = TILE_OK;
  if (r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    status = refuse_old_driver(d, k, r, error);
  } else if (r != CUDA_SUCCESS && !is_about_code(r)) {
    char doing[256];
    snprintf(doing, sizeof doing, "loading %s", k->name);
    status = cuda_check(&d->cu, r, doing, error);
  } else if (r != CUDA_SUCCESS && !strcmp(what, "PTX") && assembler_lacks_registers(code, log, error)) {
    status = TILE_ERROR_RESOURCES;
  } else if (r != CUDA_SUCCESS && !strcmp(what, "PTX") && assembler_refuses_asm(code, log, k->target->name, error)) {
    status = TILE_ERROR_ASSEMBLER;
  } else if (r != CUDA_SUCCESS) {
    const char *name = NULL;
    d->cu.error_name(r, &name);
    status = TILE_ERROR_ASSEMBLER;
    error_set_cuda(error, status, (int)r, "the driver refused the %s of %s, which is for %s, on %s (sm_%d): %s%s%s",
                   what, k->name, k->target->name, d->base.name, d->base.sm, name ? name : "?", *log ? "\n" : "", log);
  }
  free(log);
  return status;
}

// The caller is in the device's context.
static CUresult ask_use(const CudaDevice *d, const tile_kernel *k, CUmodule module, CodeUse *out) {
  CUfunction f;
  int registers = 0, local = 0;
  CUresult r = d->cu.module_function(&f, module, k->name);
  if (r == CUDA_SUCCESS) r = d->cu.func_get_attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
  if (r == CUDA_SUCCESS) r = d->cu.func_get_attribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f);
  *out = (CodeUse){(uint32_t)registers, (uint32_t)local};
  return r;
}

tile_status cuda_code_use(const tile_kernel *k, CodeUse *out, tile_error **error) {
  CudaDevice *d = cuda_device(k->device);
  ENTER_OR_RETURN(d, error);
  return cuda_check(&d->cu, ask_use(d, k, k->module, out), "asking for a kernel's registers", error);
}

// Loads PTX. If the driver's assembler spilled, it also loads the PTX with another occupancy hint, and keeps the code
// that uses less local memory: a spill costs more than a resident block.
static tile_status load_ptx(CudaDevice *d, tile_kernel *k, tile_error **error) {
  char *said = calloc(2, LOG_BYTES), *said_of_other = said + LOG_BYTES;
  if (!said) return error_no_memory(error);
  const tile_status status = load_code(d, k, k->ptx, "PTX", said, error);
  const CUmodule first = k->module;
  CodeUse use, other;
  const bool is_known = status == TILE_OK && ask_use(d, k, first, &use) == CUDA_SUCCESS;
  char *text = is_known ? kernel_with_other_hint(k->ptx, &use) : NULL;
  bool better = false;
  if (text && load_code(d, k, text, "PTX", said_of_other, NULL) == TILE_OK) {
    better = ask_use(d, k, k->module, &other) == CUDA_SUCCESS && other.local_bytes < use.local_bytes;
    d->cu.module_unload(better ? first : k->module);
  }
  if (!better) k->module = first;
  if (status == TILE_OK)
    assembler_notes_log(k->hooks ? k->hooks : &d->base.hooks, k->name, k->ptx, better ? said_of_other : said);
  free(text);
  free(said);
  return status;
}

static tile_status load_cubin(CudaDevice *d, tile_kernel *k, tile_error **error) {
  char said[LOG_BYTES] = "";   // nothing: there is nothing to assemble
  return load_code(d, k, k->cubin, "machine code", said, error);
}

// Machine code runs on its own architecture and, unless it is specific to that, on later ones of the same major number.
static bool runs_cubin(const CudaDevice *d, const Target *t) {
  return !d->is_sim && (int)t->sm / 10 == d->base.sm / 10 && target_runs_on(t, d->base.sm);
}

// Takes the PTX if there is no machine code for this device or the driver refuses it.
static tile_status load_module(CudaDevice *d, tile_kernel *k, tile_error **error) {
  tile_error *why = NULL;
  bool runs = runs_cubin(d, k->target);
  if (!k->ptx && !runs)
    return error_set(error, TILE_ERROR_USAGE,
                     "%s: there is machine code for %s alone, which %s%s; compile it for this device, or load its PTX",
                     k->name, k->target->name, d->base.name, d->is_sim ? " cannot read" : " does not run");
  if (k->cubin && runs) {
    if (load_cubin(d, k, &why) == TILE_OK) return TILE_OK;
    if (!k->ptx || tile_error_status(why) == TILE_ERROR_NO_MEMORY) return error_pass_on(error, why);
    if (d->base.hooks.log) d->base.hooks.log(d->base.hooks.user, TILE_LEVEL_WARNING, tile_error_message(why));
    tile_error_free(why);
  }
  int needed = cuda_of_ptx(k->ptx_version);
  if (d->driver_version / 1000 * 10 + d->driver_version % 1000 / 10 < needed)
    return refuse_old_driver(d, k, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, error);
  return load_ptx(d, k, error);
}

// Does the entry of that name have n parameters? A text without the entry is left to the driver.
static bool entry_has_params(const char *ptx, const char *name, size_t n) {
  char entry[256];
  snprintf(entry, sizeof entry, ".entry %s(", name);
  const char *at = strstr(ptx, entry), *end = at ? strchr(at + strlen(entry), ')') : NULL;
  if (!end) return true;
  size_t found = 0;
  while ((at = strstr(at, ".param ")) && at < end) found++, at++;
  return found == n;
}

// The driver copies as many bytes for each parameter as the code has. Metadata of another kernel would make it read
// past what a launch packs (cuda_launch.c). The text tells how many parameters there are: of machine code alone the
// driver is asked for one more, which tools such as compute-sanitizer report as a failed call.
static tile_status check_params(const CudaDevice *d, const tile_kernel *k, tile_error **error) {
  size_t n = 0, offset, size;
  bool fits = true;
  if (!d->cu.func_param_info) return TILE_OK;   // a driver before CUDA 12.4
  for (uint32_t i = 0; i < k->num_params; i++) {
    const KernelParam *p = &k->params[i];
    const bool has_map = p->rank && p->kind != PARAM_DESC_FIELDS, is_alone = p->kind == PARAM_AUTO_TENSORMAP;
    for (uint32_t part = 0; part <= (is_alone ? 0 : 2 * p->rank); part++) {
      const size_t room = part == 0 && has_map ? sizeof(CUtensorMap) : part && part <= p->rank ? 4 : 8;
      if (d->cu.func_param_info(k->function, n++, &offset, &size) == CUDA_SUCCESS) fits = fits && size <= room;
    }
  }
  if (fits && (k->ptx ? entry_has_params(k->ptx, k->name, n)
                      : d->cu.func_param_info(k->function, n, &offset, &size) != CUDA_SUCCESS))
    return TILE_OK;
  return error_set(error, TILE_ERROR_USAGE, "%s: its code has other parameters than its metadata; compile it again",
                   k->name);
}

// In the order in which cuda_launch.c packs them.
static void name_pointers(const CudaDevice *d, const tile_kernel *k) {
  for (uint32_t i = 0, n = 0; i < k->num_params; i++) {
    const KernelParam *p = &k->params[i];
    if (p->name && (p->is_pointer || p->kind == PARAM_DESC_FIELDS)) d->cu.name_pointer(k->function, n, p->name);
    if (p->is_pointer && d->cu.size_pointer) d->cu.size_pointer(k->function, n, p->elem_bytes);
    n += p->kind == PARAM_AUTO_TENSORMAP ? 1 : 1 + 2 * p->rank;
  }
}

// A kernel of the caller's PTX or of a package has no files.
static void show_sources(const CudaDevice *d, const tile_kernel *k) {
  for (uint32_t i = 0; i < k->num_sources; i++) {
    const SourceFile *f = k->sources[i];
    uint32_t lines = 1;
    for (size_t at = 0; at < f->size; at++) lines += f->text[at] == '\n';
    if (!f->is_embedded) d->cu.show_source(k->function, f->path, f->num_lines - lines + 1, f->text, f->size);
  }
}

static tile_status set_up_function(CudaDevice *d, tile_kernel *k, tile_error **error) {
  CALL_OR_RETURN(d, module_function(&k->function, k->module, k->name), "finding the kernel in its module");
  RETURN_IF_FAILED(check_params(d, k, error));
  if (d->cu.name_pointer) name_pointers(d, k);
  if (d->cu.show_source) show_sources(d, k);
  for (uint32_t i = 0; d->cu.note_place && i < k->num_notes; i++) d->cu.note_place(k->function, &k->notes[i]);
  if (k->shared_bytes > DEFAULT_SHARED) {
    if ((int)k->shared_bytes > d->shared_optin)
      return error_set(error, TILE_ERROR_RESOURCES,
                       "%s needs %u bytes of shared memory per block; %s has %d: use smaller tiles or fewer stages",
                       k->name, k->shared_bytes, d->base.name, d->shared_optin),
             error_resource(error, TILE_RESOURCE_SHARED, k->shared_bytes, (uint64_t)d->shared_optin);
    CALL_OR_RETURN(d,
                   func_set_attribute(k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      (int)k->shared_bytes),
                   "asking for more than 48 KB of shared memory");
  }
  if (k->num_ctas > PORTABLE_CLUSTER)
    CALL_OR_RETURN(d, func_set_attribute(k->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                   "asking for a large cluster");
  return TILE_OK;
}

// The caller holds padding_lock.
static tile_status make_padding(CudaDevice *d, tile_error **error) {
  CUdeviceptr p = 0;
  if (d->padding) return TILE_OK;
  CALL_OR_RETURN(d, mem_alloc(&p, 2 * EMPTY_BYTES), "allocating padding");
  CALL_OR_RETURN(d, memset_d8(p, 0, EMPTY_BYTES), "writing zeros");
  CALL_OR_RETURN(d, memset_d8(p + EMPTY_BYTES, 0xff, EMPTY_BYTES), "writing NaN");   // of every format
  d->padding = p;
  return TILE_OK;
}

// A launch must not allocate: what the map of an empty tensor shows is made when the kernel is loaded.
static tile_status prepare_padding(CudaDevice *d, const tile_kernel *k, tile_error **error) {
  bool needed = false;
  for (uint32_t i = 0; i < k->num_params; i++) needed = needed || k->params[i].kind == PARAM_AUTO_TENSORMAP;
  if (!needed) return TILE_OK;
  pthread_mutex_lock(&d->padding_lock);
  tile_status status = make_padding(d, error);
  pthread_mutex_unlock(&d->padding_lock);
  return status;
}

static void make_config(tile_kernel *k) {
  CUlaunchAttribute *attrs = k->attributes;
  unsigned n = 0;
  if (k->num_ctas > 1) {
    attrs[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attrs[n].value.clusterDim.x = k->num_ctas;
    attrs[n].value.clusterDim.y = attrs[n].value.clusterDim.z = 1;
    n++;
  }
  if (k->cooperative) attrs[n].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, attrs[n++].value.cooperative = 1;
  if (k->pdl)
    attrs[n].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    attrs[n++].value.programmaticStreamSerializationAllowed = 1;
  k->config = (CUlaunchConfig){1, 1, 1, k->num_threads, 1, 1, k->shared_bytes, NULL, n ? attrs : NULL, n};
}

tile_status cuda_load(tile_kernel *k, tile_error **error) {
  CudaDevice *d = cuda_device(k->device);
  if (!k->ptx && !k->cubin)
    return error_set(error, TILE_ERROR_USAGE,
                     "the program was compiled without PTX and can only run on the interpreter");
  tile_status status = check_arch(d, k->target, error);
  if (status != TILE_OK) return status;
  ENTER_OR_RETURN(d, error);
  if (k->ptx) k->declared_local = resources_declared_local(k->ptx);
  status = load_module(d, k, error);
  if (status == TILE_OK) status = set_up_function(d, k, error);
  if (status == TILE_OK) status = prepare_padding(d, k, error);
  make_config(k);
  return status;
}

void cuda_unload(tile_kernel *k) {
  CudaDevice *d = cuda_device(k->device);
  ENTER_OR_RETURN_AS(, d, NULL);
  if (k->scratch) d->cu.mem_free(k->scratch);
  if (k->module) d->cu.module_unload(k->module);
}
