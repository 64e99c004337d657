// Makes a missing variant: out of the disk cache, or by compiling it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

void jit_event(const tile_jit *jit, tile_event_kind kind, const char *kernel, const char *variant,
               double milliseconds) {
  const tile_event event = {sizeof event, kind, kernel, variant, milliseconds, NULL, NULL};
  if (jit->on_event) jit->on_event(jit->user, &event);
  if (jit->hooks.event) jit->hooks.event(jit->hooks.user, &event);
}

// ---- arguments as the specialiser takes them ----

static const char *float_text(Arena *a, double v) {
  if (isnan(v) || isinf(v)) return isnan(v) ? "float('nan')" : v > 0 ? "float('inf')" : "float('-inf')";
  const char *s = arena_printf(a, "%.17g", v);
  return strpbrk(s, ".e") ? s : arena_printf(a, "%s.0", s);
}

// The layout of a descriptor's block as Gluon spells it; NULL: the default.
static const char *block_layout(Arena *a, const tile_tensor *t) {
  static const uint32_t bytes[] = {[TILE_SWIZZLE_NONE] = 0, [TILE_SWIZZLE_32] = 32, [TILE_SWIZZLE_64] = 64,
                                   [TILE_SWIZZLE_128] = 128};
  if (t->swizzle == TILE_SWIZZLE_DEFAULT || t->swizzle >= countof(bytes)) return NULL;
  Buf text = buf_make(a);
  buf_printf(&text, "NVMMASharedLayout(%u, %u, %u", bytes[t->swizzle], dtype_info[t->type].bits, t->rank);
  for (uint32_t i = 0; i < t->num_cga && i < countof(t->cga); i++) {
    buf_puts(&text, i ? ", " : ", cga_layout=[");
    for (uint32_t d = 0; d < t->rank; d++) {
      const bool moves = t->cga[i] && d == t->cga[i] / 16;
      buf_printf(&text, "%s%u", d ? ", " : "[", moves ? 1u << (t->cga[i] % 16 - 1) : 0);
    }
    buf_puts(&text, "]");
  }
  buf_puts(&text, t->num_cga ? "])" : ")");
  return buf_str(&text);
}

static SpecValue spec_value(Arena *a, const tile_arg *arg) {
  SpecValue v = {.has_dtype = arg->type != TILE_UNTYPED,
                 .dtype = (DtypeKind)arg->type,
                 .i = arg->value.i,
                 .text = "the argument"};
  switch (arg->kind) {
  case TILE_ARG_INT:
    v.kind = VALUE_INT;
    v.text = arg->type == TILE_UINT64 ? arena_printf(a, "%llu", (unsigned long long)arg->value.i)
                                      : arena_printf(a, "%lld", (long long)arg->value.i);
    break;
  case TILE_ARG_FLOAT: v.kind = VALUE_FLOAT, v.f = arg->value.f, v.text = float_text(a, v.f); break;
  case TILE_ARG_BOOL: v.kind = VALUE_BOOL, v.text = arg->value.i ? "True" : "False"; break;
  case TILE_ARG_POINTER: v.kind = VALUE_POINTER, v.address = arg->value.pointer; break;
  case TILE_ARG_TENSOR: {
    const tile_tensor *t = arg->value.tensor;
    v.kind = VALUE_DESC;
    v.dtype = (DtypeKind)t->type;
    v.rank = t->rank;
    v.pad_nan = t->pad_nan;
    v.layout = block_layout(a, t);
    memcpy(v.block, t->block, sizeof t->block);
    break;
  }
  case TILE_ARG_TEXT: v.kind = VALUE_NONE, v.text = arg->value.text; break;
  case TILE_ARG_TUPLE: {
    const tile_tuple *t = arg->value.tuple;
    SpecValue *items = arena_array(a, SpecValue, t->num_items + 1);
    for (uint32_t i = 0; i < t->num_items; i++) {
      items[i] = spec_value(a, &t->items[i]);
      if (t->items[i].kind == TILE_ARG_TEXT) items[i].kind = VALUE_CONSTEXPR, items[i].expression = items[i].text;
    }
    v.kind = VALUE_TUPLE;
    v.items = items;
    v.num_items = t->num_items;
    v.class_name = t->type_name;
    break;
  }
  default: v.kind = VALUE_NONE, v.text = "None";
  }
  return v;
}

static int hint_of(const SpecValue *v, const JitTraits *t, bool is_annotated) {
  bool is_pointer = v->kind == VALUE_POINTER;
  if (!is_pointer && v->kind != VALUE_INT) return 0;
  return specialize_hint(is_pointer, is_annotated, t->never, t->never_aligned,
                         is_pointer ? v->address : (uint64_t)v->i);
}

static void put_value(Buf *b, const tile_jit_kernel *k, uint32_t i, const SpecValue *v, bool is_annotated) {
  if (v->kind == VALUE_TUPLE) {
    buf_printf(b, "%s(", v->class_name ? v->class_name : "");
    for (uint32_t n = 0; n < v->num_items; n++) {
      if (n) buf_puts(b, ", ");
      put_value(b, k, i, &v->items[n], false);
    }
    buf_puts(b, ")");
    return;
  }
  if (v->kind == VALUE_NONE || v->kind == VALUE_CONSTEXPR) {
    buf_puts(b, v->text);
    return;
  }
  buf_puts(b, specialize_type(b->arena, v, &k->fn->params[i]));
  int hint = hint_of(v, &k->params[i].traits, is_annotated);
  if (hint) buf_printf(b, ":%d", hint);
}

const char *jit_variant_text(Arena *a, const tile_jit_kernel *k, const tile_arg *args) {
  Buf b = buf_make(a);
  for (uint32_t i = 0; i < k->num_params; i++) {
    const JitParam *p = &k->params[i];
    if (args[i].kind == TILE_ARG_DEFAULT) continue;
    if (b.size) buf_puts(&b, ", ");
    SpecValue v = spec_value(a, &args[i]);
    if (p->traits.is_constexpr || v.kind == VALUE_NONE) {
      buf_printf(&b, "%s=%s", p->name, v.text);
      continue;
    }
    put_value(&b, k, i, &v, p->traits.is_annotated);
  }
  return buf_str(&b);
}

// ---- compiling ----

typedef struct { tile_jit_kernel *k; const tile_arg *args; bool is_usage_error; } Types;

static bool set_types(void *user, tile_program *p, CtFunction *fn, ParamSpec *specs, CtDict *heuristic_args) {
  Types *t = user;
  bool ok = true;
  for (uint32_t i = 0; i < t->k->num_params; i++) {
    if (t->args[i].kind == TILE_ARG_DEFAULT) continue;
    SpecValue v = spec_value(&p->ctx.arena, &t->args[i]);
    // Constexprs came as definitions, which win over the configuration.
    if (t->k->params[i].traits.is_constexpr) continue;
    ok = specialize_param(p->frontend, &p->ctx, fn, specs, i, &v, "argument", false, &t->is_usage_error) && ok;
    ct_dict_set_str(&p->ctx, heuristic_args, fn->params[i].name,
                    specialize_heuristic_value(p->frontend, &p->ctx, &v));
  }
  return ok;
}

static tile_status options_for(const Request *r, Arena *a, Options *out, tile_error **error) {
  const tile_jit_kernel *k = r->kernel;
  Options o = k->jit->options;
  options_own(&o, a);
  for (size_t i = 0; i < r->options->num_options; i++)
    if (!options_set(&o, arena_printf(a, "%s", r->options->options[i]), NULL, error)) return TILE_ERROR_USAGE;
  if (o.ir_override || o.arch != k->jit->options.arch)
    return error_set(error, TILE_ERROR_USAGE, "%s: `ir_override` and `arch` are no options of a launch", k->name);
  o.kernel = k->name;
  const struct { int64_t *to; int value; } numbers[] = {
      {&o.num_warps, r->options->num_warps},
                 {&o.num_stages, r->options->num_stages},
                 {&o.num_ctas, r->options->num_ctas},
                 {&o.maxnreg, r->options->maxnreg}};
  for (uint32_t i = 0; i < countof(numbers); i++)
    if (numbers[i].value) *numbers[i].to = numbers[i].value;
  for (uint32_t i = 0; i < k->num_params; i++)
    if (k->params[i].traits.is_constexpr && r->args[i].kind != TILE_ARG_DEFAULT)
      vec_push(a, &o.defines, arena_printf(a, "%s=%s", k->params[i].name, spec_value(a, &r->args[i]).text));
  *out = o;
  return TILE_OK;
}

tile_status jit_compile_program(const Request *r, int config, unsigned emit, Arena *a, tile_program **program,
                                tile_error **error) {
  tile_jit_kernel *k = r->kernel;
  const tile_jit *jit = k->jit;
  Options options;
  RETURN_IF_FAILED(options_for(r, a, &options, error));
  Types types = {k, r->args, false};
  CompileJob job = {.options = &options,
                    .path = jit->path,
                    .text = jit->text,
                    .size = jit->size,
                    .source_map = jit->source_map,
                    .num_source_map = jit->num_source_map,
                    .config = config,
                    .specialize = set_types,
                    .origin = "argument",
                    .user = &types,
                    .hooks = &jit->hooks,
                    .seconds = jit->compile_seconds,
                    .emit = emit};
  const char *text = jit_variant_text(a, k, r->args);
  jit_event(jit, TILE_EVENT_COMPILE_BEGIN, k->name, text, 0);
  double begin = clock_ms();
  tile_status status = compile_job(&job, program, error);
  jit_event(jit, TILE_EVENT_COMPILE_END, k->name, text, clock_ms() - begin);
  return status == TILE_ERROR_PROGRAM && types.is_usage_error ? TILE_ERROR_USAGE : status;
}

static tile_status compile_program(const Request *r, int config, Arena *a, tile_program **program, tile_error **error) {
  const bool is_interp = !r->kernel->jit->device->arch;
  return jit_compile_program(r, config, is_interp ? TILE_EMIT_TILE : TILE_EMIT_PTX | TILE_EMIT_METADATA, a, program,
                             error);
}

// ---- the cache ----

const char *jit_identity(const tile_jit *jit) {
  Arena *a = (Arena *)(uintptr_t)&jit->arena;
  char id[96];
  jit_build_id(id, sizeof id);
  return arena_printf(a, "tilec %s %s\nLLVM %s\narch %s\n", tile_version(), id, compile_llvm_version(),
                      jit->device->arch ? jit->device->arch : "any");
}

const char *jit_files(Arena *a, const Frontend *fe) {
  Buf b = buf_make(a);
  const Comptime *ct = frontend_comptime(fe);
  for (uint32_t i = 0; i < comptime_num_files(ct); i++) {
    const SourceFile *f = comptime_file(ct, i);
    buf_printf(&b, "file %s %zu %016llx %016llx\n", f->path, f->size,
               (unsigned long long)cache_hash(f->text, f->size, 5),
               (unsigned long long)cache_hash(f->text, f->size, 6));
  }
  return buf_str(&b);
}

static Buf cache_key(const Request *r, int config, Arena *a) {
  const tile_jit_kernel *k = r->kernel;
  Buf b = buf_make(a);
  buf_printf(&b, "%s%skernel %s\nconfig %d\nwords", k->jit->identity, k->jit->files, k->name, config);
  for (uint32_t i = 0; i < r->key->num_words; i++) buf_printf(&b, " %llx", (unsigned long long)r->key->words[i]);
  for (uint32_t i = 0; i < r->key->num_texts; i++) buf_printf(&b, "\ntext %s", r->key->texts[i]);
  // A hook may have changed the blocks that are in the key.
  for (uint32_t i = 0; i < k->num_params; i++)
    for (uint32_t axis = 0; r->args[i].kind == TILE_ARG_TENSOR && axis < r->args[i].value.tensor->rank; axis++)
      buf_printf(&b, "\nblock %u %lld", i, (long long)r->args[i].value.tensor->block[axis]);
  return b;
}

// ---- a variant ----

// A walk over the source's arguments and the items of tuples: each is the kernel's next argument or is compiled in.
typedef struct { tile_variant *v; const JitTraits *traits; uint32_t leaf, taken; } Mapping;

static bool is_compiled_in(const tile_arg *a, const JitTraits *t) {
  return a->kind == TILE_ARG_NONE || a->kind == TILE_ARG_TEXT ||
         (a->kind == TILE_ARG_INT &&
          specialize_hint(false, false, t->never, t->never_aligned, (uint64_t)a->value.i) == 1);
}

static void map_arg(Mapping *m, Arena *a, const tile_arg *arg, const char *name, bool is_item) {
  const tile_kernel *kernel = m->v->kernel;
  if (arg->kind == TILE_ARG_TUPLE) {
    m->v->has_tuples = true;
    for (uint32_t i = 0; i < arg->value.tuple->num_items; i++)
      map_arg(m, a, &arg->value.tuple->items[i], frontend_item_name(a, name, i), true);
    return;
  }
  bool is_next = m->taken < kernel->num_args && !strcmp(kernel->params[m->taken].name, name) &&
                 !(is_item && is_compiled_in(arg, m->traits));
  if (is_next) m->v->arg_params[m->taken++] = (uint16_t)m->leaf;
  m->leaf++;
}

static bool map_args(const Request *r, Arena *a, tile_variant *v) {
  const tile_jit_kernel *k = r->kernel;
  Mapping m = {.v = v};
  v->arg_params = calloc(v->kernel->num_args + 1, sizeof *v->arg_params);
  if (!v->arg_params) return false;
  for (uint32_t i = 0; i < k->num_params; i++) {
    m.traits = &k->params[i].traits;
    map_arg(&m, a, &r->args[i], k->params[i].name, false);
  }
  v->num_leaves = m.leaf;
  return m.taken == v->kernel->num_args && m.leaf <= JIT_MAX_LEAVES;
}

// Assembles the PTX with the request's assembler and loads the result: the driver assembles only one kernel at a time.
// False: the driver has to do it.
static bool start_assembled(const Request *r, Arena *a, tile_kernel *kernel) {
  const char *ptx = kernel->ptx;
  MachineCode code = {0};
  if (!r->assembler || assembler_run(r->assembler, a, ptx, kernel->target->name, &code, NULL) != TILE_OK) return false;
  kernel->ptx = code.cubin;
  if (kernel->device->ops->load(kernel, NULL) == TILE_OK) {
    kernel->ptx = NULL;
    assembler_notes_log(&r->kernel->jit->hooks, kernel->name, ptx, code.said);
    launch_plan(kernel);
    return true;
  }
  // The assembler is newer than the driver, or the kernel does not fit: the driver will say which.
  if (kernel->module) kernel->device->ops->unload(kernel);
  kernel->module = NULL;
  kernel->ptx = ptx;
  return false;
}

// A variant that is being made. It holds everything that must be freed if that fails.
typedef struct {
  const Request *r;
  int config;
  tile_variant *v;
  tile_program *program;
  char *image;
} Making;

static tile_status start(Making *m, Arena *a, tile_error **error) {
  tile_jit_kernel *k = m->r->kernel;
  tile_kernel *kernel = m->v->kernel;
  const char *text = k->jit->device->arch ? jit_variant_text(a, k, m->r->args) : NULL;
  if (text && kernel->ptx && !(m->v->ptx = strdup(kernel->ptx))) return error_no_memory(error);
  kernel->hooks = &k->jit->hooks;
  // Code of the cache or of another process comes without its program, but it is of the files that the JIT has read.
  if (!kernel->sources) kernel->sources = k->jit->sources, kernel->num_sources = k->jit->num_sources;
  double begin = clock_ms();
  bool is_assembled = start_assembled(m->r, a, kernel);
  if (!is_assembled) m->v->kernel = NULL;   // kernel_start frees one that does not load
  tile_status status = is_assembled ? TILE_OK : kernel_start(kernel, error);
  if (status != TILE_OK) return status;
  m->v->kernel = kernel;
  if (text) jit_event(k->jit, TILE_EVENT_LOAD, k->name, text, clock_ms() - begin);
  return TILE_OK;
}

// Puts code into the cache, unless an imported file has changed since the JIT read it: the key has the old file.
static void keep_code(const tile_jit *jit, const Buf *key, const char *ptx, const char *files) {
  if (jit->cache && !strcmp(files, jit->files)) cache_put(jit->cache, key->data, key->size, ptx, strlen(ptx) + 1);
}

static tile_status make_isolated(Making *m, Buf *key, Arena *a, tile_error **error) {
  const tile_jit_kernel *k = m->r->kernel;
  const tile_jit *jit = k->jit;
  const char *ptx = NULL, *files = "", *text = jit_variant_text(a, k, m->r->args);
  jit_event(jit, TILE_EVENT_COMPILE_BEGIN, k->name, text, 0);
  double begin = clock_ms();
  tile_status status = jit_compile_isolated(m->r, m->config, a, &ptx, &files, error);
  jit_event(jit, TILE_EVENT_COMPILE_END, k->name, text, clock_ms() - begin);
  if (status != TILE_OK) return status;
  tile_error *why = NULL;
  if (!(m->v->kernel = kernel_from_ptx(jit->device, ptx, strlen(ptx), NULL, &why))) return error_pass_on(error, why);
  keep_code(jit, key, ptx, files);
  return start(m, a, error);
}

static tile_status make_kernel(void *user, Arena *a, tile_error **error) {
  Making *m = user;
  tile_jit_kernel *k = m->r->kernel;
  const tile_jit *jit = k->jit;
  tile_variant *v = m->v;
  Buf key = cache_key(m->r, m->config, a);
  size_t size = 0;
  const char *text = jit_variant_text(a, k, m->r->args);
  m->image = jit->cache ? cache_get(jit->cache, buf_str(&key), key.size, &size) : NULL;
  if (jit->cache) jit_event(jit, m->image ? TILE_EVENT_CACHE_HIT : TILE_EVENT_CACHE_MISS, k->name, text, 0);
  v->kernel = m->image && size && m->image[size - 1] == 0 ? kernel_from_ptx(jit->device, m->image, size - 1, NULL, NULL)
                                                          : NULL;
  tile_status status;
  if (v->kernel) {
    status = start(m, a, error);
  } else if (jit->isolate) {
    status = make_isolated(m, &key, a, error);
  } else {
    if ((status = compile_program(m->r, m->config, a, &m->program, error)) != TILE_OK) return status;
    tile_error *why = NULL;
    if (!(v->kernel = kernel_describe(jit->device, m->program, k->name, &why))) return error_pass_on(error, why);
    if (jit->cache) keep_code(jit, &key, v->kernel->ptx, jit_files(a, m->program->frontend));
    status = start(m, a, error);
    if (status == TILE_OK && !jit->device->arch) v->program = m->program, m->program = NULL;
  }
  if (status == TILE_OK && !jit_keep_origin(v, m->r, m->config, a)) status = error_no_memory(error);
  if (status == TILE_OK && !map_args(m->r, a, v))
    status = error_set(error, TILE_ERROR_INTERNAL, "%s: the compiled kernel's arguments are not those of the source",
                       k->name);
  return status;
}

tile_status jit_compile_ptx(const Request *r, int config, Arena *a, const char **ptx, const char **files,
                            tile_error **error) {
  tile_program *program = NULL;
  tile_status status = compile_program(r, config, a, &program, error);
  if (status == TILE_OK)
    *ptx = arena_printf(a, "%s", tile_program_output(program, TILE_EMIT_PTX, NULL)),
    *files = jit_files(a, program->frontend);
  tile_program_free(program);
  return status;
}

tile_status jit_compile(const Request *r, int config, tile_variant **variant, tile_error **error) {
  tile_variant *v = calloc(1, sizeof *v);
  if (!v) return error_no_memory(error);
  v->owner = r->kernel;
  Making m = {.r = r, .config = config, .v = v};
  tile_status status = jit_scratch(r->kernel->jit, "making a variant", make_kernel, &m, error);
  free(m.image);
  tile_program_free(m.program);
  if (status == TILE_OK) *variant = v;
  else jit_variant_free(v);
  return status;
}

// ---- may it be made ----

static tile_status refuse_unprepared(void *user, Arena *a, tile_error **error) {
  const Request *r = user;
  const tile_jit_kernel *k = r->kernel;
  return error_set(
      error, TILE_ERROR_USAGE,
      "%s: the variant (%s) was not prepared, and compiling at launch is forbidden; %zu variants are there", k->name,
      jit_variant_text(a, k, r->args), (size_t)k->num_variants);
}

static tile_status refuse_captured(void *user, Arena *a, tile_error **error) {
  const Request *r = user;
  return error_set(error, TILE_ERROR_USAGE,
                   "%s: the stream is being captured, and the variant (%s) is not there: prepare it before the capture",
                   r->kernel->name, jit_variant_text(a, r->kernel, r->args));
}

tile_status jit_may_make(const Request *r, tile_error **error) {
  const tile_jit *jit = r->kernel->jit;
  const DeviceOps *ops = jit->device->ops;
  ScratchWork refuse = jit->policy == TILE_JIT_FORBID                                            ? refuse_unprepared
                       : ops->is_capturing && ops->is_capturing(jit->device, r->options->stream) ? refuse_captured
                                                                                                 : NULL;
  return refuse ? jit_scratch(jit, "refusing a launch", refuse, (void *)(uintptr_t)r, error)
                : TILE_OK;
}
