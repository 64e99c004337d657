// The interpreter as a device: its memory is the host's, and a kernel is the program's IR at any stage. Several threads
// may use the device at the same time: its lock guards the list of allocations. A launch holds the lock until it ends,
// because it reads that list and allocates from its kernel's and its program's arenas.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"
#include "ir/interp.h"
#include "runtime/compile/compile.h"

enum { ALIGNMENT = 256 };      // as the driver's allocations

typedef struct {
  tile_device base;
  pthread_mutex_t lock;
  InterpBuffer *buffers;
  uint32_t num_buffers, cap_buffers;
  Debugger debugger;
} InterpDevice;

static InterpDevice *of(tile_device *d) { return (InterpDevice *)d; }

// False if there is no memory for a longer list.
static bool add_buffer(InterpDevice *d, InterpBuffer buffer) {
  if (d->num_buffers == d->cap_buffers) {
    uint32_t capacity = d->cap_buffers ? d->cap_buffers * 2 : 16;
    InterpBuffer *bigger = realloc(d->buffers, capacity * sizeof *bigger);
    if (!bigger) return false;
    d->buffers = bigger;
    d->cap_buffers = capacity;
  }
  d->buffers[d->num_buffers++] = buffer;
  return true;
}

static tile_status interp_alloc(tile_device *base, size_t size, uint64_t *address, tile_error **error) {
  InterpDevice *d = of(base);
  void *p = size <= SIZE_MAX / 2 ? aligned_alloc(ALIGNMENT, (size + ALIGNMENT) / ALIGNMENT * ALIGNMENT) : NULL;
  if (!p) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory: %zu bytes", size);
  pthread_mutex_lock(&d->lock);
  bool is_added = add_buffer(d, (InterpBuffer){(uint64_t)(uintptr_t)p, size});
  pthread_mutex_unlock(&d->lock);
  if (!is_added) {
    free(p);
    return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  }
  *address = (uint64_t)(uintptr_t)p;
  return TILE_OK;
}

static tile_status interp_free(tile_device *base, uint64_t address, tile_error **error) {
  InterpDevice *d = of(base);
  pthread_mutex_lock(&d->lock);
  uint32_t i = 0;
  while (i < d->num_buffers && d->buffers[i].address != address) i++;
  bool is_found = i < d->num_buffers;
  if (is_found) d->buffers[i] = d->buffers[--d->num_buffers];
  pthread_mutex_unlock(&d->lock);
  if (!is_found)
    return error_set(error, TILE_ERROR_USAGE, "0x%llx is not the address of an allocation",
                     (unsigned long long)address);
  free((void *)(uintptr_t)address);
  return TILE_OK;
}

static bool is_inside(InterpDevice *d, uint64_t address, size_t size) {
  bool found = false;
  pthread_mutex_lock(&d->lock);
  for (uint32_t i = 0; i < d->num_buffers && !found; i++) {
    const InterpBuffer *b = &d->buffers[i];
    found = address >= b->address && size <= b->size && address - b->address <= b->size - size;
  }
  pthread_mutex_unlock(&d->lock);
  return found;
}

static tile_status interp_upload(tile_device *base, uint64_t to, const void *from, size_t size, tile_error **error) {
  if (!is_inside(of(base), to, size))
    return error_set(error, TILE_ERROR_USAGE, "copying %zu bytes to 0x%llx, which is outside every allocation", size,
                     (unsigned long long)to);
  memcpy((void *)(uintptr_t)to, from, size);
  return TILE_OK;
}

static tile_status interp_download(tile_device *base, void *to, uint64_t from, size_t size, tile_error **error) {
  if (!is_inside(of(base), from, size))
    return error_set(error, TILE_ERROR_USAGE, "copying %zu bytes from 0x%llx, which is outside every allocation",
                     size, (unsigned long long)from);
  memcpy(to, (const void *)(uintptr_t)from, size);
  return TILE_OK;
}

static tile_status interp_fill(tile_device *base, uint64_t to, uint64_t pattern, uint32_t elem_bytes, size_t count,
                               void *stream, tile_error **error) {
  (void)stream;
  if (!is_inside(of(base), to, count * elem_bytes))
    return error_set(error, TILE_ERROR_USAGE, "0x%llx with %zu bytes is not inside an allocation",
                     (unsigned long long)to, count * elem_bytes);
  for (size_t i = 0; i < count; i++) memcpy((char *)(uintptr_t)to + i * elem_bytes, &pattern, elem_bytes);
  return TILE_OK;
}
static tile_status interp_copy(tile_device *base, uint64_t to, uint64_t from, size_t size, void *stream,
                               tile_error **error) {
  (void)stream;
  if (!is_inside(of(base), to, size) || !is_inside(of(base), from, size))
    return error_set(error, TILE_ERROR_USAGE, "copying %zu bytes that are not inside allocations", size);
  memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
  return TILE_OK;
}
static tile_status interp_alloc_host(tile_device *d, size_t size, void **memory, tile_error **error) {
  (void)d;
  *memory = malloc(size);
  return *memory ? TILE_OK : error_set(error, TILE_ERROR_NO_MEMORY, "out of memory: %zu bytes", size);
}
static tile_status interp_free_host(tile_device *d, void *memory, tile_error **error) {
  (void)d, (void)error;
  free(memory);
  return TILE_OK;
}
static tile_status interp_synchronize(tile_device *d, tile_error **error) {
  (void)d, (void)error;
  return TILE_OK;
}

static void interp_close(tile_device *base) {
  InterpDevice *d = of(base);
  for (uint32_t i = 0; i < d->num_buffers; i++) free((void *)(uintptr_t)d->buffers[i].address);
  pthread_mutex_destroy(&d->lock);
  free(d->buffers);
  free(d);
}

static tile_status interp_load(tile_kernel *k, tile_error **error) {
  (void)k, (void)error;
  return TILE_OK;
}

static void interp_unload(tile_kernel *k) { (void)k; }

// A kernel prints to standard output, as a GPU's printf does.
static void print_text(void *user, const char *text, size_t size) {
  (void)user;
  fwrite(text, 1, size, stdout);
}

// Shows the variables.
static bool show_stop(void *user, const InterpStop *stop) {
  (void)user;
  if (stop->is_statement) return true;
  Context *ctx = stop->op->parent->func->module->ctx;
  const LineCol at = source_locate(ctx, op_user_span(ctx, stop->op).begin);
  ArenaMark mark = arena_mark(&ctx->arena);
  Buf b = buf_make(&ctx->arena);
  buf_printf(&b, "breakpoint at %s:%u in program (%u, %u, %u)\n", at.file ? at.file->path : "?", at.line,
             stop->program[0], stop->program[1], stop->program[2]);
  const InterpVars vars = interp_stop_vars(&ctx->arena, stop);
  VEC_EACH(v, vars) interp_put_var(&b, stop, v);
  print_text(NULL, buf_str(&b), b.size);
  arena_rewind(&ctx->arena, mark);
  return true;
}

void device_debug_interp(tile_device *device, const Debugger *debugger) { of(device)->debugger = *debugger; }

// Runs with the program's own diagnostics set aside: an error then is about this run alone.
typedef struct { Context *ctx; const InterpLaunch *launch; const LaunchStop *stop; } Running;

// What the run warned of goes to the log of the device.
static void tell_warnings(const Running *r, Context *ctx) {
  const tile_hooks *h = &r->stop->kernel->device->hooks;
  if (h->log) h->log(h->user, TILE_LEVEL_WARNING, diag_render(ctx, false));
}

static tile_status run_contained(void *user, tile_error **error) {
  const Running *r = user;
  Context *ctx = r->ctx;
  Diag *diags = ctx->diags, *last = ctx->last_diag;
  diag_forget(ctx);
  ctx->current_pass = "the interpreter";
  tile_status status = TILE_OK;
  jmp_buf on_ice;
  int why = setjmp(on_ice);
  if (why) {
    status = error_set_left(error, why, ctx, "running the interpreter");
  } else {
    ctx->on_ice = &on_ice;
    const bool ok = interp_run(ctx, r->launch);
    if (!ok && r->stop->stopped) status = launch_stopped(r->stop->kernel, error);
    else if (!ok && diag_error_count(ctx)) status = error_set_diagnostics(error, TILE_ERROR_RUN, ctx, false);
    else if (!ok) status = error_set(error, TILE_ERROR_CANCELLED, "the debugger ended the run");
    else if (ctx->diags) tell_warnings(r, ctx);
  }
  ctx->on_ice = NULL;
  ctx->current_pass = NULL;
  diag_forget(ctx);
  ctx->diags = diags;
  ctx->last_diag = last;
  return status;
}

static bool interp_is_own(tile_device *base, uint64_t address, char *why, size_t size) {
  if (is_inside(of(base), address, 1)) return true;
  snprintf(why, size, "is not inside an allocation");
  return false;
}

typedef struct { tile_kernel *k; const tile_launch_options *o; const tile_arg *args; } Launch;

static tile_status launch_with_memory(void *user, Arena *scratch, tile_error **error) {
  (void)scratch;
  const Launch *l = user;
  tile_kernel *k = l->k;
  InterpDevice *d = of(k->device);
  InterpArg *values = arena_array(&k->arena, InterpArg, k->num_args + 1);
  for (uint32_t i = 0; i < k->num_args; i++) {
    const KernelParam *p = &k->params[i];
    if (p->kind != PARAM_DESC && p->kind != PARAM_DESC_FIELDS) {
      values[i].bits = launch_arg_bits(p, l->args[i]);
      continue;
    }
    const tile_tensor *t = l->args[i].value.tensor;
    InterpDesc *desc = arena_new(&k->arena, InterpDesc);
    desc->address = t->base;
    desc->padding = k->func->params[i].padding;
    for (uint32_t a = 0; a < t->rank; a++) desc->extents[a] = t->shape[a], desc->strides[a] = t->strides[a];
    values[i].desc = desc;
  }
  LaunchStop stop = {.kernel = k};
  InterpLaunch launch = {.func = k->func,
                         .grid = {l->o->grid[0], l->o->grid[1], l->o->grid[2]},
                         .args = values,
                         .num_args = k->num_args,
                         .buffers = d->buffers,
                         .num_buffers = d->num_buffers,
                         .print = d->debugger.watch ? NULL : print_text,
                         .stop = d->debugger.stop || d->debugger.watch ? d->debugger.stop : show_stop,
                         .watch = d->debugger.watch,
                         .user = d->debugger.user,
                         .should_stop = launch_can_stop(k) ? launch_should_stop : NULL,
                         .stop_user = &stop};
  Running running = {k->ir->ctx, &launch, &stop};
  return deep_run("running the interpreter", run_contained, &running, error);
}

static tile_status interp_launch(tile_kernel *k, const tile_launch_options *o, const tile_arg *args,
                                 tile_error **error) {
  InterpDevice *d = of(k->device);
  Launch launch = {k, o, args};
  pthread_mutex_lock(&d->lock);
  ArenaMark mark = arena_mark(&k->arena);
  tile_status status = scratch_contain(&k->arena, "launching", launch_with_memory, &launch, error);
  arena_rewind(&k->arena, mark);
  pthread_mutex_unlock(&d->lock);
  return status;
}

static tile_status interp_time(tile_kernel *k, const tile_launch_options *o, const tile_arg *args, double *ms,
                               tile_error **error) {
  double start = clock_ms();
  tile_status status = interp_launch(k, o, args, error);
  *ms = clock_ms() - start;
  return status;
}

tile_status device_open_interp(tile_device **device, tile_error **error) {
  static const DeviceOps ops = {.close = interp_close,
                                .alloc = interp_alloc,
                                .free = interp_free,
                                .upload = interp_upload,
                                .download = interp_download,
                                .synchronize = interp_synchronize,
                                .alloc_host = interp_alloc_host,
                                .free_host = interp_free_host,
                                .fill = interp_fill,
                                .copy = interp_copy,
                                .load = interp_load,
                                .unload = interp_unload,
                                .is_own = interp_is_own,
                                .launch = interp_launch,
                                .time = interp_time,
                                .checks_bounds = true};
  InterpDevice *d = calloc(1, sizeof *d);
  if (!d) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  pthread_mutex_init(&d->lock, NULL);
  d->base.ops = &ops;
  d->base.kind = "interp";
  snprintf(d->base.name, sizeof d->base.name, "the IR interpreter");
  *device = &d->base;
  return TILE_OK;
}
