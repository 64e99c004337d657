// Methods of text.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

const char *ct_find_text(const char *s, size_t n, const char *part, size_t m) {
  if (!m) return s;
  for (const char *end = s + n; (size_t)(end - s) >= m; s++) {
    s = memchr(s, part[0], (size_t)(end - s) - m + 1);
    if (!s) return NULL;
    if (!memcmp(s, part, m)) return s;
  }
  return NULL;
}

static CtValue *text_arg(Comptime *ct, const CtArgs *a, uint32_t i) {
  CtValue *v = ct_unwrap(a->args[i]);
  if (v->kind == CT_STR) return v;
  return ct_fail(ct, a->span, "TypeError", "expected text, not '%s'", ct_kind_name(v));
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static CtValue *map_case(Comptime *ct, const CtValue *self, int mode) {   // 0 lower, 1 upper, 2 title, 3 capitalize
  CtValue *v = ct_str_n(ct->ctx, self->str.data, self->str.size);
  char *s = (char *)v->str.data;
  for (size_t i = 0; i < v->str.size; i++) {
    bool starts = i == 0 || (mode == 2 && !((s[i - 1] | 0x20) >= 'a' && (s[i - 1] | 0x20) <= 'z'));
    bool upper = mode == 1 || (mode >= 2 && starts);
    if (s[i] >= 'a' && s[i] <= 'z' && upper) s[i] = (char)(s[i] - 32);
    else if (s[i] >= 'A' && s[i] <= 'Z' && !upper) s[i] = (char)(s[i] + 32);
  }
  return v;
}
CT_FN(str_lower) { return map_case(ct, self, 0); }
CT_FN(str_upper) { return map_case(ct, self, 1); }
CT_FN(str_title) { return map_case(ct, self, 2); }
CT_FN(str_capitalize) { return map_case(ct, self, 3); }

static CtValue *strip(Comptime *ct, const CtValue *self, const CtArgs *a, bool left, bool right) {
  CtValue *set = a->num_args && a->args[0]->kind == CT_STR ? a->args[0] : NULL;
  size_t from = 0, to = self->str.size;
  const char *s = self->str.data;
#define STRIPPED(c) (set ? memchr(set->str.data, (c), set->str.size) != NULL : is_blank(c))
  while (left && from < to && STRIPPED(s[from])) from++;
  while (right && to > from && STRIPPED(s[to - 1])) to--;
#undef STRIPPED
  return ct_str_n(ct->ctx, s + from, to - from);
}
CT_FN(str_strip) { return strip(ct, self, a, true, true); }
CT_FN(str_lstrip) { return strip(ct, self, a, true, false); }
CT_FN(str_rstrip) { return strip(ct, self, a, false, true); }

CT_FN(str_split) {
  CtValue *out = ct_list(ct->ctx, NULL, 0), *separator = a->num_args ? ct_unwrap(a->args[0]) : ct_kwarg(a, "sep");
  CtValue *limit = a->num_args > 1 ? a->args[1] : ct_kwarg(a, "maxsplit");
  Int128 most = limit && limit->kind == CT_INT && limit->i >= 0 ? limit->i : MAX_ELEMENTS;
  const char *s = self->str.data, *end = s + self->str.size;
  if (!ct_grow(ct, self->str.size, a->span)) return NULL;
  if (separator && separator->kind == CT_STR) {
    if (!separator->str.size) return ct_fail(ct, a->span, "ValueError", "empty separator");
    for (const char *hit;
         most-- > 0 && (hit = ct_find_text(s, (size_t)(end - s), separator->str.data, separator->str.size));
         s = hit + separator->str.size)
      ct_append(ct, out, ct_str_n(ct->ctx, s, (size_t)(hit - s)));
    ct_append(ct, out, ct_str_n(ct->ctx, s, (size_t)(end - s)));
    return out;
  }
  while (s < end) {
    while (s < end && is_blank(*s)) s++;
    const char *from = s;
    while (s < end && !is_blank(*s)) s++;
    if (s > from && most-- == 0) s = end;
    if (s > from) ct_append(ct, out, ct_str_n(ct->ctx, from, (size_t)(s - from)));
  }
  return out;
}

CT_FN(str_splitlines) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (const char *s = self->str.data, *end = s + self->str.size; s < end;) {
    const char *line = s;
    while (line < end && *line != '\n' && *line != '\r') line++;
    ct_append(ct, out, ct_str_n(ct->ctx, s, (size_t)(line - s)));
    s = line + (end - line > 1 && line[0] == '\r' && line[1] == '\n' ? 2 : 1);
  }
  return out;
}

CT_FN(str_join) {
  CtList items;
  Buf b = buf_make(ct->arena);
  if (!ct_iterate(ct, a->args[0], a->span, &items)) return NULL;
  for (uint32_t i = 0; i < items.count; i++) {
    CtValue *v = ct_unwrap(items.data[i]);
    if (v->kind != CT_STR)
      return v->kind == CT_MISSING ? ct_fail_missing(ct, a->span, v)
                                   : ct_fail(ct, a->span, "TypeError", "join() of '%s'", ct_kind_name(v));
    if (i) buf_write(&b, self->str.data, self->str.size);
    buf_write(&b, v->str.data, v->str.size);
    if (!ct_grow(ct, b.size, a->span)) return NULL;
  }
  return ct_text(ct, &b);
}

// Splits everywhere and joins the first parts again, because rsplit counts from the end.
CT_FN(str_rsplit) {
  CtValue *limit = a->num_args > 1 ? a->args[1] : ct_kwarg(a, "maxsplit"),
          *separator = a->num_args ? ct_unwrap(a->args[0]) : ct_kwarg(a, "sep");
  CtArgs all = {a->args, a->num_args ? 1 : 0, a->num_args ? NULL : a->kwargs, a->num_args || limit ? 0 : a->num_kwargs,
                a->span};
  if (separator) all.args = &separator, all.num_args = 1;
  CtValue *parts = str_split(ct, self, &all);
  if (!parts || !limit || limit->kind != CT_INT || limit->i < 0 || limit->i + 1 >= parts->list.count) return parts;
  const uint32_t kept = (uint32_t)limit->i, joined = parts->list.count - kept;
  if (!separator || separator->kind != CT_STR) return ct_unsupported(ct, a->span, "rsplit at blanks with a limit");
  CtValue *head = str_join(ct, separator,
                           CT_ARGS(a->span, ct_list(ct->ctx, parts->list.data, joined)));
  if (!head) return NULL;
  CtValue *out = ct_list(ct->ctx, &head, 1);
  for (uint32_t i = joined; i < parts->list.count; i++) ct_append(ct, out, parts->list.data[i]);
  return out;
}

CT_FN(str_replace) {
  CtValue *from = text_arg(ct, a, 0), *to = from ? text_arg(ct, a, 1) : NULL;
  Int128 most;
  if (!to || !ct_optional_int(ct, a, 2, -1, &most)) return NULL;
  Buf b = buf_make(ct->arena);
  const char *s = self->str.data, *end = s + self->str.size;
  for (; !from->str.size && most != 0; most--) {   // between all characters, and at both ends
    buf_write(&b, to->str.data, to->str.size);
    if (!ct_grow(ct, b.size, a->span)) return NULL;
    if (s == end) break;
    do buf_putc(&b, *s++); while (s < end && ((unsigned char)*s & 0xc0) == 0x80);
  }
  for (const char *hit;
       from->str.size && most != 0 && (hit = ct_find_text(s, (size_t)(end - s), from->str.data, from->str.size));
       most--) {
    buf_write(&b, s, (size_t)(hit - s));
    buf_write(&b, to->str.data, to->str.size);
    s = hit + from->str.size;
    if (!ct_grow(ct, b.size, a->span)) return NULL;
  }
  buf_write(&b, s, (size_t)(end - s));
  return ct_text(ct, &b);
}

// The byte where character `index` begins; negative indexes count from the end. An index past the text is its end.
static size_t byte_of(const CtValue *self, Int128 index, Int128 length) {
  if (index < 0) index = index + length < 0 ? 0 : index + length;
  size_t at = 0;
  for (; index > 0 && at < self->str.size; index--)
    do at++; while (at < self->str.size && ((unsigned char)self->str.data[at] & 0xc0) == 0x80);
  return at;
}

// The part of a text that the second and third argument, a start and an end, choose.
static bool text_part(Comptime *ct, CtValue *self, const CtArgs *a, size_t *from, size_t *to) {
  Int128 length, start, end;
  *from = 0;
  *to = self->str.size;
  if (a->num_args == 1) return true;
  if (!ct_length(ct, self, a->span, &length)) return false;
  if (!ct_optional_int(ct, a, 1, 0, &start) || !ct_optional_int(ct, a, 2, length, &end)) return false;
  *from = byte_of(self, start, length);
  *to = byte_of(self, end, length);
  return true;
}

static CtValue *affix(Comptime *ct, CtValue *self, const CtArgs *a, bool at_end) {
  size_t from, to;
  if (!text_part(ct, self, a, &from, &to)) return NULL;
  CtList options = {0};
  if (a->args[0]->kind == CT_TUPLE) options = a->args[0]->list;
  else vec_push(ct->arena, &options, ct_unwrap(a->args[0]));
  for (uint32_t i = 0; i < options.count; i++) {
    const CtValue *o = options.data[i];
    if (o->kind != CT_STR) return ct_fail(ct, a->span, "TypeError", "expected text, not '%s'", ct_kind_name(o));
    if (from <= to && o->str.size <= to - from &&
        !memcmp(self->str.data + (at_end ? to - o->str.size : from), o->str.data, o->str.size))
      return ct_bool(true);
  }
  return ct_bool(false);
}
CT_FN(str_startswith) { return affix(ct, self, a, false); }
CT_FN(str_endswith) { return affix(ct, self, a, true); }

static CtValue *remove_affix(Comptime *ct, CtValue *self, const CtArgs *a, bool at_end) {
  CtValue *part = text_arg(ct, a, 0), *has = part ? affix(ct, self, a, at_end) : NULL;
  if (!has) return NULL;
  size_t cut = has->b ? part->str.size : 0;
  return ct_str_n(ct->ctx, self->str.data + (at_end ? 0 : cut), self->str.size - cut);
}
CT_FN(str_removeprefix) { return remove_affix(ct, self, a, false); }
CT_FN(str_removesuffix) { return remove_affix(ct, self, a, true); }

static const char *find_last(const char *s, size_t n, const char *part, size_t m) {
  for (size_t at = n < m ? 0 : n - m + 1; at-- > 0;)
    if (!memcmp(s + at, part, m)) return s + at;
  return NULL;
}

static CtValue *position(Comptime *ct, CtValue *self, const CtArgs *a, bool from_end) {
  size_t from, to;
  CtValue *part = text_arg(ct, a, 0);
  if (!part || !text_part(ct, self, a, &from, &to)) return NULL;
  const char *s = self->str.data, *hit = NULL;
  if (from <= to) hit = (from_end ? find_last : ct_find_text)(s + from, to - from, part->str.data, part->str.size);
  Int128 at = hit ? 0 : -1;
  for (; hit && s < hit; s++) at += ((unsigned char)*s & 0xc0) != 0x80;
  return ct_int(ct->ctx, at);
}

static CtValue *found(Comptime *ct, const CtArgs *a, CtValue *at) {
  return at && at->i < 0 ? ct_fail(ct, a->span, "ValueError", "the text is not found") : at;
}
CT_FN(str_find) { return position(ct, self, a, false); }
CT_FN(str_rfind) { return position(ct, self, a, true); }
CT_FN(str_index) { return found(ct, a, position(ct, self, a, false)); }
CT_FN(str_rindex) { return found(ct, a, position(ct, self, a, true)); }

CT_FN(str_count) {
  CtValue *part = text_arg(ct, a, 0);
  size_t from, to;
  Int128 n = 0;
  if (!part || !text_part(ct, self, a, &from, &to)) return NULL;
  const char *s = self->str.data + from, *end = self->str.data + to;
  if (!part->str.size) return ct_unsupported(ct, a->span, "count of the empty text");
  for (const char *hit; s < end && (hit = ct_find_text(s, (size_t)(end - s), part->str.data, part->str.size));
       s = hit + part->str.size)
    n++;
  return ct_int(ct->ctx, n);
}

CT_FN(str_format) { return ct_format_method(ct, self, a); }

static CtValue *pad_text(Comptime *ct, CtValue *self, const CtArgs *a, char align) {
  Int128 width;
  CtValue *fill = a->num_args > 1 ? text_arg(ct, a, 1) : NULL;
  if ((a->num_args > 1 && !fill) || !ct_optional_int(ct, a, 0, 0, &width) ||
      !ct_grow(ct, width < 0 ? 0 : (size_t)width, a->span))
    return NULL;
  return ct_format_value(
      ct, self, 0,
      arena_printf(ct->arena, "%s%c%lld", fill ? fill->str.data : "", align, (long long)(width < 0 ? 0 : width)),
      a->span);
}
CT_FN(str_ljust) { return pad_text(ct, self, a, '<'); }
CT_FN(str_rjust) { return pad_text(ct, self, a, '>'); }
CT_FN(str_center) { return pad_text(ct, self, a, '^'); }
CT_FN(str_zfill) {
  Int128 width, length;
  if (!ct_optional_int(ct, a, 0, 0, &width) || !ct_length(ct, self, a->span, &length) ||
      !ct_grow(ct, width < 0 ? 0 : (size_t)width, a->span))
    return NULL;
  const char *s = self->str.data;
  const size_t sign = *s == '-' || *s == '+';
  Buf b = buf_make(ct->arena);
  buf_write(&b, s, sign);
  for (; length < width; length++) buf_putc(&b, '0');
  buf_write(&b, s + sign, self->str.size - sign);
  return ct_text(ct, &b);
}

// The characters that a text may consist of: ASCII's digits, letters and blanks; `other`: `_` and all beyond ASCII.
typedef struct { bool digits, letters, blanks, other; } Chars;

static bool is_all(const CtValue *self, Chars allowed) {
  for (size_t i = 0; i < self->str.size; i++) {
    const char c = self->str.data[i], low = c | 0x20;
    const bool is_digit = c >= '0' && c <= '9', is_letter = low >= 'a' && low <= 'z';
    if (!(is_digit ? allowed.digits : is_letter ? allowed.letters : is_blank(c) ? allowed.blanks : allowed.other) ||
        !(is_digit || is_letter || is_blank(c) || c == '_' || c & 0x80))
      return false;
  }
  return self->str.size > 0;
}
CT_FN(str_isdigit) { return ct_bool(is_all(self, (Chars){.digits = true})); }
CT_FN(str_isalpha) { return ct_bool(is_all(self, (Chars){.letters = true})); }
CT_FN(str_isalnum) { return ct_bool(is_all(self, (Chars){.digits = true, .letters = true})); }
CT_FN(str_isspace) { return ct_bool(is_all(self, (Chars){.blanks = true})); }
CT_FN(str_isidentifier) {
  const char first = *self->str.data;
  const Chars allowed = {.digits = true, .letters = true, .other = true};
  return ct_bool(is_all(self, allowed) && !(first >= '0' && first <= '9'));
}

// Some letter of one case, and none of the other.
static CtValue *is_case(const CtValue *self, bool upper) {
  bool any = false, other = false;
  for (size_t i = 0; i < self->str.size; i++) {
    const char c = self->str.data[i];
    any |= upper ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z';
    other |= upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
  }
  return ct_bool(any && !other);
}
CT_FN(str_isupper) { return is_case(self, true); }
CT_FN(str_islower) { return is_case(self, false); }

static CtValue *partition(Comptime *ct, const CtValue *self, const CtArgs *a, bool from_end) {
  CtValue *part = text_arg(ct, a, 0);
  if (!part || !part->str.size) return part ? ct_fail(ct, a->span, "ValueError", "empty separator") : NULL;
  const char *s = self->str.data,
             *hit = (from_end ? find_last : ct_find_text)(s, self->str.size, part->str.data, part->str.size);
  const size_t head = hit ? (size_t)(hit - s) : from_end ? 0 : self->str.size, sep = hit ? part->str.size : 0;
  CtValue *parts[3] = {ct_str_n(ct->ctx, s, head), ct_str_n(ct->ctx, part->str.data, sep),
                       ct_str_n(ct->ctx, s + head + sep, self->str.size - head - sep)};
  return ct_tuple(ct->ctx, parts, 3);
}
CT_FN(str_partition) { return partition(ct, self, a, false); }
CT_FN(str_rpartition) { return partition(ct, self, a, true); }

const CtFnRow ct_str_methods[] = {
    {"lower", str_lower, 0, 0}, {"upper", str_upper, 0, 0}, {"title", str_title, 0, 0},
    {"capitalize", str_capitalize, 0, 0}, {"casefold", str_lower, 0, 0}, {"strip", str_strip, 0, 1},
    {"lstrip", str_lstrip, 0, 1}, {"rstrip", str_rstrip, 0, 1}, {"split", str_split, 0, 2},
    {"splitlines", str_splitlines, 0, 0}, {"join", str_join, 1, 1}, {"replace", str_replace, 2, 3},
    {"startswith", str_startswith, 1, 3}, {"endswith", str_endswith, 1, 3}, {"removeprefix", str_removeprefix, 1, 1},
    {"removesuffix", str_removesuffix, 1, 1}, {"find", str_find, 1, 3}, {"index", str_index, 1, 3},
    {"count", str_count, 1, 3}, {"format", str_format, 0, CT_ANY}, {"ljust", str_ljust, 1, 2},
    {"rjust", str_rjust, 1, 2}, {"center", str_center, 1, 2}, {"zfill", str_zfill, 1, 1},
    {"isdigit", str_isdigit, 0, 0}, {"isnumeric", str_isdigit, 0, 0}, {"isalpha", str_isalpha, 0, 0},
    {"isalnum", str_isalnum, 0, 0}, {"isspace", str_isspace, 0, 0}, {"isupper", str_isupper, 0, 0},
    {"islower", str_islower, 0, 0}, {"isidentifier", str_isidentifier, 0, 0}, {"partition", str_partition, 1, 1},
    {"rpartition", str_rpartition, 1, 1}, {"rsplit", str_rsplit, 0, 2}, {"rfind", str_rfind, 1, 3},
    {"rindex", str_rindex, 1, 3}, {NULL, NULL, 0, 0}};
