// Global memory: loads, stores, atomics, tensor descriptors. Every access is checked against the launch's buffers.
#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"
#include "ir/outside_terms.h"

// The buffer with the greatest address not above `address`, or num_buffers.
static uint32_t buffer_below(const InterpRun *run, uint64_t address) {
  uint32_t lo = 0, hi = run->num_buffers;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (run->buffers[mid].address <= address) lo = mid + 1; else hi = mid;
  }
  return lo ? lo - 1 : run->num_buffers;
}

static bool inside(const InterpBuffer *b, uint64_t address, size_t size) {
  return address >= b->address && address - b->address <= b->size && size <= b->size - (address - b->address);
}

// The parameter that the pointer was computed from, or NULL if that is not known.
static const Value *base_of(const Func *f, const Value *v) {
  while (v && v->def && (v->def->opcode == OP_ADDPTR || v->def->opcode == OP_SPLAT || v->def->opcode == OP_BROADCAST))
    v = op_operand(v->def, 0);
  return v && v->block == f->body ? v : NULL;
}

static uint64_t param_address(const InterpRun *run, uint32_t i) {
  return run->launch->func->params[i].kind == PARAM_PLAIN ? run->args[i].bits : run->descs[i].address;
}

// Names the buffer by the parameter from which the pointer was computed, or by one that points into it, and counts from
// that, as the kernel does. b: the nearest buffer.
static void name_outside(const InterpRun *run, const Op *op, const InterpBuffer *b, Outside *o) {
  const Func *f = run->launch->func;
  const Value *base = base_of(f, outside_pointer(op));
  for (uint32_t k = 0; base && k < run->num_buffers; k++)
    if (inside(&run->buffers[k], param_address(run, base->index), 0)) b = &run->buffers[k];
  for (uint32_t i = base ? base->index : 0; i < f->num_params && !o->buffer; i++) {
    const uint64_t a = param_address(run, i);
    const Type *t = f->body->args[i]->type;
    if ((t->kind != TYPE_PTR && t->kind != TYPE_DESC) || !f->params[i].name || !inside(b, a, 0)) continue;
    o->buffer = f->params[i].name;
    o->begin = a;
    o->size = b->address + b->size - a;
  }
}

static bool is_whole_outside(Prog *p, const Op *op, const Outside *o);

// Whether the loop around the op has run its body before.
static bool is_repeated(Prog *p, const Op *op) {
  const Op *loop = op->parent->parent;
  if (!loop || loop->opcode != OP_FOR) return false;
  const Value *iv = loop->blocks[0]->args[0];
  return memcmp(interp_operand_data(p, loop, 0), interp_value_data(p, iv), interp_value_bytes(iv->type)) != 0;
}

static bool param_bits(const void *run, const OutsideNode *param, uint64_t *bits) {
  const InterpRun *r = run;
  if (r->launch->func->params[param->value].kind != PARAM_PLAIN) return false;
  *bits = r->args[param->value].bits;
  return true;
}
static bool memory_bits(const void *run, uint64_t address, uint32_t size, uint64_t *bits) {
  const InterpRun *r = run;
  const uint32_t at = buffer_below(r, address);
  if (at == r->num_buffers || !inside(&r->buffers[at], address, size)) return false;
  memcpy(bits, (const void *)(uintptr_t)address, size);
  return true;
}

// Reports an access outside of every buffer; b is the nearest one.
static bool fail_outside(Prog *p, const Op *op, uint64_t address, const InterpBuffer *b, OutsideKind kind) {
  Context *ctx = p->run->ctx;
  Outside o = {.kind = kind, .begin = b->address, .size = b->size, .address = address};
  name_outside(p->run, op, b, &o);
  memcpy(o.program, p->id, sizeof o.program);
  outside_can_be(op, &o.elem_bytes);
  o.is_whole = is_whole_outside(p, op, &o);
  o.was_inside = is_repeated(p, op);
  const OutsideWays ways = outside_ways_out(ctx, op);
  const OutsideInputs in = {p->run->launch->grid, param_bits, memory_bits, p->run};
  OutsideTerms *terms = arena_new(&ctx->arena, OutsideTerms);
  const OutsideWords words =
      outside_words(&ctx->arena, &o, &ways, outside_find_terms(ctx, op, terms) ? terms : NULL, &in);
  return interp_fail_with_notes(p, op, outside_text(&ctx->arena, &o), words.sum, words.way_out);
}

static bool check_access(Prog *p, const Op *op, uint64_t address, size_t size, OutsideKind kind) {
  InterpRun *run = p->run;
  if (run->last_buffer < run->num_buffers && inside(&run->buffers[run->last_buffer], address, size)) return true;
  uint32_t at = buffer_below(run, address);
  if (at < run->num_buffers && inside(&run->buffers[at], address, size)) {
    run->last_buffer = at;
    return true;
  }
  if (!address) return interp_fail(p, op, "%s through a null pointer", outside_noun(kind));
  // The nearest buffer is the one below, or the next above if the address is closer to that.
  const InterpBuffer *b = at < run->num_buffers ? &run->buffers[at] : NULL;
  uint32_t above = at < run->num_buffers ? at + 1 : 0;
  if (above < run->num_buffers && (!b || run->buffers[above].address - address < address - (b->address + b->size)))
    b = &run->buffers[above];
  if (b) return fail_outside(p, op, address, b, kind);
  return interp_fail(p, op, "out-of-bounds %s of %zu bytes: there is no memory to access", outside_noun(kind), size);
}

// The addresses of an access's elements, from the operands ptr and offset? that begin at `first`.
typedef struct {
  const uint64_t *pointers;
  uint64_t base;
  const void *offsets;
  uint32_t offset_bits, bytes;
} InterpAddress;

static InterpAddress address_of(Prog *p, const Op *op, uint32_t first) {
  InterpAddress a = {.bytes = type_elem_bytes(type_elem(operand_type(op, first))->elem)};
  const uint64_t *ptr = interp_operand_data(p, op, first);
  if (has_operand(op, first + 1)) {
    a.base = *ptr;
    a.offsets = interp_operand_data(p, op, first + 1);
    a.offset_bits = type_elem_bits(operand_type(op, first + 1));
  } else {
    a.pointers = ptr;
  }
  return a;
}

static inline uint64_t address_at(const InterpAddress *a, size_t i) {
  if (a->pointers) return a->pointers[i];
  int64_t offset = a->offset_bits == 32 ? ((const int32_t *)a->offsets)[i] : ((const int64_t *)a->offsets)[i];
  return a->base + (uint64_t)offset * a->bytes;
}

static bool is_whole_outside(Prog *p, const Op *op, const Outside *o) {
  if (op_operand_at(op->opcode, OPERAND_PTR) != 0) return false;
  const InterpBuffer b = {.address = o->begin, .size = o->size};
  const InterpAddress a = address_of(p, op, 0);
  const int at = op_operand_at(op->opcode, OPERAND_MASK);
  const uint8_t *mask = at >= 0 ? interp_operand_data(p, op, (uint32_t)at) : NULL;
  const size_t n = interp_value_count(p, operand_type(op, has_operand(op, 1) ? 1 : 0));
  for (size_t i = 0; i < n; i++)
    if ((!mask || mask[i]) && inside(&b, address_at(&a, i), a.bytes)) return false;
  return true;
}

uint64_t interp_step_address(const InterpStep *step, size_t i) {
  const InterpAddress a = address_of(step->prog, step->op, 0);
  return address_at(&a, i);
}

static void *host(uint64_t address) { return (void *)(uintptr_t)address; }

bool interp_load_elements(Prog *p, const Op *op, uint32_t first, size_t n, OutsideKind kind, char *out) {
  InterpAddress a = address_of(p, op, first);
  const uint8_t *mask = interp_operand_data(p, op, first + 2);
  const char *other = interp_operand_data(p, op, first + 3);
  size_t bytes = a.bytes;
  bool is_i1 = type_is_scalar(type_elem(operand_type(op, first))->elem, SC_I1);
  for (size_t i = 0; i < n; i++) {
    char *to = out + i * bytes;
    if (mask && !mask[i]) {
      if (other) memcpy(to, other + i * bytes, bytes); else memset(to, 0, bytes);
      continue;
    }
    uint64_t from = address_at(&a, i);
    if (!check_access(p, op, from, bytes, kind)) return false;
    memcpy(to, host(from), bytes);
    if (is_i1) *to = *to != 0;
  }
  return true;
}

bool interp_load(Prog *p, Op *op) {
  p->synchronised |= op_int(op, ATTR_VOLATILE, 0) || op_int(op, ATTR_CACHE, CACHE_NONE) == CACHE_CV;
  return interp_load_elements(p, op, 0, interp_value_count(p, op->results[0].type), OUTSIDE_LOAD,
                              interp_result_data(p, op, 0));
}

bool interp_store(Prog *p, Op *op) {
  InterpAddress a = address_of(p, op, 0);
  const char *value = interp_operand_data(p, op, 2);
  const uint8_t *mask = interp_operand_data(p, op, 3);
  size_t n = interp_value_count(p, operand_type(op, 2)), bytes = a.bytes;
  for (size_t i = 0; i < n; i++) {
    if (mask && !mask[i]) continue;
    uint64_t to = address_at(&a, i);
    if (!check_access(p, op, to, bytes, OUTSIDE_STORE)) return false;
    interp_write(p, to, value + i * bytes, bytes);
  }
  return true;
}

// ---- atomics ----

static uint64_t atomic_combine(AtomicKind kind, const Type *elem, uint64_t old, uint64_t value) {
  static const Opcode as_op[] = {[ATOMIC_ADD] = OP_ADDI,  [ATOMIC_FADD] = OP_ADDF,  [ATOMIC_MAX] = OP_MAXSI,
                                 [ATOMIC_MIN] = OP_MINSI, [ATOMIC_UMAX] = OP_MAXUI, [ATOMIC_UMIN] = OP_MINUI,
                                 [ATOMIC_AND] = OP_ANDI,  [ATOMIC_OR] = OP_ORI,     [ATOMIC_XOR] = OP_XORI};
  if (kind == ATOMIC_XCHG) return value;
  Opcode oc = as_op[kind];
  if (type_is_float(elem))
    oc = kind == ATOMIC_MAX ? OP_MAXF : kind == ATOMIC_MIN ? OP_MINF : kind == ATOMIC_ADD ? OP_ADDF : oc;
  return eval_scalar(&(Op){.opcode = oc}, (const Type *[]){elem, elem}, elem, (uint64_t[]){old, value});
}

bool interp_atomic_rmw(Prog *p, Op *op) {
  InterpAddress a = address_of(p, op, 0);
  const Type *elem = type_elem(operand_type(op, 2));
  const void *value = interp_operand_data(p, op, 2);
  const uint8_t *mask = interp_operand_data(p, op, 3);
  void *out = interp_result_data(p, op, 0);
  AtomicKind kind = (AtomicKind)op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  p->synchronised = true;
  for (size_t i = 0, n = interp_value_count(p, operand_type(op, 2)); i < n; i++) {
    set_element(out, a.bytes, i, 0);
    if (mask && !mask[i]) continue;
    uint64_t at = address_at(&a, i);
    if (!check_access(p, op, at, a.bytes, OUTSIDE_UPDATE)) return false;
    uint64_t old = element(host(at), a.bytes, 0), now = atomic_combine(kind, elem, old, element(value, a.bytes, i));
    set_element(out, a.bytes, i, old);
    interp_write(p, at, &now, a.bytes);
  }
  return true;
}

bool interp_atomic_cas(Prog *p, Op *op) {
  InterpAddress a = address_of(p, op, 0);
  const void *expected = interp_operand_data(p, op, 2), *value = interp_operand_data(p, op, 3);
  void *out = interp_result_data(p, op, 0);
  p->synchronised = true;
  for (size_t i = 0, n = interp_value_count(p, operand_type(op, 2)); i < n; i++) {
    uint64_t at = address_at(&a, i);
    if (!check_access(p, op, at, a.bytes, OUTSIDE_UPDATE)) return false;
    uint64_t old = element(host(at), a.bytes, 0);
    set_element(out, a.bytes, i, old);
    if (old != element(expected, a.bytes, i)) continue;
    interp_write(p, at, (const char *)value + i * a.bytes, a.bytes);
  }
  return true;
}

// ---- tensor descriptors ----

// A row of the tile (along the last axis): the index of its first element in the tile. From element `skip` on, `count`
// elements lie inside the tensor; the first of these is at `address`.
typedef struct { int64_t first; uint64_t address; int64_t skip, count; } TileRow;

static int64_t num_rows(const Type *tile) { return type_numel(tile) / tile->shape[tile->rank - 1]; }

static TileRow row_at(const InterpDesc *d, const Type *tile, const int64_t *coords, uint32_t bytes, int64_t r) {
  uint32_t last = tile->rank - 1u;
  int64_t width = tile->shape[last], offset = 0, index = r;
  bool outside = false;
  for (uint32_t k = last; k-- > 0;) {
    int64_t at = coords[k] + index % tile->shape[k];
    index /= tile->shape[k];
    outside |= at < 0 || at >= d->extents[k];
    offset += at * d->strides[k];
  }
  TileRow row = {.first = r * width};
  int64_t begin = max_i64(coords[last], 0), stop = min_i64(coords[last] + width, d->extents[last]);
  row.skip = begin - coords[last];
  row.count = outside || stop <= begin ? 0 : stop - begin;
  row.address = d->address + (uint64_t)(offset + begin * d->strides[last]) * bytes;
  return row;
}

bool interp_read_tile(Prog *p, const Op *op, const InterpDesc *d, const Type *tile, const int64_t *coords, void *out) {
  uint32_t bytes = type_elem_bytes(tile);
  uint64_t pad =
      d->padding == PAD_NAN && type_is_float(tile) ? num_canonical_nan(scalar_num_format(type_elem(tile)->scalar)) : 0;
  for (size_t i = 0, n = (size_t)type_numel(tile); i < n; i++) set_element(out, bytes, i, pad);
  for (int64_t r = 0, n = num_rows(tile); r < n; r++) {
    TileRow row = row_at(d, tile, coords, bytes, r);
    if (!row.count) continue;
    if (!check_access(p, op, row.address, (size_t)row.count * bytes, OUTSIDE_LOAD)) return false;
    memcpy((char *)out + (row.first + row.skip) * bytes, host(row.address), (size_t)row.count * bytes);
  }
  return true;
}

// atomic: −1 stores; any other value is the AtomicKind by which to combine.
bool interp_write_tile(Prog *p, const Op *op, const InterpDesc *d, const Type *tile, const int64_t *coords,
                       const void *in, int64_t atomic) {
  uint32_t bytes = type_elem_bytes(tile);
  for (int64_t r = 0, n = num_rows(tile); r < n; r++) {
    TileRow row = row_at(d, tile, coords, bytes, r);
    if (!row.count) continue;
    if (!check_access(p, op, row.address, (size_t)row.count * bytes, OUTSIDE_STORE)) return false;
    const char *from = (const char *)in + (row.first + row.skip) * bytes;
    if (atomic < 0) interp_write(p, row.address, from, (size_t)row.count * bytes);
    for (size_t i = 0; atomic >= 0 && i < (size_t)row.count; i++) {
      const uint64_t at = row.address + i * bytes, old = element(host(at), bytes, 0),
                     now = atomic_combine((AtomicKind)atomic, type_elem(tile), old, element(from, bytes, i));
      interp_write(p, at, &now, bytes);
    }
  }
  p->run->writes++;
  return true;
}

// base: the operand with which the descriptor begins.
static bool make_desc(Prog *p, Op *op, uint32_t base) {
  uint32_t rank = op->results[0].type->rank;
  InterpDesc d = {.address = *(const uint64_t *)interp_operand_data(p, op, base),
                  .padding = (Padding)op_int(op, ATTR_PADDING, PAD_ZERO)};
  for (uint32_t i = 0; i < rank; i++) {
    d.extents[i] = interp_operand_int(p, op, base + 1 + i);
    d.strides[i] = interp_operand_int(p, op, base + 1 + rank + i);
  }
  memcpy(interp_result_data(p, op, 0), &d, sizeof d);
  return true;
}

bool interp_make_desc(Prog *p, Op *op) { return make_desc(p, op, 0); }
bool interp_make_tensor_map(Prog *p, Op *op) { return make_desc(p, op, 1); }

bool interp_desc_fields(Prog *p, Op *op) {
  const InterpDesc *d = interp_operand_data(p, op, 0);
  uint32_t rank = operand_type(op, 0)->rank;
  memcpy(interp_result_data(p, op, 0), &d->address, sizeof d->address);
  for (uint32_t i = 0; i < rank; i++) {
    int32_t extent = (int32_t)d->extents[i];
    memcpy(interp_result_data(p, op, 1 + i), &extent, sizeof extent);
    memcpy(interp_result_data(p, op, 1 + rank + i), &d->strides[i], sizeof d->strides[i]);
  }
  return true;
}

bool interp_desc_load(Prog *p, Op *op) {
  int64_t coords[MAX_RANK];
  const Type *desc = operand_type(op, 0), *tile = type_tensor(p->run->ctx, desc->elem, desc->rank, desc->shape, NULL);
  interp_coords(p, op, 1, coords);
  return interp_read_tile(p, op, interp_operand_data(p, op, 0), tile, coords, interp_result_data(p, op, 0));
}

static bool store_tile(Prog *p, const Op *op, int64_t atomic) {
  int64_t coords[MAX_RANK];
  interp_coords(p, op, 2, coords);
  return interp_write_tile(p, op, interp_operand_data(p, op, 0), operand_type(op, 1), coords,
                           interp_operand_data(p, op, 1), atomic);
}

bool interp_desc_store(Prog *p, Op *op) { return store_tile(p, op, -1); }
bool interp_desc_reduce(Prog *p, Op *op) { return store_tile(p, op, op_int(op, ATTR_ATOMIC, ATOMIC_ADD)); }

// Loads or stores rows rows[i] of a descriptor of one-row blocks, from column y on.
static bool each_row(Prog *p, Op *op, const Type *tile, char *loaded, const char *stored, uint32_t rows, uint32_t y) {
  const InterpDesc *d = interp_operand_data(p, op, 0);
  const int32_t *row = interp_operand_data(p, op, rows);
  const Type *line = type_tensor(p->run->ctx, type_elem(tile), 2, (int64_t[]){1, tile->shape[1]}, NULL);
  size_t pitch = (size_t)tile->shape[1] * type_elem_bytes(tile);
  for (int64_t i = 0; i < tile->shape[0]; i++) {
    int64_t coords[] = {row[i], interp_operand_int(p, op, y)};
    bool ok = loaded ? interp_read_tile(p, op, d, line, coords, loaded + (size_t)i * pitch)
                     : interp_write_tile(p, op, d, line, coords, stored + (size_t)i * pitch, -1);
    if (!ok) return false;
  }
  return true;
}

bool interp_desc_gather(Prog *p, Op *op) {
  return each_row(p, op, op->results[0].type, interp_result_data(p, op, 0), NULL, 1, 2);
}
bool interp_desc_scatter(Prog *p, Op *op) {
  return each_row(p, op, operand_type(op, 1), NULL, interp_operand_data(p, op, 1), 2, 3);
}
