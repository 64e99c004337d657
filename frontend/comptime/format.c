// Text from values: format specifications, % formatting, str.format.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

typedef struct {
  const char *fill;            // one character, UTF-8
  size_t fill_size;
  char align, sign, grouping, type;
  bool alternate, zero, has_precision;
  uint32_t width, precision;
} Spec;

enum { WIDEST = 100000, MOST_DIGITS = 500 };

static size_t char_size(const char *s) {
  unsigned char c = (unsigned char)*s;
  return c < 0x80 ? c != 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static bool read_number(const char **s, uint32_t *out) {
  for (*out = 0; **s >= '0' && **s <= '9'; ++*s) {
    *out = *out * 10 + (uint32_t)(**s - '0');
    if (*out > WIDEST) return false;
  }
  return true;
}

static bool parse_spec(const char *s, Spec *f) {
  *f = (Spec){.fill = " ", .fill_size = 1};
  size_t first = char_size(s);
  if (*s && strlen(s) > first && strchr("<>=^", s[first]) && s[first]) {
    f->fill = s;
    f->fill_size = first;
    f->align = s[first];
    s += first + 1;
  } else if (*s && strchr("<>=^", *s)) {
    f->align = *s++;
  }
  if (*s && strchr("+- ", *s)) f->sign = *s++;
  if (*s == 'z') s++;
  if (*s == '#') f->alternate = true, s++;
  if (*s == '0') {
    f->zero = true;
    s++;
  }
  if (!read_number(&s, &f->width)) return false;
  if (*s && strchr(",_", *s)) f->grouping = *s++;
  if (*s == '.') {
    s++;
    f->has_precision = *s >= '0' && *s <= '9';
    if (!f->has_precision || !read_number(&s, &f->precision)) return false;
  }
  if (*s) f->type = *s++;
  return !*s;
}

// Applies a leading zero of the width: it pads numbers after their sign, and text at its end.
static void fill_with_zeros(Spec *f, char align) {
  if (!f->zero || f->align) return;
  f->align = align;
  f->fill = "0";
  f->fill_size = 1;
}

static size_t display_length(const char *s, size_t n) {
  size_t len = 0;
  for (size_t i = 0; i < n; i++) len += ((unsigned char)s[i] & 0xc0) != 0x80;
  return len;
}

// prefix is a number's sign and base mark: `=` pads after it.
static CtValue *pad(Comptime *ct, const Spec *f, char default_align, const char *prefix, const char *body,
                    size_t size) {
  size_t len = display_length(body, size) + strlen(prefix), missing = f->width > len ? f->width - len : 0;
  char align = f->align ? f->align : default_align;
  size_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing, right = missing - left;
  Buf b = buf_make(ct->arena);
  if (align == '=') buf_puts(&b, prefix);
  for (size_t i = 0; i < left; i++) buf_write(&b, f->fill, f->fill_size);
  if (align != '=') buf_puts(&b, prefix);
  buf_write(&b, body, size);
  for (size_t i = 0; i < right; i++) buf_write(&b, f->fill, f->fill_size);
  return ct_text(ct, &b);
}

// Puts a separator between groups of the digits before the point or exponent.
static const char *group_digits(Comptime *ct, const char *digits, char separator, size_t group, bool is_float) {
  size_t whole = 0;
  while (digits[whole] && (is_float ? digits[whole] >= '0' && digits[whole] <= '9' : true)) whole++;
  Buf b = buf_make(ct->arena);
  for (size_t i = 0; i < whole; i++) {
    if (i && (whole - i) % group == 0) buf_putc(&b, separator);
    buf_putc(&b, digits[i]);
  }
  buf_puts(&b, digits + whole);
  return buf_str(&b);
}

static const char *sign_of(const Spec *f, bool negative) {
  return negative ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "";
}

static CtValue *format_int(Comptime *ct, const Spec *f, Int128 value) {
  Buf b = buf_make(ct->arena);
  if (f->type == 'c') {
    if (value >= 0 && value <= 0x10ffff) pynum_put_utf8(&b, (uint32_t)value);
    return pad(ct, f, '<', "", b.size ? b.data : "", b.size);
  }
  uint32_t base = f->type == 'x' || f->type == 'X' ? 16 : f->type == 'o' ? 8 : f->type == 'b' ? 2 : 10;
  pynum_put_int_base(&b, value, base, f->type == 'X');
  const char *digits = buf_str(&b) + (value < 0);
  if (f->grouping) digits = group_digits(ct, digits, f->grouping, base == 10 ? 3 : 4, false);
  const char *mark = f->alternate && base != 10 ? arena_printf(ct->arena, "0%c", f->type) : "";
  return pad(ct, f, '>', arena_printf(ct->arena, "%s%s", sign_of(f, value < 0), mark), digits, strlen(digits));
}

static CtValue *format_float(Comptime *ct, const Spec *f, double value, Span span) {
  if (f->precision > MOST_DIGITS) return ct_fail(ct, span, "ValueError", "precision too large");
  bool negative = signbit(value) && !isnan(value);
  double magnitude = negative ? -value : value;
  char type = f->type ? f->type : f->has_precision ? 'g' : 0;
  Buf b = buf_make(ct->arena);
  if (isnan(value) || isinf(value)) {
    const bool upper = type == 'E' || type == 'F' || type == 'G';
    buf_puts(&b, isnan(value) ? (upper ? "NAN" : "nan") : upper ? "INF" : "inf");
  } else if (!type) {
    pynum_put_float(&b, magnitude);
  } else {
    int precision = f->has_precision ? (int)f->precision : 6;
    if (type == '%') magnitude *= 100;
    char format[8] = {'%', f->alternate ? '#' : '.', f->alternate ? '.' : '*', f->alternate ? '*' : 0, 0};
    size_t n = strlen(format);
    format[n] = type == '%' ? 'f' : type == 'n' ? 'g' : type;
    format[n + 1] = 0;
    char *text = arena_alloc(ct->arena, (size_t)precision + 400);
    snprintf(text, (size_t)precision + 400, format, precision, magnitude);
    buf_puts(&b, text);
    // Without a type but with a precision, Python keeps the point: 1e+02 stays, 3 becomes 3.0.
    if (!f->type && !strpbrk(text, ".eE")) buf_puts(&b, ".0");
  }
  const char *digits = buf_str(&b);
  if (f->grouping) digits = group_digits(ct, digits, f->grouping, 3, true);
  if (type == '%') digits = arena_printf(ct->arena, "%s%%", digits);
  return pad(ct, f, '>', sign_of(f, negative), digits, strlen(digits));
}

static CtValue *format_text(Comptime *ct, const Spec *f, const char *s, size_t size) {
  if (f->has_precision) {
    size_t end = 0;
    for (uint32_t i = 0; i < f->precision && end < size; i++) end += char_size(s + end);
    size = end < size ? end : size;
  }
  return pad(ct, f, '<', "", s, size);
}

static bool is_type(char type, const char *allowed) { return !type || strchr(allowed, type); }

static CtValue *text_of(Comptime *ct, CtValue *v, bool repr, Span span) {
  if (v->kind == CT_INSTANCE) {
    CtValue *method = repr ? NULL : ct_class_special(ct, v, "__str__");
    if (!method) method = ct_class_special(ct, v, "__repr__");
    if (method) return ct_call1(ct, method, v, span);
    if (v->instance->cls->form == CLASS_EXCEPTION) {
      CtValue *args = ct_attr(ct, v, "args");
      if (args && args->list.count == 1) return ct_str(ct->ctx, ct_to_str(ct->ctx, args->list.data[0]));
    }
  }
  if (!repr && v->kind == CT_STR) return v;
  return ct_str(ct->ctx, repr ? ct_repr(ct->ctx, v) : ct_to_str(ct->ctx, v));
}

CtValue *ct_format_value(Comptime *ct, CtValue *v, char conversion, const char *spec, Span span) {
  v = ct_unwrap(v);
  if (v->kind == CT_MISSING) return ct_fail_missing(ct, span, v);
  if (conversion || !*spec) {
    v = text_of(ct, v, conversion == 'r' || conversion == 'a', span);
    if (!v || !*spec) return v;
  }
  Spec f;
  if (!parse_spec(spec, &f)) return ct_fail(ct, span, "ValueError", "malformed format '%s'", spec);
  bool is_int = v->kind == CT_INT || v->kind == CT_BOOL;
  fill_with_zeros(&f, is_int || v->kind == CT_FLOAT ? '=' : '<');
  Int128 i = v->kind == CT_INT ? v->i : v->kind == CT_BOOL ? v->b : 0;
  if (is_int && is_type(f.type, "bcdoxXn") && !f.has_precision) return format_int(ct, &f, i);
  if (is_int && f.type && is_type(f.type, "eEfFgG%")) return format_float(ct, &f, (double)i, span);
  if (v->kind == CT_FLOAT && is_type(f.type, "eEfFgGn%")) return format_float(ct, &f, v->f, span);
  const bool is_plain = v->kind == CT_NONE || v->kind == CT_LIST || v->kind == CT_TUPLE || v->kind == CT_DICT ||
                        v->kind == CT_SET || v->kind == CT_RANGE;
  const bool is_text = is_type(f.type, "s") && !f.sign && !f.grouping && !f.alternate && f.align != '=';
  if (is_text && v->kind != CT_FLOAT && !is_int && !is_plain) {
    CtValue *text = text_of(ct, v, false, span);
    return text ? format_text(ct, &f, text->str.data, text->str.size) : NULL;
  }
  return ct_fail(ct, span, "ValueError", "format '%s' does not fit '%s'", spec, ct_kind_name(v));
}

// A conversion of a %-format, after its `%` and `(key)`. flags: of `+`, space and `#`.
typedef struct { const char *flags, *width; int width_size; bool left, zero; char type; } Conversion;

// Reads a conversion at *s and moves *s to its type. False if the text ends before.
static bool read_conversion(Comptime *ct, const char **s, Conversion *out) {
  Buf flags = buf_make(ct->arena);
  *out = (Conversion){0};
  for (; **s && strchr("-+ #0", **s); ++*s) {
    if (**s == '-') out->left = true;
    else if (**s == '0') out->zero = true;
    else buf_putc(&flags, **s);
  }
  out->flags = buf_str(&flags);
  out->width = *s;
  while (**s && strchr("0123456789.", **s)) ++*s;
  out->width_size = (int)(*s - out->width);
  out->type = **s == 'i' || **s == 'u' ? 'd' : **s;
  return **s;
}

static CtValue *convert(Comptime *ct, const Conversion *c, CtValue *v, Span span) {
  v = ct_unwrap(v);
  char type = c->type;
  if (type == 'd' && v->kind == CT_FLOAT && !(v = ct_call_builtin(ct, NULL, "int", CT_ARGS(span, v)))) return NULL;
  if (type == 'c' && v->kind == CT_STR) type = 's';
  const int width_size = c->width_size;
  if (type != 's' && type != 'r' && type != 'a') {
    const char *align = c->left ? "<" : "", *zero = c->zero && !c->left ? "0" : "";
    const char *spec = arena_printf(ct->arena, "%s%s%s%.*s%c", align, c->flags, zero, width_size, c->width, type);
    return ct_format_value(ct, v, 0, spec, span);
  }
  const char *spec = arena_printf(ct->arena, "%s%.*ss", c->left ? "<" : ">", width_size, c->width);
  return ct_format_value(ct, v, type == 's' ? 's' : 'r', spec, span);
}

// The value of `%(key)` at *s, which moves past it. NULL after an error.
static CtValue *value_of_key(Comptime *ct, const char **s, const CtValue *args, Span span) {
  const char *close = strchr(*s, ')');
  if (!close || args->kind != CT_DICT) return ct_fail(ct, span, "TypeError", "%%(name) needs a dictionary");
  const char *key = arena_strndup(ct->arena, *s + 1, (size_t)(close - *s - 1));
  *s = close + 1;
  CtValue *v = ct_dict_get_str(args->dict, key);
  return v ? v : ct_fail(ct, span, "KeyError", "no entry for key '%s'", key);
}

// "%d %s" % args: each conversion becomes a format specification.
CtValue *ct_format_percent(Comptime *ct, CtValue *format, CtValue *args, Span span) {
  args = ct_unwrap(args);
  Buf b = buf_make(ct->arena);
  uint32_t next = 0, count = args->kind == CT_TUPLE ? args->list.count : 1;
  for (const char *s = format->str.data, *end = s + format->str.size; s < end; s++) {
    if (*s != '%' || *++s == '%') {
      buf_putc(&b, *s);
      continue;
    }
    CtValue *v = NULL;
    if (*s == '(' && !(v = value_of_key(ct, &s, args, span))) return NULL;
    Conversion c;
    if (!read_conversion(ct, &s, &c)) return ct_fail(ct, span, "ValueError", "incomplete %% format");
    if (!v) {
      if (next >= count) return ct_fail(ct, span, "TypeError", "not enough values for the %% format");
      v = args->kind == CT_TUPLE ? args->list.data[next] : args;
      next++;
    }
    CtValue *text = convert(ct, &c, v, span);
    if (!text) return NULL;
    buf_write(&b, text->str.data, text->str.size);
    if (!ct_grow(ct, b.size, span)) return NULL;
  }
  if (next < count && args->kind != CT_DICT && args->kind != CT_LIST)
    return ct_fail(ct, span, "TypeError", "too many values for the %% format");
  return ct_text(ct, &b);
}

// The value a replacement field names: `0`, `name`, ``, followed by .attr and [key].
static CtValue *field_value(Comptime *ct, const char *name, size_t n, uint32_t *next, const CtArgs *a) {
  size_t head = 0;
  while (head < n && name[head] != '.' && name[head] != '[') head++;
  Int128 index;
  bool big;
  CtValue *v = NULL;
  if (!head || pynum_read_int(name, head, 10, &index, &big)) {
    uint32_t at = head ? (uint32_t)index : (*next)++;
    if (at >= a->num_args) return ct_fail(ct, a->span, "IndexError", "format() has no argument %u", at);
    v = a->args[at];
  } else {
    const char *id = intern_n(ct->ctx, name, head);
    for (uint32_t i = 0; i < a->num_kwargs && !v; i++)
      if (a->kwargs[i].name == id) v = a->kwargs[i].value;
    if (!v) return ct_fail(ct, a->span, "KeyError", "format() has no argument '%s'", id);
  }
  for (size_t i = head; v && i < n;) {
    size_t from = ++i;
    if (name[from - 1] == '.') {
      while (i < n && name[i] != '.' && name[i] != '[') i++;
      v = ct_get_attr(ct, v, intern_n(ct->ctx, name + from, i - from), a->span);
    } else {
      while (i < n && name[i] != ']') i++;
      CtValue *key = pynum_read_int(name + from, i - from, 10, &index, &big) ? ct_int(ct->ctx, index)
                                                                             : ct_str_n(ct->ctx, name + from, i - from);
      v = ct_subscript(ct, v, key, a->span);
      i++;
    }
  }
  return v;
}

// Fills in the replacement fields of a format; the specification of a field may contain fields, too.
static CtValue *fill_fields(Comptime *ct, const char *s, const char *end, bool nested, uint32_t *next,
                            const CtArgs *a) {
  Buf b = buf_make(ct->arena);
  while (s < end) {
    if (!nested && (*s == '{' || *s == '}') && s + 1 < end && s[1] == *s) {
      buf_putc(&b, *s);
      s += 2;
      continue;
    }
    if (*s != '{') {
      buf_putc(&b, *s++);
      continue;
    }
    const char *name = ++s;
    while (s < end && !strchr("}:!", *s)) s++;
    size_t name_size = (size_t)(s - name);
    char conversion = s + 1 < end && *s == '!' ? s[1] : 0;
    if (conversion) s += 2;
    const char *from = s, *to = s;
    if (s < end && *s == ':') {
      from = ++s;
      for (int depth = 0; s < end && (depth || *s != '}'); s++) depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
      to = s;
    }
    if (s >= end || *s != '}' || (nested && memchr(from, '{', (size_t)(to - from))))
      return ct_fail(ct, a->span, "ValueError", "malformed format text");
    s++;
    CtValue *v = field_value(ct, name, name_size, next, a);
    CtValue *spec = v ? fill_fields(ct, from, to, true, next, a) : NULL;
    CtValue *text = spec ? ct_format_value(ct, v, conversion, spec->str.data, a->span) : NULL;
    if (!text) return NULL;
    buf_write(&b, text->str.data, text->str.size);
    if (!ct_grow(ct, b.size, a->span)) return NULL;
  }
  return ct_text(ct, &b);
}

CtValue *ct_format_method(Comptime *ct, CtValue *format, const CtArgs *a) {
  uint32_t next = 0;
  return fill_fields(ct, format->str.data, format->str.data + format->str.size, false, &next, a);
}
