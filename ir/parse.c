// Reads the IR text form (see print.c). Checks what the text alone decides: counts of operands, results and blocks, names
// in scope; parse_type.c does so for types and layouts. What the ops mean together is ir_verify's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/parser.h"

// ---- names in scope ----

static bool define(Parser *p, const char *name, Span span, Value *v) {
  MapSlot *s = map_at(&p->ctx->arena, &p->names, name);
  if (s->value) return diag_error(p->ctx, span, "%%%s is already defined", name);
  s->value = v;
  vec_push(&p->ctx->arena, &p->scope, name);
  if (name[0] < '0' || name[0] > '9') v->name = name;
  return true;
}

static void leave_scope(Parser *p, uint32_t mark) {
  while (p->scope.count > mark) map_get(&p->names, p->scope.data[--p->scope.count])->value = NULL;
}

static bool parse_use(Parser *p, Value **out) {
  if (is_word(p, "_")) {
    *out = NULL;
    next(p);
    return true;
  }
  if (p->tok.kind != TOK_VALUE) return fail(p, "a value");
  const MapSlot *s = map_get(&p->names, token_text(p));
  if (!s || !s->value) return diag_error(p->ctx, p->tok.span, "%%%s is not defined here", token_text(p));
  *out = s->value;
  next(p);
  return true;
}

// ---- attributes ----

// A constant's value is read once its type is known: the token is kept.
static bool parse_attrs(Parser *p, Op *attrs, LexToken *bits) {
  if (!accept(p, '{')) return true;
  while (!is_punct(p, '}')) {
    if (attrs->num_attrs + (bits->kind != TOK_END) && !expect(p, ',')) return false;
    AttrKey key;
    if (p->tok.kind != TOK_WORD || !attr_find(p->tok.text, p->tok.size, &key)) return fail(p, "an attribute");
    if (op_attr(attrs, key)) return diag_error(p->ctx, p->tok.span, "%s is given twice", attr_name(key));
    next(p);
    if (!expect(p, '=')) return false;
    const AttrKind *kind = attr_kind(key);
    int64_t v = 0, list[64];
    uint32_t n = 0;
    switch (kind->cls) {
      case ATTR_CLASS_INT:
        if (!parse_int(p, &v)) return false;
        op_set_int(p->ctx, attrs, key, v);
        break;
      case ATTR_CLASS_INTS:
        if (!parse_ints(p, list, countof(list), &n)) return false;
        op_set_ints(p->ctx, attrs, key, list, n);
        break;
      case ATTR_CLASS_STR:
        if (p->tok.kind != TOK_STRING) return fail(p, "a string");
        op_set_str(p->ctx, attrs, key, lex_string(p->ctx, &p->tok));
        next(p);
        break;
      case ATTR_CLASS_ENUM:
        for (n = 0; n < kind->num_texts && !is_word(p, kind->texts[n]); n++) {}
        if (n == kind->num_texts) return fail(p, arena_printf(&p->ctx->arena, "a value of %s", attr_name(key)));
        op_set_int(p->ctx, attrs, key, n);
        next(p);
        break;
      case ATTR_CLASS_BITS:
        if (p->tok.kind != TOK_NUMBER && !is_word(p, "true") && !is_word(p, "false")) return fail(p, "a number");
        *bits = p->tok;
        next(p);
        break;
    }
  }
  next(p);
  return true;
}

static bool set_bits(Parser *p, Op *op, const LexToken *t) {
  if (!op->num_results) return diag_error(p->ctx, t->span, "a value on an operation without a result");
  const Type *elem = type_elem(op->results[0].type);
  const char *s = intern_n(p->ctx, t->text, t->size);
  uint64_t bits;
  char *end = "";
  errno = 0;
  if (t->kind == TOK_WORD) bits = s[0] == 't';
  else if (strchr(s, 'x')) bits = strtoull(s, &end, 16);
  else if (elem->kind == TYPE_SCALAR && scalar_is_float(elem->scalar)) bits = num_encode(scalar_num_format(elem->scalar), strtod(s, &end), NUM_RNE, false);
  else bits = s[0] == '-' ? (uint64_t)strtoll(s, &end, 10) : strtoull(s, &end, 10);
  uint32_t width = type_elem_bits(elem);
  bool negative = s[0] == '-', fits = width >= 64 || (negative ? ~bits >> (width - 1) == 0 : bits >> width == 0);
  if (*end || (!type_is_float(elem) && (errno || !fits))) return diag_error(p->ctx, t->span, "not a number of this type");
  op_set_bits(p->ctx, op, ATTR_VALUE, num_zext(bits, type_elem_bits(elem)));
  return true;
}

// ---- ops and blocks ----

static bool parse_block(Parser *p, Block *b);

// (%a: type, %b: type)
static bool parse_block_args(Parser *p, Block *b) {
  if (!accept(p, '(')) return true;
  while (!is_punct(p, ')')) {
    if (b->num_args && !expect(p, ',')) return false;
    if (p->tok.kind != TOK_VALUE) return fail(p, "a block argument");
    LexToken name = p->tok;
    const Type *type = NULL;
    next(p);
    if (!expect(p, ':') || !parse_type(p, &type)) return false;
    Value *v = block_add_arg(p->ctx, b, type);
    if (!define(p, intern_n(p->ctx, name.text, name.size), name.span, v)) return false;
  }
  next(p);
  return true;
}

static bool check_counts(Parser *p, Opcode oc, Span span, uint32_t operands, uint32_t results) {
  const OpInfo *info = &op_info[oc];
  uint32_t fixed = op_num_fixed(oc);
  if (operands < fixed || (operands > fixed && !op_has_list(oc)))
    return diag_error(p->ctx, span, "%s takes %s%u operands, not %u", info->name, op_has_list(oc) ? "at least " : "", fixed, operands);
  if (info->num_results >= 0 && results != (uint32_t)info->num_results)
    return diag_error(p->ctx, span, "%s has %d results, not %u", info->name, info->num_results, results);
  return true;
}

// %a, %b = name %x, %y {attrs} : type, type do (%i: type) { … } do { … }
static bool parse_op(Parser *p, Block *block) {
  Arena *arena = &p->ctx->arena;
  VEC(LexToken) names = {0};
  VEC(Value *) operands = {0};
  VEC(const Type *) types = {0};
  if (p->tok.kind == TOK_VALUE) {
    do {
      if (p->tok.kind != TOK_VALUE) return fail(p, "a result");
      vec_push(arena, &names, p->tok);
      next(p);
    } while (accept(p, ','));
    if (!expect(p, '=')) return false;
  }
  Opcode oc;
  Span span = p->tok.span;
  if (p->tok.kind != TOK_WORD) return fail(p, "an operation");
  if (!opcode_find(p->tok.text, p->tok.size, &oc)) return diag_error(p->ctx, span, "unknown operation '%s'", token_text(p));
  next(p);
  // An op that takes no operands may stand before a line that begins with a result.
  if ((op_num_fixed(oc) || op_has_list(oc)) && (p->tok.kind == TOK_VALUE || is_word(p, "_"))) {
    do {
      Value *v = NULL;
      Span at = p->tok.span;
      if (!parse_use(p, &v)) return false;
      if (!v && !op_operand_is_optional(oc, operands.count)) return diag_error(p->ctx, at, "this operand of %s is not optional", op_info[oc].name);
      vec_push(arena, &operands, v);
    } while (accept(p, ','));
  }
  Op attrs = {0};
  LexToken bits = {.kind = TOK_END};
  if (!parse_attrs(p, &attrs, &bits)) return false;
  if (accept(p, ':')) {
    do {
      const Type *t = NULL;
      if (!parse_type(p, &t)) return false;
      vec_push(arena, &types, t);
    } while (accept(p, ','));
  } else if (names.count) {
    uint32_t fixed = op_num_fixed(oc);
    if (operands.count < fixed) return check_counts(p, oc, span, operands.count, names.count);
    const Type **inferred = arena_array(arena, const Type *, operands.count + 2);
    int n = infer_types(p->ctx, oc, operands.data, operands.count, &attrs, inferred);
    if (n < 0) return fail(p, "':' and the result types");
    for (int i = 0; i < n; i++) vec_push(arena, &types, inferred[i]);
  }
  if (types.count != names.count) return diag_error(p->ctx, span, "%u results but %u result types", names.count, types.count);
  if (!check_counts(p, oc, span, operands.count, types.count)) return false;

  Op *op = op_new(p->ctx, p->func, oc, span, types.data, types.count, operands.data, operands.count, (uint32_t)op_info[oc].num_blocks);
  op_append(op, block);
  op_copy_attrs(p->ctx, op, &attrs);
  if (bits.kind != TOK_END && !set_bits(p, op, &bits)) return false;
  for (uint32_t i = 0; i < op->num_blocks; i++) {
    if (!is_word(p, "do")) return fail(p, "'do' and a block");
    next(p);
    uint32_t mark = p->scope.count;
    if (!parse_block_args(p, op->blocks[i]) || !parse_block(p, op->blocks[i])) return false;
    leave_scope(p, mark);
  }
  for (uint32_t i = 0; i < names.count; i++)
    if (!define(p, intern_n(p->ctx, names.data[i].text, names.data[i].size), names.data[i].span, &op->results[i])) return false;
  return true;
}

static bool parse_block(Parser *p, Block *b) {
  if (++p->depth > MAX_PARSE_DEPTH) return diag_error(p->ctx, p->tok.span, "blocks nested too deeply");
  if (!expect(p, '{')) return false;
  while (!is_punct(p, '}')) {
    if (p->tok.kind == TOK_END) return fail(p, "'}'");
    if (!parse_op(p, b)) return false;
  }
  next(p);
  p->depth--;
  return true;
}

// ---- functions and module ----

static bool parse_enum(Parser *p, const char *const *texts, uint32_t n, const char *what, uint32_t *out) {
  for (*out = 0; *out < n; ++*out)
    if (texts[*out] && is_word(p, texts[*out])) {
      next(p);
      return true;
    }
  return fail(p, what);
}

static bool parse_param_attr(Parser *p, FuncParam *param) {
  static const char *const kinds[] = {"plain", "desc", "auto_tensormap", "scratch", "desc_fields"};
  Span at = p->tok.span;
  const char *key = "";
  uint32_t n = 0, choice = 0;
  int64_t v = 0, list[MAX_RANK] = {0};
  if (!parse_word(p, "a parameter attribute", &key) || !expect(p, '=')) return false;
  if (strcmp(key, "name") == 0 || strcmp(key, "spelling") == 0) {
    if (p->tok.kind != TOK_STRING) return fail(p, "a string");
    *(key[0] == 'n' ? &param->name : &param->spelling) = lex_string(p->ctx, &p->tok);
    next(p);
    return true;
  }
  if (strcmp(key, "kind") == 0) {
    if (!parse_enum(p, kinds, countof(kinds), "plain, desc, auto_tensormap, scratch or desc_fields", &choice)) return false;
    param->kind = (FuncParamKind)choice;
    return true;
  }
  if (strcmp(key, "padding") == 0) {
    const AttrKind *k = attr_kind(ATTR_PADDING);
    if (!parse_enum(p, k->texts, k->num_texts, "a padding", &choice)) return false;
    param->padding = (Padding)choice;
    return true;
  }
  if (is_punct(p, '[')) {
    if (!parse_ints(p, list, MAX_DESC_RANK, &n)) return false;
    int64_t *values = strcmp(key, "box") == 0 ? param->box : strcmp(key, "extents") == 0 ? param->extent_values : strcmp(key, "strides") == 0 ? param->stride_values : NULL;
    int *params = strcmp(key, "extent_params") == 0 ? param->extent_params : strcmp(key, "stride_params") == 0 ? param->stride_params : NULL;
    if (!values && !params) return diag_error(p->ctx, at, "unknown parameter attribute '%s'", key);
    for (uint32_t i = 0; i < MAX_DESC_RANK; i++) {
      if (values) values[i] = list[i];
      else params[i] = (int)list[i];
    }
    return true;
  }
  if (!parse_int(p, &v)) return false;
  if (strcmp(key, "divisible") == 0) param->divisible = v;
  else if (strcmp(key, "swizzle") == 0) param->swizzle_bytes = (uint32_t)v;
  else if (strcmp(key, "signed") == 0) param->is_signed = v != 0;
  else if (strcmp(key, "base") == 0) param->base_param = (int)v;
  else return diag_error(p->ctx, at, "unknown parameter attribute '%s'", key);
  return true;
}

static bool parse_params(Parser *p) {
  Func *f = p->func;
  if (!expect(p, '(')) return false;
  while (!is_punct(p, ')')) {
    if (f->num_params && !expect(p, ',')) return false;
    if (p->tok.kind != TOK_VALUE) return fail(p, "a parameter");
    LexToken name = p->tok;
    const Type *type = NULL;
    next(p);
    if (!expect(p, ':') || !parse_type(p, &type)) return false;
    FuncParam param = {.name = intern_n(p->ctx, name.text, name.size), .divisible = 1};
    const char *printed = param.name;
    if (accept(p, '{')) {
      for (bool first = true; !is_punct(p, '}'); first = false) {
        if (!first && !expect(p, ',')) return false;
        if (!parse_param_attr(p, &param)) return false;
      }
      next(p);
    }
    Value *v = func_add_param(f, type, param);
    v->name = NULL;
    if (!define(p, printed, name.span, v)) return false;
  }
  next(p);
  return true;
}

static bool parse_constexprs(Parser *p) {
  Func *f = p->func;
  VEC(const char *) names = {0}, values = {0};
  if (!is_word(p, "constexpr")) return true;
  next(p);
  if (!expect(p, '{')) return false;
  while (!is_punct(p, '}')) {
    const char *name = "";
    if (names.count && !expect(p, ',')) return false;
    if (!parse_word(p, "a name", &name) || !expect(p, '=')) return false;
    if (p->tok.kind != TOK_STRING) return fail(p, "a string");
    vec_push(&p->ctx->arena, &names, name);
    vec_push(&p->ctx->arena, &values, lex_string(p->ctx, &p->tok));
    next(p);
  }
  next(p);
  f->constexpr_names = names.data;
  f->constexpr_values = values.data;
  f->num_constexprs = names.count;
  return true;
}

static bool parse_func(Parser *p) {
  next(p);
  if (p->tok.kind != TOK_SYMBOL) return fail(p, "'@' and the function's name");
  EACH_FUNC(f, p->module)
    if (strcmp(f->name, token_text(p)) == 0) return diag_error(p->ctx, p->tok.span, "@%s is already defined", f->name);
  p->func = func_new(p->module, token_text(p), p->tok.span);
  next(p);
  bool ok = parse_params(p) && parse_constexprs(p) && parse_block(p, p->func->body);
  leave_scope(p, 0);
  return ok;
}

static bool parse_module_attr(Parser *p) {
  static const char *const stages[] = {[STAGE_TILE] = "tile", [STAGE_LAID_OUT] = "laid_out", [STAGE_ALLOCATED] = "allocated"};
  Module *m = p->module;
  Span at = p->tok.span;
  const char *key = "";
  if (!parse_word(p, "a module attribute", &key) || !expect(p, '=')) return false;
  if (strcmp(key, "stage") == 0) {
    uint32_t stage = 0;
    if (!parse_enum(p, stages, countof(stages), "tile, laid_out or allocated", &stage)) return false;
    m->stage = (Stage)stage;
    return true;
  }
  if (strcmp(key, "target") == 0) {
    if (p->tok.kind != TOK_STRING) return fail(p, "a string");
    m->target = target_find(lex_string(p->ctx, &p->tok));
    if (!m->target) return diag_error(p->ctx, p->tok.span, "unknown target");
    next(p);
    return true;
  }
  const struct { const char *name; uint32_t *number; bool *flag; } fields[] = {
      {"num_warps", &m->num_warps, NULL}, {"num_stages", &m->num_stages, NULL}, {"num_ctas", &m->num_ctas, NULL},
      {"maxnreg", &m->maxnreg, NULL}, {"min_blocks", &m->min_blocks, NULL}, {"shared", &m->shared_bytes, NULL}, {"scratch", &m->scratch_bytes, NULL},
      {"fp_fusion", NULL, &m->fp_fusion}, {"debug", NULL, &m->debug}, {"auto_tma", NULL, &m->auto_tma},
      {"cooperative", NULL, &m->cooperative}, {"pdl", NULL, &m->pdl}};
  int64_t v = 0;
  if (!parse_int(p, &v)) return false;
  for (uint32_t i = 0; i < countof(fields); i++) {
    if (strcmp(fields[i].name, key) != 0) continue;
    if (fields[i].number) *fields[i].number = (uint32_t)v;
    else *fields[i].flag = v != 0;
    return true;
  }
  return diag_error(p->ctx, at, "unknown module attribute '%s'", key);
}

static bool parse_module(Parser *p) {
  if (is_word(p, "module")) {
    next(p);
    if (!expect(p, '{')) return false;
    for (bool first = true; !is_punct(p, '}'); first = false) {
      if (!first && !expect(p, ',')) return false;
      if (!parse_module_attr(p)) return false;
    }
    next(p);
  }
  while (p->tok.kind != TOK_END) {
    if (p->tok.kind == TOK_LAYOUT) {
      const char *name = token_text(p);
      const Layout *layout = NULL;
      next(p);
      if (!expect(p, '=') || !parse_layout(p, &layout)) return false;
      vec_push(&p->ctx->arena, &p->layouts, ((__typeof__(*p->layouts.data)){name, layout}));
    } else if (is_word(p, "func")) {
      if (!parse_func(p)) return false;
    } else {
      return fail(p, "'func' or a layout");
    }
  }
  return true;
}

Module *ir_parse(Context *ctx, const SourceFile *file) {
  Parser p = {.ctx = ctx, .lexer = {ctx, file, 0}, .module = module_new(ctx, target_find("sm_90a"))};
  next(&p);
  return parse_module(&p) ? p.module : NULL;
}
