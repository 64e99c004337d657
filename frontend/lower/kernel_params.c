// The parameters of a kernel: what a specialisation lacks, and what each becomes in the IR.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <string.h>

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

bool lower_report_open(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs) {
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

bool lower_add_params(Lower *L, CtFunction *kernel, const ParamSpec *specs, Scope *scope) {
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
