// What a launcher needs of a kernel, taken from the compiled program.
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/compile/device.h"
#include "runtime/compile/error.h"

static void copy_param(tile_kernel *k, const Func *f, uint32_t i) {
  KernelParam *to = &k->params[i];
  const FuncParam *from = &f->params[i];
  const Type *type = f->body->args[i]->type;
  const char *spelling = arena_printf(&k->arena, "%s", param_spelling(&k->arena, f, i));
  *to = (KernelParam){.name = arena_printf(&k->arena, "%s", from->name), .spelling = spelling, .kind = from->kind,
                      .is_pointer = type->kind == TYPE_PTR, .is_unsigned = spelling[0] == 'u', .divisible = from->divisible > 1 ? from->divisible : 1,
                      .swizzle_bytes = from->swizzle_bytes, .padding = from->padding, .base_param = from->base_param, .bytes = 8};
  if (to->is_pointer) to->elem_bytes = type->elem->kind == TYPE_SCALAR ? type_elem_bytes(type->elem) : 8;
  if (type->kind == TYPE_SCALAR) {
    to->scalar = type->scalar;
    to->is_float = scalar_is_float(type->scalar);
    to->bytes = type_elem_bytes(type);
  } else if (type->kind == TYPE_DESC) {
    to->scalar = type->elem->scalar;
    to->rank = type->rank;
    to->is_unsigned = !from->is_signed;
  }
  memcpy(to->box, from->box, sizeof to->box);
  memcpy(to->extent_params, from->extent_params, sizeof to->extent_params);
  memcpy(to->stride_params, from->stride_params, sizeof to->stride_params);
  memcpy(to->extent_values, from->extent_values, sizeof to->extent_values);
  memcpy(to->stride_values, from->stride_values, sizeof to->stride_values);
}

static Func *find_func(const tile_program *p, const char *name, tile_error **error) {
  Func *f = p->module ? p->module->funcs : NULL;
  if (!f) return error_set(error, TILE_ERROR_USAGE, "the program has no kernel"), NULL;
  if (!name) {
    if (f->next) return error_set(error, TILE_ERROR_USAGE, "the program has several kernels (%s, %s, …): name one", f->name, f->next->name), NULL;
    return f;
  }
  while (f && strcmp(f->name, name)) f = f->next;
  if (!f) error_set(error, TILE_ERROR_USAGE, "the program has no kernel '%s'", name);
  return f;
}

typedef struct { tile_kernel *k; const tile_program *program; Func *func; } Description;

static tile_status describe(void *user, Arena *a, tile_error **error) {
  (void)a, (void)error;
  const Description *d = user;
  tile_kernel *k = d->k;
  const tile_program *program = d->program;
  Func *f = d->func;
  const Module *m = program->module;
  k->name = arena_printf(&k->arena, "%s", f->name);
  k->num_threads = m->num_warps * WARP_SIZE;
  k->num_ctas = m->num_ctas ? m->num_ctas : 1;
  k->shared_bytes = m->shared_bytes;
  k->cooperative = m->cooperative;
  k->pdl = m->pdl;
  k->num_params = f->num_params;
  k->params = arena_array(&k->arena, KernelParam, f->num_params ? f->num_params : 1);
  for (uint32_t i = 0; i < f->num_params; i++) {
    copy_param(k, f, i);
    if (f->params[i].kind == PARAM_SCRATCH) k->scratch_bytes = m->scratch_bytes;
    if (f->params[i].kind == PARAM_PLAIN || f->params[i].kind == PARAM_DESC || f->params[i].kind == PARAM_DESC_FIELDS) k->num_args = i + 1;
  }
  k->num_constexprs = f->num_constexprs;
  k->constexpr_names = arena_array(&k->arena, const char *, f->num_constexprs + 1);
  k->constexpr_values = arena_array(&k->arena, const char *, f->num_constexprs + 1);
  for (uint32_t i = 0; i < f->num_constexprs; i++) {
    k->constexpr_names[i] = arena_printf(&k->arena, "%s", f->constexpr_names[i]);
    k->constexpr_values[i] = arena_printf(&k->arena, "%s", f->constexpr_values[i]);
  }
  k->ir = program->module;
  k->func = f;
  k->target = program->target;
  k->ptx_version = program->ptx_version;
  k->ptx = tile_program_output(program, TILE_EMIT_PTX, NULL);
  k->cubin = tile_program_output(program, TILE_EMIT_CUBIN, &k->cubin_size);
  return TILE_OK;
}

tile_kernel *kernel_describe(tile_device *d, const tile_program *program, const char *name, tile_error **error) {
  Func *f = find_func(program, name, error);
  if (!f) return NULL;
  Description description = {kernel_new(d), program, f};
  if (!description.k) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory"), NULL;
  if (scratch_contain(&description.k->arena, "describing a kernel", describe, &description, error) == TILE_OK) return description.k;
  tile_kernel_free(description.k);
  return NULL;
}

tile_status tile_kernel_load(tile_device *d, const tile_program *program, const char *name, tile_kernel **kernel, tile_error **error) {
  *kernel = NULL;
  tile_error *e = NULL;
  tile_kernel *k = kernel_describe(d, program, name, &e);
  if (!k) return error_pass_on(error, e);
  tile_status status = kernel_start(k, error);
  if (status == TILE_OK) *kernel = k;
  return status;
}
