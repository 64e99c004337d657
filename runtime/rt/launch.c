// Arguments and grids, checked against the kernel's parameters. A message names the parameter, what it expects and what
// came.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"
#include "ir/num.h"
#include "runtime/rt/device.h"

static const char *const arg_words[] =
    {[TILE_ARG_INT] = "an integer",  [TILE_ARG_FLOAT] = "a float",       [TILE_ARG_POINTER] = "a pointer",
     [TILE_ARG_TENSOR] = "a tensor", [TILE_ARG_DEFAULT] = "the default", [TILE_ARG_NONE] = "None",
     [TILE_ARG_BOOL] = "a boolean",  [TILE_ARG_TEXT] = "an expression",  [TILE_ARG_TUPLE] = "a tuple"};

static NumFormat format_of(ScalarKind s) {
  switch (s) {
  case SC_F8E4M3: return NUM_F8E4M3;
  case SC_F8E5M2: return NUM_F8E5M2;
  case SC_F8E4B15: return NUM_F8E4B15;
  case SC_F16: return NUM_F16;
  case SC_BF16: return NUM_BF16;
  case SC_F64: return NUM_F64;
  default: return NUM_F32;
  }
}

static bool fits(const KernelParam *p, int64_t v) {
  uint32_t bits = scalar_bits(p->scalar);
  if (bits >= 64) return !p->is_unsigned || v >= 0 || p->scalar == SC_I64;
  if (bits == 1) return v == 0 || v == 1;
  return v >= (p->is_unsigned ? 0 : -(INT64_C(1) << (bits - 1))) &&
         v <= (INT64_C(1) << (p->is_unsigned ? bits : bits - 1)) - 1;
}

enum { TILE_VOID = TILE_UNTYPED };
#define DTYPE(kind, ...) _Static_assert((int)TILE_##kind == (int)DT_##kind, "tile_type is numbered like DtypeKind");
#include "ir/dtypes.def"

// The tile_type that a pointer points to or a descriptor is of, by its spelling; TILE_UNTYPED: it is not known.
tile_type launch_param_type(const KernelParam *p) {
  const char *s = p->spelling;
  if (p->is_pointer) s += 1 + (s[0] == '*' && s[1] == 'k');
  else if (!strncmp(s, "tensordesc<", 11)) s += 11;
  size_t n = strcspn(s, "[");
  DtypeKind found;
  return dtype_find_n(s, n, &found) ? (tile_type)found : TILE_UNTYPED;
}

bool launch_fits(const KernelParam *p, const tile_arg *a) {
  switch (a->kind) {
  case TILE_ARG_POINTER: return a->value.pointer % (uint64_t)p->divisible == 0;
  case TILE_ARG_INT:
  case TILE_ARG_BOOL:
    return p->is_pointer || p->is_float || p->kind != PARAM_PLAIN ||
           (fits(p, a->value.i) && a->value.i % p->divisible == 0);
  default: return true;
  }
}

static const char *type_name(uint32_t t) { return t && t < NUM_DTYPE_KINDS ? dtype_info[t].short_name : "?"; }
const char *tile_type_name(tile_type t) { return (unsigned)t < NUM_DTYPE_KINDS ? dtype_info[t].short_name : NULL; }

// An argument may leave its type open; one that names it must name the right one.
static bool is_type(const KernelParam *p, uint32_t given) {
  uint32_t wanted = given ? launch_param_type(p) : TILE_UNTYPED;
  return !wanted || given == wanted;
}

#define BAD(fmt, ...)                                                                                         \
  error_set(error, TILE_ERROR_USAGE, "%s: argument '%s' (%s) " fmt, k->name, p->name, p->spelling, __VA_ARGS__)

static tile_status check_tensor(const tile_kernel *k, const KernelParam *p, const tile_tensor *t,
                                tile_error **error) {
  uint32_t bytes = scalar_bits(p->scalar) / 8;
  if (t && !is_zero(t->reserved, sizeof t->reserved)) return BAD("is a tensor whose %s", GIVEN_RESERVED);
  if (!t || t->rank != p->rank)
    return BAD("is a descriptor of rank %u, the tensor has rank %u", p->rank, t ? t->rank : 0);
  if (!is_type(p, t->type)) return BAD("got a tensor of %s", type_name(t->type));
  if (t->base % 16)
    return BAD("needs a base aligned to 16 bytes, got 0x%llx; begin at such an address, or copy it to one",
               (unsigned long long)t->base);
  if (t->strides[t->rank - 1] != 1)
    return BAD("needs stride 1 on its last axis, got %lld; describe the transposed tensor, or copy it",
               (long long)t->strides[t->rank - 1]);
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->shape[i] <= 0 || t->shape[i] > INT32_MAX)
      return BAD("has extent %lld on axis %u; 1 to 2147483647 are possible", (long long)t->shape[i], i);
    if (i + 1 < t->rank && !is_map_stride(t->strides[i], bytes))
      return BAD(
          "needs strides that are positive multiples of 16 bytes, axis %u has %lld elements of %u bytes; pad its rows",
          i, (long long)t->strides[i], bytes);
  }
  return TILE_OK;
}

// A type narrower than float32 is one that the kernel asks for: a finite number that is infinite there is a mistake.
static tile_status check_float(const tile_kernel *k, const KernelParam *p, double v, tile_error **error) {
  if (scalar_bits(p->scalar) >= 32) return TILE_OK;
  const NumFormat format = format_of(p->scalar);
  const double kept = num_decode(format, num_encode(format, v, NUM_RNE, false)),
               largest = num_decode(format, num_encode(format, INFINITY, NUM_RNE, true));
  if (!isfinite(v) || isfinite(kept)) return TILE_OK;
  return BAD("cannot hold %.9g; the largest number is %.9g", v, largest);
}

static tile_status check_arg(const tile_kernel *k, const KernelParam *p, tile_arg a, tile_error **error) {
  if ((unsigned)a.kind >= countof(arg_words)) return BAD("has an unknown kind %d", (int)a.kind);
  if (a.reserved) return BAD("is a tile_arg whose %s", GIVEN_RESERVED);
  const tile_arg_kind want = launch_param_kind(p);
  if (a.kind != want && !(want == TILE_ARG_FLOAT && a.kind == TILE_ARG_INT))
    return BAD("expects %s, got %s", arg_words[want], arg_words[a.kind]);
  switch (want) {
  case TILE_ARG_TENSOR: return check_tensor(k, p, a.value.tensor, error);
  case TILE_ARG_POINTER:
    if (!is_type(p, a.type)) return BAD("got the address of an array of %s", type_name(a.type));
    if (a.value.pointer % (uint64_t)param_multiple(p))
      return BAD("was compiled for addresses divisible by %lld, got 0x%llx", (long long)param_multiple(p),
                 (unsigned long long)a.value.pointer);
    return TILE_OK;
  case TILE_ARG_INT:
    if (!fits(p, a.value.i)) return BAD("cannot hold %lld", (long long)a.value.i);
    if (a.value.i % p->divisible)
      return BAD("was compiled for multiples of %lld, got %lld; without the hint `:%lld` in its signature any number is "
                 "right", (long long)p->divisible, (long long)a.value.i, (long long)p->divisible);
    return TILE_OK;
  case TILE_ARG_FLOAT: return check_float(k, p, a.kind == TILE_ARG_INT ? (double)a.value.i : a.value.f, error);
  default: return TILE_OK;
  }
}

tile_status launch_wrong_count(const char *owner, const char *const *names, uint32_t num_names, size_t got,
                               tile_error **error) {
  char all[400] = "";
  size_t n = 0;
  for (uint32_t i = 0; i < num_names && n < sizeof all; i++)
    n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : ": ", names[i]);
  return error_set(error, TILE_ERROR_USAGE, "%s takes %u arguments, got %zu%s%s; constexprs are compiled in", owner,
                   num_names, got, all, n < sizeof all ? "" : "…");
}

tile_status launch_check_args(const tile_kernel *k, const tile_arg *args, size_t num_args, tile_error **error) {
  if (num_args != k->num_args) {
    const char **names = malloc((k->num_args + 1) * sizeof *names);
    if (!names) return error_no_memory(error);
    for (uint32_t i = 0; i < k->num_args; i++) names[i] = k->params[i].name;
    tile_status status = launch_wrong_count(k->name, names, k->num_args, num_args, error);
    free(names);
    return status;
  }
  for (uint32_t i = 0; i < k->num_args; i++) {
    tile_status status = check_arg(k, &k->params[i], args[i], error);
    if (status != TILE_OK) return status;
  }
  return TILE_OK;
}

tile_status launch_check_grid(const tile_kernel *k, const uint32_t grid[3], tile_error **error) {
  const uint64_t most[3] = {INT32_MAX, 65535, 65535};
  for (int i = 0; i < 3; i++) {
    uint64_t blocks = (uint64_t)grid[i] * (i == 0 ? k->num_ctas : 1);
    if (blocks > most[i])
      return error_set(error, TILE_ERROR_RESOURCES, "%s: the grid is %llu blocks on axis %c; at most %llu are possible%s",
                       k->name, (unsigned long long)blocks, "xyz"[i], (unsigned long long)most[i],
                       i == 0 ? "" : ": axis x takes 2147483647, put the longest one there"),
             error_resource(error, TILE_RESOURCE_GRID, blocks, most[i]);
  }
  return TILE_OK;
}

// ---- the quick way: kernels whose parameters are pointers and numbers, arguments that fit them ----

enum { MAX_QUICK = FEW_ARGS };

static bool plan_param(const KernelParam *p, QuickArg *q) {
  if (p->kind != PARAM_PLAIN || p->divisible < 1 || p->divisible > INT32_MAX || (p->divisible & (p->divisible - 1)))
    return false;
  *q = (QuickArg){.mask = (uint32_t)param_multiple(p) - 1,
                  .bits = (uint8_t)scalar_bits(p->scalar),
                  .is_signed = !p->is_unsigned && p->scalar != SC_I1};
  if (p->is_pointer) q->kind = QUICK_POINTER, q->type = (uint8_t)launch_param_type(p);
  else if (!p->is_float) q->kind = q->bits < 64 ? QUICK_INT : QUICK_I64;
  else if (p->scalar == SC_F32) q->kind = QUICK_F32;
  else if (p->scalar == SC_F64) q->kind = QUICK_F64;
  else return false;
  return true;
}

void launch_plan(tile_kernel *k) {
  k->max_grid_x = INT32_MAX / k->num_ctas;
  if (!k->device->ops->launch_params || k->num_params != k->num_args || k->num_args > MAX_QUICK || k->scratch_bytes)
    return;
  QuickArg *quick = arena_try(&k->arena, (k->num_args + 1) * sizeof *quick);   // without it launches go the slow way
  if (!quick) return;
  for (uint32_t i = 0; i < k->num_args; i++)
    if (!plan_param(&k->params[i], &quick[i])) return;
  k->quick = quick;
}

// Points params into args, or into floats. False: something here is for the slow way.
static inline bool quick_params(const tile_kernel *k, const tile_arg *args, const uint16_t *map, void **params,
                                float *floats) {
  for (uint32_t i = 0; i < k->num_args; i++) {
    const QuickArg q = k->quick[i];
    const tile_arg *a = &args[map ? map[i] : i];
    const uint64_t v = (uint64_t)a->value.i;
    bool ok = !a->reserved;
    params[i] = (void *)(uintptr_t)&a->value;
    if (q.kind == QUICK_POINTER) {
      ok = ok && a->kind == TILE_ARG_POINTER && (!a->type || !q.type || a->type == q.type);
    } else if (q.kind <= QUICK_I64) {
      ok = ok && (a->kind == TILE_ARG_INT || (map && a->kind == TILE_ARG_BOOL));
      if (q.kind == QUICK_INT) ok = ok && (v + (uint64_t)q.is_signed * (UINT64_C(1) << (q.bits - 1))) >> q.bits == 0;
    } else {
      ok = ok && a->kind == TILE_ARG_FLOAT;
      if (q.kind == QUICK_F32) floats[i] = (float)a->value.f, params[i] = &floats[i];
      if (ok) continue;
    }
    if (!ok || v & q.mask) return false;
  }
  return true;
}

static inline bool quick_grid(const tile_kernel *k, const uint32_t grid[3]) {
  return grid[0] - 1 < k->max_grid_x && grid[1] - 1 < 65535 && grid[2] - 1 < 65535;
}

static tile_status launch_slowly(tile_kernel *k, const uint32_t grid[3], void *stream, const tile_arg *args,
                                 const uint16_t *map, tile_error **error) {
  ArgList mapped;
  if (!arg_list_init(&mapped, k->num_args)) return error_no_memory(error);
  for (uint32_t i = 0; map && i < k->num_args; i++) {
    mapped.data[i] = args[map[i]];
    if (mapped.data[i].kind == TILE_ARG_BOOL) mapped.data[i].kind = TILE_ARG_INT;
  }
  tile_launch_options o = {sizeof o, {grid[0], grid[1], grid[2]}, stream};
  tile_status status = launch_check_grid(k, grid, error);
  bool has_tuples = !map && launch_has_tuples(args, k->num_args);
  if (status == TILE_OK && has_tuples) status = launch_flatten_kernel(k, args, k->num_args, mapped.data, error);
  if (map || has_tuples) args = mapped.data;
  if (status == TILE_OK) status = launch_check_args(k, args, k->num_args, error);
  if (status == TILE_OK && !launch_is_empty(grid)) status = k->device->ops->launch(k, &o, args, error);
  arg_list_free(&mapped);
  return status;
}

static void tell_host(const tile_kernel *k, const uint32_t grid[3], void *stream) {
  const tile_event event = {sizeof event, TILE_EVENT_LAUNCH, k->name, "", 0, grid, stream};
  if (k->device->hooks.event) k->device->hooks.event(k->device->hooks.user, &event);
}

// Once for a kernel: all programs along an axis do the same.
static void warn_of_alike(tile_kernel *k, const uint32_t grid[3]) {
  const tile_hooks *h = &k->device->hooks;
  for (uint32_t i = 0; i < 3; i++) {
    if (grid[i] < 2 || !(k->alike >> i & 1)) continue;
    char text[300];
    k->alike = 0;
    snprintf(text, sizeof text, "%.100s: the grid has %u programs along axis %u, and the kernel does not ask for "
             "tl.program_id(%u): they all do the same", k->name, grid[i], i, i);
    if (h->log) h->log(h->user, TILE_LEVEL_WARNING, text);
  }
}

tile_status kernel_launch(tile_kernel *k, const uint32_t grid[3], void *stream, const tile_arg *args,
                          const uint16_t *map, tile_error **error) {
  void *params[MAX_QUICK];
  float floats[MAX_QUICK];
  bool is_quick = k->quick && quick_grid(k, grid) && quick_params(k, args, map, params, floats);
  tile_status status = is_quick ? k->device->ops->launch_params(k, grid, stream, params, error)
                                : launch_slowly(k, grid, stream, args, map, error);
  if (status == TILE_OK && !launch_is_empty(grid)) tell_host(k, grid, stream);
  if (k->alike) warn_of_alike(k, grid);
  if (k->device->ops->tell_warnings) k->device->ops->tell_warnings(k->device);
  return status;
}

// ---- stopping ----

bool launch_can_stop(const tile_kernel *k) {
  return k->device->hooks.should_stop || (k->hooks && k->hooks->should_stop);
}

bool launch_should_stop(void *user) {
  enum { PAUSE_MS = 2 };
  LaunchStop *s = user;
  const double now = clock_ms();
  if (s->stopped || now - s->asked_at < PAUSE_MS) return s->stopped;
  s->asked_at = now;
  const tile_hooks *more = s->kernel->hooks;
  s->stopped = device_should_stop(s->kernel->device) || (more && more->should_stop && more->should_stop(more->user));
  return s->stopped;
}

tile_status launch_stopped(const tile_kernel *k, tile_error **error) {
  return error_set(error, TILE_ERROR_CANCELLED, "stopped while %s ran: memory has what it wrote until then", k->name);
}

uint64_t launch_arg_bits(const KernelParam *p, tile_arg a) {
  if (a.kind == TILE_ARG_POINTER) return a.value.pointer;
  if (!p->is_float) return (uint64_t)a.value.i;
  double v = a.kind == TILE_ARG_INT ? (double)a.value.i : a.value.f;
  if (p->scalar == SC_F32) {
    float single = (float)v;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
  }
  return num_encode(format_of(p->scalar), v, NUM_RNE, false);
}

// ---- the public functions ----

static inline tile_status take_launch(const char *function, const tile_kernel *k, tile_launch_options *o,
                                      const tile_launch_options *given, const tile_arg *args, size_t num_args,
                                      tile_error **error) {
  RETURN_IF_NULL_IN(function, k, "kernel");
  if (num_args) RETURN_IF_NULL_IN(function, args, "args");
  return TAKE_GIVEN(tile_launch_options, o, given, error);
}

tile_status tile_kernel_check(const tile_kernel *k, const tile_launch_options *given, const tile_arg *args,
                              size_t num_args, tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  RETURN_IF_FAILED(take_launch(__func__, k, &o, given, args, num_args, error));
  ArgList flat;
  if (!arg_list_init(&flat, k->num_args)) return error_no_memory(error);
  tile_status status = launch_check_grid(k, o.grid, error);
  if (status == TILE_OK && launch_has_tuples(args, num_args))
    status = launch_flatten_kernel(k, args, num_args, flat.data, error), args = flat.data, num_args = k->num_args;
  if (status == TILE_OK) status = launch_check_args(k, args, num_args, error);
  for (uint32_t i = 0; status == TILE_OK && i < k->num_args; i++) {
    uint64_t address = args[i].kind == TILE_ARG_POINTER  ? args[i].value.pointer
                       : args[i].kind == TILE_ARG_TENSOR ? args[i].value.tensor->base
                                                         : 0;
    char why[160];
    if (!address || k->device->ops->is_own(k->device, address, why, sizeof why)) continue;
    status = error_set(error, TILE_ERROR_USAGE, "%s: argument '%s' (%s) is 0x%llx, which %s", k->name,
                       k->params[i].name, k->params[i].spelling, (unsigned long long)address, why);
  }
  arg_list_free(&flat);
  return status;
}

tile_status tile_kernel_reserve(tile_kernel *k, const uint32_t grid[3], tile_error **error) {
  RETURN_IF_NULL(k, "kernel");
  RETURN_IF_NULL(grid, "grid");
  tile_status status = launch_check_grid(k, grid, error);
  return status == TILE_OK && k->scratch_bytes && k->device->ops->reserve ? k->device->ops->reserve(k, grid, error)
                                                                          : status;
}

tile_status tile_kernel_launch(tile_kernel *k, const tile_launch_options *given, const tile_arg *args, size_t num_args,
                               tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  RETURN_IF_FAILED(take_launch(__func__, k, &o, given, args, num_args, error));
  if (num_args != k->num_args && !launch_has_tuples(args, num_args)) return launch_check_args(k, args, num_args, error);
  if (num_args != k->num_args) {
    ArgList flat;
    if (!arg_list_init(&flat, k->num_args)) return error_no_memory(error);
    tile_status status = launch_flatten_kernel(k, args, num_args, flat.data, error);
    if (status == TILE_OK) status = kernel_launch(k, o.grid, o.stream, flat.data, NULL, error);
    arg_list_free(&flat);
    return status;
  }
  return kernel_launch(k, o.grid, o.stream, args, NULL, error);
}
