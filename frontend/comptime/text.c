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
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  if (v && v->kind == CT_STR) return v;
  if (!v) return ct_fail(ct, a->span, "TypeError", "an argument is missing");
  return ct_fail(ct, a->span, "TypeError", "expected text, not '%s'", ct_kind_name(v));
}

static CtValue *buf_value(Comptime *ct, const Buf *b) { return ct_str_n(ct->ctx, b->size ? b->data : "", b->size); }

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
      vec_push(ct->arena, &out->list, ct_str_n(ct->ctx, s, (size_t)(hit - s)));
    vec_push(ct->arena, &out->list, ct_str_n(ct->ctx, s, (size_t)(end - s)));
    return out;
  }
  while (s < end) {
    while (s < end && is_blank(*s)) s++;
    const char *from = s;
    while (s < end && !is_blank(*s)) s++;
    if (s > from && most-- == 0) s = end;
    if (s > from) vec_push(ct->arena, &out->list, ct_str_n(ct->ctx, from, (size_t)(s - from)));
  }
  return out;
}

CT_FN(str_splitlines) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  if (!ct_arity(ct, a, 0, 0)) return NULL;
  for (const char *s = self->str.data, *end = s + self->str.size; s < end;) {
    const char *line = s;
    while (line < end && *line != '\n' && *line != '\r') line++;
    vec_push(ct->arena, &out->list, ct_str_n(ct->ctx, s, (size_t)(line - s)));
    s = line + (end - line > 1 && line[0] == '\r' && line[1] == '\n' ? 2 : 1);
  }
  return out;
}

CT_FN(str_join) {
  CtList items;
  Buf b = buf_make(ct->arena);
  if (!ct_arity(ct, a, 1, 1) || !ct_iterate(ct, a->args[0], a->span, &items)) return NULL;
  for (uint32_t i = 0; i < items.count; i++) {
    CtValue *v = ct_unwrap(items.data[i]);
    if (v->kind != CT_STR)
      return v->kind == CT_MISSING ? ct_fail_missing(ct, a->span, v)
                                   : ct_fail(ct, a->span, "TypeError", "join() of '%s'", ct_kind_name(v));
    if (i) buf_write(&b, self->str.data, self->str.size);
    buf_write(&b, v->str.data, v->str.size);
    if (!ct_grow(ct, b.size, a->span)) return NULL;
  }
  return buf_value(ct, &b);
}

// The first part comes last: rsplit looks from the end.
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
                           &(CtArgs){(CtValue *[]){ct_list(ct->ctx, parts->list.data, joined)}, 1, NULL, 0, a->span});
  if (!head) return NULL;
  CtValue *out = ct_list(ct->ctx, &head, 1);
  for (uint32_t i = joined; i < parts->list.count; i++) vec_push(ct->arena, &out->list, parts->list.data[i]);
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
  return buf_value(ct, &b);
}

// Where character `index` begins, counted from the end when negative; the text's end beyond it.
static size_t byte_of(const CtValue *self, Int128 index, Int128 length) {
  if (index < 0) index = index + length < 0 ? 0 : index + length;
  size_t at = 0;
  for (; index > 0 && at < self->str.size; index--)
    do at++; while (at < self->str.size && ((unsigned char)self->str.data[at] & 0xc0) == 0x80);
  return at;
}

// The part of a text that arguments `first` and `first + 1`, a start and an end, choose.
static bool text_part(Comptime *ct, CtValue *self, const CtArgs *a, uint32_t first, size_t *from, size_t *to) {
  Int128 length, start, end;
  *from = 0;
  *to = self->str.size;
  if (a->num_args == first) return true;
  if (!ct_arity(ct, a, first, first + 2) || !ct_length(ct, self, a->span, &length)) return false;
  if (!ct_optional_int(ct, a, first, 0, &start) || !ct_optional_int(ct, a, first + 1, length, &end)) return false;
  *from = byte_of(self, start, length);
  *to = byte_of(self, end, length);
  return true;
}

static CtValue *affix(Comptime *ct, CtValue *self, const CtArgs *a, bool at_end) {
  size_t from, to;
  if (!text_part(ct, self, a, 1, &from, &to)) return NULL;
  CtList options = {0};
  if (a->args[0]->kind == CT_TUPLE) options = a->args[0]->list;
  else vec_push(ct->arena, &options, ct_unwrap(a->args[0]));
  for (uint32_t i = 0; i < options.count; i++) {
    const CtValue *o = options.data[i];
    if (o->kind != CT_STR) return ct_fail(ct, a->span, "TypeError", "expected text, not '%s'", ct_kind_name(o));
    if (from <= to && o->str.size <= to - from &&
        !memcmp(self->str.data + (at_end ? to - o->str.size : from), o->str.data, o->str.size))
      return ct_bool(ct->ctx, true);
  }
  return ct_bool(ct->ctx, false);
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
  if (!part || !text_part(ct, self, a, 1, &from, &to)) return NULL;
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
  if (!part || !text_part(ct, self, a, 1, &from, &to)) return NULL;
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
  if (!ct_arity(ct, a, 1, 2) || (a->num_args > 1 && !fill) || !ct_optional_int(ct, a, 0, 0, &width) ||
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
  if (!ct_arity(ct, a, 1, 1) || !ct_optional_int(ct, a, 0, 0, &width) || !ct_length(ct, self, a->span, &length) ||
      !ct_grow(ct, width < 0 ? 0 : (size_t)width, a->span))
    return NULL;
  const char *s = self->str.data;
  const size_t sign = *s == '-' || *s == '+';
  Buf b = buf_make(ct->arena);
  buf_write(&b, s, sign);
  for (; length < width; length++) buf_putc(&b, '0');
  buf_write(&b, s + sign, self->str.size - sign);
  return buf_value(ct, &b);
}

static CtValue *all_chars(Comptime *ct, const CtValue *self, bool digits, bool letters) {
  bool ok = self->str.size > 0;
  for (size_t i = 0; i < self->str.size; i++) {
    char c = self->str.data[i], low = c | 0x20;
    ok &= (digits && c >= '0' && c <= '9') || (letters && low >= 'a' && low <= 'z');
  }
  return ct_bool(ct->ctx, ok);
}
CT_FN(str_isdigit) { return all_chars(ct, self, true, false); }
CT_FN(str_isalpha) { return all_chars(ct, self, false, true); }
CT_FN(str_isalnum) { return all_chars(ct, self, true, true); }

CT_FN(str_isspace) {
  bool ok = self->str.size > 0;
  for (size_t i = 0; i < self->str.size; i++) ok &= is_blank(self->str.data[i]);
  return ct_bool(ct->ctx, ok);
}

CT_FN(str_isidentifier) {
  bool ok = self->str.size > 0 && !(self->str.data[0] >= '0' && self->str.data[0] <= '9');
  for (size_t i = 0; i < self->str.size; i++) {
    char c = self->str.data[i], low = c | 0x20;
    ok &= (c >= '0' && c <= '9') || (low >= 'a' && low <= 'z') || c == '_' || (c & 0x80);
  }
  return ct_bool(ct->ctx, ok);
}

// Some letter of one case, and none of the other.
static CtValue *is_case(Comptime *ct, const CtValue *self, bool upper) {
  bool any = false, other = false;
  for (size_t i = 0; i < self->str.size; i++) {
    const char c = self->str.data[i];
    any |= upper ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z';
    other |= upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
  }
  return ct_bool(ct->ctx, any && !other);
}
CT_FN(str_isupper) { return is_case(ct, self, true); }
CT_FN(str_islower) { return is_case(ct, self, false); }

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
    {"lower", str_lower}, {"upper", str_upper}, {"title", str_title}, {"capitalize", str_capitalize},
    {"casefold", str_lower}, {"strip", str_strip},
    {"lstrip", str_lstrip}, {"rstrip", str_rstrip}, {"split", str_split}, {"splitlines", str_splitlines},
    {"join", str_join}, {"replace", str_replace},
    {"startswith", str_startswith}, {"endswith", str_endswith}, {"removeprefix", str_removeprefix},
    {"removesuffix", str_removesuffix}, {"find", str_find},
    {"index", str_index}, {"count", str_count}, {"format", str_format}, {"ljust", str_ljust}, {"rjust", str_rjust},
    {"center", str_center},
    {"zfill", str_zfill}, {"isdigit", str_isdigit}, {"isnumeric", str_isdigit}, {"isalpha", str_isalpha},
    {"isalnum", str_isalnum}, {"isspace", str_isspace},
    {"isupper", str_isupper}, {"islower", str_islower}, {"isidentifier", str_isidentifier},
    {"partition", str_partition}, {"rpartition", str_rpartition},
    {"rsplit", str_rsplit}, {"rfind", str_rfind}, {"rindex", str_rindex}, {NULL, NULL}};
