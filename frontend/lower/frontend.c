// Loading programs, and lowering a kernel for one specialisation.
#include "frontend/lower/lower.h"

#include <string.h>

LaunchOptions launch_options_default(void) {
  return (LaunchOptions){.num_warps = 4, .num_stages = 3, .num_ctas = 1, .enable_fp_fusion = true, .auto_tma = true,
                         .dot_precision = -1};
}

static Frontend *new_frontend(Context *ctx, const FrontendOptions *o) {
  Frontend *fe = arena_new(&ctx->arena, Frontend);
  fe->ctx = ctx;
  fe->target = o->target ? o->target : target_find("sm_90a");
  ComptimeOptions co = {.include_paths = o->include_paths,
                        .num_include_paths = o->num_include_paths,
                        .is_language_name = lower_is_language_name,
                        .cuda_capability = (int)fe->target->sm,
                        .step_limit = o->step_limit};
  fe->max_statements = o->step_limit ? o->step_limit : MAX_STATEMENTS;
  fe->ct = comptime_new(ctx, &co);
  return fe;
}

static Frontend *loaded(Frontend *fe, CtModule *module) {
  if (!module) return NULL;
  fe->module = module;
  if (module->tree) warn_redefinitions(fe->ctx, module->tree);
  fe->kernels = comptime_kernels(fe->ct, module);
  return fe;
}

Frontend *frontend_load_file(Context *ctx, const char *path, const FrontendOptions *options) {
  Frontend *fe = new_frontend(ctx, options);
  return loaded(fe, comptime_load_file(fe->ct, path));
}

Frontend *frontend_load_text(Context *ctx, const char *path, const char *text, size_t size,
                             const FrontendOptions *options) {
  Frontend *fe = new_frontend(ctx, options);
  const SourceFile *file = source_add(ctx, path, text, size);
  return loaded(fe, comptime_load_source(fe->ct, file, "__main__"));
}

Comptime *frontend_comptime(const Frontend *fe) { return fe->ct; }
const CtModule *frontend_module(const Frontend *fe) { return fe->module; }
uint32_t frontend_num_kernels(const Frontend *fe) { return fe->kernels.count; }
CtFunction *frontend_kernel(const Frontend *fe, uint32_t i) { return fe->kernels.data[i]; }

// ---- kernels ----
static const Node *value_return(const NodeList *body) {
  for (uint32_t i = 0; i < body->count; i++) {
    const Node *n = body->data[i];
    if (n->kind == NODE_RETURN && n->unary.value && n->unary.value->kind != NODE_NONE) return n;
    if (n->kind == NODE_FUNCTION_DEF || n->kind == NODE_CLASS_DEF) continue;
    for (const AstPart *part = ast_parts(n); part->kind; part++) {
      const Node *found = part->kind == PART_BODY ? value_return(ast_part_list(n, part)) : NULL;
      if (found) return found;
    }
  }
  return NULL;
}

// As the file's other kernels have it, or as its imports allow.
static const char *decorator(Frontend *fe) {
  if (fe->kernels.count)
    return fe->kernels.data[0]->is_bare ? "@kernel" : fe->kernels.data[0]->is_gluon ? "@gluon.jit" : "@triton.jit";
  const CtValue *triton = comptime_lookup(fe->ct, fe->module->env, intern(fe->ctx, "triton"));
  return triton && triton->kind == CT_MODULE ? "@triton.jit" : "@triton.jit or @kernel";
}

typedef struct { Frontend *fe; const char *name; const Node *outer; uint32_t shown; } NestedSearch;
enum { MAX_SHOWN = 4 };

static void search_nested(const Node *n, void *user) {
  NestedSearch *s = user;
  const Node *outer = s->outer;
  if (s->shown == MAX_SHOWN) return;
  const bool is_class = n->kind == NODE_CLASS_DEF;
  if (outer && n->kind == NODE_FUNCTION_DEF &&
      (s->name ? !strcmp(n->func.name, s->name) : comptime_is_for_kernels(s->fe->ct, n, s->fe->module->env))) {
    const bool in_class = outer->kind == NODE_CLASS_DEF;
    const Span name = in_class ? outer->cls.name_span : outer->func.name_span;
    diag_note(s->fe->ctx, n->func.name_span, "`%s` stands in %s `%s` of line %u: move it to the module level",
              n->func.name, in_class ? "class" : "function", in_class ? outer->cls.name : outer->func.name,
              source_locate(s->fe->ctx, name.begin).line);
    s->shown++;
    return;
  }
  if (is_class || n->kind == NODE_FUNCTION_DEF) s->outer = n;
  ast_each_child(n, search_nested, s);
  s->outer = outer;
}

// Notes the kernels, or the functions of that name, that a class or another function holds. False if there is none.
static bool explain_nested(Frontend *fe, const char *name) {
  NestedSearch s = {.fe = fe, .name = name};
  search_nested(fe->module->tree, &s);
  return s.shown != 0;
}

// Says why what the name stands for is no kernel of this file. False if it does not look like one.
static bool explain_no_kernel(Frontend *fe, const char *name, const CtValue *v) {
  if (v && v->kind == CT_MISSING) {
    diag_note(fe->ctx, v->missing.span, "`%s` could not be made: %s", name, v->missing.why);
    return true;
  }
  if (!v || v->kind != CT_FUNCTION || !v->fn->def || v->fn->def->kind != NODE_FUNCTION_DEF) return false;
  const Node *def = v->fn->def, *ret = value_return(&def->func.body);
  if (v->fn->env->module != fe->module)
    diag_note(fe->ctx, def->func.name_span, "`%s` comes from another file: compile that one", name);
  else if (v->fn->role == FN_PLAIN)
    diag_note(fe->ctx, def->func.name_span, "`%s` has no decorator: write %s on the line above", name, decorator(fe));
  else if (ret)
    diag_note(fe->ctx, ret->span, "`%s` returns a value here, so it is a function for kernels to call; "
              "a kernel stores its results with %sstore(…)", name, lower_prefix(&fe->ctx->arena, v->fn));
  else
    diag_note(fe->ctx, def->func.name_span, "`%s` is a function for kernels to call, because others are marked @kernel",
              name);
  return true;
}

void frontend_explain_no_kernels(Frontend *fe) {
  if (explain_nested(fe, NULL)) return;
  uint32_t shown = 0;
  const CtEnv *env = fe->module->env;
  const NodeList *body = &fe->module->tree->block;
  for (uint32_t i = 0; i < body->count && shown < MAX_SHOWN; i++)
    if (body->data[i]->kind == NODE_FUNCTION_DEF)
      shown += explain_no_kernel(fe, body->data[i]->func.name,
                                 comptime_lookup(fe->ct, env, body->data[i]->func.name));
  if (!shown) diag_note(fe->ctx, (Span){0, 0}, "a kernel is a function decorated with %s", decorator(fe));
}

CtFunction *frontend_find_kernel(Frontend *fe, const char *name) {
  Buf all = buf_make(&fe->ctx->arena);
  const CtValue *named = comptime_lookup(fe->ct, fe->module->env, intern(fe->ctx, name));
  for (uint32_t i = 0; i < fe->kernels.count; i++) {
    if (strcmp(fe->kernels.data[i]->name, name) == 0) return fe->kernels.data[i];
    // k = triton.jit(_k): the kernel's own name is _k.
    if (named && named->kind == CT_FUNCTION && named->fn == fe->kernels.data[i]) return fe->kernels.data[i];
    buf_printf(&all, "%s%s", i ? ", " : "", fe->kernels.data[i]->name);
  }
  const SourceFile *f = fe->module->file;
  diag_error(fe->ctx, (Span){0, 0}, "there is no kernel `%s` in %s", name, f ? f->path : "the program");
  bool known = explain_no_kernel(fe, name, named) ||
               explain_nested(fe, name);
  if (all.size) diag_note(fe->ctx, (Span){0, 0}, "the kernels are %s", buf_str(&all));
  else if (!known) frontend_explain_no_kernels(fe);
  return NULL;
}

// ---- what is still missing ----
static bool is_option_param(const CtParam *p) {
  return p->is_constexpr &&
         (strcmp(p->name, "num_warps") == 0 || strcmp(p->name, "num_stages") == 0 || strcmp(p->name, "num_ctas") == 0);
}

uint32_t frontend_count_open(const CtFunction *kernel, const ParamSpec *specs) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < kernel->num_params; i++)
    n += specs[i].kind == SPEC_OPEN && !is_option_param(&kernel->params[i]);
  return n;
}

static const Node *annotation_of(const CtParam *p) { return p->node ? p->node->param.annotation : NULL; }

// The module that an open parameter's annotation names without importing it: `tl` of tl.constexpr. NULL if it names
// none.
static const Node *missing_module(Frontend *fe, const CtFunction *kernel, const CtParam *p) {
  const Node *n = annotation_of(p);
  if (!n || p->is_constexpr || n->kind != NODE_ATTRIBUTE) return NULL;
  while (n->kind == NODE_ATTRIBUTE) n = n->attr.first;
  if (n->kind != NODE_NAME || comptime_lookup(fe->ct, kernel->env, n->name.id)) return NULL;
  const char *about = comptime_foreign(FOREIGN_MODULE, n->name.id);
  return about && !strncmp(about, "add the line", 12) ? n : NULL;
}

static void report_module(Frontend *fe, const Node *name) {
  diag_error(fe->ctx, name->span, "`%s` is not defined", name->name.id);
  diag_note(fe->ctx, (Span){0, 0}, "%s", comptime_foreign(FOREIGN_MODULE, name->name.id));
}

// The constant that stands where a type belongs, `B: constexpr(16)`, or alone, `B=16`; NULL if there is none.
static const CtValue *untyped_constant(const CtParam *p) {
  const CtValue *v = p->annotation ? ct_unwrap(p->annotation) : NULL;
  if (!annotation_of(p) && p->default_value) v = ct_unwrap(p->default_value);
  return v && (v->kind == CT_INT || v->kind == CT_BOOL || v->kind == CT_FLOAT) ? v : NULL;
}

static void report_constant(Frontend *fe, const CtFunction *kernel, const CtParam *p, const CtValue *v) {
  diag_error(fe->ctx, p->node->span, "parameter `%s` of kernel `%s` has the value %s and no type", p->name,
             kernel->name, ct_repr(fe->ctx, v));
  diag_note(fe->ctx, (Span){0, 0}, "write `%s: %sconstexpr = %s`%s", p->name,
            lower_prefix(&fe->ctx->arena, kernel), ct_repr(fe->ctx, v),
            annotation_of(p) ? "" : ", or give it a type: --signature, or an annotation");
}

static void note_annotations(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs) {
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    const Node *annotation = annotation_of(p);
    if (specs[i].kind != SPEC_OPEN || p->is_constexpr || p->is_const || !annotation || missing_module(fe, kernel, p))
      continue;
    const char *instead = lower_guess_annotation(fe, kernel, annotation);
    diag_note(fe->ctx, annotation->span, "this annotation of `%s` is not a type that a kernel's parameter can have%s%s",
              p->name, instead ? ": " : "", instead ? instead : "");
  }
}

// Notes the run-time parameters that the signature makes constants: a value may have been meant for a later constexpr.
static void note_constants(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs) {
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    if (p->is_constexpr || specs[i].kind != SPEC_CONSTEXPR || !p->node || !strstr(specs[i].origin, "signature"))
      continue;
    diag_note(fe->ctx, p->node->span, "`%s` is the constant %s by %s; the type of a run-time parameter stands there, "
              "as i32", p->name, ct_repr(fe->ctx, specs[i].value), specs[i].origin);
  }
}

static bool report_open(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs) {
  Arena *arena = &fe->ctx->arena;
  Buf types = buf_make(arena), values = buf_make(arena), flags = buf_make(arena), signature = buf_make(arena);
  const Node *module = NULL;
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    bool open = specs[i].kind == SPEC_OPEN && !is_option_param(p);
    const Node *lacks = open ? missing_module(fe, kernel, p) : NULL;
    if (lacks) {
      if (!module) report_module(fe, module = lacks);
      continue;
    }
    if (open && !p->is_constexpr && untyped_constant(p)) {
      report_constant(fe, kernel, p, untyped_constant(p));
      continue;
    }
    if (!p->is_constexpr)
      buf_printf(&signature, "%s%s", signature.size ? ", " : "",
                 specs[i].kind == SPEC_TYPE        ? specs[i].type
                 : specs[i].kind == SPEC_CONSTEXPR ? ct_repr(fe->ctx, specs[i].value)
                                                   : "TYPE");
    if (!open) continue;
    Buf *to = p->is_constexpr ? &values : &types;
    buf_printf(to, "%s`%s`", to->size ? ", " : "", p->name);
    if (p->is_constexpr) buf_printf(&flags, fe->ctx->caller == CALLER_TILEC ? " -D %s=…" : " \"%s=…\"", p->name);
  }
  if (types.size) {
    diag_error(fe->ctx, kernel->def->func.name_span, "the type of %s of kernel `%s` is not known", buf_str(&types),
               kernel->name);
    diag_note(fe->ctx, (Span){0, 0},
              "give the types with --signature \"%s\", a TYPE like i32 or *fp32, or annotate the parameters: "
              "`x: %s`",
              buf_str(&signature), kernel->is_bare ? "*fp32" : "\"*fp32\"");
    note_annotations(fe, kernel, specs);
  }
  if (values.size) {
    diag_error(fe->ctx, kernel->def->func.name_span, "the value of constexpr %s of kernel `%s` is not known",
               buf_str(&values), kernel->name);
    const char *it = strchr(buf_str(&values), ',') ? "them" : "it";
    if (fe->ctx->caller == CALLER_JIT) diag_note(fe->ctx, (Span){0, 0}, "give %s at the launch as an argument", it);
    else diag_note(fe->ctx, (Span){0, 0}, "give %s with%s%s", it,
                   fe->ctx->caller == CALLER_LIBRARY ? " `defines`" : "", buf_str(&flags));
    note_constants(fe, kernel, specs);
  }
  return false;
}

// ---- parameters ----
// The layout after the block's shape, as Triton spells it in a signature: a call of a class of `gl`. NULL after a
// diagnostic.
static CtValue *desc_layout(Frontend *fe, const char *text, const CtBinding *extra, uint32_t n) {
  const size_t size = strlen(text);
  const char *prefix = strncmp(text, "gl.", 3) == 0 ? "" : "gl.";
  const char *call = arena_printf(&fe->ctx->arena, "%s%.*s", prefix, (int)size - 1, text);   // without the `>`
  CtBinding *all = arena_array(&fe->ctx->arena, CtBinding, n + 1);
  if (n) memcpy(all, extra, n * sizeof *all);
  CtValue *gl = comptime_gluon_module(fe->ct);
  all[n] = (CtBinding){intern(fe->ctx, "gl"), gl};
  return comptime_eval_text(fe->ct, fe->module, "a descriptor's layout", call, all, n + 1);
}

// Replaces the names in "tensordesc<fp16[BM, BK]>" by the specs' values. A layout may follow the shape after a comma.
static const char *resolve_desc(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs, const char *text,
                                CtValue **layout) {
  const char *open = strchr(text, '['), *close = open;
  for (int depth = 0; close && *close; close++) {
    depth += (*close == '[') - (*close == ']');
    if (!depth) break;
  }
  if (!open || *close != ']') return text;
  CtBinding *extra = arena_array(&fe->ctx->arena, CtBinding, kernel->num_params + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < kernel->num_params; i++)
    if (specs[i].kind == SPEC_CONSTEXPR) extra[n++] = (CtBinding){kernel->params[i].name, specs[i].value};
  const char *list = arena_printf(&fe->ctx->arena, "(%.*s,)", (int)(close - open - 1), open + 1);
  CtValue *v = comptime_eval_text(fe->ct, fe->module, "a descriptor's block shape", list, extra, n);
  if (!v || v->kind != CT_TUPLE) return NULL;
  const char *after = close + 1;
  while (*after == ' ' || *after == ',') after++;
  if (*after != '>' && *after && !(*layout = desc_layout(fe, after, extra, n))) return NULL;
  Buf b = buf_make(&fe->ctx->arena);
  buf_write(&b, text, (size_t)(open + 1 - text));
  for (uint32_t i = 0; i < v->list.count; i++)
    buf_printf(&b, "%s%s", i ? "," : "", ct_repr(fe->ctx, ct_unwrap(v->list.data[i])));
  buf_puts(&b, *layout ? "]" : close);
  if (*layout) buf_printf(&b, ",%s>", ct_repr(fe->ctx, *layout));
  return intern(fe->ctx, buf_str(&b));
}

static Value *add_plain(Lower *L, const char *name, const char *spelling, const CtType *t, int64_t divisible) {
  FuncParam p = {.name = name, .kind = PARAM_PLAIN, .spelling = spelling, .divisible = divisible};
  Value *v = func_add_param(L->b.func, lower_ir_type(L, t), p);
  v->name = name;
  return v;
}

// Adds a host descriptor. Its extents and strides follow the map in the kernel's binary interface and have no values
// here.
static Term *add_desc(Lower *L, const CtParam *p, const char *name, const ParamSpec *s, const char *spelling,
                      const CtType *block, CtValue *layout) {
  if (!lower_check_shape(L, block->shape, block->rank, p->node->span)) return NULL;
  if (s->padding == PAD_NAN && !ct_is_float(block)) {
    diag_error(L->ctx, p->node->span, "descriptor `%s` pads with NaN, which %s does not have", name,
               ct_type_text(L->ctx, block->elem));
    return lower_hint(L, "leave the padding at zero");
  }
  FuncParam fp = {.name = name, .kind = PARAM_DESC, .spelling = spelling, .divisible = 1, .padding = s->padding};
  if (L->is_gluon && !(block = lower_desc_block(L, block, layout, p->node->span))) return NULL;
  const Type *type = lower_ir_desc_type(L, block);
  for (uint32_t i = 0; i < block->rank; i++) fp.box[i] = type->shape[i];
  Term *t = arena_new(L->arena, Term);
  t->kind = TERM_DESC;
  t->desc.block = block;
  t->desc.v = func_add_param(L->b.func, type, fp);
  t->desc.v->name = name;
  return t;
}

static CtValue *option_value(Lower *L, const CtParam *p) {
  const LaunchOptions *o = L->options;
  return ct_int(L->ctx, strcmp(p->name, "num_warps") == 0    ? o->num_warps
                        : strcmp(p->name, "num_stages") == 0 ? o->num_stages
                                                             : o->num_ctas);
}

static Term *add_param(Lower *L, CtFunction *kernel, const ParamSpec *specs, const ParamSpec *s, const CtParam *p,
                       const char *name, Span span);

static Term *add_tuple(Lower *L, CtFunction *kernel, const ParamSpec *specs, const ParamSpec *s, const CtParam *p,
                       const char *name, Span span) {
  CtClass *cls = NULL;
  if (s->class_name) {
    CtValue *v = comptime_eval_text(L->ct, L->fe->module, "the class of a tuple", s->class_name, NULL, 0);
    if (!v) return NULL;
    cls = v->kind == CT_CLASS ? v->cls : NULL;
    if (!cls || cls->form != CLASS_NAMEDTUPLE) {
      diag_error(L->ctx, span, "parameter `%s` is given as a `%s`, which is not a namedtuple of this file", name,
                 s->class_name);
      for (uint32_t i = 0; i < L->fe->kernels.count; i++)
        if (!strcmp(L->fe->kernels.data[i]->name, s->class_name))
          lower_hint(L, "`%s` is a kernel, and a signature has the types alone: leave out `%s(…)`", s->class_name,
                     s->class_name);
      return NULL;
    }
    if (cls->num_fields != s->num_items) {
      diag_error(L->ctx, span, "parameter `%s`: `%s` has %u fields, not %u", name, s->class_name, cls->num_fields,
                 s->num_items);
      return NULL;
    }
  }
  Term **items = arena_array(L->arena, Term *, s->num_items + 1);
  bool ok = true;
  for (uint32_t i = 0; i < s->num_items; i++) {
    items[i] =
        add_param(L, kernel, specs, &s->items[i], p, intern(L->ctx, frontend_item_name(L->arena, name, i)), span);
    ok &= items[i] != NULL;
  }
  return ok ? term_tuple(L, items, s->num_items, cls) : NULL;
}

// Adds a parameter, or an item of one that is a tuple. NULL after a diagnostic.
static Term *add_param(Lower *L, CtFunction *kernel, const ParamSpec *specs, const ParamSpec *s, const CtParam *p,
                       const char *name, Span span) {
  Func *f = L->b.func;
  if (s->kind == SPEC_TUPLE) return add_tuple(L, kernel, specs, s, p, name, span);
  if (s->kind == SPEC_CONSTEXPR) {
    vec_push(L->arena, &L->constexpr_names, name);
    vec_push(L->arena, &L->constexpr_values, intern(L->ctx, ct_repr(L->ctx, s->value)));
    return term_const(L, s->value);
  }
  for (uint32_t i = 0; i < f->num_params; i++)
    if (f->params[i].name == name) {
      diag_error(L->ctx, span,
                 "two arguments of the kernel would be called `%s`: an item of a tuple is called after the tuple and "
                 "its number",
                 name);
      return NULL;
    }
  const CtType *type;
  bool is_desc;
  CtValue *layout = NULL;
  const char *spelling =
      strncmp(s->type, "tensordesc<", 11) == 0 ? resolve_desc(L->fe, kernel, specs, s->type, &layout) : s->type;
  if (!spelling) return NULL;
  if (!frontend_parse_type(L->ctx, spelling, &type, &is_desc)) {
    diag_error(L->ctx, span, "`%s` is not a type", spelling);
    return NULL;
  }
  return is_desc ? add_desc(L, p, name, s, spelling, type, layout)
                 : term_value(L, add_plain(L, name, spelling, type, s->divisible), type);
}

static bool too_many_params(Lower *L, const CtFunction *kernel, const char *how_many, uint32_t bytes) {
  diag_misfit(L->ctx, FIT_PARAMETERS, bytes, MAX_PARAM_BYTES);
  diag_error(L->ctx, kernel->def->func.name_span, "kernel `%s` has %s parameters, and a launch passes at most %d bytes",
             kernel->name, how_many, MAX_PARAM_BYTES);
  lower_hint(L, "pass numbers in an array, or as constexprs");
  return false;
}

static bool add_params(Lower *L, CtFunction *kernel, const ParamSpec *specs, Scope *scope) {
  bool ok = true;
  uint32_t run_time = 0;   // each takes at least one byte
  for (uint32_t i = 0; i < kernel->num_params; i++) run_time += specs[i].kind == SPEC_TYPE;
  if (run_time > MAX_PARAM_BYTES) return too_many_params(L, kernel, arena_printf(L->arena, "%u", run_time), run_time);
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    ParamSpec s = specs[i];
    if (s.kind == SPEC_OPEN && is_option_param(p)) s = (ParamSpec){.kind = SPEC_CONSTEXPR, .value = option_value(L, p)};
    Span span = p->node ? p->node->span : kernel->def->span;
    Term *t = add_param(L, kernel, specs, &s, p, p->name, span);
    ok &= t != NULL;
    scope_set(L, scope, p->name, t, span, p->is_constexpr ? VAR_CONSTEXPR : 0);
    const CtType *type;
    bool is_desc;
    if (s.kind == SPEC_CONSTEXPR && !p->is_constexpr && s.type &&
        frontend_parse_type(L->ctx, s.type, &type, &is_desc)) {
      Var *v = scope_find(scope, p->name);
      v->flags = VAR_FOLDED;
      v->folded_type = type;
    }
  }
  Func *f = L->b.func;
  const uint32_t bytes = func_param_bytes(f);
  if (ok && bytes > MAX_PARAM_BYTES)
    ok = too_many_params(L, kernel, arena_printf(L->arena, "%u bytes of", bytes), bytes);
  f->constexpr_names = L->constexpr_names.data;
  f->constexpr_values = L->constexpr_values.data;
  f->num_constexprs = L->constexpr_names.count;
  return ok;
}

// ---- lowering ----
static bool check_options(Frontend *fe, const LaunchOptions *o, Span at) {
  const uint64_t threads = WARP_SIZE * (uint64_t)o->num_warps;
  if (!is_pow2_u64(o->num_warps))
    return diag_error(fe->ctx, at, "num_warps must be a power of two up to 32, not %u", o->num_warps);
  if (threads > MAX_BLOCK_THREADS) {
    diag_misfit(fe->ctx, FIT_THREADS, threads, MAX_BLOCK_THREADS);
    return diag_error(fe->ctx, at, "num_warps=%u makes %llu threads, and a block has at most %d", o->num_warps,
                      (unsigned long long)threads, MAX_BLOCK_THREADS);
  }
  if (!is_pow2_u64(o->num_ctas) || o->num_ctas > 16)
    return diag_error(fe->ctx, at, "num_ctas must be a power of two up to 16, not %u", o->num_ctas);
  if (o->num_ctas > 1 && !fe->target->has_cluster)
    return diag_error(fe->ctx, at, "num_ctas above 1 needs sm_90 or later, this is %s", fe->target->name);
  return true;
}

bool frontend_check_params(Frontend *fe, const CtFunction *kernel) {
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    if (p->kind != PARAM_VARARGS && p->kind != PARAM_KWARGS) continue;
    diag_error(fe->ctx, p->node->span, "a kernel cannot have `%s%s`: its parameters are its binary interface",
               p->kind == PARAM_KWARGS ? "**" : "*", p->name);
    diag_note(fe->ctx, (Span){0, 0}, "name each parameter, constexprs as `NAME: tl.constexpr`; functions that the "
              "kernel calls may have `*args`");
    return false;
  }
  return true;
}

// A function with errors gets no warnings: what it does not use or reach may be their consequence.
static void warn(Lower *L, const Func *f, const Node *def) {
  for (uint32_t i = 0; i < L->visited.count; i++) {
    warn_unused_variables(L, L->visited.data[i]);
    warn_unreachable(L, L->visited.data[i]);
    warn_compares(L, L->visited.data[i]);
  }
  warn_missing_store(L, f, def);
}

bool frontend_lower_into(Frontend *fe, Module *m, CtFunction *kernel, const ParamSpec *specs,
                         const LaunchOptions *launch) {
  Context *ctx = fe->ctx;
  if (!frontend_check_params(fe, kernel)) return false;
  if (frontend_count_open(kernel, specs)) return report_open(fe, kernel, specs);
  if (!frontend_check_signature(fe, kernel, specs)) return false;
  for (uint32_t i = 0; i < kernel->num_params; i++)
    if (kernel->params[i].is_constexpr &&
        (kernel->params[i].do_not_specialize || kernel->params[i].do_not_specialize_on_alignment))
      return diag_error(ctx, kernel->params[i].node->span,
                        "parameter `%s` is a constexpr and in do_not_specialize: a constant is always specialised",
                        kernel->params[i].name);
  uint32_t errors = diag_error_count(ctx);
  Func *f = func_new(m, kernel->name, kernel->def->func.name_span);
  Lower L = {.fe = fe, .ctx = ctx, .arena = &ctx->arena, .ct = fe->ct, .module = m, .options = launch,
             .is_gluon = kernel->is_gluon, .kernel = kernel, .specs = specs};
  L.b = builder_at_end(ctx, f, f->body, kernel->def->func.name_span);
  Frame frame = {.fn = kernel};
  L.frame = &frame;
  lower_visit(&L, kernel);
  if (!add_params(&L, kernel, specs, &frame.scope)) return false;
  Cont k = {&kernel->def->func.body, 0, NULL};
  LiveOut out = {NULL, true};
  lower_stmts(&L, &k, &out);
  if (frame.scope.ret && !term_is_none(frame.scope.ret)) {
    const Node *at = value_return(&kernel->def->func.body);
    lower_error(&L, at ? at->span : kernel->def->func.name_span,
                "kernel `%s` returns %s; a kernel gives its results through memory", kernel->name,
                term_describe(&L, frame.scope.ret));
    lower_hint(&L, "store the value with store(…)");   // a @triton.jit function that returns a value is no kernel
  }
  lower_cursor_to_end(&L, f->body);
  build_op(&L.b, OP_RETURN, NULL, 0);
  if (diag_error_count(ctx) != errors || !lower_check_roles(&L) || !lower_check_owned_results(&L)) return false;
  warn(&L, f, kernel->def);
  return true;
}

Module *frontend_lower(Frontend *fe, CtFunction *kernel, const ParamSpec *specs, const LaunchOptions *launch) {
  if (!check_options(fe, launch, kernel->def->func.name_span)) return NULL;
  // A program's tiles are not laid out over a cluster, so a second block would repeat all the work, atomics included.
  if (launch->num_ctas > 1 && !kernel->is_gluon &&
      diag_warning(fe->ctx, WARN_NUM_CTAS, kernel->def->func.name_span,
                   "num_ctas = %u: programs are not split over clusters, each runs in one block", launch->num_ctas)) {
    diag_note(fe->ctx, (Span){0, 0}, "leave num_ctas at 1, and give a large tile more warps");
  }
  Module *m = module_new(fe->ctx, fe->target);
  m->num_warps = launch->num_warps;
  m->num_stages = (uint32_t)min_i64(launch->num_stages, MAX_STAGES);
  m->maxnreg = launch->maxnreg;
  m->fp_fusion = launch->enable_fp_fusion;
  m->debug = launch->debug;
  m->auto_tma = launch->auto_tma;
  m->cooperative = launch->launch_cooperative_grid;
  m->pdl = launch->launch_pdl;
  m->as_written = kernel->is_gluon;
  if (kernel->is_gluon) m->num_ctas = launch->num_ctas;
  m->stage = kernel->is_gluon ? STAGE_LAID_OUT : STAGE_TILE;
  return frontend_lower_into(fe, m, kernel, specs, launch) ? m : NULL;
}
