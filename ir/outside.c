#include "ir/outside.h"

#include "ir/buf.h"
#include "ir/far_address.h"
#include "ir/ir.h"

static const struct { const char *noun, *verb; } words[] = {
    [OUTSIDE_LOAD] = {"load", "loads"},
    [OUTSIDE_STORE] = {"store", "stores"},
    [OUTSIDE_UPDATE] = {"atomic access", "updates"}};

const char *outside_noun(OutsideKind kind) { return words[kind].noun; }
const char *outside_verb(OutsideKind kind) { return words[kind].verb; }

// How far the first byte outside of the buffer is from the buffer's begin.
static uint64_t distance(const Outside *o) {
  if (o->address < o->begin) return o->begin - o->address;
  const uint64_t from_begin = o->address - o->begin;
  return from_begin > o->size ? from_begin : o->size;
}

const char *outside_text(Arena *a, const Outside *o) {
  const uint64_t bytes = distance(o);
  const uint32_t unit = o->elem_bytes && bytes % o->elem_bytes == 0 ? o->elem_bytes : 1;
  return arena_printf(a, "out-of-bounds %s: program (%u, %u, %u) %s %s %s%llu of %s, which has %llu",
                      words[o->kind].noun, o->program[0], o->program[1], o->program[2], words[o->kind].verb,
                      unit == o->elem_bytes ? "element" : "byte", o->address < o->begin ? "-" : "",
                      (unsigned long long)(bytes / unit), o->buffer ? o->buffer : "the nearest buffer",
                      (unsigned long long)(o->size / unit));
}

const char *outside_far(const Outside *o) {
  const bool is_past = o->address >= o->begin;
  return far_address_note(is_past ? distance(o) - o->size : distance(o), is_past);
}

// Which operand is the pointer or the descriptor, and which the mask; 0: there is none.
typedef struct { OutsideKind kind; bool is_access, is_desc; uint8_t pointer, mask; } AccessInfo;

static AccessInfo info_of(const Op *op) {
  switch (op->opcode) {
  case OP_LOAD: return (AccessInfo){OUTSIDE_LOAD, true, false, 0, 2};
  case OP_ASYNC_COPY: return (AccessInfo){OUTSIDE_LOAD, true, false, 1, 3};
  case OP_STORE: return (AccessInfo){OUTSIDE_STORE, true, false, 0, 3};
  case OP_ATOMIC_RMW: return (AccessInfo){OUTSIDE_UPDATE, true, false, 0, 3};
  case OP_ATOMIC_CAS: return (AccessInfo){OUTSIDE_UPDATE, true, false, 0, 0};
  case OP_DESC_LOAD: case OP_DESC_GATHER: case OP_TMA_LOAD: return (AccessInfo){OUTSIDE_LOAD, true, true, 0, 0};
  case OP_DESC_STORE: case OP_DESC_SCATTER: case OP_TMA_STORE: return (AccessInfo){OUTSIDE_STORE, true, true, 0, 0};
  case OP_DESC_REDUCE: case OP_TMA_REDUCE: return (AccessInfo){OUTSIDE_UPDATE, true, true, 0, 0};
  default: return (AccessInfo){0};
  }
}

bool outside_can_be(const Op *op, uint32_t *elem_bytes) {
  const AccessInfo i = info_of(op);
  if (!i.is_access) return false;
  const Type *elem = type_elem(op_operand(op, i.pointer)->type);
  *elem_bytes = type_elem_bytes(i.is_desc ? elem : elem->elem);
  return true;
}

Value *outside_pointer(const Op *op) { return op_operand(op, info_of(op).pointer); }

// "(0,)", "(0, 1)"
static void put_axes(Buf *b, uint32_t rank) {
  buf_putc(b, '(');
  for (uint32_t i = 0; i < rank; i++) buf_printf(b, "%s%u", i ? ", " : "", i);
  buf_puts(b, rank == 1 ? ",)" : ")");
}

static const char *block_pointer_way_out(Arena *a, const Op *op, int64_t unchecked) {
  const Type *t = op_operand(op, 0)->type;
  const bool is_load = op->opcode == OP_LOAD;
  Buf b = buf_make(a);
  if (!unchecked)
    return "boundary_check keeps to the shape of the block pointer: its shape and strides reach past the buffer";
  buf_puts(&b, unchecked & (unchecked - 1) ? "nothing checks axes " : "nothing checks axis ");
  const char *before = "";
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!(unchecked >> i & 1)) continue;
    const uint64_t rest = (uint64_t)unchecked >> (i + 1);
    buf_printf(&b, "%s%u", before, i);
    before = rest & (rest - 1) ? ", " : " and ";
  }
  buf_printf(&b, " of this block pointer: tl.%s, boundary_check=", is_load ? "load(p" : "store(p, value");
  put_axes(&b, t->rank);
  buf_puts(&b, is_load ? ") reads zeros outside of its shape" : ") stores nothing outside of its shape");
  return buf_str(&b);
}

const char *outside_way_out(Arena *a, const Op *op) {
  const AccessInfo i = info_of(op);
  const char *noun = words[i.kind].noun;
  const int64_t unchecked = op_int(op, ATTR_UNCHECKED, -1);
  if (unchecked >= 0) return block_pointer_way_out(a, op, unchecked);
  if (i.is_desc) return "the shape and strides of the descriptor reach past the buffer";
  if (!i.mask) return "compare what the offset reaches with the elements that there are";
  const char *rest = outside_rest(a, op);
  if (rest) return rest;
  if (!op_operand(op, i.mask))
    return arena_printf(a, "this %s has no mask: mask=offs < n leaves out the elements that do not exist", noun);
  return arena_printf(a, "the mask of this %s lets it through: compare the mask with what the offset reaches, and note "
                      "that adding to a pointer counts elements, not bytes", noun);
}
