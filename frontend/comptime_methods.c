// Methods of the built-in types: text, list, dict, set, tuple, int, float, dtype, and Config's.
#include <math.h>
#include <string.h>

#include "frontend/comptime_impl.h"

typedef CtValue *MethodFn(Comptime *ct, CtValue *self, const CallArgs *a);
typedef struct { const char *name; MethodFn *fn; } Method;

const char *find_text(const char *s, size_t n, const char *part, size_t m) {
  if (!m) return s;
  for (const char *end = s + n; (size_t)(end - s) >= m; s++) {
    s = memchr(s, part[0], (size_t)(end - s) - m + 1);
    if (!s) return NULL;
    if (!memcmp(s, part, m)) return s;
  }
  return NULL;
}

// ---- argument help ----

static CtValue *arity(Comptime *ct, const CallArgs *a, uint32_t min, uint32_t max) {
  if (a->num_args >= min && a->num_args <= max) return ct_none(ct->ctx);
  return ct_fail(ct, a->span, "TypeError", "expected %u%s argument%s, got %u", min, max > min ? " or more" : "", min == 1 ? "" : "s", a->num_args);
}

static CtValue *text_arg(Comptime *ct, const CallArgs *a, uint32_t i) {
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  if (v && v->kind == CT_STR) return v;
  if (!v) return ct_fail(ct, a->span, "TypeError", "an argument is missing");
  return ct_fail(ct, a->span, "TypeError", "expected text, not '%s'", ct_kind_name(v));
}

static bool optional_int(Comptime *ct, const CallArgs *a, uint32_t i, Int128 otherwise, Int128 *out) {
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  *out = otherwise;
  if (!v || v->kind == CT_NONE) return true;
  if (is_int(v)) return *out = int_of(v), true;
  return ct_fail(ct, a->span, "TypeError", "expected an integer, not '%s'", ct_kind_name(v)) != NULL;
}

static CtValue *buf_value(Comptime *ct, const Buf *b) { return ct_str_n(ct->ctx, b->size ? b->data : "", b->size); }

// ---- text ----

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
static CtValue *str_lower(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return map_case(ct, self, 0); }
static CtValue *str_upper(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return map_case(ct, self, 1); }
static CtValue *str_title(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return map_case(ct, self, 2); }
static CtValue *str_capitalize(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return map_case(ct, self, 3); }

static CtValue *strip(Comptime *ct, const CtValue *self, const CallArgs *a, bool left, bool right) {
  CtValue *set = a->num_args && a->args[0]->kind == CT_STR ? a->args[0] : NULL;
  size_t from = 0, to = self->str.size;
  const char *s = self->str.data;
#define STRIPPED(c) (set ? memchr(set->str.data, (c), set->str.size) != NULL : is_blank(c))
  while (left && from < to && STRIPPED(s[from])) from++;
  while (right && to > from && STRIPPED(s[to - 1])) to--;
#undef STRIPPED
  return ct_str_n(ct->ctx, s + from, to - from);
}
static CtValue *str_strip(Comptime *ct, CtValue *self, const CallArgs *a) { return strip(ct, self, a, true, true); }
static CtValue *str_lstrip(Comptime *ct, CtValue *self, const CallArgs *a) { return strip(ct, self, a, true, false); }
static CtValue *str_rstrip(Comptime *ct, CtValue *self, const CallArgs *a) { return strip(ct, self, a, false, true); }

static CtValue *str_split(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *out = ct_list(ct->ctx, NULL, 0), *separator = a->num_args ? ct_unwrap(a->args[0]) : kwarg(a, "sep");
  CtValue *limit = a->num_args > 1 ? a->args[1] : kwarg(a, "maxsplit");
  Int128 most = limit && limit->kind == CT_INT && limit->i >= 0 ? limit->i : MAX_ELEMENTS;
  const char *s = self->str.data, *end = s + self->str.size;
  if (!ct_grow(ct, self->str.size, a->span)) return NULL;
  if (separator && separator->kind == CT_STR) {
    if (!separator->str.size) return ct_fail(ct, a->span, "ValueError", "empty separator");
    for (const char *hit; most-- > 0 && (hit = find_text(s, (size_t)(end - s), separator->str.data, separator->str.size)); s = hit + separator->str.size)
      vec_push(&ct->ctx->arena, &out->list, ct_str_n(ct->ctx, s, (size_t)(hit - s)));
    vec_push(&ct->ctx->arena, &out->list, ct_str_n(ct->ctx, s, (size_t)(end - s)));
    return out;
  }
  while (s < end) {
    while (s < end && is_blank(*s)) s++;
    const char *from = s;
    while (s < end && !is_blank(*s)) s++;
    if (s > from && most-- == 0) s = end;
    if (s > from) vec_push(&ct->ctx->arena, &out->list, ct_str_n(ct->ctx, from, (size_t)(s - from)));
  }
  return out;
}

static CtValue *str_splitlines(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  (void)a;
  for (const char *s = self->str.data, *end = s + self->str.size; s < end;) {
    const char *line = memchr(s, '\n', (size_t)(end - s));
    if (!line) line = end;
    vec_push(&ct->ctx->arena, &out->list, ct_str_n(ct->ctx, s, (size_t)(line - s)));
    s = line + 1;
  }
  return out;
}

static CtValue *str_join(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtList items;
  Buf b = buf_make(&ct->ctx->arena);
  if (!arity(ct, a, 1, 1) || !op_iterate(ct, a->args[0], a->span, &items)) return NULL;
  for (uint32_t i = 0; i < items.count; i++) {
    CtValue *v = ct_unwrap(items.data[i]);
    if (v->kind != CT_STR) return v->kind == CT_MISSING ? ct_fail_missing(ct, a->span, v) : ct_fail(ct, a->span, "TypeError", "join() of '%s'", ct_kind_name(v));
    if (i) buf_write(&b, self->str.data, self->str.size);
    buf_write(&b, v->str.data, v->str.size);
    if (!ct_grow(ct, b.size, a->span)) return NULL;
  }
  return buf_value(ct, &b);
}

static CtValue *str_replace(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *from = text_arg(ct, a, 0), *to = from ? text_arg(ct, a, 1) : NULL;
  Int128 most;
  if (!to || !optional_int(ct, a, 2, -1, &most)) return NULL;
  Buf b = buf_make(&ct->ctx->arena);
  const char *s = self->str.data, *end = s + self->str.size;
  for (const char *hit; from->str.size && most != 0 && (hit = find_text(s, (size_t)(end - s), from->str.data, from->str.size)); most--) {
    buf_write(&b, s, (size_t)(hit - s));
    buf_write(&b, to->str.data, to->str.size);
    s = hit + from->str.size;
    if (!ct_grow(ct, b.size, a->span)) return NULL;
  }
  buf_write(&b, s, (size_t)(end - s));
  return buf_value(ct, &b);
}

static CtValue *affix(Comptime *ct, const CtValue *self, const CallArgs *a, bool at_end) {
  if (!arity(ct, a, 1, 1)) return NULL;
  CtList options = {0};
  if (a->args[0]->kind == CT_TUPLE) options = a->args[0]->list; else vec_push(&ct->ctx->arena, &options, ct_unwrap(a->args[0]));
  for (uint32_t i = 0; i < options.count; i++) {
    const CtValue *o = options.data[i];
    if (o->kind != CT_STR) return ct_fail(ct, a->span, "TypeError", "expected text, not '%s'", ct_kind_name(o));
    if (o->str.size <= self->str.size && !memcmp(self->str.data + (at_end ? self->str.size - o->str.size : 0), o->str.data, o->str.size)) return ct_bool(ct->ctx, true);
  }
  return ct_bool(ct->ctx, false);
}
static CtValue *str_startswith(Comptime *ct, CtValue *self, const CallArgs *a) { return affix(ct, self, a, false); }
static CtValue *str_endswith(Comptime *ct, CtValue *self, const CallArgs *a) { return affix(ct, self, a, true); }

static CtValue *remove_affix(Comptime *ct, const CtValue *self, const CallArgs *a, bool at_end) {
  CtValue *part = text_arg(ct, a, 0), *has = part ? affix(ct, self, a, at_end) : NULL;
  if (!has) return NULL;
  size_t cut = has->b ? part->str.size : 0;
  return ct_str_n(ct->ctx, self->str.data + (at_end ? 0 : cut), self->str.size - cut);
}
static CtValue *str_removeprefix(Comptime *ct, CtValue *self, const CallArgs *a) { return remove_affix(ct, self, a, false); }
static CtValue *str_removesuffix(Comptime *ct, CtValue *self, const CallArgs *a) { return remove_affix(ct, self, a, true); }

static CtValue *str_find(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *part = text_arg(ct, a, 0);
  if (!part) return NULL;
  const char *hit = find_text(self->str.data, self->str.size, part->str.data, part->str.size);
  Int128 at = hit ? 0 : -1;
  for (const char *s = self->str.data; hit && s < hit; s++) at += ((unsigned char)*s & 0xc0) != 0x80;
  return ct_int(ct->ctx, at);
}

static CtValue *str_index(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *at = str_find(ct, self, a);
  return at && at->i < 0 ? ct_fail(ct, a->span, "ValueError", "the text is not found") : at;
}

static CtValue *str_count(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *part = text_arg(ct, a, 0);
  Int128 n = 0;
  if (!part) return NULL;
  const char *s = self->str.data, *end = s + self->str.size;
  for (const char *hit; part->str.size && (hit = find_text(s, (size_t)(end - s), part->str.data, part->str.size)); s = hit + part->str.size) n++;
  return ct_int(ct->ctx, n);
}

static CtValue *str_format(Comptime *ct, CtValue *self, const CallArgs *a) { return format_method(ct, self, a); }

static CtValue *pad_text(Comptime *ct, CtValue *self, const CallArgs *a, char align) {
  Int128 width;
  CtValue *fill = a->num_args > 1 ? text_arg(ct, a, 1) : NULL;
  if (!arity(ct, a, 1, 2) || (a->num_args > 1 && !fill) || !optional_int(ct, a, 0, 0, &width) || !ct_grow(ct, width < 0 ? 0 : (size_t)width, a->span)) return NULL;
  return format_value(ct, self, 0, arena_printf(&ct->ctx->arena, "%s%c%lld", fill ? fill->str.data : "", align, (long long)(width < 0 ? 0 : width)), a->span);
}
static CtValue *str_ljust(Comptime *ct, CtValue *self, const CallArgs *a) { return pad_text(ct, self, a, '<'); }
static CtValue *str_rjust(Comptime *ct, CtValue *self, const CallArgs *a) { return pad_text(ct, self, a, '>'); }
static CtValue *str_center(Comptime *ct, CtValue *self, const CallArgs *a) { return pad_text(ct, self, a, '^'); }
static CtValue *str_zfill(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *args[2] = {a->num_args ? a->args[0] : ct_int(ct->ctx, 0), ct_str(ct->ctx, "0")};
  return pad_text(ct, self, &(CallArgs){args, 2, NULL, 0, a->span}, '>');
}

static CtValue *all_chars(Comptime *ct, const CtValue *self, bool digits, bool letters) {
  bool ok = self->str.size > 0;
  for (size_t i = 0; i < self->str.size; i++) {
    char c = self->str.data[i], low = c | 0x20;
    ok &= (digits && c >= '0' && c <= '9') || (letters && low >= 'a' && low <= 'z');
  }
  return ct_bool(ct->ctx, ok);
}
static CtValue *str_isdigit(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return all_chars(ct, self, true, false); }
static CtValue *str_isalpha(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return all_chars(ct, self, false, true); }
static CtValue *str_isalnum(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return all_chars(ct, self, true, true); }

static CtValue *str_partition(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *part = text_arg(ct, a, 0);
  if (!part) return NULL;
  const char *hit = find_text(self->str.data, self->str.size, part->str.data, part->str.size);
  size_t head = hit ? (size_t)(hit - self->str.data) : self->str.size, sep = hit ? part->str.size : 0;
  CtValue *parts[3] = {ct_str_n(ct->ctx, self->str.data, head), ct_str_n(ct->ctx, part->str.data, sep),
                       ct_str_n(ct->ctx, self->str.data + head + sep, self->str.size - head - sep)};
  return ct_tuple(ct->ctx, parts, 3);
}

static const Method str_methods[] = {
    {"lower", str_lower}, {"upper", str_upper}, {"title", str_title}, {"capitalize", str_capitalize}, {"casefold", str_lower}, {"strip", str_strip},
    {"lstrip", str_lstrip}, {"rstrip", str_rstrip}, {"split", str_split}, {"splitlines", str_splitlines}, {"join", str_join}, {"replace", str_replace},
    {"startswith", str_startswith}, {"endswith", str_endswith}, {"removeprefix", str_removeprefix}, {"removesuffix", str_removesuffix}, {"find", str_find},
    {"index", str_index}, {"count", str_count}, {"format", str_format}, {"ljust", str_ljust}, {"rjust", str_rjust}, {"center", str_center},
    {"zfill", str_zfill}, {"isdigit", str_isdigit}, {"isnumeric", str_isdigit}, {"isalpha", str_isalpha}, {"isalnum", str_isalnum}, {"partition", str_partition}};

// ---- lists and tuples ----

static CtValue *list_append(Comptime *ct, CtValue *self, const CallArgs *a) {
  if (!arity(ct, a, 1, 1) || !ct_grow(ct, (size_t)self->list.count + 1, a->span)) return NULL;
  vec_push(&ct->ctx->arena, &self->list, a->args[0]);
  return ct_none(ct->ctx);
}

static CtValue *list_extend(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtList items;
  if (!arity(ct, a, 1, 1) || !op_iterate(ct, a->args[0], a->span, &items) || !ct_grow(ct, (size_t)self->list.count + items.count, a->span)) return NULL;
  for (uint32_t i = 0; i < items.count; i++) vec_push(&ct->ctx->arena, &self->list, items.data[i]);
  return ct_none(ct->ctx);
}

static CtValue *list_insert(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 at, n = self->list.count;
  if (!arity(ct, a, 2, 2) || !optional_int(ct, a, 0, 0, &at) || !ct_grow(ct, (size_t)n + 1, a->span)) return NULL;
  if (at < 0) at = at + n < 0 ? 0 : at + n;
  if (at > n) at = n;
  vec_push(&ct->ctx->arena, &self->list, a->args[1]);
  memmove(&self->list.data[at + 1], &self->list.data[at], (size_t)(n - at) * sizeof *self->list.data);
  self->list.data[at] = a->args[1];
  return ct_none(ct->ctx);
}

static CtValue *list_pop(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 at;
  if (!optional_int(ct, a, 0, -1, &at)) return NULL;
  CtValue *index = ct_int(ct->ctx, at), *v = op_subscript(ct, self, index, a->span);
  return v && op_delete_subscript(ct, self, index, a->span) ? v : NULL;
}

static CtValue *list_position(Comptime *ct, CtValue *self, const CallArgs *a, Int128 *out) {
  if (!arity(ct, a, 1, 1)) return NULL;
  for (*out = 0; *out < self->list.count; ++*out) {
    bool same;
    if (!op_equal(ct, self->list.data[*out], a->args[0], a->span, &same)) return NULL;
    if (same) return self->list.data[*out];
  }
  return ct_fail(ct, a->span, "ValueError", "%s is not in the list", ct_repr(ct->ctx, a->args[0]));
}

static CtValue *list_index(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 at;
  return list_position(ct, self, a, &at) ? ct_int(ct->ctx, at) : NULL;
}

static CtValue *list_remove(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 at;
  if (!list_position(ct, self, a, &at)) return NULL;
  return op_delete_subscript(ct, self, ct_int(ct->ctx, at), a->span) ? ct_none(ct->ctx) : NULL;
}

static CtValue *list_count(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 n = 0;
  if (!arity(ct, a, 1, 1)) return NULL;
  for (uint32_t i = 0; i < self->list.count; i++) n += ct_equal(self->list.data[i], a->args[0]);
  return ct_int(ct->ctx, n);
}

static CtValue *list_reverse(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)a;
  for (uint32_t i = 0, n = self->list.count; i < n / 2; i++) {
    CtValue *t = self->list.data[i];
    self->list.data[i] = self->list.data[n - 1 - i];
    self->list.data[n - 1 - i] = t;
  }
  return ct_none(ct->ctx);
}

static CtValue *list_clear(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)a;
  self->list = (CtList){0};
  return ct_none(ct->ctx);
}

static CtValue *list_copy(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)a;
  return ct_list(ct->ctx, self->list.data, self->list.count);
}

static CtValue *list_sort(Comptime *ct, CtValue *self, const CallArgs *a) {
  CallArgs sorted = *a;
  sorted.args = &self;
  sorted.num_args = 1;
  CtValue *v = call_builtin(ct, NULL, "sorted", &sorted);
  if (!v) return NULL;
  self->list = v->list;
  return ct_none(ct->ctx);
}

static const Method list_methods[] = {{"append", list_append}, {"extend", list_extend}, {"insert", list_insert}, {"pop", list_pop}, {"index", list_index},
                                      {"remove", list_remove}, {"count", list_count}, {"reverse", list_reverse}, {"clear", list_clear}, {"copy", list_copy},
                                      {"sort", list_sort}};
static const Method tuple_methods[] = {{"index", list_index}, {"count", list_count}};

// ---- dictionaries and sets ----

static CtValue *dict_entries(Comptime *ct, const CtValue *self, bool keys, bool values) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < self->dict->count; i++) {
    CtValue *pair[2] = {self->dict->entries[i].key, self->dict->entries[i].value};
    vec_push(&ct->ctx->arena, &out->list, keys && values ? ct_tuple(ct->ctx, pair, 2) : keys ? pair[0] : pair[1]);
  }
  return out;
}
static CtValue *dict_keys(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return dict_entries(ct, self, true, false); }
static CtValue *dict_values(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return dict_entries(ct, self, false, true); }
static CtValue *dict_items(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return dict_entries(ct, self, true, true); }

static CtValue *checked_key(Comptime *ct, const CallArgs *a) {
  if (!arity(ct, a, 1, 2)) return NULL;
  CtValue *key = ct_unwrap(a->args[0]);
  if (key->kind == CT_MISSING) return ct_fail_missing(ct, a->span, key);
  return ct_is_hashable(key) ? key : ct_fail(ct, a->span, "TypeError", "'%s' cannot be a dictionary key", ct_kind_name(key));
}

static CtValue *dict_method_get(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *key = checked_key(ct, a), *v = key ? dict_get(self->dict, key) : NULL;
  if (!key || v) return v;
  return a->num_args > 1 ? a->args[1] : ct_none(ct->ctx);
}

static CtValue *dict_setdefault(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *key = checked_key(ct, a), *v = key ? dict_get(self->dict, key) : NULL;
  if (!key || v) return v;
  v = a->num_args > 1 ? a->args[1] : ct_none(ct->ctx);
  dict_set(ct->ctx, self->dict, key, v);
  return v;
}

static CtValue *dict_pop(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *key = checked_key(ct, a), *v = key ? dict_get(self->dict, key) : NULL;
  if (v) dict_remove(ct->ctx, self->dict, key);
  if (!key || v) return v;
  return a->num_args > 1 ? a->args[1] : ct_fail(ct, a->span, "KeyError", "no entry for key %s", ct_repr(ct->ctx, key));
}

static CtValue *dict_update(Comptime *ct, CtValue *self, const CallArgs *a) {
  for (uint32_t i = 0; i < a->num_args; i++) {
    CtValue *from = call_builtin(ct, NULL, "dict", &(CallArgs){&a->args[i], 1, NULL, 0, a->span});
    if (!from || from->kind != CT_DICT) return from ? ct_fail_missing(ct, a->span, from) : NULL;
    for (uint32_t k = 0; k < from->dict->count; k++) dict_set(ct->ctx, self->dict, from->dict->entries[k].key, from->dict->entries[k].value);
  }
  for (uint32_t i = 0; i < a->num_kwargs; i++) dict_set_str(ct->ctx, self->dict, a->kwargs[i].name, a->kwargs[i].value);
  return ct_none(ct->ctx);
}

static CtValue *dict_clear(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)a;
  *self->dict = (CtDict){0};
  return ct_none(ct->ctx);
}

static CtValue *dict_copy(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)a;
  CtValue *v = ct_dict(ct->ctx);
  v->kind = self->kind;
  for (uint32_t i = 0; i < self->dict->count; i++) dict_set(ct->ctx, v->dict, self->dict->entries[i].key, self->dict->entries[i].value);
  return v;
}

static const Method dict_methods[] = {{"keys", dict_keys}, {"values", dict_values}, {"items", dict_items}, {"get", dict_method_get}, {"setdefault", dict_setdefault},
                                      {"pop", dict_pop}, {"update", dict_update}, {"clear", dict_clear}, {"copy", dict_copy}};

static CtValue *set_add(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *key = checked_key(ct, a);
  if (!key) return NULL;
  dict_set(ct->ctx, self->dict, key, ct_none(ct->ctx));
  return ct_none(ct->ctx);
}

static CtValue *set_discard(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *key = checked_key(ct, a);
  if (!key) return NULL;
  dict_remove(ct->ctx, self->dict, key);
  return ct_none(ct->ctx);
}

static CtValue *set_with(Comptime *ct, CtValue *self, const CallArgs *a, PyOp op) {
  CtValue *v = dict_copy(ct, self, a);
  for (uint32_t i = 0; v && i < a->num_args; i++) {
    CtValue *other = call_builtin(ct, NULL, "set", &(CallArgs){&a->args[i], 1, NULL, 0, a->span});
    v = other ? op_binary(ct, op, v, other, a->span) : NULL;
  }
  return v;
}
static CtValue *set_union(Comptime *ct, CtValue *self, const CallArgs *a) { return set_with(ct, self, a, PYOP_OR); }
static CtValue *set_intersection(Comptime *ct, CtValue *self, const CallArgs *a) { return set_with(ct, self, a, PYOP_AND); }
static CtValue *set_difference(Comptime *ct, CtValue *self, const CallArgs *a) { return set_with(ct, self, a, PYOP_SUB); }
static CtValue *set_update(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *v = set_with(ct, self, a, PYOP_OR);
  if (!v) return NULL;
  self->dict = v->dict;
  return ct_none(ct->ctx);
}

static const Method set_methods[] = {{"add", set_add}, {"discard", set_discard}, {"remove", set_discard}, {"copy", dict_copy}, {"clear", dict_clear},
                                     {"union", set_union}, {"intersection", set_intersection}, {"difference", set_difference}, {"update", set_update}};

// ---- numbers ----

static CtValue *int_bit_length(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 v = int_of(self), n = 0;
  (void)a;
  for (unsigned __int128 m = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v; m; m >>= 1) n++;
  return ct_int(ct->ctx, n);
}

static CtValue *int_bit_count(Comptime *ct, CtValue *self, const CallArgs *a) {
  Int128 v = int_of(self), n = 0;
  (void)a;
  for (unsigned __int128 m = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v; m; m >>= 1) n += (Int128)(m & 1);
  return ct_int(ct->ctx, n);
}

static CtValue *float_is_integer(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)a;
  return ct_bool(ct->ctx, self->f == floor(self->f) && !isinf(self->f));
}

static const Method int_methods[] = {{"bit_length", int_bit_length}, {"bit_count", int_bit_count}};
static const Method float_methods[] = {{"is_integer", float_is_integer}};

// ---- dtypes ----

static bool scalar_is(const CtValue *v, DtypeClass cls) { return v->type->kind == CT_TYPE_SCALAR && dtype_info[v->type->scalar].cls == cls; }
static bool block_elem_is(const CtValue *v, DtypeClass cls) {
  const CtType *t = v->type->kind == CT_TYPE_BLOCK ? v->type->elem : v->type;
  return t->kind == CT_TYPE_SCALAR && dtype_info[t->scalar].cls == cls;
}
static bool is_kind(const CtValue *v, DtypeKind k) { return v->type->kind == CT_TYPE_SCALAR && v->type->scalar == k; }

#define DTYPE_TEST(name, condition) \
  static CtValue *dtype_##name(Comptime *ct, CtValue *self, const CallArgs *a) { (void)a; return ct_bool(ct->ctx, condition); }
DTYPE_TEST(is_floating, scalar_is(self, DTCLASS_FLOAT))
DTYPE_TEST(is_int_signed, scalar_is(self, DTCLASS_SIGNED))
DTYPE_TEST(is_int_unsigned, scalar_is(self, DTCLASS_UNSIGNED))
DTYPE_TEST(is_int, scalar_is(self, DTCLASS_SIGNED) || scalar_is(self, DTCLASS_UNSIGNED))
DTYPE_TEST(is_bool, is_kind(self, DT_INT1))
DTYPE_TEST(is_fp8, block_elem_is(self, DTCLASS_FLOAT) && dtype_info[self->type->scalar].bits == 8)
DTYPE_TEST(is_standard_floating, is_kind(self, DT_FP16) || is_kind(self, DT_BF16) || is_kind(self, DT_FP32) || is_kind(self, DT_FP64))
DTYPE_TEST(is_ptr, self->type->kind == CT_TYPE_POINTER)
DTYPE_TEST(is_block, self->type->kind == CT_TYPE_BLOCK)
DTYPE_TEST(is_const, self->type->kind == CT_TYPE_POINTER && self->type->is_const)
DTYPE_TEST(is_void, is_kind(self, DT_VOID))

static CtValue *dtype_get_block_shapes(Comptime *ct, CtValue *self, const CallArgs *a) {
  (void)a;
  return find_attr(ct, self, "shape", a->span);
}

static const Method dtype_methods[] = {
    {"is_floating", dtype_is_floating}, {"is_int_signed", dtype_is_int_signed}, {"is_int_unsigned", dtype_is_int_unsigned}, {"is_int", dtype_is_int},
    {"is_bool", dtype_is_bool}, {"is_fp8", dtype_is_fp8}, {"is_standard_floating", dtype_is_standard_floating}, {"is_ptr", dtype_is_ptr},
    {"is_block", dtype_is_block}, {"is_const", dtype_is_const}, {"is_void", dtype_is_void}, {"get_block_shapes", dtype_get_block_shapes}};

// is_fp16, is_int32, is_fp8e4nv, …: named after the dtypes.
static bool dtype_named_test(const char *name, DtypeKind *out) { return !strncmp(name, "is_", 3) && dtype_find(name + 3, out); }

// ---- instances ----

static CtValue *instance_replace(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *v = instance_new(ct, self->instance->cls);
  for (uint32_t i = 0; i < self->instance->attrs->count; i++)
    env_set(ct->ctx, v->instance->attrs, self->instance->attrs->bindings[i].name, self->instance->attrs->bindings[i].value);
  for (uint32_t i = 0; i < a->num_kwargs; i++) {
    if (!instance_get(v->instance, a->kwargs[i].name)) return ct_fail(ct, a->span, "ValueError", "no field '%s'", a->kwargs[i].name);
    env_set(ct->ctx, v->instance->attrs, a->kwargs[i].name, a->kwargs[i].value);
  }
  return v;
}

static CtValue *instance_asdict(Comptime *ct, CtValue *self, const CallArgs *a) {
  CtValue *d = ct_dict(ct->ctx);
  (void)a;
  for (uint32_t i = 0; i < self->instance->attrs->count; i++)
    dict_set_str(ct->ctx, d->dict, self->instance->attrs->bindings[i].name, self->instance->attrs->bindings[i].value);
  return d;
}

// triton.Config.all_kwargs(): meta-parameters and launch options in one dictionary.
static CtValue *config_all_kwargs(Comptime *ct, CtValue *self, const CallArgs *a) {
  static const char *const options[] = {"num_warps", "num_ctas", "num_stages", "maxnreg"};
  CtValue *kwargs = instance_get(self->instance, intern(ct->ctx, "kwargs")), *d = ct_dict(ct->ctx);
  if (!kwargs || kwargs->kind != CT_DICT) return ct_fail(ct, a->span, "TypeError", "the kwargs of a Config are no dictionary");
  for (uint32_t i = 0; i < kwargs->dict->count; i++) dict_set(ct->ctx, d->dict, kwargs->dict->entries[i].key, kwargs->dict->entries[i].value);
  for (size_t i = 0; i < countof(options); i++) {
    CtValue *v = instance_get(self->instance, intern(ct->ctx, options[i]));
    if (v && v->kind != CT_NONE) dict_set_str(ct->ctx, d->dict, options[i], v);
  }
  return d;
}

static const Method namedtuple_methods[] = {{"_replace", instance_replace}, {"_asdict", instance_asdict}};
static const Method config_methods[] = {{"all_kwargs", config_all_kwargs}};

// ---- dispatch ----

static MethodFn *find_method(const CtValue *v, const char *name) {
  const Method *table = NULL;
  size_t n = 0;
#define TABLE(t) (table = (t), n = countof(t))
  switch (v->kind) {
    case CT_STR: TABLE(str_methods); break;
    case CT_LIST: TABLE(list_methods); break;
    case CT_TUPLE: TABLE(tuple_methods); break;
    case CT_DICT: TABLE(dict_methods); break;
    case CT_SET: TABLE(set_methods); break;
    case CT_INT: case CT_BOOL: TABLE(int_methods); break;
    case CT_FLOAT: TABLE(float_methods); break;
    case CT_DTYPE: TABLE(dtype_methods); break;
    case CT_INSTANCE:
      if (v->instance->cls->form == CLASS_NAMEDTUPLE) TABLE(namedtuple_methods);
      else if (!v->instance->cls->env && !strcmp(v->instance->cls->name, "triton.Config")) TABLE(config_methods);
      break;
    default: break;
  }
#undef TABLE
  for (size_t i = 0; i < n; i++)
    if (!strcmp(table[i].name, name)) return table[i].fn;
  return NULL;
}

bool has_method(const CtValue *v, const char *name) {
  DtypeKind k;
  return find_method(v, name) || (v->kind == CT_DTYPE && dtype_named_test(name, &k));
}

CtValue *call_method(Comptime *ct, CtValue *self, const char *name, const CallArgs *a) {
  self = ct_unwrap(self);
  MethodFn *fn = find_method(self, name);
  DtypeKind k;
  if (fn) return fn(ct, self, a);
  if (self->kind == CT_DTYPE && dtype_named_test(name, &k)) return ct_bool(ct->ctx, is_kind(self, k));
  if (self->kind == CT_MISSING) return ct_missing_from(ct, self, "%s.%s(...)", self->missing.name, name);
  ice(ct->ctx, "method %s of %s is bound, and there is none", name, ct_kind_name(self));
}
