// Compile-time values as text: Python's repr() and str().
#include <string.h>

#include "frontend/comptime/value.h"

// Text past these bounds is left out: values may be cyclic, and may share parts exponentially often.
enum { REPR_DEPTH = 50, MAX_TEXT = 1 << 22 };
static void put_repr(Context *ctx, Buf *b, const CtValue *v, int depth);

static void put_str_repr(Buf *b, const CtValue *v) {
  const char *s = v->str.data;
  size_t n = v->str.size;
  char quote = memchr(s, '\'', n) && !memchr(s, '"', n) ? '"' : '\'';
  if (v->kind == CT_BYTES) buf_putc(b, 'b');
  buf_putc(b, quote);
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == quote || c == '\\') buf_printf(b, "\\%c", c);
    else if (c == '\n') buf_puts(b, "\\n");
    else if (c == '\r') buf_puts(b, "\\r");
    else if (c == '\t') buf_puts(b, "\\t");
    else if (c < 0x20 || c == 0x7f || (c >= 0x80 && v->kind == CT_BYTES)) buf_printf(b, "\\x%02x", c);
    else buf_putc(b, (char)c);
  }
  buf_putc(b, quote);
}

static void put_items(Context *ctx, Buf *b, const char *open, const CtList *list, const char *close, int depth) {
  buf_puts(b, open);
  for (uint32_t i = 0; i < list->count; i++) {
    if (i) buf_puts(b, ", ");
    put_repr(ctx, b, list->data[i], depth);
  }
  buf_puts(b, close);
}

static void put_entries(Context *ctx, Buf *b, const CtValue *v, int depth) {
  if (v->kind == CT_SET && !v->dict->count) {
    buf_puts(b, "set()");
    return;
  }
  for (uint32_t i = 0; i < v->dict->count; i++) {
    buf_puts(b, i ? ", " : "{");
    put_repr(ctx, b, v->dict->entries[i].key, depth);
    if (v->kind == CT_SET) continue;
    buf_puts(b, ": ");
    put_repr(ctx, b, v->dict->entries[i].value, depth);
  }
  buf_puts(b, v->dict->count ? "}" : "{}");
}

static void put_attrs(Context *ctx, Buf *b, const CtInstance *in, int depth) {
  buf_printf(b, "%s(", in->cls->name);
  for (uint32_t i = 0; i < in->attrs->count; i++) {
    buf_printf(b, "%s%s=", i ? ", " : "", in->attrs->bindings[i].name);
    put_repr(ctx, b, in->attrs->bindings[i].value, depth);
  }
  buf_putc(b, ')');
}

static void put_range(Buf *b, const CtValue *v) {
  const Int128 parts[3] = {v->range.start, v->range.stop, v->range.step};
  for (int i = 0; i < (v->range.step == 1 ? 2 : 3); i++) {
    buf_puts(b, i ? ", " : "range(");
    pynum_put_int(b, parts[i]);
  }
  buf_putc(b, ')');
}

static void put_repr(Context *ctx, Buf *b, const CtValue *v, int depth) {
  if (depth++ > REPR_DEPTH || b->size > MAX_TEXT) {
    buf_puts(b, "...");
    return;
  }
  switch (v->kind) {
    case CT_NONE: buf_puts(b, "None"); break;
    case CT_BOOL: buf_puts(b, v->b ? "True" : "False"); break;
    case CT_INT: pynum_put_int(b, v->i); break;
    case CT_FLOAT: pynum_put_float(b, v->f); break;
    case CT_STR: case CT_BYTES: put_str_repr(b, v); break;
    case CT_ELLIPSIS: buf_puts(b, "Ellipsis"); break;
    case CT_TUPLE: put_items(ctx, b, "(", &v->list, v->list.count == 1 ? ",)" : ")", depth); break;
    case CT_LIST: put_items(ctx, b, "[", &v->list, "]", depth); break;
    case CT_SET: case CT_DICT: put_entries(ctx, b, v, depth); break;
    case CT_RANGE: put_range(b, v); break;
    case CT_ITERATOR: buf_printf(b, "<%s object>", v->iterator.name); break;
    case CT_SLICE: {
      CtValue *parts[3] = {v->slice.lower, v->slice.upper, v->slice.step};
      put_items(ctx, b, "slice(", &(CtList){parts, 3, 3}, ")", depth);
      break;
    }
    case CT_DTYPE: buf_puts(b, ct_type_text(ctx, v->type)); break;
    case CT_FUNCTION: buf_printf(b, "<function %s>", v->fn->name); break;
    case CT_BUILTIN: buf_printf(b, "<built-in %s>", v->builtin.name); break;
    case CT_METHOD:
      put_items(ctx, b, "<bound method ", &(CtList){(CtValue *[]){v->method.fn}, 1, 1}, ">", depth);
      break;
    case CT_MODULE: buf_printf(b, "<module '%s'>", v->module->name); break;
    case CT_CLASS: buf_printf(b, "<class '%s'>", v->cls->name); break;
    case CT_INSTANCE: put_attrs(ctx, b, v->instance, depth); break;
    case CT_CONSTEXPR: put_items(ctx, b, "constexpr[", &(CtList){(CtValue *[]){v->inner}, 1, 1}, "]", depth); break;
    case CT_MISSING: buf_printf(b, "<missing %s>", v->missing.name); break;
    case NUM_CT_KINDS: break;
  }
}

const char *ct_repr(Context *ctx, const CtValue *v) {
  Buf b = buf_make(&ctx->arena);
  put_repr(ctx, &b, v, 0);
  return buf_str(&b);
}

const char *ct_to_str(Context *ctx, const CtValue *v) {
  if (v->kind == CT_STR) return v->str.data;
  if (v->kind == CT_CONSTEXPR) return ct_to_str(ctx, v->inner);
  if (v->kind == CT_DTYPE) return ct_type_name(ctx, v->type);
  return ct_repr(ctx, v);
}
