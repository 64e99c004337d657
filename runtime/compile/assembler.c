#include "runtime/compile/assembler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/compile/tool.h"

// The part of nvJitLink's interface that is used here.
typedef void *NvHandle;
enum { NV_INPUT_PTX = 2 };

struct Assembler {
  void *library;               // nvJitLink; NULL: ptxas
  int (*create)(NvHandle *handle, uint32_t num_options, const char **options);
  int (*destroy)(NvHandle *handle);
  int (*add_data)(NvHandle handle, int kind, const void *data, size_t size, const char *name);
  int (*complete)(NvHandle handle);
  int (*cubin_size)(NvHandle handle, size_t *size);
  int (*cubin)(NvHandle handle, void *out);
  int (*log_size)(NvHandle handle, size_t *size);
  int (*log)(NvHandle handle, char *out);
  int (*info_size)(NvHandle handle, size_t *size);
  int (*info)(NvHandle handle, char *out);
};

static bool open_library(Assembler *s) {
  static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                      "/usr/local/cuda/lib64/libnvJitLink.so"};
  // The library is never unloaded: its C++ runtime would not free its memory.
  for (uint32_t i = 0; !s->library && i < countof(names); i++)
    s->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!s->library) return false;
  const struct { void *to; const char *name; } symbols[] = {
      {&s->create, "nvJitLinkCreate"},
      {&s->destroy, "nvJitLinkDestroy"},
      {&s->add_data, "nvJitLinkAddData"},
      {&s->complete, "nvJitLinkComplete"},
      {&s->cubin_size, "nvJitLinkGetLinkedCubinSize"},
      {&s->cubin, "nvJitLinkGetLinkedCubin"},
      {&s->log_size, "nvJitLinkGetErrorLogSize"},
      {&s->log, "nvJitLinkGetErrorLog"},
      {&s->info_size, "nvJitLinkGetInfoLogSize"},
      {&s->info, "nvJitLinkGetInfoLog"}};
  for (uint32_t i = 0; i < countof(symbols); i++)
    if (!(*(void **)symbols[i].to = dlsym(s->library, symbols[i].name))) {
      dlclose(s->library);
      s->library = NULL;
      return false;
    }
  return true;
}

static tile_status find_ptxas(void *user, Arena *a, tile_error **error) {
  (void)error;
  *(bool *)user = ptxas_find(a) != NULL;
  return TILE_OK;
}

static bool has_ptxas(void) {
  bool found = false;
  return scratch_run((ArenaMemory){0}, "looking for ptxas", find_ptxas, &found, NULL) == TILE_OK && found;
}

tile_status assembler_open(Assembler **out, tile_error **error) {
  const char *wish = getenv("TILE_ASSEMBLER");
  const bool any = !wish || !*wish, ptxas = any || !strcmp(wish, "ptxas"), linker = any || !strcmp(wish, "nvjitlink");
  *out = NULL;
  if (!any && !ptxas && !linker && strcmp(wish, "driver"))
    return error_set(error, TILE_ERROR_USAGE, "TILE_ASSEMBLER=%s: there are ptxas, nvjitlink and driver", wish);
  if (ptxas) RETURN_IF_FAILED(tool_check_named("TILE_PTXAS", error));
  Assembler *s = ptxas || linker ? calloc(1, sizeof *s) : NULL;
  if (s && ((ptxas && has_ptxas()) || (linker && open_library(s)))) *out = s;
  else free(s);
  return TILE_OK;
}

void assembler_close(Assembler *s) {
  if (s && s->library) dlclose(s->library);
  free(s);
}

const char *assembler_version(const Assembler *s, Arena *a) {
  if (!s->library) return ptxas_version(a);
  int (*version)(unsigned *major, unsigned *minor);
  *(void **)&version = dlsym(s->library, "nvJitLinkVersion");
  unsigned major, minor;
  return version && !version(&major, &minor) ? arena_printf(a, "nvJitLink %u.%u", major, minor) : "nvJitLink";
}

typedef struct { const Assembler *assembler; const char *arch; } Request;

// One of the two logs; empty if there is none, or no memory for it.
static const char *log_of(Arena *a, NvHandle h, int (*size)(NvHandle, size_t *), int (*log)(NvHandle, char *)) {
  size_t n = 0;
  char *text = !size(h, &n) && n ? arena_try(a, n + 1) : NULL;
  if (!text) return "";
  text[0] = text[n] = 0;
  log(h, text);
  return text;
}

static tile_status link_ptx(const Assembler *s, NvHandle h, Arena *a, const char *ptx, MachineCode *code,
                            tile_error **error) {
  bool ok = !s->add_data(h, NV_INPUT_PTX, ptx, strlen(ptx) + 1, "kernel.ptx") && !s->complete(h) &&
            !s->cubin_size(h, &code->size);
  if (ok) {
    char *bytes = arena_try(a, code->size);
    if (!bytes) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while assembling");
    code->cubin = bytes;
    code->said = log_of(a, h, s->info_size, s->info);
    if (!s->cubin(h, bytes)) return TILE_OK;
  }
  const char *log = log_of(a, h, s->log_size, s->log);
  if (assembler_lacks_registers(ptx, log, error)) return TILE_ERROR_RESOURCES;
  if (assembler_refuses_asm(ptx, log, "this target", error)) return TILE_ERROR_ASSEMBLER;
  return error_set(error, TILE_ERROR_ASSEMBLER, "nvJitLink refused our PTX%s%s", *log ? ":\n" : "", log);
}

static tile_status link_once(void *user, Arena *a, const char *ptx, MachineCode *code, tile_error **error) {
  const Request *r = user;
  const Assembler *s = r->assembler;
  const char *options[] = {arena_printf(a, "-arch=%s", r->arch)};
  NvHandle h = NULL;
  if (s->create(&h, countof(options), options))
    return error_set(error, TILE_ERROR_ASSEMBLER, "nvJitLink does not know %s", r->arch);
  tile_status status = link_ptx(s, h, a, ptx, code, error);
  s->destroy(&h);
  return status;
}

tile_status assembler_run(const Assembler *s, Arena *a, const char *ptx, const char *arch, MachineCode *code,
                          tile_error **error) {
  if (!s->library) return ptxas_assemble(a, ptx, arch, NULL, code, error);
  return assemble_checked(link_once, &(Request){s, arch}, a, ptx, code, error);
}
