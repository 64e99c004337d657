#include "runtime/cli/run_spec.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/compile/compile.h"

#define BAD(...) (error_set(error, TILE_ERROR_USAGE, __VA_ARGS__), NULL)

StrList run_spec_split(Arena *a, const char *text, size_t size) {
  StrList list = {0};
  int depth = 0;
  char quote = 0;
  size_t start = 0;
  for (size_t i = 0; i <= size; i++) {
    char c = i < size ? text[i] : ',';
    if (i < size && quote) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (strchr("([{<", c) && c) depth++;
    if (strchr(")]}>", c) && c) depth--;
    if (c != ',' || (depth > 0 && i < size)) continue;
    size_t from = start, to = i;
    while (from < to && text[from] == ' ') from++;
    while (to > from && text[to - 1] == ' ') to--;
    vec_push(a, &list, arena_strndup(a, text + from, to - from));
    start = i + 1;
  }
  return list;
}

static size_t name_length(const char *s) {
  size_t n = 0;
  if (isalpha((unsigned char)*s) || *s == '_')
    while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
  return n;
}

// Parses all of s as a whole number or a float.
static bool parse_number(const char *s, ArgSpec *out) {
  char *end;
  errno = 0;
  long long i = strtoll(s, &end, 0);
  if (end != s && !*end && !errno) {
    out->kind = ARG_INT;
    out->i = i;
    out->f = (double)i;
    return true;
  }
  unsigned long long u = errno == ERANGE && *s != '-' ? (errno = 0, strtoull(s, &end, 0)) : 0;
  if (u && !*end && !errno) {
    out->kind = ARG_INT;
    out->i = (int64_t)u;
    out->f = (double)u;
    out->has_dtype = true;
    out->dtype = DT_UINT64;
    return true;
  }
  const bool is_large = errno == ERANGE && !*end;
  double f = strtod(s, &end);
  if (end == s || *end) return false;
  out->is_large = is_large;
  out->kind = ARG_FLOAT;
  out->f = f;
  return true;
}

bool run_spec_holds(DtypeKind dtype, const ArgSpec *s) {
  uint8_t byte[8];
  HostTensor t = {.dtype = dtype, .count = 1, .data = byte};
  if (host_is_float(dtype)) return host_set(&t, 0, s->f), !isfinite(s->f) || isfinite(host_get(&t, 0));
  const uint32_t bits = dtype_info[dtype].bits;
  const bool is_signed = dtype_info[dtype].cls == DTCLASS_SIGNED;
  if (s->has_dtype) return dtype == DT_UINT64;   // parse_number gives u64 to a number that no other type holds
  if (bits >= 64) return is_signed || s->i >= 0;
  return s->i >= (is_signed ? -(INT64_C(1) << (bits - 1)) : 0) && s->i < INT64_C(1) << (is_signed ? bits - 1 : bits);
}

static bool parse_i64(const char *s, size_t n, int64_t *v) {
  char buffer[32], *end;
  if (!n || n >= sizeof buffer) return false;
  memcpy(buffer, s, n);
  buffer[n] = 0;
  errno = 0;
  *v = strtoll(buffer, &end, 0);
  return !*end && !errno;
}

static ArgSpec *parse_fill(const char *s, ArgSpec *out, tile_error **error) {
  static const struct { const char *name; FillKind kind; int least, most; } fills[] = {
      {"zeros", FILL_ZEROS, 0, 0},     {"ones", FILL_ONES, 0, 0},   {"arange", FILL_ARANGE, 0, 0},
      {"fill", FILL_VALUE, 1, 1},      {"randn", FILL_RANDN, 0, 1}, {"uniform", FILL_UNIFORM, 0, 1},
      {"randint", FILL_RANDINT, 3, 3},
  };
  size_t n = strcspn(s, ":");
  for (uint32_t i = 0; i < countof(fills); i++) {
    if (strlen(fills[i].name) != n || strncmp(s, fills[i].name, n)) continue;
    out->fill.kind = fills[i].kind;
    const char *args[3], *p = s + n;
    size_t sizes[3];
    int count = 0;
    while (*p == ':' && count < 3) {
      args[count] = ++p;
      sizes[count] = strcspn(p, ":");
      p += sizes[count++];
    }
    if (*p || count < fills[i].least || count > fills[i].most) break;
    int64_t seed = 0;
    if (fills[i].kind == FILL_VALUE) {
      char *end;
      out->fill.value = strtod(args[0], &end);
      if (end == args[0] || *end) break;
    } else if (count && !parse_i64(args[0], sizes[0], &seed)) {
      break;
    }
    out->fill.seed = (uint64_t)seed;
    if (fills[i].kind == FILL_RANDINT) {
      if (!parse_i64(args[1], sizes[1], &out->fill.lo) || !parse_i64(args[2], sizes[2], &out->fill.hi)) break;
      if (out->fill.lo >= out->fill.hi) return BAD("'%s': randint:SEED:LO:HI needs LO < HI", out->text);
    }
    return out;
  }
  return BAD("'%s': a buffer starts as zeros, ones, arange, fill:V, randn:SEED, uniform:SEED or randint:SEED:LO:HI; "
             "a file has type and shape itself: NAME=@FILE.npy", out->text);
}

// The position of the bracket that closes s[0], or 0.
static size_t closing(const char *s) {
  int depth = 0;
  for (size_t i = 0; s[i]; i++) {
    if (strchr("([{", s[i])) depth++;
    if (strchr(")]}", s[i]) && --depth == 0) return i;
  }
  return 0;
}

static ArgSpec *parse_buffer(Arena *a, const char *bracket, ArgSpec *out, tile_error **error) {
  size_t end = closing(bracket);
  if (!end || bracket[end + 1] != '=')
    return BAD("'%s': a buffer is written dtype[shape]=fill, as in fp16[512,512]=randn:0", out->text);
  out->kind = ARG_BUFFER;
  out->dims = end > 1 ? run_spec_split(a, bracket + 1, end - 1) : (StrList){0};
  if (out->dims.count > HOST_MAX_RANK) return BAD("'%s': a buffer has at most %d axes", out->text, HOST_MAX_RANK);
  for (uint32_t i = 0; i < out->dims.count; i++)
    if (!out->dims.data[i][0]) return BAD("'%s': an extent is missing", out->text);
  return parse_fill(bracket + end + 2, out, error);
}

// [a, b, …] after an optional `key=`.
static bool parse_bracket_list(Arena *a, const char *s, StrList *out) {
  size_t n = strlen(s);
  if (n < 3 || s[0] != '[' || closing(s) != n - 1) return false;
  *out = run_spec_split(a, s + 1, n - 2);
  return out->count > 0 && out->count <= 5;
}

enum { MAX_NESTING = 16 };   // specs in specs

static ArgSpec *parse_at(Arena *a, const char *text, uint32_t depth, tile_error **error);

static ArgSpec *parse_desc(Arena *a, const char *open, uint32_t depth, ArgSpec *out, tile_error **error) {
  static const char form[] =
      "a descriptor is written desc(NAME or SPEC,[BLOCK…][,shape=[…]][,strides=[…]][,nan][,layout=…])";
  size_t end = closing(open);
  if (!end || open[end + 1]) return BAD("'%s': %s", out->text, form);
  StrList parts = run_spec_split(a, open + 1, end - 1);
  out->kind = ARG_DESC;
  if (parts.count < 2 || depth == MAX_NESTING || !parse_bracket_list(a, parts.data[1], &out->block))
    return BAD("'%s': %s", out->text, form);
  if (!(out->base = parse_at(a, parts.data[0], depth + 1, error))) return NULL;
  if (out->base->kind != ARG_BUFFER && out->base->kind != ARG_FILE && out->base->kind != ARG_ALIAS)
    return BAD("'%s': a descriptor is made of a buffer, which '%s' is not", out->text, parts.data[0]);
  for (uint32_t i = 2; i < parts.count; i++) {
    const char *p = parts.data[i];
    if (!strcmp(p, "nan")) out->pad_nan = true;
    else if (!strncmp(p, "layout=", 7) && p[7]) out->layout = p + 7;
    else if (!strncmp(p, "shape=", 6) && parse_bracket_list(a, p + 6, &out->shape)) continue;
    else if (!strncmp(p, "strides=", 8) && parse_bracket_list(a, p + 8, &out->strides)) continue;
    else return BAD("'%s': '%s' is not understood; %s", out->text, p, form);
  }
  return out;
}

#define DTYPE_NAMES "i1 i8 i16 i32 i64 u8 u16 u32 u64 fp8e4nv fp8e4b15 fp8e5 fp16 bf16 fp32 fp64"

static ArgSpec *no_dtype(Arena *a, const char *text, const char *name, tile_error **error) {
  const char *meant = frontend_guess_type(a, name);
  if (meant && *meant != '*') return BAD("'%s': there is no dtype '%s': write %s", text, name, meant);
  return BAD("'%s': there is no dtype '%s'; there are " DTYPE_NAMES, text, name);
}

static ArgSpec *parse_file(Arena *a, const char *path, ArgSpec *out, tile_error **error) {
  out->kind = ARG_FILE;
  const char *colon = strrchr(path, ':');
  if (colon && dtype_find(colon + 1, &out->dtype)) {
    out->has_dtype = true;
    path = arena_strndup(a, path, (size_t)(colon - path));
  }
  // What follows the suffix is meant as a dtype.
  if (colon && !out->has_dtype && colon - path > 4 && !strncmp(colon - 4, ".npy", 4))
    return no_dtype(a, out->text, colon + 1, error);
  out->name = path;
  return *path ? out : BAD("'%s': a file name is missing after @", out->text);
}

// (SPEC, SPEC, …); of the namedtuple `name` unless that is "".
static ArgSpec *parse_tuple(Arena *a, const char *name, const char *open, uint32_t depth, ArgSpec *out,
                            tile_error **error) {
  if (depth == MAX_NESTING) return BAD("'%.40s…': tuples nest deeper than %d", out->text, MAX_NESTING);
  size_t end = closing(open);
  DtypeKind dtype;
  if (dtype_find(name, &dtype))
    return BAD("'%s': a buffer is written dtype[shape]=fill, as in fp16[512,512]=randn:0", out->text);
  if (!end || open[end + 1])
    return BAD("'%s': a tuple is written (SPEC, SPEC, …), a namedtuple NAME(SPEC, SPEC, …)", out->text);
  StrList parts = run_spec_split(a, open + 1, end - 1);
  while (parts.count && !parts.data[parts.count - 1][0]) parts.count--;
  out->kind = ARG_TUPLE;
  out->name = *name ? name : NULL;
  out->num_items = parts.count;
  out->items = arena_array(a, ArgSpec *, parts.count + 1);
  for (uint32_t i = 0; i < parts.count; i++)
    if (!(out->items[i] = parse_at(a, parts.data[i], depth + 1, error))) return NULL;
  return out;
}

// The dtype that begins text after the name of a module, as in torch.float32[1000]; NULL: there is none.
static const char *after_module(Arena *a, const char *text) {
  const char *last = NULL;
  DtypeKind dtype;
  for (size_t n = name_length(text); n && text[n] == '.'; n = name_length(text)) last = text += n + 1;
  return last && dtype_find(arena_strndup(a, last, name_length(last)), &dtype) ? last : NULL;
}

static ArgSpec *parse_at(Arena *a, const char *text, uint32_t depth, tile_error **error) {
  ArgSpec *s = arena_new(a, ArgSpec);
  s->text = text;
  if (!strcasecmp(text, "none")) return s;
  if (!strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "false") || !strcmp(text, "False")) {
    s->kind = ARG_BOOL;
    s->i = (text[0] | 0x20) == 't';
    return s;
  }
  if (text[0] == '@') return parse_file(a, text + 1, s, error);
  if (parse_number(text, s))
    return s->is_large ? BAD("'%s' does not fit in 64 bits; as a float it is written fp32:%s", text, text) : s;
  size_t n = name_length(text);
  const char *name = arena_strndup(a, text, n), *rest = text + n;
  if (n && !strcmp(name, "desc") && *rest == '(') return parse_desc(a, rest, depth, s, error);
  if (!strcmp(name, "constexpr") && *rest == '(' && rest[1] && closing(rest) == strlen(rest) - 1) {
    s->kind = ARG_CONSTEXPR;
    s->name = arena_strndup(a, rest + 1, strlen(rest) - 2);
    return s;
  }
  if (*rest == '(') return parse_tuple(a, name, rest, depth, s, error);
  if (n && (*rest == ':' || *rest == '[')) {
    if (!dtype_find(name, &s->dtype) || dtype_info[s->dtype].cls == DTCLASS_VOID)
      return no_dtype(a, text, name, error);
    s->has_dtype = true;
    if (*rest == '[') return parse_buffer(a, rest, s, error);
    DtypeKind dtype = s->dtype;
    s->has_dtype = false;
    if (!parse_number(rest + 1, s)) return BAD("'%s': '%s' is not a number", text, rest + 1);
    if (s->kind == ARG_FLOAT && !s->is_large && !host_is_float(dtype))
      return BAD("'%s': %s holds whole numbers", text, name);
    if ((s->is_large && !host_is_float(dtype)) || !run_spec_holds(dtype, s))
      return BAD("'%s': %s does not hold '%s'", text, name, rest + 1);
    s->has_dtype = s->is_typed = true;
    s->dtype = dtype;
    if (host_is_float(dtype)) s->kind = ARG_FLOAT;
    return s;
  }
  if (n && (!*rest || *rest == '+')) {
    s->kind = ARG_ALIAS;
    s->name = name;
    if (*rest) s->offset = rest + 1;
    if (*rest && !rest[1]) return BAD("'%s': an offset is missing after +", text);
    return s;
  }
  const size_t size = strlen(text);
  const char *bare = after_module(a, text);
  if (bare) return BAD("'%s': a dtype stands without its module: write %s", text, bare);
  if (*rest == '.' && strchr(rest, '(')) return BAD("'%s': a buffer is no call: write fp32[1000]=zeros", text);
  if (size > 4 && !strcmp(text + size - 4, ".npy")) return BAD("'%s': a file is written @%s", text, text);
  return BAD(
      "'%s' is not understood: write a number, true, none, dtype:number, dtype[shape]=fill, @file.npy, NAME, "
      "NAME+OFFSET, desc(…), constexpr(…) or a tuple (…)",
      text);
}

ArgSpec *run_spec_parse(Arena *a, const char *text, tile_error **error) { return parse_at(a, text, 0, error); }
