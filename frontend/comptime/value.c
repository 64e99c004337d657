// Construction of compile-time values, types as values, scopes, equality, dictionaries.
#include "frontend/comptime/value.h"

#include <math.h>
#include <string.h>

#include "ir/buf.h"

// ---- construction ----

CtValue *ct_new(Context *ctx, CtKind kind) {
  CtValue *v = arena_new(&ctx->arena, CtValue);
  v->kind = kind;
  return v;
}

// None, True and False are compared by address and never written to, so every Context may share them.
CtValue *ct_none(void) {
  static const CtValue none = {.kind = CT_NONE};
  return (CtValue *)&none;
}

CtValue *ct_bool(bool b) {
  static const CtValue values[2] = {{.kind = CT_BOOL, .b = false}, {.kind = CT_BOOL, .b = true}};
  return (CtValue *)&values[b];
}

CtValue *ct_int(Context *ctx, Int128 i) {
  CtValue *v = ct_new(ctx, CT_INT);
  v->i = i;
  return v;
}

CtValue *ct_float(Context *ctx, double f) {
  CtValue *v = ct_new(ctx, CT_FLOAT);
  v->f = f;
  return v;
}

CtValue *ct_str_n(Context *ctx, const char *s, size_t n) {
  CtValue *v = ct_new(ctx, CT_STR);
  v->str.data = arena_strndup(&ctx->arena, s, n);
  v->str.size = n;
  return v;
}

CtValue *ct_str(Context *ctx, const char *s) { return ct_str_n(ctx, s, strlen(s)); }

static CtValue *sequence(Context *ctx, CtKind kind, CtValue *const *items, uint32_t count) {
  CtValue *v = ct_new(ctx, kind);
  if (!count) return v;
  v->list.data = arena_array(&ctx->arena, CtValue *, count);
  memcpy(v->list.data, items, count * sizeof *items);
  v->list.count = v->list.capacity = count;
  return v;
}

CtValue *ct_tuple(Context *ctx, CtValue *const *items, uint32_t count) { return sequence(ctx, CT_TUPLE, items, count); }
CtValue *ct_list(Context *ctx, CtValue *const *items, uint32_t count) { return sequence(ctx, CT_LIST, items, count); }

CtValue *ct_iterator(CtValue *list, const char *name) {
  list->kind = CT_ITERATOR;
  list->iterator.name = name;
  return list;
}

CtValue *ct_dict(Context *ctx) {
  CtValue *v = ct_new(ctx, CT_DICT);
  v->dict = arena_new(&ctx->arena, CtDict);
  return v;
}

CtValue *ct_dtype(Context *ctx, const CtType *type) {
  CtValue *v = ct_new(ctx, CT_DTYPE);
  v->type = type;
  return v;
}

CtValue *ct_builtin(Context *ctx, const char *name) {
  CtValue *v = ct_new(ctx, CT_BUILTIN);
  v->builtin.name = intern(ctx, name);
  return v;
}

CtValue *ct_constexpr(Context *ctx, CtValue *inner) {
  if (inner->kind == CT_CONSTEXPR) return inner;
  CtValue *v = ct_new(ctx, CT_CONSTEXPR);
  v->inner = inner;
  return v;
}

CtValue *ct_plain(CtValue *v) {
  if (v->kind != CT_INSTANCE || v->instance->cls->form != CLASS_ENUM || !v->instance->cls->plain) return v;
  const CtEnv *attrs = v->instance->attrs;   // name, value
  return attrs->count == 2 ? attrs->bindings[1].value : v;
}

const CtValue *ct_integer(const CtValue *v) {
  v = ct_plain((CtValue *)v);
  return v->kind == CT_INT || v->kind == CT_BOOL ? v : NULL;
}

CtValue *ct_unwrap(CtValue *v) { return v->kind == CT_CONSTEXPR ? v->inner : v; }

// ---- scopes ----

enum { LINEAR_SCOPE = 12 };

static uint32_t env_find(const CtEnv *env, const char *name) {
  if (env->index.count) {
    const MapSlot *s = map_get(&env->index, name);
    return s ? (uint32_t)s->number : 0;
  }
  for (uint32_t i = 0; i < env->count; i++)
    if (env->bindings[i].name == name) return i + 1;
  return 0;
}

CtValue *ct_env_get_local(const CtEnv *env, const char *name) {
  uint32_t i = env_find(env, name);
  return i ? env->bindings[i - 1].value : NULL;
}

CtValue *ct_env_lookup(const CtEnv *env, const char *name) {
  for (uint32_t i = 0; i < env->globals.count; i++)
    if (env->globals.data[i] == name) return ct_env_get_local(env->module->env, name);
  for (const CtEnv *e = env; e; e = e->parent) {
    if (e->is_class && e != env) continue;
    CtValue *v = ct_env_get_local(e, name);
    if (v) return v;
  }
  return NULL;
}

void ct_env_set(Context *ctx, CtEnv *env, const char *name, CtValue *value) {
  uint32_t i = env_find(env, name);
  if (i) {
    env->bindings[i - 1].value = value;
    return;
  }
  if (env->count == env->capacity)
    env->bindings = vec_grow_(&ctx->arena, env->bindings, sizeof *env->bindings, env->count, &env->capacity);
  env->bindings[env->count] = (CtBinding){name, value};
  if (env->count >= LINEAR_SCOPE) {
    Map index = env->index;
    for (uint32_t k = index.count; k <= env->count; k++)
      map_at(&ctx->arena, &index, env->bindings[k].name)->number = k + 1;
    env->index = index;
  }
  env->count++;   // last: running out of memory above leaves the scope as it was
}

CtValue *ct_instance_get(const CtInstance *in, const char *name) { return ct_env_get_local(in->attrs, name); }

// ---- equality and hashing ----

// Walks stop at these bounds: values may be cyclic, and may share parts exponentially often.
enum { MAX_NESTING = 100, MAX_VISITS = 1 << 20 };
typedef struct { uint32_t depth, left; } Walk;

static bool is_number(const CtValue *v) { return v->kind == CT_FLOAT || ct_integer(v); }

static Int128 int_of(const CtValue *v) {
  v = ct_integer(v);
  return v->kind == CT_INT ? v->i : v->b;
}

static int order_of(Int128 i, double f) {
  if (fabs(f) >= 0x1p127) return f > 0 ? -1 : 1;
  const Int128 whole = (Int128)floor(f);
  return i != whole ? (i < whole ? -1 : 1) : f > floor(f) ? -1 : 0;
}

int ct_number_order(const CtValue *a, const CtValue *b) {
  const bool af = a->kind == CT_FLOAT, bf = b->kind == CT_FLOAT;
  if ((af && isnan(a->f)) || (bf && isnan(b->f))) return CT_UNORDERED;
  if (af && bf) return (a->f > b->f) - (a->f < b->f);
  if (bf) return order_of(int_of(a), b->f);
  if (af) return -order_of(int_of(b), a->f);
  return (int_of(a) > int_of(b)) - (int_of(a) < int_of(b));
}

static bool equal(const CtValue *a, const CtValue *b, Walk *w);

static bool lists_equal(const CtList *a, const CtList *b, Walk *w) {
  if (a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->data[i] != b->data[i] && !equal(a->data[i], b->data[i], w)) return false;
  return true;
}

static bool dicts_equal(const CtDict *a, const CtDict *b, bool with_values, Walk *w) {
  if (a->count != b->count) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    const CtValue *other = ct_dict_get(b, a->entries[i].key);
    if (!other || (with_values && !equal(a->entries[i].value, other, w))) return false;
  }
  return true;
}

// Built-in classes are known by their names.
static bool same_class(const CtClass *a, const CtClass *b) {
  return a == b || (!a->def && !b->def && !a->env && !b->env && !strcmp(a->name, b->name));
}

// The fields of a namedtuple compare as a tuple does.
static bool instances_equal(const CtInstance *a, const CtInstance *b, Walk *w) {
  if (a == b) return true;
  if (!same_class(a->cls, b->cls) || (a->cls->form != CLASS_NAMEDTUPLE && a->cls->form != CLASS_DATACLASS) ||
      a->attrs->count != b->attrs->count)
    return false;
  for (uint32_t i = 0; i < a->attrs->count; i++)
    if (!equal(a->attrs->bindings[i].value, b->attrs->bindings[i].value, w)) return false;
  return true;
}

static bool is_namedtuple(const CtValue *v) {
  return v->kind == CT_INSTANCE && v->instance->cls->form == CLASS_NAMEDTUPLE;
}

static bool fields_equal(const CtInstance *in, const CtList *list, Walk *w) {
  if (in->attrs->count != list->count) return false;
  for (uint32_t i = 0; i < list->count; i++)
    if (!equal(in->attrs->bindings[i].value, list->data[i], w)) return false;
  return true;
}

static bool equal_kinds(const CtValue *a, const CtValue *b, Walk *w) {
  if (a->kind == CT_CONSTEXPR) a = a->inner;
  if (b->kind == CT_CONSTEXPR) b = b->inner;
  a = ct_plain((CtValue *)a), b = ct_plain((CtValue *)b);
  if (is_number(a) && is_number(b)) return ct_number_order(a, b) == 0;
  if (a == b) return true;
  if (is_namedtuple(a) && b->kind == CT_TUPLE) return fields_equal(a->instance, &b->list, w);
  if (is_namedtuple(b) && a->kind == CT_TUPLE) return fields_equal(b->instance, &a->list, w);
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case CT_STR: case CT_BYTES: return a->str.size == b->str.size && !memcmp(a->str.data, b->str.data, a->str.size);
    case CT_TUPLE: case CT_LIST: return lists_equal(&a->list, &b->list, w);
    case CT_DICT: return dicts_equal(a->dict, b->dict, true, w);
    case CT_SET: return dicts_equal(a->dict, b->dict, false, w);
    case CT_RANGE:
      return a->range.start == b->range.start && a->range.stop == b->range.stop && a->range.step == b->range.step;
    case CT_SLICE:
      return equal(a->slice.lower, b->slice.lower, w) && equal(a->slice.upper, b->slice.upper, w) &&
             equal(a->slice.step, b->slice.step, w);
    case CT_DTYPE: return ct_type_equal(a->type, b->type);
    case CT_FUNCTION: return a->fn == b->fn;
    case CT_BUILTIN: return a->builtin.name == b->builtin.name;
    case CT_METHOD: return equal(a->method.self, b->method.self, w) && equal(a->method.fn, b->method.fn, w);
    case CT_MODULE: return a->module == b->module;
    case CT_CLASS: return a->cls == b->cls;
    case CT_INSTANCE: return instances_equal(a->instance, b->instance, w);
    case CT_NONE: case CT_ELLIPSIS: return true;
    default: return false;
  }
}

static bool equal(const CtValue *a, const CtValue *b, Walk *w) {
  if (w->depth == MAX_NESTING || !w->left) return a == b;   // lists may contain themselves
  w->depth++;
  w->left--;
  bool same = equal_kinds(a, b, w);
  w->depth--;
  return same;
}

bool ct_equal(const CtValue *a, const CtValue *b) { return equal(a, b, &(Walk){0, MAX_VISITS}); }

static bool hashable(const CtValue *v, Walk *w) {
  switch (v->kind) {
    case CT_LIST: case CT_DICT: case CT_SET: case CT_SLICE: case CT_MISSING: return false;
    case CT_TUPLE:
      if (v->tuple.hash || w->depth == MAX_NESTING) return true;   // a hash is only kept for what has one
      for (uint32_t i = 0; i < v->list.count && w->left; i++) {
        w->depth++;
        w->left--;
        bool ok = hashable(v->list.data[i], w);
        w->depth--;
        if (!ok) return false;
      }
      return true;
    case CT_CONSTEXPR: return hashable(v->inner, w);
    default: return true;
  }
}

bool ct_is_hashable(const CtValue *v) { return hashable(v, &(Walk){0, MAX_VISITS}); }

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

static uint64_t hash_bytes(const char *s, size_t n) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
  return mix(h, n);
}

static uint64_t hash_type(const CtType *t) {
  uint64_t h = mix((uint64_t)t->kind, (uint64_t)t->scalar);
  for (uint32_t i = 0; i < t->rank; i++) h = mix(h, (uint64_t)t->shape[i]);
  return t->elem ? mix(h, hash_type(t->elem)) : h;
}

static uint64_t hash_int(Int128 i) {
  return mix(mix(1, (uint64_t)i), i == (Int128)(int64_t)i ? 0 : (uint64_t)(i >> 64));
}

static uint64_t hash(const CtValue *v, int depth) {
  if (depth == MAX_NESTING) return 0;
  switch (v->kind) {
    case CT_CONSTEXPR: return hash(v->inner, depth);
    case CT_BOOL: case CT_INT: return hash_int(int_of(v));
    case CT_FLOAT: {
      if (fabs(v->f) < 0x1p127 && v->f == floor(v->f)) return hash_int((Int128)v->f);
      uint64_t bits;
      memcpy(&bits, &v->f, sizeof bits);
      return mix(2, bits);
    }
    case CT_STR: case CT_BYTES: return hash_bytes(v->str.data, v->str.size);
    case CT_TUPLE: {
      uint64_t h = v->tuple.hash;   // kept, because tuples may share their parts
      if (h) return h;
      h = 3;
      for (uint32_t i = 0; i < v->list.count; i++) h = mix(h, hash(v->list.data[i], depth + 1));
      return ((CtValue *)v)->tuple.hash = h | 1;
    }
    case CT_DTYPE: return mix(4, hash_type(v->type));
    case CT_BUILTIN: return mix(5, hash_bytes(v->builtin.name, strlen(v->builtin.name)));
    case CT_FUNCTION: return mix(6, v->fn->def ? v->fn->def->span.begin : 0);
    case CT_CLASS: return mix(7, hash_bytes(v->cls->name, strlen(v->cls->name)));
    case CT_INSTANCE:
      if (ct_plain((CtValue *)v) != v) return hash(ct_plain((CtValue *)v), depth + 1);
      if (is_namedtuple(v)) {   // as a tuple's
        uint64_t h = 3;
        for (uint32_t i = 0; i < v->instance->attrs->count; i++)
          h = mix(h, hash(v->instance->attrs->bindings[i].value, depth + 1));
        return h | 1;
      }
      return mix(8, hash_bytes(v->instance->cls->name, strlen(v->instance->cls->name)));
    default: return (uint64_t)v->kind;
  }
}

// ---- dictionaries ----

static bool same_key(const void *kept, const void *key) { return kept == key || ct_equal(kept, key); }

static uint32_t dict_find(const CtDict *d, const CtValue *key, uint32_t key_hash) {
  return d->index.count ? (uint32_t)map_probe(&d->index, key_hash, key, same_key)->number : 0;
}

static void dict_index(Context *ctx, CtDict *d, uint32_t i) {
  MapSlot *s = map_find(&ctx->arena, &d->index, d->entries[i].hash, d->entries[i].key, same_key);
  s->key = d->entries[i].key;
  s->number = i + 1;
}

CtValue *ct_dict_get(const CtDict *d, const CtValue *key) {
  uint32_t i = dict_find(d, key, (uint32_t)hash(key, 0));
  return i ? d->entries[i - 1].value : NULL;
}

CtValue *ct_dict_get_str(const CtDict *d, const char *key) {
  CtValue k = {.kind = CT_STR, .str = {key, strlen(key)}};
  return ct_dict_get(d, &k);
}

void ct_dict_set(Context *ctx, CtDict *d, CtValue *key, CtValue *value) {
  uint32_t key_hash = (uint32_t)hash(key, 0);
  uint32_t i = dict_find(d, key, key_hash);
  if (i) {
    d->entries[i - 1].value = value;
    return;
  }
  if (d->count == d->capacity)
    d->entries = vec_grow_(&ctx->arena, d->entries, sizeof *d->entries, d->count, &d->capacity);
  d->entries[d->count] = (CtEntry){key, value, key_hash};
  dict_index(ctx, d, d->count);
  d->count++;
}

void ct_dict_set_str(Context *ctx, CtDict *d, const char *key, CtValue *value) {
  ct_dict_set(ctx, d, ct_str(ctx, key), value);
}

void ct_dict_update(Context *ctx, CtDict *d, const CtDict *from) {
  for (uint32_t i = 0; i < from->count; i++) ct_dict_set(ctx, d, from->entries[i].key, from->entries[i].value);
}

void ct_dict_update_bindings(Context *ctx, CtDict *d, const CtBinding *from, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) ct_dict_set_str(ctx, d, from[i].name, from[i].value);
}

bool ct_dict_remove(Context *ctx, CtDict *d, const CtValue *key) {
  uint32_t i = dict_find(d, key, (uint32_t)hash(key, 0));
  if (!i) return false;
  memmove(&d->entries[i - 1], &d->entries[i], (d->count - i) * sizeof *d->entries);
  d->count--;
  memset(d->index.slots, 0, d->index.capacity * sizeof *d->index.slots);
  d->index.count = 0;
  for (i = 0; i < d->count; i++) dict_index(ctx, d, i);
  return true;
}

// ---- truth and names ----

Int128 ct_range_length(const CtValue *v) {
  Int128 span = v->range.step > 0 ? v->range.stop - v->range.start : v->range.start - v->range.stop;
  Int128 step = v->range.step > 0 ? v->range.step : -v->range.step;
  return span <= 0 ? 0 : (span - 1) / step + 1;
}

bool ct_is_true(const CtValue *v) {
  switch (v->kind) {
    case CT_NONE: return false;
    case CT_BOOL: return v->b;
    case CT_INT: return v->i != 0;
    case CT_FLOAT: return v->f != 0;
    case CT_STR: case CT_BYTES: return v->str.size != 0;
    case CT_TUPLE: case CT_LIST: return v->list.count != 0;
    case CT_DICT: case CT_SET: return v->dict->count != 0;
    case CT_RANGE: return v->range.step > 0 ? v->range.start < v->range.stop : v->range.start > v->range.stop;
    case CT_CONSTEXPR: return ct_is_true(v->inner);
    default: return true;
  }
}

const char *ct_kind_name(const CtValue *v) {
  static const char *const names[NUM_CT_KINDS] = {
      [CT_NONE] = "NoneType", [CT_BOOL] = "bool", [CT_INT] = "int", [CT_FLOAT] = "float", [CT_STR] = "str",
      [CT_BYTES] = "bytes", [CT_ELLIPSIS] = "ellipsis", [CT_TUPLE] = "tuple", [CT_LIST] = "list", [CT_SET] = "set",
      [CT_DICT] = "dict", [CT_RANGE] = "range", [CT_SLICE] = "slice", [CT_DTYPE] = "dtype",
      [CT_FUNCTION] = "function", [CT_BUILTIN] = "builtin", [CT_METHOD] = "method", [CT_MODULE] = "module",
      [CT_CLASS] = "type", [CT_INSTANCE] = "object", [CT_CONSTEXPR] = "constexpr", [CT_MISSING] = "missing value"};
  return v->kind == CT_INSTANCE ? v->instance->cls->name : v->kind == CT_ITERATOR ? v->iterator.name : names[v->kind];
}
