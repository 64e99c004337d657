// Reads the text form of the IR (see print.c). Checks what the text alone decides: counts of operands, results and
// blocks, and names in scope; parse_type.c does this for types and layouts. ir_verify checks what ops mean together.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/parser.h"
#include "ir/text.h"

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

// Reads one of the words: *out is its number. The array may have holes (NULL).
static bool parse_enum(Parser *p, const char *const *texts, uint32_t n, const char *what, uint32_t *out) {
  for (*out = 0; *out < n; ++*out)
    if (texts[*out] && is_word(p, texts[*out])) {
      next(p);
      return true;
    }
  return fail(p, what);
}

static bool parse_string(Parser *p, const char **out) {
  if (p->tok.kind != TOK_STRING) return fail(p, "a string");
  *out = lex_string(p->ctx, &p->tok);
  next(p);
  return true;
}

// *bits gets the token of a constant's value, which can be read only when its type is known.
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
    const char *text = "";
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
        if (!parse_string(p, &text)) return false;
        op_set_str(p->ctx, attrs, key, text);
        break;
      case ATTR_CLASS_ENUM:
        text = arena_printf(&p->ctx->arena, "a value of %s", attr_name(key));
        if (!parse_enum(p, kind->texts, kind->num_texts, text, &n)) return false;
        op_set_int(p->ctx, attrs, key, n);
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
  else if (elem->kind == TYPE_SCALAR && scalar_is_float(elem->scalar))
    bits = num_encode(scalar_num_format(elem->scalar), strtod(s, &end), NUM_RNE, false);
  else bits = s[0] == '-' ? (uint64_t)strtoll(s, &end, 10) : strtoull(s, &end, 10);
  uint32_t width = type_elem_bits(elem);
  bool negative = s[0] == '-', fits = width >= 64 || (negative ? ~bits >> (width - 1) == 0 : bits >> width == 0);
  if (*end || (!type_is_float(elem) && (errno || !fits)))
    return diag_error(p->ctx, t->span, "not a number of this type");
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
    return diag_error(p->ctx, span, "%s takes %s%u operands, not %u", info->name, op_has_list(oc) ? "at least " : "",
                      fixed, operands);
  if (info->num_results >= 0 && results != (uint32_t)info->num_results)
    return diag_error(p->ctx, span, "%s has %d results, not %u", info->name, info->num_results, results);
  return true;
}

typedef VEC(LexToken) Names;
typedef VEC(Value *) Values;
typedef VEC(const Type *) Types;

// %a, %b =
static bool parse_result_names(Parser *p, Names *names) {
  if (p->tok.kind != TOK_VALUE) return true;
  do {
    if (p->tok.kind != TOK_VALUE) return fail(p, "a result");
    vec_push(&p->ctx->arena, names, p->tok);
    next(p);
  } while (accept(p, ','));
  return expect(p, '=');
}

static bool parse_operands(Parser *p, Opcode oc, Values *operands) {
  // An op that takes no operands may stand before a line that begins with a result.
  if (!op_num_fixed(oc) && !op_has_list(oc)) return true;
  if (p->tok.kind != TOK_VALUE && !is_word(p, "_")) return true;
  do {
    Value *v = NULL;
    Span at = p->tok.span;
    if (!parse_use(p, &v)) return false;
    if (!v && !op_operand_is_optional(oc, operands->count))
      return diag_error(p->ctx, at, "this operand of %s is not optional", op_info[oc].name);
    vec_push(&p->ctx->arena, operands, v);
  } while (accept(p, ','));
  return true;
}

// `: type, type`, which may be left out where the operands and attributes decide the types.
static bool parse_result_types(Parser *p, Opcode oc, const Values *operands, const Op *attrs, Types *types) {
  Arena *arena = &p->ctx->arena;
  if (accept(p, ':')) {
    do {
      const Type *t = NULL;
      if (!parse_type(p, &t)) return false;
      vec_push(arena, types, t);
    } while (accept(p, ','));
    return true;
  }
  const Type **inferred = arena_array(arena, const Type *, operands->count + 2);
  int n = infer_types(p->ctx, oc, operands->data, operands->count, attrs, inferred);
  if (n < 0) return fail(p, "':' and the result types");
  for (int i = 0; i < n; i++) vec_push(arena, types, inferred[i]);
  return true;
}

static bool parse_blocks(Parser *p, Op *op) {
  const bool any_number = op_info[op->opcode].num_blocks < 0;
  for (uint32_t i = 0; any_number ? !i || is_word(p, "do") : i < op->num_blocks; i++) {
    if (!is_word(p, "do")) return fail(p, "'do' and a block");
    next(p);
    if (any_number) op_add_block(p->ctx, p->func, op);
    uint32_t mark = p->scope.count;
    if (!parse_block_args(p, op->blocks[i]) || !parse_block(p, op->blocks[i])) return false;
    leave_scope(p, mark);
  }
  return true;
}

// %a, %b = name %x, %y {attrs} : type, type do (%i: type) { … } do { … }
static bool parse_op(Parser *p, Block *block) {
  Names names = {0};
  Values operands = {0};
  Types types = {0};
  if (!parse_result_names(p, &names)) return false;
  Opcode oc;
  Span span = p->tok.span;
  if (p->tok.kind != TOK_WORD) return fail(p, "an operation");
  if (!op_find(p->tok.text, p->tok.size, &oc))
    return diag_error(p->ctx, span, "unknown operation '%s'", token_text(p));
  next(p);
  Op attrs = {0};
  LexToken bits = {.kind = TOK_END};
  if (!parse_operands(p, oc, &operands) || !parse_attrs(p, &attrs, &bits)) return false;
  bool written = is_punct(p, ':');
  if (!written && !check_counts(p, oc, span, operands.count, names.count)) return false;
  if ((written || names.count) && !parse_result_types(p, oc, &operands, &attrs, &types)) return false;
  if (types.count != names.count)
    return diag_error(p->ctx, span, "%u results but %u result types", names.count, types.count);
  if (!check_counts(p, oc, span, operands.count, types.count)) return false;

  Op *op = op_new(p->ctx, p->func, oc, span, types.data, types.count, operands.data, operands.count,
                  (uint32_t)max_i64(op_info[oc].num_blocks, 0));
  op_append(op, block);
  op_copy_attrs(p->ctx, op, &attrs);
  if ((bits.kind != TOK_END && !set_bits(p, op, &bits)) || !parse_blocks(p, op)) return false;
  for (uint32_t i = 0; i < names.count; i++) {
    const LexToken *t = &names.data[i];
    if (!define(p, intern_n(p->ctx, t->text, t->size), t->span, &op->results[i])) return false;
  }
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

// box, extents, strides and the parameters that give them: a number for each axis of a descriptor.
static bool parse_param_list(Parser *p, FuncParam *param, const char *key, Span at) {
  const struct { const char *name; int64_t *values; int *params; } lists[] = {
      {"box", param->box, NULL}, {"extents", param->extent_values, NULL}, {"strides", param->stride_values, NULL},
      {"extent_params", NULL, param->extent_params}, {"stride_params", NULL, param->stride_params}};
  int64_t list[MAX_DESC_RANK] = {0};
  uint32_t n = 0;
  if (!parse_ints(p, list, MAX_DESC_RANK, &n)) return false;
  for (uint32_t k = 0; k < countof(lists); k++) {
    if (strcmp(lists[k].name, key) != 0) continue;
    for (uint32_t i = 0; i < MAX_DESC_RANK; i++)
      if (lists[k].values) lists[k].values[i] = list[i];
      else lists[k].params[i] = (int)list[i];
    return true;
  }
  return diag_error(p->ctx, at, "unknown parameter attribute '%s'", key);
}

static bool parse_param_attr(Parser *p, FuncParam *param) {
  Span at = p->tok.span;
  const char *key = "";
  uint32_t choice = 0;
  int64_t v = 0;
  if (!parse_word(p, "a parameter attribute", &key) || !expect(p, '=')) return false;
  if (strcmp(key, "name") == 0) return parse_string(p, &param->name);
  if (strcmp(key, "spelling") == 0) return parse_string(p, &param->spelling);
  if (strcmp(key, "kind") == 0) {
    if (!parse_enum(p, param_kind_words, NUM_PARAM_KINDS, "plain, desc, auto_tensormap, scratch or desc_fields",
                    &choice))
      return false;
    param->kind = (FuncParamKind)choice;
    return true;
  }
  if (strcmp(key, "padding") == 0) {
    const AttrKind *k = attr_kind(ATTR_PADDING);
    if (!parse_enum(p, k->texts, k->num_texts, "a padding", &choice)) return false;
    param->padding = (Padding)choice;
    return true;
  }
  if (is_punct(p, '[')) return parse_param_list(p, param, key, at);
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
    const char *value = "";
    if (!parse_string(p, &value)) return false;
    vec_push(&p->ctx->arena, &names, name);
    vec_push(&p->ctx->arena, &values, value);
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
  Module *m = p->module;
  Span at = p->tok.span;
  const char *key = "";
  if (!parse_word(p, "a module attribute", &key) || !expect(p, '=')) return false;
  if (strcmp(key, "stage") == 0) {
    uint32_t stage = 0;
    if (!parse_enum(p, stage_words, countof(stage_words), "tile, laid_out or allocated", &stage)) return false;
    m->stage = (Stage)stage;
    return true;
  }
  if (strcmp(key, "target") == 0) {
    Span name_at = p->tok.span;
    const char *name = "";
    if (!parse_string(p, &name)) return false;
    m->target = target_find(name);
    return m->target || diag_error(p->ctx, name_at, "unknown target");
  }
  int64_t v = 0;
  if (!parse_int(p, &v)) return false;
#define FIELD(text, field, usual) if (strcmp(key, #text) == 0) return m->field = (__typeof__(m->field))v, true;
#include "ir/module.def"
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
  Parser p = {.ctx = ctx, .lexer = {file, 0}, .module = module_new(ctx, target_find("sm_90a"))};
  next(&p);
  return parse_module(&p) ? p.module : NULL;
}
