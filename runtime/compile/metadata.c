// Kernel metadata: a versioned JSON object per kernel. Launchers written by others read it out of the PTX's leading
// comments, so a field once published keeps its meaning; a change that breaks readers raises METADATA_FORMAT.
#include "runtime/compile/compile.h"

enum { METADATA_FORMAT = 1 };

static void put_ints(JsonWriter *w, const char *key, const int64_t *v, uint32_t n) {
  json_key(w, key);
  json_begin_array(w, true);
  for (uint32_t i = 0; i < n; i++) json_int(w, v[i]);
  json_end_array(w);
}

static const Type *param_type(const Func *f, uint32_t i) { return f->body->args[i]->type; }

// Triton's spelling of a parameter's type: the front end's, or made from the type where the IR came as text.
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
  json_key(w, "name");
  json_string(w, p->name);
  json_key(w, "type");
  json_string(w, spelling_of(w->out->arena, f, i));
  json_key(w, "kind");
  json_string(w, param_kind_names[p->kind]);
  json_key(w, "divisible");
  json_int(w, p->divisible > 1 ? p->divisible : 1);
  json_end_object(w);
}

static void put_tensor_map(JsonWriter *w, const Func *f, uint32_t i) {
  const FuncParam *p = &f->params[i];
  const Type *t = param_type(f, i);
  uint32_t rank = t->rank;
  json_begin_object(w, true);
  json_key(w, "param");
  json_int(w, i);
  json_key(w, "element");
  json_string(w, t->elem ? scalar_name(type_elem(t)->scalar) : "");
  put_ints(w, "box", p->box, rank);
  json_key(w, "swizzle");
  json_int(w, p->swizzle_bytes);
  json_key(w, "fill");
  json_string(w, p->padding == PAD_NAN ? "nan" : "zero");
  json_key(w, "signed");
  json_bool(w, p->is_signed);
  if (p->kind == PARAM_AUTO_TENSORMAP) {
    json_key(w, "base_param");
    json_int(w, p->base_param);
    int64_t extents[MAX_RANK], strides[MAX_RANK];
    for (uint32_t k = 0; k < rank; k++) extents[k] = p->extent_params[k], strides[k] = p->stride_params[k];
    put_ints(w, "extent_params", extents, rank);
    put_ints(w, "extent_values", p->extent_values, rank);
    put_ints(w, "stride_params", strides, rank);
    put_ints(w, "stride_values", p->stride_values, rank);
  }
  json_end_object(w);
}

void metadata_put_kernel(JsonWriter *w, const tile_program *program, const Func *f) {
  const Module *m = program->module;
  json_begin_object(w, false);
  json_key(w, "format");
  json_int(w, METADATA_FORMAT);
  json_key(w, "name");
  json_string(w, f->name);
  json_key(w, "arch");
  json_string(w, m->target->name);
  json_key(w, "ptx_version");
  json_string(w, arena_printf(w->out->arena, "%u.%u", program->ptx_version / 10, program->ptx_version % 10));
  json_key(w, "params");
  json_begin_array(w, false);
  for (uint32_t i = 0; i < f->num_params; i++) put_param(w, f, i);
  json_end_array(w);
  json_key(w, "tensor_maps");
  json_begin_array(w, false);
  for (uint32_t i = 0; i < f->num_params; i++)
    if (f->params[i].kind == PARAM_DESC || f->params[i].kind == PARAM_AUTO_TENSORMAP) put_tensor_map(w, f, i);
  json_end_array(w);
  json_key(w, "constexprs");
  json_begin_object(w, true);
  for (uint32_t i = 0; i < f->num_constexprs; i++) {
    json_key(w, f->constexpr_names[i]);
    json_string(w, f->constexpr_values[i]);
  }
  json_end_object(w);
  const struct { const char *key; int64_t value; } numbers[] = {
      {"num_warps", m->num_warps},
                 {"threads", m->num_warps * WARP_SIZE},
                 {"cluster", m->num_ctas},
                 {"num_stages", m->num_stages},
                 {"shared_bytes", m->shared_bytes},
                 {"scratch_bytes", m->scratch_bytes},
                 {"maxnreg", m->maxnreg}};
  for (uint32_t i = 0; i < countof(numbers); i++) {
    json_key(w, numbers[i].key);
    json_int(w, numbers[i].value);
  }
  json_key(w, "cooperative");
  json_bool(w, m->cooperative);
  json_key(w, "pdl");
  json_bool(w, m->pdl);
  json_end_object(w);
}

void metadata_write(Buf *out, const tile_program *program) {
  JsonWriter w = json_writer(out);
  json_begin_object(&w, false);
  json_key(&w, "tile_metadata");
  json_int(&w, METADATA_FORMAT);
  json_key(&w, "compiler");
  json_string(&w, arena_printf(out->arena, "tilec %s", tile_version()));
  json_key(&w, "kernels");
  json_begin_array(&w, false);
  for (const Func *f = program->module->funcs; f; f = f->next) metadata_put_kernel(&w, program, f);
  json_end_array(&w);
  json_end_object(&w);
  buf_putc(out, '\n');
}
