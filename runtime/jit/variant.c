// Variants: what callers ask of one, and its launch with the arguments of the source.
#include <stdlib.h>
#include <string.h>

#include "runtime/jit/jit_impl.h"

void jit_variant_free(tile_variant *v) {
  if (!v) return;
  tile_kernel_free(v->kernel);
  tile_program_free(v->program);
  free(v->arg_params);
  jit_free_origin(v);
  free(v);
}

// The caller holds the kernel's lock.
void jit_own_locked(tile_jit_kernel *k, tile_variant *v) {
  v->next = k->variants;
  k->variants = v;
  k->num_variants++;
}

void jit_own_variant(tile_jit_kernel *k, tile_variant *v) {
  pthread_mutex_lock(&k->lock);
  jit_own_locked(k, v);
  pthread_mutex_unlock(&k->lock);
}

size_t tile_jit_num_variants(tile_jit_kernel *k) { return k ? k->num_variants : 0; }

tile_kernel *tile_variant_kernel(const tile_variant *v) { return v ? v->kernel : NULL; }
size_t tile_variant_num_constexprs(const tile_variant *v) { return tile_kernel_num_constexprs(tile_variant_kernel(v)); }
const char *tile_variant_constexpr_name(const tile_variant *v, size_t i) {
  return tile_kernel_constexpr_name(tile_variant_kernel(v), i);
}
const char *tile_variant_constexpr(const tile_variant *v, const char *name) {
  return tile_kernel_constexpr(tile_variant_kernel(v), name);
}
int64_t tile_variant_constexpr_int(const tile_variant *v, const char *name, int64_t otherwise) {
  const char *s = tile_variant_constexpr(v, name);
  if (!s) return otherwise;
  if (!strcmp(s, "True") || !strcmp(s, "False")) return s[0] == 'T';
  char *end;
  long long value = strtoll(s, &end, 10);
  return end != s && !*end ? value : otherwise;
}

// ---- launching ----

// Appends all items of tuples, instead of the tuples, up to `most`.
static uint32_t flatten(const tile_arg *args, uint32_t n, tile_arg *flat, uint32_t count, uint32_t most) {
  for (uint32_t i = 0; i < n; i++) {
    const tile_tuple *t = args[i].kind == TILE_ARG_TUPLE ? args[i].value.tuple : NULL;
    if (t) count = flatten(t->items, t->num_items, flat, count, most);
    else if (args[i].kind != TILE_ARG_TUPLE && count < most) flat[count++] = args[i];
  }
  return count;
}

// The leaves of the arguments. If a tuple is shorter than the variant's, the kernel has the message.
static bool take_leaves(const tile_variant *v, const tile_arg *args, ArgList *leaves) {
  if (!arg_list_init(leaves, v->num_leaves)) return false;
  uint32_t count = flatten(args, v->owner->num_params, leaves->data, 0, v->num_leaves);
  while (count < v->num_leaves) leaves->data[count++] = tile_arg_default();
  return true;
}

bool jit_variant_pack(const tile_variant *v, const tile_arg *args, tile_arg *packed) {
  ArgList leaves;
  if (!arg_list_init(&leaves, 0) || (v->has_tuples && !take_leaves(v, args, &leaves))) return false;
  if (v->has_tuples) args = leaves.data;
  for (uint32_t i = 0; i < v->kernel->num_args; i++) {
    packed[i] = args[v->arg_params[i]];
    if (packed[i].kind == TILE_ARG_BOOL) packed[i].kind = TILE_ARG_INT;
  }
  arg_list_free(&leaves);
  return true;
}

tile_status jit_variant_launch(const tile_variant *v, const uint32_t grid[3], void *stream, const tile_arg *args,
                               tile_error **error) {
  if (!v->has_tuples) return kernel_launch(v->kernel, grid, stream, args, v->arg_params, error);
  ArgList leaves;
  if (!take_leaves(v, args, &leaves)) return error_no_memory(error);
  tile_status status = kernel_launch(v->kernel, grid, stream, leaves.data, v->arg_params, error);
  arg_list_free(&leaves);
  return status;
}

tile_status tile_variant_launch(const tile_variant *v, const uint32_t grid[3], void *stream, const tile_arg *given,
                                size_t num_args, tile_error **error) {
  RETURN_IF_NULL(v, "variant");
  RETURN_IF_NULL(grid, "grid");
  if (num_args) RETURN_IF_NULL(given, "args");
  const tile_jit_kernel *k = v->owner;
  if (num_args > k->num_params)
    return error_set(error, TILE_ERROR_USAGE, "%s takes %u arguments, got %zu", k->name, k->num_params, num_args);
  ArgList args;
  if (!arg_list_init(&args, k->num_params)) return error_no_memory(error);
  for (uint32_t i = 0; i < k->num_params; i++)
    args.data[i] = i < num_args && given[i].kind != TILE_ARG_DEFAULT ? given[i] : k->params[i].default_arg;
  tile_status status = jit_variant_launch(v, grid, stream, args.data, error);
  arg_list_free(&args);
  return status;
}
