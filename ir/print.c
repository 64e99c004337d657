// The IR as text, deterministic: values have numbers in order, or their names made unique; layouts stand at the top in
// the order of their first use. ir_parse reads it back, and printing that gives the same bytes.
//
//   module {stage = laid_out, target = "sm_90a", num_warps = 4}
//   #0 = layout<512, reg = [128, 256], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
//   func @scale(%x: ptr<f32> {divisible = 16}, %n: i32) {
//     %0 = range {start = 0, end = 512} : tensor<512xi32, #0>
//     %r = for %a, %b, %c, %init : f32 do (%i: i32, %acc: f32) {
//       yield %acc
//     }
//     return
//   }
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/fold.h"
#include "ir/text.h"

typedef struct {
  Buf *out;
  Context *ctx;            // NULL: a single op, with layouts in full and names as they are
  VEC(const Layout *) layouts;
  const char **names;      // by value number
  Map used;                // interned name → the suffix to try when another value has that name
} Printer;

// ---- numbering and names ----

static void number_block(Block *b, uint32_t *n) {
  for (uint32_t i = 0; i < b->num_args; i++) b->args[i]->number = (*n)++;
  EACH_OP(op, b) {
    for (uint32_t i = 0; i < op->num_results; i++) op->results[i].number = (*n)++;
    for (uint32_t i = 0; i < op->num_blocks; i++) number_block(op->blocks[i], n);
  }
}

static void count_block(const Block *b, uint32_t *n) {
  *n += b->num_args;
  EACH_OP(op, b) {
    *n += op->num_results;
    for (uint32_t i = 0; i < op->num_blocks; i++) count_block(op->blocks[i], n);
  }
}

static uint32_t number_func(Func *f) {
  uint32_t n = 0;
  number_block(f->body, &n);
  return n;
}

uint32_t ir_count_values(const Func *f) {
  uint32_t n = 0;
  count_block(f->body, &n);
  return n;
}

void ir_number_values(Module *m) {
  EACH_FUNC(f, m) number_func(f);
}

// False if the name is taken.
static bool use_name(Printer *p, const char *name) {
  MapSlot *s = map_at(&p->ctx->arena, &p->used, name);
  if (s->number) return false;
  s->number = 1;
  return true;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void name_value(Printer *p, const Value *v) {
  if (!v->name || !v->name[0]) {
    p->names[v->number] = arena_printf(&p->ctx->arena, "%u", v->number);
    return;
  }
  char *base = arena_strndup(&p->ctx->arena, v->name, strlen(v->name));
  for (char *c = base; *c; c++)
    if (!is_word(*c)) *c = '_';
  if (base[0] >= '0' && base[0] <= '9') base = arena_printf(&p->ctx->arena, "_%s", base);
  const char *plain = intern(p->ctx, base), *name = plain;
  while (!use_name(p, name))
    name = intern(p->ctx, arena_printf(&p->ctx->arena, "%s_%u", base, (uint32_t)map_get(&p->used, plain)->number++));
  p->names[v->number] = name;
}

static void name_block(Printer *p, const Block *b) {
  for (uint32_t i = 0; i < b->num_args; i++) name_value(p, b->args[i]);
  EACH_OP(op, b) {
    for (uint32_t i = 0; i < op->num_results; i++) name_value(p, &op->results[i]);
    for (uint32_t i = 0; i < op->num_blocks; i++) name_block(p, op->blocks[i]);
  }
}

// ---- types ----

static void collect_layout(Printer *p, const Type *t) {
  if (!t->layout) return;
  for (uint32_t i = 0; i < p->layouts.count; i++)
    if (p->layouts.data[i] == t->layout) return;
  vec_push(&p->ctx->arena, &p->layouts, t->layout);
}

static void collect_layouts(Printer *p, const Block *b) {
  for (uint32_t i = 0; i < b->num_args; i++) collect_layout(p, b->args[i]->type);
  EACH_OP(op, b) {
    for (uint32_t i = 0; i < op->num_results; i++) collect_layout(p, op->results[i].type);
    for (uint32_t i = 0; i < op->num_blocks; i++) collect_layouts(p, op->blocks[i]);
  }
}

static void print_type(Printer *p, const Type *t) {
  static const char *const words[] = {[TYPE_TENSOR] = "tensor", [TYPE_BUFFER] = "buffer", [TYPE_DESC] = "desc"};
  switch (t->kind) {
    case TYPE_SCALAR: buf_puts(p->out, scalar_name(t->scalar)); return;
    case TYPE_TOKEN: buf_puts(p->out, "token"); return;
    case TYPE_PTR:
      buf_puts(p->out, "ptr<");
      print_type(p, t->elem);
      buf_puts(p->out, t->is_const ? ", const>" : ">");
      return;
    default: break;
  }
  buf_printf(p->out, "%s<", words[t->kind]);
  if (t->count) buf_printf(p->out, "%u * ", t->count);
  for (uint32_t i = 0; i < t->rank; i++) buf_printf(p->out, "%lldx", (long long)t->shape[i]);
  print_type(p, t->elem);
  if (t->layout) {
    buf_puts(p->out, ", ");
    uint32_t i = 0;
    while (i < p->layouts.count && p->layouts.data[i] != t->layout) i++;
    if (i < p->layouts.count) buf_printf(p->out, "#%u", i);
    else layout_print(p->out, t->layout);
  }
  buf_putc(p->out, '>');
}

void ir_print_type(Buf *out, const Type *t) {
  Printer p = {.out = out};
  print_type(&p, t);
}

// ---- attributes ----

static void print_bits(Buf *out, const Type *elem, uint64_t bits) {
  if (elem->kind != TYPE_SCALAR) {
    buf_printf(out, "0x%llx", (unsigned long long)bits);
  } else if (elem->scalar == SC_I1) {
    buf_puts(out, bits ? "true" : "false");
  } else if (!scalar_is_float(elem->scalar)) {
    buf_printf(out, "%lld", (long long)num_sext(bits, scalar_bits(elem->scalar)));
  } else {
    NumFormat f = scalar_num_format(elem->scalar);
    double x = num_decode(f, bits);
    char text[48];
    // The shortest decimal that reads back to the same bits; a NaN or infinity as bits.
    for (int digits = 1; digits <= 17 && x - x == 0; digits++) {
      snprintf(text, sizeof text, "%.*g", digits, x);
      if (num_encode(f, strtod(text, NULL), NUM_RNE, false) != bits) continue;
      buf_puts(out, text);
      if (!strpbrk(text, ".e")) buf_puts(out, ".0");
      return;
    }
    buf_printf(out, "0x%llx", (unsigned long long)bits);
  }
}

static void print_ints(Buf *out, const int64_t *v, uint32_t n) {
  buf_putc(out, '[');
  for (uint32_t i = 0; i < n; i++) buf_printf(out, "%s%lld", i ? ", " : "", (long long)v[i]);
  buf_putc(out, ']');
}

static void print_attrs(Printer *p, const Op *op) {
  if (!op->num_attrs) return;
  buf_puts(p->out, " {");
  for (uint32_t i = 0; i < op->num_attrs; i++) {
    const Attr *a = &op->attrs[i];
    const AttrKind *k = attr_kind(a->key);
    buf_printf(p->out, "%s%s = ", i ? ", " : "", attr_name(a->key));
    switch (k->cls) {
      case ATTR_CLASS_INT: buf_printf(p->out, "%lld", (long long)a->i); break;
      case ATTR_CLASS_INTS: print_ints(p->out, a->ints, a->num_ints); break;
      case ATTR_CLASS_STR: buf_quote(p->out, a->str, strlen(a->str)); break;
      case ATTR_CLASS_ENUM:
        if (a->i >= 0 && a->i < k->num_texts) buf_puts(p->out, k->texts[a->i]);
        else buf_printf(p->out, "%lld", (long long)a->i);
        break;
      case ATTR_CLASS_BITS:
        if (op->num_results) print_bits(p->out, type_elem(op->results[0].type), a->bits);
        else buf_printf(p->out, "0x%llx", (unsigned long long)a->bits);
        break;
    }
  }
  buf_putc(p->out, '}');
}

// ---- ops ----

static void print_value(Printer *p, const Value *v) {
  if (!v) buf_putc(p->out, '_');
  else if (p->names) buf_printf(p->out, "%%%s", p->names[v->number]);
  else if (v->name) buf_printf(p->out, "%%%s", v->name);
  else buf_printf(p->out, "%%%u", v->number);
}

static void print_ops(Printer *p, const Block *b, uint32_t indent);

static void print_op(Printer *p, const Op *op, uint32_t indent) {
  buf_fill(p->out, ' ', indent);
  for (uint32_t i = 0; i < op->num_results; i++) {
    if (i) buf_puts(p->out, ", ");
    print_value(p, &op->results[i]);
  }
  buf_printf(p->out, "%s%s", op->num_results ? " = " : "", op_info[op->opcode].name);
  for (uint32_t i = 0; i < op->num_operands; i++) {
    buf_puts(p->out, i ? ", " : " ");
    print_value(p, op_operand(op, i));
  }
  print_attrs(p, op);
  for (uint32_t i = 0; i < op->num_results; i++) {
    buf_puts(p->out, i ? ", " : " : ");
    print_type(p, op->results[i].type);
  }
  for (uint32_t k = 0; k < op->num_blocks; k++) {
    const Block *b = op->blocks[k];
    buf_puts(p->out, " do ");
    for (uint32_t i = 0; i < b->num_args; i++) {
      buf_puts(p->out, i ? ", " : "(");
      print_value(p, b->args[i]);
      buf_puts(p->out, ": ");
      print_type(p, b->args[i]->type);
    }
    buf_puts(p->out, b->num_args ? ") {\n" : "{\n");
    print_ops(p, b, indent + 2);
    buf_fill(p->out, ' ', indent);
    buf_putc(p->out, '}');
  }
  buf_putc(p->out, '\n');
}

static void print_ops(Printer *p, const Block *b, uint32_t indent) {
  EACH_OP(op, b) print_op(p, op, indent);
}

void ir_print_op(Buf *out, const Op *op) {
  Printer p = {.out = out};
  print_op(&p, op, 0);
}

// ---- functions and module ----

// ` {name = ` before the first attribute of a parameter, `, name = ` before the others.
static Buf *param_attr(Buf *out, bool *first, const char *name) {
  buf_printf(out, "%s%s = ", *first ? " {" : ", ", name);
  *first = false;
  return out;
}

static void print_param(Printer *p, const FuncParam *param, const char *printed_name) {
  Buf *out = p->out;
  bool first = true, is_map = param->kind == PARAM_DESC || param->kind == PARAM_AUTO_TENSORMAP;
  if (param->name && strcmp(param->name, printed_name) != 0)
    buf_quote(param_attr(out, &first, "name"), param->name, strlen(param->name));
  if (param->kind != PARAM_PLAIN) buf_puts(param_attr(out, &first, "kind"), param_kind_words[param->kind]);
  if (param->spelling) buf_quote(param_attr(out, &first, "spelling"), param->spelling, strlen(param->spelling));
  if (param->divisible > 1) buf_printf(param_attr(out, &first, "divisible"), "%lld", (long long)param->divisible);
  if (is_map) {
    buf_puts(param_attr(out, &first, "padding"), attr_kind(ATTR_PADDING)->texts[param->padding]);
    buf_printf(param_attr(out, &first, "swizzle"), "%u", param->swizzle_bytes);
    print_ints(param_attr(out, &first, "box"), param->box, MAX_DESC_RANK);
    if (param->is_signed) buf_puts(out, ", signed = 1");
  }
  if (param->kind == PARAM_AUTO_TENSORMAP) {
    int64_t extents[MAX_DESC_RANK], strides[MAX_DESC_RANK];
    for (int i = 0; i < MAX_DESC_RANK; i++) extents[i] = param->extent_params[i], strides[i] = param->stride_params[i];
    buf_printf(param_attr(out, &first, "base"), "%d", param->base_param);
    print_ints(param_attr(out, &first, "extent_params"), extents, MAX_DESC_RANK);
    print_ints(param_attr(out, &first, "stride_params"), strides, MAX_DESC_RANK);
    print_ints(param_attr(out, &first, "extents"), param->extent_values, MAX_DESC_RANK);
    print_ints(param_attr(out, &first, "strides"), param->stride_values, MAX_DESC_RANK);
  }
  if (!first) buf_putc(out, '}');
}

static void print_func(Printer *p, Func *f) {
  uint32_t n = number_func(f);
  p->names = arena_array(&p->ctx->arena, const char *, n + 1);
  p->used = (Map){0};
  name_block(p, f->body);
  buf_printf(p->out, "func @%s(", f->name);
  for (uint32_t i = 0; i < f->body->num_args; i++) {
    if (i) buf_puts(p->out, ", ");
    print_value(p, f->body->args[i]);
    buf_puts(p->out, ": ");
    print_type(p, f->body->args[i]->type);
    if (i < f->num_params) print_param(p, &f->params[i], p->names[f->body->args[i]->number]);
  }
  buf_puts(p->out, ")");
  for (uint32_t i = 0; i < f->num_constexprs; i++) {
    buf_printf(p->out, "%s%s = ", i ? ", " : " constexpr {", f->constexpr_names[i]);
    buf_quote(p->out, f->constexpr_values[i], strlen(f->constexpr_values[i]));
  }
  if (f->num_constexprs) buf_putc(p->out, '}');
  buf_puts(p->out, " {\n");
  print_ops(p, f->body, 2);
  buf_puts(p->out, "}\n");
}

void ir_print_module(Buf *out, const Module *m) {
  Printer p = {.out = out, .ctx = m->ctx};
  buf_printf(out, "module {stage = %s", stage_words[m->stage]);
  if (m->target) buf_printf(out, ", target = \"%s\"", m->target->name);
#define FIELD(text, field, usual) if (m->field != usual) buf_printf(out, ", " #text " = %u", m->field);
#include "ir/module.def"
  buf_puts(out, "}\n");
  EACH_FUNC(f, m) collect_layouts(&p, f->body);
  for (uint32_t i = 0; i < p.layouts.count; i++) {
    buf_printf(out, "#%u = ", i);
    layout_print(out, p.layouts.data[i]);
    buf_putc(out, '\n');
  }
  EACH_FUNC(f, m) print_func(&p, f);
}
