#include "runtime/rt/cuda.h"

#include <dlfcn.h>
#include <stdio.h>

#include "ir/buf.h"
#include "runtime/rt/device.h"
#include "runtime/rt/error.h"

// Two rows of one symbol or of one member do not compile; nor does a symbol that is not the driver's.
enum {
#define CUDA_FN(member, symbol, ...) ROW_##symbol,
#include "runtime/rt/cuda.def"
};
#define CUDA_FN(member, symbol, ...) \
  _Static_assert(__builtin_strncmp(#symbol, "cu", 2) == 0, "not a name of the driver: " #symbol);
#include "runtime/rt/cuda.def"

static const struct { const char *symbol; size_t offset; } entries[] = {
#define CUDA_FN(member, symbol, ...) {#symbol, offsetof(CudaDriver, member)},
#include "runtime/rt/cuda.def"
};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define SIM_LIBRARY "libtile-sim.so." TEXT(TILE_ABI_VERSION)

static tile_status resolve(CudaDriver *d, bool simulator, tile_error **error) {
  for (uint32_t i = 0; i < countof(entries); i++) {
    void *p = d->library ? dlsym(d->library, entries[i].symbol) : linked_parts.sim_symbol(entries[i].symbol);
    if (!p)
      return error_set(error, TILE_ERROR_NO_DEVICE, "the %s has no %s",
                       simulator ? "simulator" : "CUDA driver is too old: it", entries[i].symbol);
    *(void **)((char *)d + entries[i].offset) = p;
  }
  return TILE_OK;
}

// A function that may be missing: its name in a library, and in the simulator that is linked in.
static void *other_symbol(const CudaDriver *d, const char *exported, const char *linked) {
  return d->library ? dlsym(d->library, exported) : linked_parts.sim_symbol(linked);
}

tile_status cuda_open(CudaDriver *d, bool simulator, tile_error **error) {
  *d = (CudaDriver){0};
  // A driver keeps its state for as long as the process lives, so it is never unloaded.
  if (simulator && !linked_parts.sim_symbol) {
    d->library = dlopen(SIM_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!d->library)
      return error_set(error, TILE_ERROR_NO_DEVICE,
                       "no simulator: %s was not found; install it, or name its folder in LD_LIBRARY_PATH",
                       SIM_LIBRARY);
  } else if (!simulator) {
    d->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!d->library)
      return error_set(
          error, TILE_ERROR_NO_DEVICE,
          "no GPU: the CUDA driver (libcuda.so.1) is not installed; the devices \"sim\" and \"interp\" need none");
  }
  tile_status status = resolve(d, simulator, error);
  if (status == TILE_OK && simulator) {
    *(void **)&d->last_report = other_symbol(d, "sim_last_report", "simLastReport");
    *(void **)&d->set_stop = other_symbol(d, "sim_set_stop", "simSetStop");
    *(void **)&d->count_launches = other_symbol(d, "sim_count_launches", "simCountLaunches");
    *(void **)&d->name_pointer = other_symbol(d, "sim_name_pointer", "simNamePointer");
    *(void **)&d->show_source = other_symbol(d, "sim_show_source", "simShowSource");
    *(void **)&d->size_pointer = other_symbol(d, "sim_size_pointer", "simSizePointer");
    *(void **)&d->note_place = other_symbol(d, "sim_note_place", "simNotePlace");
    *(void **)&d->next_warning = other_symbol(d, "sim_next_warning", "simNextWarning");
    *(void **)&d->use_schedules = other_symbol(d, "sim_use_schedules", "simUseSchedules");
    *(void **)&d->last_fault = other_symbol(d, "sim_last_fault", "simLastFault");
  }
  *(void **)&d->func_param_info = other_symbol(d, "cuFuncGetParamInfo", "cuFuncGetParamInfo");
  if (status == TILE_OK) {
    CUresult r = d->init(0);
    if (r != CUDA_SUCCESS && d->last_report) {   // it refuses a variable of the environment
      status = error_set(error, TILE_ERROR_USAGE, "%s", d->last_report());
    } else if (r != CUDA_SUCCESS) {
      const char *name = NULL;
      d->error_name(r, &name);
      status = error_set_cuda(error, TILE_ERROR_NO_DEVICE, (int)r,
                              "no GPU: cuInit says %s; the devices \"sim\" and \"interp\" need none",
                              name ? name : "an unknown error");
    }
  }
  if (status != TILE_OK) cuda_close(d);
  return status;
}

void cuda_close(CudaDriver *d) {
  if (d->library) dlclose(d->library);
  *d = (CudaDriver){0};
}

static bool is_kernel_failure(CUresult r) {
  return r >= CUDA_ERROR_ILLEGAL_ADDRESS && r < CUDA_ERROR_NOT_PERMITTED && r != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

// Whether a kernel had failed before; `what` then says how. If not, this failure may be the first.
static bool is_lost(CudaLoss *loss, CUresult r, const char *doing, const char *name, char *what, size_t size) {
  if (!loss) return false;
  pthread_mutex_lock(&loss->lock);
  bool before = loss->result != CUDA_SUCCESS;
  if (!before && is_kernel_failure(r)) {
    loss->result = r;
    before = !loss->has_launched;
    snprintf(loss->what, sizeof loss->what, "%s: %s", before ? "before the device was opened" : doing, name);
  }
  snprintf(what, size, "%s", loss->what);
  pthread_mutex_unlock(&loss->lock);
  return before;
}

static tile_diagnostic diagnostic_at(const FaultPlace *p, tile_level level) {
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  d.level = level;
  d.file = p->file;
  d.line = d.end_line = p->line;
  d.column = p->col;
  d.end_column = p->col + p->size;
  d.text = p->text;
  return d;
}

// Adds it to the text and to the diagnostics; the first is the error, the others are its notes.
static void add_place(Buf *b, Message *all, size_t *count, const FaultPlace *p) {
  if (!*p->file) return;
  Message *m = &all[(*count)++];
  const bool is_error = m == all;
  m->diagnostic = diagnostic_at(p, is_error ? TILE_LEVEL_ERROR : TILE_LEVEL_NOTE);
  if (!is_error) m->diagnostic.note_of = 0;
  buf_printf(b, "%s:%u:%u: %s: %s\n%s", p->file, p->line, p->col, is_error ? "error" : "note", p->text, p->shown);
}

static void add_text(Buf *b, Message *all, size_t *count, const char *before, const char *text, const char *after) {
  if (!*text) return;
  tile_diagnostic d = TILE_DIAGNOSTIC_INIT;
  d.level = TILE_LEVEL_NOTE;
  d.note_of = 0;
  d.text = text;
  all[(*count)++].diagnostic = d;
  buf_printf(b, "%s%s%s", before, text, after);
}

// The simulator's report, as an error at a place in the source if it has one. what: the call, and how it failed.
static tile_status fail_with_report(const CudaDriver *d, tile_status status, CUresult r, const char *what,
                                    const char *report, tile_error **error) {
  const KernelFault *f = d->last_fault && is_kernel_failure(r) ? d->last_fault() : NULL;
  if (!f) return error_set_cuda(error, status, (int)r, "%s\n%s", what, report);
  Message all[5] = {0};
  size_t count = 0;
  Arena scratch;
  arena_init(&scratch);
  Buf b = buf_make(&scratch);
  add_place(&b, all, &count, &f->error);
  add_place(&b, all, &count, &f->note);
  add_text(&b, all, &count, "note: ", f->sum, "\n");
  add_text(&b, all, &count, "note: ", f->way_out, "\n");
  add_text(&b, all, &count, "", report, "");
  error_set_report(error, status, (int)r, all, count, "%s%s", buf_str(&b), what);
  arena_free(&scratch);
  return status;
}

void cuda_tell_warnings(const CudaDriver *d, const tile_hooks *hooks) {
  const KernelFault *f;
  while (d->next_warning && (f = d->next_warning())) {
    if (!hooks->log) continue;
    Arena scratch;
    arena_init(&scratch);
    Buf b = buf_make(&scratch);
    buf_printf(&b, "%s:%u:%u: warning: %s\n%s", f->error.file, f->error.line, f->error.col, f->error.text,
               f->error.shown);
    if (*f->note.file)
      buf_printf(&b, "%s:%u:%u: note: %s\n%s", f->note.file, f->note.line, f->note.col, f->note.text, f->note.shown);
    if (*f->way_out) buf_printf(&b, "note: %s\n", f->way_out);
    char *text = (char *)buf_str(&b);
    text[b.size - 1] = 0;   // whoever shows it ends the line
    hooks->log(hooks->user, TILE_LEVEL_WARNING, text);
    arena_free(&scratch);
  }
}

// Later failures name this one's cause.
static void keep_cause(const CudaDriver *d, const char *report) {
  CudaLoss *loss = d->loss;
  if (!loss) return;
  const KernelFault *f = d->last_fault ? d->last_fault() : NULL;
  pthread_mutex_lock(&loss->lock);
  const size_t n = strlen(loss->what);
  char *end = loss->what + n;
  if (!loss->has_cause && f)
    snprintf(end, sizeof loss->what - n, "; %.300s:%u:%u: %.300s", f->error.file, f->error.line, f->error.col,
             f->error.text);
  else if (!loss->has_cause) snprintf(end, sizeof loss->what - n, "; %.*s", (int)strcspn(report, "\n"), report);
  loss->has_cause = true;
  pthread_mutex_unlock(&loss->lock);
}

tile_status cuda_check(const CudaDriver *d, CUresult r, const char *doing, tile_error **error) {
  if (r == CUDA_SUCCESS) return TILE_OK;
  const char *name = NULL, *text = NULL, *report = d->last_report ? d->last_report() : NULL;
  char what[sizeof d->loss->what];
  d->error_name(r, &name);
  d->error_string(r, &text);
  if (is_lost(d->loss, r, doing, name ? name : "unknown error", what, sizeof what))
    return error_set_cuda(error, TILE_ERROR_DRIVER, (int)r,
                          "%s: the context of %s is lost since a kernel failed (%s): free its kernels, close the "
                          "device and open it anew; its memory is gone",
                          doing, d->device, what);
  const tile_status status = is_kernel_failure(r)            ? TILE_ERROR_RUN
                             : r == CUDA_ERROR_OUT_OF_MEMORY ? TILE_ERROR_NO_MEMORY
                                                             : TILE_ERROR_DRIVER;
  if (report && *report && is_kernel_failure(r)) keep_cause(d, report);
  char said[1024];
  snprintf(said, sizeof said, "%s: %s: %s", doing, name ? name : "unknown error", text ? text : "");
  return report && *report ? fail_with_report(d, status, r, said, report, error)
                           : error_set_cuda(error, status, (int)r, "%s", said);
}
