// Lengths, iteration and subscripts of compile-time values.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

static size_t utf8_width(unsigned char c) { return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4; }

// The characters of a text, or the bytes of bytes, as values.
static bool split_text(Comptime *ct, const CtValue *v, Span span, CtList *out) {
  *out = (CtList){0};
  if (!ct_grow(ct, v->str.size, span)) return false;
  for (size_t i = 0; i < v->str.size;) {
    size_t w = v->kind == CT_STR ? utf8_width((unsigned char)v->str.data[i]) : 1;
    if (w > v->str.size - i) w = v->str.size - i;
    CtValue *c =
        v->kind == CT_STR ? ct_str_n(ct->ctx, v->str.data + i, w) : ct_int(ct->ctx, (unsigned char)v->str.data[i]);
    vec_push(ct->arena, out, c);
    i += w;
  }
  return true;
}

bool ct_length(Comptime *ct, CtValue *v, Span span, Int128 *out) {
  v = ct_unwrap(v);
  switch (v->kind) {
    case CT_STR:
      *out = 0;
      for (size_t i = 0; i < v->str.size; i++) *out += ((unsigned char)v->str.data[i] & 0xc0) != 0x80;
      return true;
    case CT_BYTES: *out = (Int128)v->str.size; return true;
    case CT_TUPLE: case CT_LIST: *out = v->list.count; return true;
    case CT_DICT: case CT_SET: *out = v->dict->count; return true;
    case CT_RANGE: *out = ct_range_length(v); return true;
    case CT_INSTANCE: {
      if (v->instance->cls->form == CLASS_NAMEDTUPLE) return *out = v->instance->attrs->count, true;
      CtValue *method = ct_class_special(ct, v, "__len__");
      CtValue *r = method ? ct_call1(ct, method, v, span) : NULL;
      if (r && ct_unwrap(r)->kind == CT_INT) return *out = ct_unwrap(r)->i, true;
      if (ct->error) return false;
      break;
    }
    case CT_CLASS: {
      CtList members;
      if (v->cls->form != CLASS_ENUM || !ct_iterate(ct, v, span, &members)) break;
      return *out = members.count, true;
    }
    case CT_MISSING: return ct_fail_missing(ct, span, v) != NULL;
    default: break;
  }
  ct_fail(ct, span, "TypeError", "'%s' has no length", ct_kind_name(v));
  return false;
}

bool ct_iterate(Comptime *ct, CtValue *v, Span span, CtList *out) {
  v = ct_unwrap(v);
  *out = (CtList){0};
  switch (v->kind) {
    case CT_TUPLE: case CT_LIST: {
      ct_work(ct, v);
      CtValue *copy = ct_list(ct->ctx, v->list.data, v->list.count);   // a loop may change the list
      *out = copy->list;
      return true;
    }
    case CT_ITERATOR:
      ct_work(ct, v);
      *out = v->list;
      v->list = (CtList){0};
      return true;
    case CT_STR: case CT_BYTES: return split_text(ct, v, span, out);
    case CT_DICT: case CT_SET:
      for (uint32_t i = 0; i < v->dict->count; i++) vec_push(ct->arena, out, v->dict->entries[i].key);
      return true;
    case CT_RANGE: {
      Int128 n = ct_range_length(v);
      if (!ct_grow(ct, n > MAX_ELEMENTS ? (size_t)MAX_ELEMENTS + 1 : (size_t)n, span)) return false;
      for (Int128 i = 0; i < n; i++) vec_push(ct->arena, out, ct_int(ct->ctx, v->range.start + i * v->range.step));
      return true;
    }
    case CT_CLASS:
      if (v->cls->form != CLASS_ENUM) break;
      for (uint32_t i = 0; i < v->cls->env->count; i++) {
        CtValue *member = v->cls->env->bindings[i].value;
        if (member->kind == CT_INSTANCE && member->instance->cls == v->cls) vec_push(ct->arena, out, member);
      }
      return true;
    case CT_INSTANCE: {
      if (v->instance->cls->form == CLASS_NAMEDTUPLE) {
        for (uint32_t i = 0; i < v->instance->attrs->count; i++)
          vec_push(ct->arena, out, v->instance->attrs->bindings[i].value);
        return true;
      }
      CtValue *method = ct_class_special(ct, v, "__iter__");
      CtValue *r = method ? ct_call1(ct, method, v, span) : NULL;
      if (r && r != v) return ct_iterate(ct, r, span, out);
      if (ct->error) return false;
      break;
    }
    case CT_MISSING: return ct_fail_missing(ct, span, v) != NULL;
    default: break;
  }
  ct_fail(ct, span, "TypeError", "'%s' cannot be iterated over", ct_kind_name(v));
  return false;
}

bool ct_cursor_open(Comptime *ct, CtCursor *c, CtValue *v, Span span) {
  v = ct_unwrap(v);
  *c = (CtCursor){.live = v->kind == CT_LIST || v->kind == CT_ITERATOR ? v : NULL};
  return c->live || ct_iterate(ct, v, span, &c->items);
}

static CtValue *take(CtList *items) {
  items->count--;
  items->capacity--;
  return *items->data++;
}

bool ct_cursor_next(CtCursor *c, CtValue **item) {
  CtList *items = c->live ? &c->live->list : &c->items;
  if (c->at >= items->count) return false;
  *item = c->live && c->live->kind == CT_ITERATOR ? take(items) : items->data[c->at++];
  return true;
}

// Python's clamping of slice bounds to a sequence of n elements.
static bool slice_bounds(Comptime *ct, const CtValue *s, Int128 n, Span span, Int128 *start, Int128 *stop,
                         Int128 *step) {
  const CtValue *parts[3] = {ct_unwrap(s->slice.lower), ct_unwrap(s->slice.upper), ct_unwrap(s->slice.step)};
  for (int i = 0; i < 3; i++)
    if (parts[i]->kind == CT_MISSING) return ct_fail_missing(ct, span, parts[i]) != NULL;
    else if (parts[i]->kind != CT_NONE && !is_int(parts[i]))
      return ct_fail(ct, span, "TypeError", "slice bounds must be integers") != NULL;
  *step = parts[2]->kind == CT_NONE ? 1 : int_of(parts[2]);
  if (!*step) return ct_fail(ct, span, "ValueError", "slice step cannot be zero") != NULL;
  *step = *step > n + 1 ? n + 1 : *step < -n - 1 ? -n - 1 : *step;   // a larger step selects the same elements
  Int128 low = *step > 0 ? 0 : -1, high = *step > 0 ? n : n - 1;
  Int128 bounds[2] = {*step > 0 ? low : high, *step > 0 ? high : low};
  for (int i = 0; i < 2; i++) {
    if (parts[i]->kind == CT_NONE) continue;
    Int128 b = int_of(parts[i]);
    if (b < 0) b += n;
    bounds[i] = b < low ? low : b > high ? high : b;
  }
  *start = bounds[0];
  *stop = bounds[1];
  return true;
}

static CtValue *from_list(Comptime *ct, const CtValue *like, const CtList *items) {
  if (like->kind == CT_TUPLE || like->kind == CT_INSTANCE) return ct_tuple(ct->ctx, items->data, items->count);
  if (like->kind != CT_STR && like->kind != CT_BYTES) return ct_list(ct->ctx, items->data, items->count);
  Buf b = buf_make(ct->arena);
  for (uint32_t i = 0; i < items->count; i++)
    if (like->kind == CT_STR) buf_write(&b, items->data[i]->str.data, items->data[i]->str.size);
    else buf_putc(&b, (char)items->data[i]->i);
  CtValue *v = ct_text(ct, &b);
  v->kind = like->kind;
  return v;
}

// "; its keys are 'x', 'y'", at most eight of them.
static const char *known_keys(Comptime *ct, const CtValue *v) {
  if (v->kind != CT_DICT || !v->dict->count) return "";
  Buf b = buf_make(ct->arena);
  for (uint32_t i = 0; i < v->dict->count && i < 8; i++)
    buf_printf(&b, "%s%s", i ? ", " : "", ct_repr(ct->ctx, v->dict->entries[i].key));
  return arena_printf(ct->arena, "; its keys are %s%s", buf_str(&b), v->dict->count > 8 ? ", …" : "");
}

static CtValue *key_error(Comptime *ct, const CtValue *v, const CtValue *key, Span span) {
  return ct_fail(ct, span, "KeyError", "no entry for key %s%s", ct_repr(ct->ctx, key), known_keys(ct, v));
}

CtValue *ct_key(Comptime *ct, CtValue *v, Span span) {
  v = ct_unwrap(v);
  if (v->kind == CT_MISSING) return ct_fail_missing(ct, span, v);
  return ct_is_hashable(v) ? v : ct_fail(ct, span, "TypeError", "'%s' cannot be a dictionary key or in a set",
                                         ct_kind_name(v));
}

CtValue *ct_range(Comptime *ct, Int128 start, Int128 stop, Int128 step) {
  CtValue *v = ct_new(ct->ctx, CT_RANGE);
  v->range.start = start;
  v->range.stop = stop;
  v->range.step = step;
  return v;
}

// The position that an integer index selects. False after a failure.
static bool index_of(Comptime *ct, const CtValue *v, CtValue *index, Int128 n, Span span, Int128 *out) {
  index = ct_unwrap(index);
  if (index->kind == CT_MISSING) return ct_fail_missing(ct, span, index) != NULL;
  if (!is_int(index))
    return ct_fail(ct, span, "TypeError", "'%s' index must be an integer, not '%s'", ct_kind_name(v),
                   ct_kind_name(index)) != NULL;
  *out = int_of(index) < 0 ? int_of(index) + n : int_of(index);
  if (*out >= 0 && *out < n) return true;
  Buf b = buf_make(ct->arena);
  pynum_put_int(&b, int_of(index));
  ct_fail(ct, span, "IndexError", "index %s is out of range for '%s' of length %lld", buf_str(&b), ct_kind_name(v),
          (long long)n);
  return false;
}

static bool is_ascii(const CtValue *v) {
  if (v->kind != CT_STR) return false;
  for (size_t i = 0; i < v->str.size; i++)
    if (v->str.data[i] & 0x80) return false;
  return true;
}

// Subscripts a text whose characters are its bytes without splitting it.
static CtValue *ascii_subscript(Comptime *ct, const CtValue *v, CtValue *key, Span span) {
  const Int128 n = (Int128)v->str.size;
  Int128 i, start, stop, step;
  if (key->kind != CT_SLICE) return index_of(ct, v, key, n, span, &i) ? ct_str_n(ct->ctx, v->str.data + i, 1) : NULL;
  if (!slice_bounds(ct, key, n, span, &start, &stop, &step)) return NULL;
  Buf b = buf_make(ct->arena);
  for (Int128 k = start; step > 0 ? k < stop : k > stop; k += step) buf_putc(&b, v->str.data[k]);
  return ct_text(ct, &b);
}

CtValue *ct_subscript(Comptime *ct, CtValue *v, CtValue *index, Span span) {
  if (!ct_step(ct, span)) return NULL;
  v = ct_unwrap(v);
  CtValue *key = ct_unwrap(index);
  Int128 i, start, stop, step;
  switch (v->kind) {
    case CT_DICT: {
      if (!ct_key(ct, key, span)) return NULL;
      CtValue *item = ct_dict_get(v->dict, key);
      return item ? item : key_error(ct, v, key, span);
    }
    case CT_RANGE:
      if (key->kind == CT_SLICE) {
        if (!slice_bounds(ct, key, ct_range_length(v), span, &start, &stop, &step)) return NULL;
        const Int128 first = v->range.start, scale = v->range.step;
        return ct_range(ct, first + start * scale, first + stop * scale, scale * step);
      }
      return index_of(ct, v, key, ct_range_length(v), span, &i) ? ct_int(ct->ctx, v->range.start + i * v->range.step)
                                                                : NULL;
    case CT_INSTANCE: {
      CtValue *method = ct_class_special(ct, v, "__getitem__");
      if (method) return ct_call(ct, method, CT_ARGS(span, v, index));
      if (v->instance->cls->form != CLASS_NAMEDTUPLE) break;
    } // fallthrough
    case CT_TUPLE: case CT_LIST: case CT_STR: case CT_BYTES: {
      CtList items;
      if (v->kind == CT_TUPLE || v->kind == CT_LIST) items = v->list;
      else if (is_ascii(v)) return ascii_subscript(ct, v, key, span);
      else if (!ct_iterate(ct, v, span, &items)) return NULL;
      if (key->kind != CT_SLICE) return index_of(ct, v, key, items.count, span, &i) ? items.data[i] : NULL;
      if (!slice_bounds(ct, key, items.count, span, &start, &stop, &step)) return NULL;
      CtList picked = {0};
      for (Int128 k = start; step > 0 ? k < stop : k > stop; k += step) vec_push(ct->arena, &picked, items.data[k]);
      return from_list(ct, v, &picked);
    }
    case CT_CLASS:
      if (v->cls->form == CLASS_ENUM && key->kind == CT_STR) {
        CtValue *member = ct_env_get_local(v->cls->env, intern_n(ct->ctx, key->str.data, key->str.size));
        return member ? member : key_error(ct, v, key, span);
      }
      return v;   // Generic[T]
    case CT_BUILTIN: return v;   // list[int], Optional[X]: a type with parameters is the type
    case CT_MISSING: return ct_missing_from(ct, v, "%s[...]", v->missing.name);
    case CT_FUNCTION:
      if (v->fn->role == FN_JIT)
        return ct_missing(ct, v->fn->name,
                          arena_printf(ct->arena, "launching a kernel is host code, which the compiler does not run; "
                                       "a kernel calls it as a function: %s(…)", v->fn->name), span);
      break;
    default: break;
  }
  return ct_fail(ct, span, "TypeError", "'%s' cannot be subscripted", ct_kind_name(v));
}

bool ct_store_subscript(Comptime *ct, CtValue *v, CtValue *index, CtValue *item, Span span) {
  v = ct_unwrap(v);
  index = ct_unwrap(index);
  Int128 i, start, stop, step;
  if (v->kind == CT_DICT) {
    if (!ct_key(ct, index, span)) return false;
    ct_dict_set(ct->ctx, v->dict, index, item);
    return true;
  }
  if (v->kind == CT_LIST && index->kind == CT_SLICE) {
    CtList items;
    if (!ct_iterate(ct, item, span, &items) || !slice_bounds(ct, index, v->list.count, span, &start, &stop, &step))
      return false;
    if (step != 1) {
      const Int128 have = items.count, want = step > 0       ? (stop > start ? (stop - start - 1) / step + 1 : 0)
                                              : start > stop ? (start - stop - 1) / -step + 1
                                                             : 0;
      if (have != want)
        return ct_fail(ct, span, "ValueError", "%u values cannot be stored in a slice of %u", items.count,
                       (uint32_t)want) != NULL;
      for (uint32_t k = 0; k < items.count; k++) v->list.data[start + k * step] = items.data[k];
      return true;
    }
    if (stop < start) stop = start;
    CtList out = {0};
    for (Int128 k = 0; k < start; k++) vec_push(ct->arena, &out, v->list.data[k]);
    ct_extend(ct, &out, &items);
    for (Int128 k = stop; k < v->list.count; k++) vec_push(ct->arena, &out, v->list.data[k]);
    v->list = out;
    return true;
  }
  if (v->kind == CT_LIST) {
    if (!index_of(ct, v, index, v->list.count, span, &i)) return false;
    v->list.data[i] = item;
    return true;
  }
  CtValue *method = ct_class_special(ct, v, "__setitem__");
  if (method) return ct_call(ct, method, CT_ARGS(span, v, index, item)) != NULL;
  if (v->kind == CT_MISSING) return ct_fail_missing(ct, span, v) != NULL;
  ct_fail(ct, span, "TypeError", "'%s' does not support item assignment", ct_kind_name(v));
  return false;
}

bool ct_delete_subscript(Comptime *ct, CtValue *v, CtValue *index, Span span) {
  v = ct_unwrap(v);
  index = ct_unwrap(index);
  Int128 i;
  if (v->kind == CT_DICT) {
    if (!ct_key(ct, index, span)) return false;
    if (ct_dict_remove(ct->ctx, v->dict, index)) return true;
    key_error(ct, v, index, span);
    return false;
  }
  if (v->kind == CT_LIST && index->kind == CT_SLICE) {
    Int128 start, stop, step;
    if (!slice_bounds(ct, index, v->list.count, span, &start, &stop, &step)) return false;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < v->list.count; k++) {
      const bool gone = step > 0 ? k >= start && k < stop && (k - start) % step == 0
                                 : k <= start && k > stop && (start - k) % -step == 0;
      if (!gone) v->list.data[kept++] = v->list.data[k];
    }
    v->list.count = kept;
    return true;
  }
  if (v->kind == CT_LIST) {
    if (!index_of(ct, v, index, v->list.count, span, &i)) return false;
    memmove(&v->list.data[i], &v->list.data[i + 1], (v->list.count - (uint32_t)i - 1) * sizeof *v->list.data);
    v->list.count--;
    return true;
  }
  if (v->kind == CT_MISSING) return ct_fail_missing(ct, span, v) != NULL;
  ct_fail(ct, span, "TypeError", "'%s' does not support item deletion", ct_kind_name(v));
  return false;
}
