// Arguments that are tuples, for kernels that are compiled already: the items of `t` are the kernel's t_0, t_1, and
// those of t_0 are t_0_0 and so on. An item that is compiled in is one of the kernel's constexprs, by the same name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/c_locale.h"
#include "runtime/rt/device.h"
#include "runtime/rt/error.h"

enum { MAX_NAME = 256 };

typedef struct {
  const tile_kernel *k;        // whose constexprs are looked at
  const char *const *names;    // of what is wanted
  uint32_t num_names, count;   // count of them are in out
  tile_arg *out;
  char wrong[MAX_NAME];        // the item that differs from what was compiled in
  const char *constant;
} Flat;

bool launch_has_tuples(const tile_arg *args, size_t n) {
  for (size_t i = 0; args && i < n; i++)
    if (args[i].kind == TILE_ARG_TUPLE) return true;
  return false;
}

static bool agrees(const char *constant, const tile_arg *a) {
  char *end;
  if (a->kind == TILE_ARG_TEXT) return true;
  if (a->kind == TILE_ARG_NONE) return !strcmp(constant, "None");
  if (a->kind == TILE_ARG_FLOAT) return strtod(constant, &end) == a->value.f && end != constant && !*end;
  if (a->kind != TILE_ARG_INT && a->kind != TILE_ARG_BOOL) return false;
  if (!strcmp(constant, "True") || !strcmp(constant, "False")) return a->value.i == (constant[0] == 'T');
  return strtoll(constant, &end, 10) == a->value.i && end != constant && !*end;
}

// The plain value of an item, for a package whose other variants have it compiled in.
static tile_arg plain(tile_arg a) {
  if (a.kind == TILE_ARG_BOOL) a.kind = TILE_ARG_INT;
  if (a.kind != TILE_ARG_TEXT) return a;
  char *end;
  long long i = strtoll(a.value.text, &end, 10);
  if (end != a.value.text && !*end) return tile_arg_int(i);
  if (!strcmp(a.value.text, "True") || !strcmp(a.value.text, "False")) return tile_arg_int(a.value.text[0] == 'T');
  double f = strtod(a.value.text, &end);
  return end != a.value.text && !*end ? tile_arg_float(f) : a;
}

// name holds the tuple's in its first `size` bytes.
static bool take_items(Flat *f, const tile_tuple *t, char *name, size_t size) {
  for (uint32_t i = 0; i < t->num_items; i++) {
    const tile_arg *a = &t->items[i];
    size_t n = (size_t)snprintf(name + size, MAX_NAME - size, "_%u", i);
    if (size + n >= MAX_NAME) return false;
    if (a->kind == TILE_ARG_TUPLE) {
      if (!take_items(f, a->value.tuple, name, size + n)) return false;
    } else if (f->count < f->num_names && !strcmp(f->names[f->count], name)) {
      f->out[f->count++] = plain(*a);
    } else {
      const char *constant = tile_kernel_constexpr(f->k, name);
      if (!constant) return false;
      if (agrees(constant, a)) continue;
      f->constant = constant;
      memcpy(f->wrong, name, size + n + 1);
      return false;
    }
  }
  return true;
}

// Cuts the last number of "t_0_1"; false if there is none.
static bool strip_number(char *name, size_t *size) {
  size_t n = *size;
  while (n && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
  if (n == *size || n < 2 || name[n - 1] != '_') return false;
  *size = n - 1;
  return true;
}

static bool is_all_constant(const tile_tuple *t) {
  for (uint32_t i = 0; i < t->num_items; i++) {
    const tile_arg *a = &t->items[i];
    if (a->kind == TILE_ARG_TUPLE
            ? !is_all_constant(a->value.tuple)
            : a->kind == TILE_ARG_POINTER || a->kind == TILE_ARG_TENSOR || (a->kind == TILE_ARG_INT && a->value.i != 1))
      return false;
  }
  return true;
}

// What is wrong with a tuple or a tuple in it; NULL: nothing.
static const char *fault(const tile_tuple *t, uint32_t depth) {
  if (!t || (t->num_items && !t->items)) return "is a tuple without items";
  if (t->reserved) return "is a tuple whose " GIVEN_RESERVED;
  if (depth == MAX_NAME) return "nests tuples too deep";
  for (uint32_t i = 0; i < t->num_items; i++) {
    const tile_arg *a = &t->items[i];
    if (a->reserved) return "has an item whose " GIVEN_RESERVED;
    const char *why = a->kind == TILE_ARG_TUPLE ? fault(a->value.tuple, depth + 1) : NULL;
    if (why) return why;
  }
  return NULL;
}

// The tuple's name is what the next argument's begins with.
static bool take_tuple(Flat *f, const tile_tuple *t) {
  char base[MAX_NAME], name[MAX_NAME];
  size_t size = f->count < f->num_names ? strlen(f->names[f->count]) : 0;
  if (size >= MAX_NAME) return false;
  if (size) memcpy(base, f->names[f->count], size);
  const uint32_t before = f->count;
  while (size && strip_number(base, &size)) {
    memcpy(name, base, size);
    if (take_items(f, t, name, size) && f->count > before) return true;
    f->count = before;
  }
  return is_all_constant(t);
}

tile_status launch_flatten(const tile_kernel *k, const char *owner, const char *const *names, uint32_t num_names,
                           const tile_arg *args, size_t num_args, tile_arg *out, tile_error **error) {
  IN_C_LOCALE;
  Flat f = {.k = k, .names = names, .num_names = num_names, .out = out};
  for (size_t i = 0; i < num_args; i++) {
    if (args[i].kind != TILE_ARG_TUPLE) {
      if (f.count < num_names) out[f.count] = args[i];
      f.count++;
      continue;
    }
    const char *why = args[i].reserved ? "is a tile_arg whose " GIVEN_RESERVED : fault(args[i].value.tuple, 0);
    if (why) return error_set(error, TILE_ERROR_USAGE, "%s: argument %zu %s", owner, i + 1, why);
    if (take_tuple(&f, args[i].value.tuple)) continue;
    if (f.constant)
      return error_set(error, TILE_ERROR_USAGE, "%s: '%s', an item of argument %zu, was compiled in as %s", owner,
                       f.wrong, i + 1, f.constant);
    return error_set(error, TILE_ERROR_USAGE, "%s: argument %zu is a tuple that does not fit the kernel's '%s'", owner,
                     i + 1, f.count < num_names ? names[f.count] : "end of parameters");
  }
  return f.count == num_names
             ? TILE_OK
             : error_set(error, TILE_ERROR_USAGE, "%s takes %u arguments, got %u with the items of tuples", owner,
                         num_names, f.count);
}

tile_status launch_flatten_kernel(const tile_kernel *k, const tile_arg *args, size_t num_args, tile_arg *out,
                                  tile_error **error) {
  const char **names = malloc((k->num_args + 1) * sizeof *names);
  if (!names) return error_no_memory(error);
  for (uint32_t i = 0; i < k->num_args; i++) names[i] = k->params[i].name;
  tile_status status = launch_flatten(k, k->name, names, k->num_args, args, num_args, out, error);
  free(names);
  return status;
}
