// The outputs of a variant: PTX, machine code and the compiler's other outputs, each made when it is first asked for.
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/wire.h"

bool jit_keep_origin(tile_variant *v, const Request *r, int config, Arena *a) {
  Buf b = buf_make(a);
  wire_put_launch(&b, &(WireLaunch){config, *r->options, (tile_arg *)(uintptr_t)r->args, r->kernel->num_params});
  v->made_from = malloc(b.size);
  if (v->made_from) memcpy(v->made_from, b.data, b.size);
  v->made_from_size = b.size;
  return v->made_from != NULL;
}

void jit_free_origin(tile_variant *v) {
  for (VariantOutput *o = v->outputs, *next; o; o = next) next = o->next, free(o);
  free(v->made_from);
  free(v->ptx);
}

typedef struct { const char *data; size_t size; } Bytes;
typedef struct { tile_variant *variant; unsigned emit; VariantOutput *out; tile_program *program; } Making;

static tile_status compile_again(Making *m, unsigned emit, Arena *a, Bytes *out, tile_error **error) {
  WireReader reader = {m->variant->made_from, m->variant->made_from_size, a, false};
  WireLaunch launch;
  wire_take_launch(&reader, &launch);
  const Request request = {m->variant->owner, NULL, &launch.options, launch.args, NULL};
  RETURN_IF_FAILED(jit_compile_program(&request, launch.config, emit, a, &m->program, error));
  out->data = tile_program_output(m->program, emit, &out->size);
  return out->data ? TILE_OK : error_set(error, TILE_ERROR_INTERNAL, "the compiler made no output 0x%x", emit);
}

static tile_status ptx_of(Making *m, Arena *a, Bytes *out, tile_error **error) {
  if (!m->variant->ptx) return compile_again(m, TILE_EMIT_PTX, a, out, error);
  *out = (Bytes){m->variant->ptx, strlen(m->variant->ptx)};
  return TILE_OK;
}

// All NULL without an assembler.
static tile_status cubin_of(Making *m, Arena *a, Bytes *out, tile_error **error) {
  Assembler *assembler;
  Bytes ptx;
  *out = (Bytes){NULL, 0};
  RETURN_IF_FAILED(ptx_of(m, a, &ptx, error));
  RETURN_IF_FAILED(assembler_open(&assembler, error));
  if (!assembler) return TILE_OK;
  const Target *target = m->variant->kernel->target;
  MachineCode code = {0};
  const tile_status status =
      assembler_run(assembler, a, ptx.data, m->program ? m->program->target->name : target->name, &code, error);
  assembler_close(assembler);
  *out = (Bytes){code.cubin, code.size};
  const tile_jit_kernel *k = m->variant->owner;
  if (status == TILE_OK) assembler_notes_log(&k->jit->hooks, k->name, ptx.data, code.said);
  return status;
}

static tile_status code_of(Making *m, Arena *a, Bytes *out, tile_error **error) {
  RETURN_IF_FAILED(cubin_of(m, a, out, error));
  if (!out->data)
    return error_set(error, TILE_ERROR_FILE,
                     "machine code needs an assembler: install ptxas, or name one with TILE_PTXAS");
  if (m->emit == TILE_EMIT_CUBIN) return TILE_OK;
  const char *text;
  RETURN_IF_FAILED(sass_of_cubin(a, out->data, out->size, &text, error));
  *out = (Bytes){text, strlen(text)};
  return TILE_OK;
}

static tile_status make(void *user, Arena *a, tile_error **error) {
  Making *m = user;
  Bytes made;
  if (m->emit == TILE_EMIT_PTX) RETURN_IF_FAILED(ptx_of(m, a, &made, error));
  else if (m->emit == TILE_EMIT_CUBIN || m->emit == TILE_EMIT_SASS) RETURN_IF_FAILED(code_of(m, a, &made, error));
  else RETURN_IF_FAILED(compile_again(m, m->emit, a, &made, error));
  if (!(m->out = malloc(sizeof *m->out + made.size + 1))) return error_no_memory(error);
  m->out->emit = m->emit;
  m->out->size = made.size;
  memcpy(m->out->data, made.data, made.size);
  m->out->data[made.size] = 0;
  return TILE_OK;
}

// Each runs with memory of its own, on a stack that is deep enough.
typedef struct { Making *making; ScratchWork work; } Deep;
static tile_status run_deep(void *user, tile_error **error) {
  const Deep *d = user;
  return jit_scratch(d->making->variant->owner->jit, "making an output", d->work, d->making, error);
}
static tile_status run(Making *m, ScratchWork work, tile_error **error) {
  const tile_status status = deep_run("making an output", run_deep, &(Deep){m, work}, error);
  tile_program_free(m->program);
  return status;
}

static const VariantOutput *find(const tile_variant *v, unsigned emit) {
  const VariantOutput *o = v->outputs;
  while (o && o->emit != emit) o = o->next;
  return o;
}

// If two threads made the same output, the first one's is kept.
static const VariantOutput *keep(tile_variant *v, VariantOutput *made) {
  pthread_mutex_lock(&v->owner->lock);
  const VariantOutput *there = find(v, made->emit);
  if (!there) made->next = v->outputs, v->outputs = made;
  pthread_mutex_unlock(&v->owner->lock);
  if (there) free(made);
  return there ? there : made;
}

tile_status tile_variant_output(const tile_variant *given, unsigned emit, const char **data, size_t *size,
                                tile_error **error) {
  tile_variant *v = (tile_variant *)(uintptr_t)given;
  RETURN_IF_NULL(v, "variant");
  RETURN_IF_NULL(data, "data");
  *data = NULL;
  if (size) *size = 0;
  if (!is_pow2_u64(emit) || emit >> NUM_EMITS || emit == TILE_EMIT_HEADER)
    return error_set(error, TILE_ERROR_USAGE, "emit is 0x%x: a variant has one of TILE_EMIT_*, except for _HEADER",
                     emit);
  pthread_mutex_lock(&v->owner->lock);
  const VariantOutput *o = find(v, emit);
  pthread_mutex_unlock(&v->owner->lock);
  if (!o) {
    Making m = {v, emit, NULL, NULL};
    RETURN_IF_FAILED(run(&m, make, error));
    o = keep(v, m.out);
  }
  *data = o->data;
  if (size) *size = o->size;
  return TILE_OK;
}

// ---- resources ----

typedef struct { Making making; tile_resources *out; } Asking;

static tile_status assemble_and_ask(void *user, Arena *a, tile_error **error) {
  Asking *q = user;
  const tile_kernel *k = q->making.variant->kernel;
  Bytes cubin, ptx;
  CodeUse use;
  RETURN_IF_FAILED(cubin_of(&q->making, a, &cubin, error));
  const bool known = cubin.data && resources_of_cubin(cubin.data, cubin.size, k->name, &use);
  RETURN_IF_FAILED(ptx_of(&q->making, a, &ptx, error));
  resources_fill(q->out, k->target, k->num_threads, k->shared_bytes, known ? &use : NULL,
                 resources_declared_local(ptx.data));
  return TILE_OK;
}

tile_status tile_variant_resources(const tile_variant *v, tile_resources *resources, tile_error **error) {
  RETURN_IF_NULL(v, "variant");
  RETURN_IF_NULL(resources, "resources");
  RETURN_IF_FAILED(CHECK_OUT(tile_resources, resources, error));
  if (!v->ptx || !strcmp(v->kernel->device->kind, "gpu")) return tile_kernel_resources(v->kernel, resources, error);
  tile_resources all = TILE_RESOURCES_INIT;
  Asking q = {{(tile_variant *)(uintptr_t)v, 0, NULL, NULL}, &all};
  RETURN_IF_FAILED(run(&q.making, assemble_and_ask, error));
  given_fill_out(resources, &all, sizeof all);
  return TILE_OK;
}
