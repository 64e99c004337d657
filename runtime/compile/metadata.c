// Kernel metadata: a versioned JSON object per kernel. Other people's launchers read it from the comments at the start
// of the PTX. Therefore a published field keeps its meaning, and a change that breaks readers raises METADATA_FORMAT.
#include "ir/grid_axes.h"
#include "ir/roles.h"
#include "runtime/compile/compile.h"

enum { METADATA_FORMAT = 1 };

static void put_ints(JsonWriter *w, const char *key, const int64_t *v, uint32_t n) {
  json_put_array(w, key, true);
  for (uint32_t i = 0; i < n; i++) json_int(w, v[i]);
  json_end_array(w);
}

static const Type *param_type(const Func *f, uint32_t i) { return f->body->args[i]->type; }

// Triton's spelling of a parameter's type: the front end's or, for IR that came as text, made from the type.
static const char *spelling_of(Arena *a, const Func *f, uint32_t i) {
  if (f->params[i].spelling) return f->params[i].spelling;
  const Type *t = param_type(f, i);
  if (t->kind == TYPE_SCALAR) return dtype_name_of(t->scalar);
  if (t->kind == TYPE_PTR) return arena_printf(a, "*%s%s", t->is_const ? "k" : "", dtype_name_of(t->elem->scalar));
  Buf b = buf_make(a);
  buf_printf(&b, "tensordesc<%s[", dtype_name_of(type_elem(t)->scalar));
  for (uint32_t k = 0; k < t->rank; k++) buf_printf(&b, "%s%lld", k ? ", " : "", (long long)t->shape[k]);
  buf_puts(&b, "]>");
  return buf_str(&b);
}

static void put_param(JsonWriter *w, const Func *f, uint32_t i) {
  const FuncParam *p = &f->params[i];
  json_begin_object(w, true);
  json_put_string(w, "name", p->name);
  json_put_string(w, "type", spelling_of(w->out->arena, f, i));
  json_put_string(w, "kind", param_kind_names[p->kind]);
  json_put_int(w, "divisible", p->divisible > 1 ? p->divisible : 1);
  json_end_object(w);
}

static void put_tensor_map(JsonWriter *w, const tile_program *program, const Func *f, uint32_t i) {
  const FuncParam *p = &f->params[i];
  const Type *t = param_type(f, i);
  uint32_t rank = t->rank;
  json_begin_object(w, true);
  json_put_int(w, "param", i);
  json_put_string(w, "element", t->elem ? scalar_name(type_elem(t)->scalar) : "");
  put_ints(w, "box", p->box, rank);
  json_put_int(w, "swizzle", p->swizzle_bytes);
  json_put_string(w, "fill", p->padding == PAD_NAN ? "nan" : "zero");
  json_put_bool(w, "signed", p->is_signed);
  if (p->kind == PARAM_AUTO_TENSORMAP) {
    json_put_int(w, "base_param", p->base_param);
    int64_t extents[MAX_RANK], strides[MAX_RANK];
    for (uint32_t k = 0; k < rank; k++) extents[k] = p->extent_params[k], strides[k] = p->stride_params[k];
    put_ints(w, "extent_params", extents, rank);
    put_ints(w, "extent_values", p->extent_values, rank);
    put_ints(w, "stride_params", strides, rank);
    put_ints(w, "stride_values", p->stride_values, rank);
    const LineCol at = source_locate(&program->ctx, p->made_at.begin);
    if (at.file && program->has_lines)
      json_put_string(w, "made_at", arena_printf(w->out->arena, "%s:%u:%u", at.file->path, at.line, at.col));
  }
  json_end_object(w);
}

void metadata_put_kernel(JsonWriter *w, const tile_program *program, const Func *f) {
  const Module *m = program->module;
  json_begin_object(w, false);
  json_put_int(w, "format", METADATA_FORMAT);
  json_put_string(w, "name", f->name);
  json_put_string(w, "arch", m->target->name);
  const uint32_t ptx = program->ptx_version;
  json_put_string(w, "ptx_version", arena_printf(w->out->arena, "%u.%u", ptx / 10, ptx % 10));
  json_put_array(w, "params", false);
  for (uint32_t i = 0; i < f->num_params; i++) put_param(w, f, i);
  json_end_array(w);
  json_put_array(w, "tensor_maps", false);
  for (uint32_t i = 0; i < f->num_params; i++)
    if (f->params[i].kind == PARAM_DESC || f->params[i].kind == PARAM_AUTO_TENSORMAP) put_tensor_map(w, program, f, i);
  json_end_array(w);
  json_put_object(w, "constexprs", true);
  for (uint32_t i = 0; i < f->num_constexprs; i++) {
    json_put_string(w, f->constexpr_names[i], f->constexpr_values[i]);
  }
  json_end_object(w);
  json_put_int(w, "num_warps", m->num_warps);
  json_put_int(w, "threads", roles_info(f).total_warps * WARP_SIZE);
  json_put_int(w, "cluster", m->num_ctas);
  json_put_int(w, "num_stages", m->num_stages);
  json_put_int(w, "shared_bytes", m->shared_bytes);
  json_put_int(w, "scratch_bytes", m->scratch_bytes);
  json_put_int(w, "maxnreg", m->maxnreg);
  json_put_int(w, "alike", grid_axes_alike(program->module));
  json_put_bool(w, "cooperative", m->cooperative);
  json_put_bool(w, "pdl", m->pdl);
  json_end_object(w);
}

void metadata_write(Buf *out, const tile_program *program) {
  JsonWriter w = json_writer(out);
  json_begin_object(&w, false);
  json_put_int(&w, "tile_metadata", METADATA_FORMAT);
  json_put_string(&w, "compiler", arena_printf(out->arena, "tilec %s", tile_version()));
  json_put_array(&w, "kernels", false);
  for (const Func *f = program->module->funcs; f; f = f->next) metadata_put_kernel(&w, program, f);
  json_end_array(&w);
  json_end_object(&w);
  buf_putc(out, '\n');
}
