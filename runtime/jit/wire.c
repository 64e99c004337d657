#include <string.h>

#include "runtime/jit/wire.h"

void wire_put_u64(Buf *b, uint64_t v) { buf_write(b, (const char *)&v, sizeof v); }
void wire_put_bytes(Buf *b, const char *s, size_t n) {
  wire_put_u64(b, n);
  buf_write(b, s, n);
}
void wire_put_text(Buf *b, const char *s) { wire_put_bytes(b, s, strlen(s)); }

uint64_t wire_take_u64(WireReader *r) {
  uint64_t v = 0;
  if (r->left < sizeof v) return r->bad = true, 0;
  memcpy(&v, r->at, sizeof v);
  r->at += sizeof v;
  r->left -= sizeof v;
  return v;
}
const char *wire_take_bytes(WireReader *r, size_t *size) {
  uint64_t n = wire_take_u64(r);
  *size = 0;
  if (r->bad || n > r->left) return r->bad = true, "";
  const char *s = arena_strndup(r->arena, r->at, n);
  r->at += n;
  r->left -= n;
  *size = n;
  return s;
}
const char *wire_take_text(WireReader *r) {
  size_t n;
  return wire_take_bytes(r, &n);
}

static void put_arg(Buf *b, const tile_arg *a);
static void write_tuple(Buf *b, const tile_tuple *t) {
  wire_put_u64(b, t->num_items);
  wire_put_text(b, t->type_name ? t->type_name : "");
  for (uint32_t i = 0; i < t->num_items; i++) put_arg(b, &t->items[i]);
}

static void put_arg(Buf *b, const tile_arg *a) {
  wire_put_u64(b, (uint64_t)a->kind);
  wire_put_u64(b, (uint64_t)a->type);
  if (a->kind == TILE_ARG_TEXT) wire_put_text(b, a->value.text);
  else if (a->kind == TILE_ARG_TUPLE) write_tuple(b, a->value.tuple);
  else if (a->kind == TILE_ARG_TENSOR) buf_write(b, (const char *)a->value.tensor, sizeof *a->value.tensor);
  else wire_put_u64(b, (uint64_t)a->value.i);
}
static void take_arg(WireReader *r, tile_arg *a, uint32_t depth);
static const tile_tuple *read_tuple(WireReader *r, uint32_t depth) {
  uint64_t n = wire_take_u64(r);
  const char *name = wire_take_text(r);
  tile_tuple *t = arena_new(r->arena, tile_tuple);
  if (n > r->left || depth > JIT_MAX_DEPTH) return r->bad = true, t;
  tile_arg *items = arena_array(r->arena, tile_arg, n + 1);
  for (uint64_t i = 0; i < n; i++) take_arg(r, &items[i], depth + 1);
  *t = (tile_tuple){items, (uint32_t)n, *name ? name : NULL, 0};
  return t;
}

// depth: of the tuples around it
static void take_arg(WireReader *r, tile_arg *a, uint32_t depth) {
  a->kind = (uint16_t)wire_take_u64(r);
  a->type = (uint16_t)wire_take_u64(r);
  a->reserved = 0;
  if (a->kind == TILE_ARG_TEXT) {
    a->value.text = wire_take_text(r);
  } else if (a->kind == TILE_ARG_TUPLE) {
    a->value.tuple = read_tuple(r, depth);
  } else if (a->kind == TILE_ARG_TENSOR) {
    tile_tensor *t = arena_new(r->arena, tile_tensor);
    a->value.tensor = t;
    if (r->left < sizeof *t) {
      r->bad = true;
      return;
    }
    memcpy(t, r->at, sizeof *t);
    r->at += sizeof *t;
    r->left -= sizeof *t;
  } else {
    a->value.i = (int64_t)wire_take_u64(r);
  }
}

// ---- a launch ----

static int *const *numbers_of(tile_jit_launch_options *o, int *out[4]) {
  out[0] = &o->num_warps, out[1] = &o->num_stages, out[2] = &o->num_ctas, out[3] = &o->maxnreg;
  return out;
}

void wire_put_launch(Buf *b, const WireLaunch *l) {
  tile_jit_launch_options o = l->options;
  int *numbers[4];
  wire_put_u64(b, (uint64_t)(int64_t)l->config);
  for (uint32_t i = 0; i < 4; i++) wire_put_u64(b, (uint64_t)*numbers_of(&o, numbers)[i]);
  wire_put_u64(b, o.num_options);
  for (size_t i = 0; i < o.num_options; i++) wire_put_text(b, o.options[i]);
  wire_put_u64(b, l->num_args);
  for (uint32_t i = 0; i < l->num_args; i++) put_arg(b, &l->args[i]);
}

const char **wire_take_texts(WireReader *r, size_t *n) {
  *n = wire_take_u64(r);
  if (*n > r->left) r->bad = true, *n = 0;
  const char **texts = arena_array(r->arena, const char *, *n + 1);
  for (size_t i = 0; i < *n; i++) texts[i] = wire_take_text(r);
  return texts;
}

void wire_take_launch(WireReader *r, WireLaunch *l) {
  int *numbers[4];
  *l = (WireLaunch){.options = TILE_JIT_LAUNCH_OPTIONS_INIT};
  l->config = (int)(int64_t)wire_take_u64(r);
  for (uint32_t i = 0; i < 4; i++) *numbers_of(&l->options, numbers)[i] = (int)wire_take_u64(r);
  l->options.options = wire_take_texts(r, &l->options.num_options);
  const uint64_t n = wire_take_u64(r);
  if (n > JIT_MAX_PARAMS || n > r->left) r->bad = true;
  l->num_args = r->bad ? 0 : (uint32_t)n;
  l->args = arena_array(r->arena, tile_arg, l->num_args + 1);
  for (uint32_t i = 0; i < l->num_args; i++) take_arg(r, &l->args[i], 0);
}
