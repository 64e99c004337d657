// Buffers in shared memory. A buffer is a byte offset; views add to it or only change the layout. ldmatrix and stmatrix
// move tiles whose layouts have the 8×8 fragments of those instructions; vectors move the others.
#include "codegen/cg.h"

// ---- 8×8 matrices of 16-bit elements, and what has the same bytes ----
//
// A matrix is eight rows of 16 bytes. Lane l holds the word (l mod 4) of row l / 4, two elements of 16 bits: as place
// bits, register bit 0 and lane bits 0, 1 run along the row, lane bits 2, 3, 4 over the rows. With .trans rows and
// columns change places. Up to four matrices go at once, chosen by two more register bits; lane l gives the address of
// row l mod 8 of matrix l / 8. A word may also be four elements of 8 bits or one of 32, except with .trans.

typedef struct {
  bool transposed;
  uint32_t word_bits;             // register bits inside a word
  uint32_t num_extra, extra[2];   // register bits that choose the matrix
  PlaceMap rows;                  // lane (and warp) → byte offset of the row whose address the lane gives
} MatrixAccess;

enum { ROW_BYTES = 16 };

static uint32_t word_bits_of(uint32_t elem_bytes) { return elem_bytes < 4 ? 2 - log2_u32(elem_bytes) : 0; }

// Some rows may be the same ones if the access loads; a single row is better read by vectors.
static bool matrix_access(const PlaceMap *m, uint32_t elem_bytes, bool loads, MatrixAccess *a) {
  *a = (MatrixAccess){0};
  const uint32_t word_bits = word_bits_of(elem_bytes), in_row = (ROW_BYTES / elem_bytes) - 1;
  if (elem_bytes > 4 || m->num_thread_bits < 5 || m->num_reg_bits < word_bits || m->free_thread) return false;
  if ((m->num_pads || m->moved) && m->whole_bits < word_bits + 2) return false;
  uint32_t row[4] = {0}, column[3] = {m->thread[2], m->thread[3], m->thread[4]};
  for (uint32_t i = 0; i < word_bits; i++) row[i] = m->reg[i];
  for (uint32_t i = 0; i < 2; i++) row[word_bits + i] = m->thread[i];
  const uint32_t *inside = row, *over = column;
  if (elem_bytes == 2 && column[0] == 1 && column[1] == 2 && column[2] == 4) {
    a->transposed = true;
    inside = column;
    over = row;
  }
  a->word_bits = word_bits;
  for (uint32_t i = 0; i < word_bits + 2; i++)
    if (inside[i] != 1u << i) return false;
  // All other bits must keep rows whole: they step by multiples of a row.
  for (uint32_t i = 0; i < 3; i++)
    if (over[i] & in_row || (!over[i] && !loads)) return false;
  if (!(over[0] | over[1] | over[2])) return false;
  for (uint32_t i = 5; i < m->num_thread_bits; i++)
    if (m->thread[i] & in_row) return false;
  for (uint32_t i = word_bits; i < m->num_reg_bits; i++) {
    if (m->reg[i] & in_row) return false;
    if (m->reg[i] && a->num_extra < 2) a->extra[a->num_extra++] = i;
  }
  a->rows = *m;
  for (uint32_t i = 0; i < 3; i++) a->rows.thread[i] = over[i];
  for (uint32_t i = 0; i < 2; i++) a->rows.thread[3 + i] = i < a->num_extra ? m->reg[a->extra[i]] : 0;
  placemap_scale(&a->rows, log2_u32(elem_bytes));
  return true;
}

static uint32_t matrix_register(const MatrixAccess *a, uint32_t first, uint32_t matrix) {
  for (uint32_t i = 0; i < a->num_extra; i++)
    if (matrix >> i & 1) first |= 1u << a->extra[i];
  return first;
}

static void put_matrices(CgAsm *a, const MatrixAccess *m, const char *operation) {
  const char *trans = m->transposed ? ".trans" : "";
  buf_printf(&a->text, "%s.sync.aligned.m8n8.x%u%s.shared.b16 ", operation, 1u << m->num_extra, trans);
}

static LLVMValueRef row_address(Cg *c, const MatrixAccess *a, LLVMValueRef base, LLVMValueRef thread, uint32_t r) {
  return cg_add(c, base, placemap_join(c, &a->rows, thread, placemap_reg(&a->rows, r)));
}

static uint32_t extra_mask(const MatrixAccess *a) {
  uint32_t mask = (1u << a->word_bits) - 1;
  for (uint32_t i = 0; i < a->num_extra; i++) mask |= 1u << a->extra[i];
  return mask;
}

static CgValue *load_matrices(Cg *c, LLVMValueRef base, const PlaceMap *m, const MatrixAccess *a, const Type *elem) {
  uint32_t regs = 1u << m->num_reg_bits, n = 1u << a->num_extra, inside = extra_mask(a), each = 1u << a->word_bits;
  CgValue *out = cg_value_new(c, regs);
  LLVMValueRef thread = placemap_thread(c, &a->rows), address = cg_smem_addr(c, base);
  for (uint32_t r = 0; r < regs; r++) {
    if (r & inside) continue;
    CgAsm load = cg_asm_new(c);
    for (uint32_t i = 0; i < n; i++) cg_asm_result(&load, c->t_i32);
    put_matrices(&load, a, "ldmatrix");
    cg_asm_list(&load, "{", 0, n, "}");
    buf_printf(&load.text, ", [$%u];", cg_asm_arg(&load, row_address(c, a, address, thread, r)));
    LLVMValueRef call = cg_asm_call(&load, INSN_LDMATRIX);
    for (uint32_t k = 0; k < n; k++) {
      LLVMValueRef parts[4];
      cg_unpack(c, cg_asm_get(c, call, k), each, 32 / each, parts);
      uint32_t first = matrix_register(a, r, k);
      for (uint32_t i = 0; i < each; i++) out->v[first | i] = cg_from_storage(c, parts[i], cg_elem_type(c, elem));
    }
  }
  return out;
}

static void store_matrices(Cg *c, LLVMValueRef base, const PlaceMap *m, const MatrixAccess *a, ScalarKind k,
                           const CgValue *v) {
  uint32_t regs = 1u << m->num_reg_bits, n = 1u << a->num_extra, inside = extra_mask(a), each = 1u << a->word_bits;
  LLVMValueRef thread = placemap_thread(c, &a->rows), address = cg_smem_addr(c, base);
  for (uint32_t r = 0; r < regs; r++) {
    if (r & (inside | m->free_reg)) continue;
    CgAsm store = cg_asm_new(c);
    cg_asm_arg(&store, row_address(c, a, address, thread, r));
    for (uint32_t i = 0; i < n; i++) {
      uint32_t first = matrix_register(a, r, i);
      LLVMValueRef parts[4];
      for (uint32_t e = 0; e < each; e++) parts[e] = cg_to_storage(c, cg_reg(v, first | e), k);
      cg_asm_arg(&store, cg_pack(c, parts, each, 32 / each));
    }
    put_matrices(&store, a, "stmatrix");
    cg_asm_list(&store, "[$0], {", 1, n, "};");
    cg_asm_call(&store, INSN_STMATRIX);
  }
}

// ---- ops ----

PlaceMap cg_tile_map(Cg *c, const Op *op, const Type *tensor, const Value *buffer) {
  PlaceMap m;
  if (!placemap_to_shared(tensor->layout, buffer->type->layout, &m))
    cg_unsupported(c, op, "the buffer does not hold the tensor");
  if (type_is_moved(buffer->type)) m.start = cg_reg(cg_get(buffer), 1);
  return m;
}

// Whether words go as wider vectors, which need no matrices.
static bool is_wide(const PlaceMap *m, const Type *elem) {
  const uint32_t word_bits = word_bits_of(type_elem_bytes(elem));
  for (uint32_t i = 0; i <= word_bits; i++)
    if (i >= m->num_reg_bits || m->reg[i] != 1u << i) return false;
  return true;
}

bool cg_shared_store_matrices(Cg *c, LLVMValueRef base, const PlaceMap *m, const Type *elem, const CgValue *v) {
  MatrixAccess a;
  if (!c->target->has_stmatrix || v->splat || type_elem_bytes(elem) > 2 || is_wide(m, elem)) return false;
  if (!matrix_access(m, type_elem_bytes(elem), false, &a)) return false;
  store_matrices(c, base, m, &a, cg_elem_kind(elem), v);
  return true;
}

// All threads load, also those that hold duplicates.
static bool load_access(PlaceMap *m, const Type *elem, MatrixAccess *a) {
  m->free_reg = m->free_thread = 0;
  return !is_wide(m, elem) && matrix_access(m, type_elem_bytes(elem), true, a);
}

bool cg_can_load_matrices(const PlaceMap *map, const Type *elem) {
  PlaceMap m = *map;
  MatrixAccess a;
  return load_access(&m, elem, &a);
}

CgValue *cg_shared_load_fastest(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem) {
  PlaceMap m = *map;
  MatrixAccess a;
  return load_access(&m, elem, &a) ? load_matrices(c, base, &m, &a, elem) : cg_shared_load(c, base, &m, elem);
}

static void store_tile(Cg *c, const Op *op, Value *value, Value *buffer, LLVMValueRef base) {
  const Type *t = value->type;
  PlaceMap m = cg_tile_map(c, op, t, buffer);
  const CgValue *v = cg_get(value);
  if (!cg_shared_store_matrices(c, base, &m, type_elem(t), v)) cg_shared_store(c, base, &m, type_elem(t), v, NULL);
}

void emit_alloc(Cg *c, Op *op) {
  const Attr *offset = op_attr(op, ATTR_OFFSET);
  if (!offset) cg_unsupported(c, op, "has no offset (run allocate_shared)");
  LLVMValueRef base = cg_i32(c, (uint32_t)offset->i);
  cg_set_scalar(c, op_result(op, 0), base);
  if (op->num_operands && op_operand(op, 0)) store_tile(c, op, op_operand(op, 0), op_result(op, 0), base);
}

void emit_buffer_index(Cg *c, Op *op) {
  LLVMValueRef i = LLVMBuildIntCast2(c->b, cg_scalar(op_operand(op, 1)), c->t_i32, true, "");
  LLVMValueRef step = cg_op(c, LLVMMul, i, scratch_tile_stride(op_operand(op, 0)->type));
  cg_set_scalar(c, op_result(op, 0), cg_add(c, cg_scalar(op_operand(op, 0)), step));
}

void emit_buffer_trans(Cg *c UNUSED, Op *op) { cg_set(op_result(op, 0), cg_get(op_operand(op, 0))); }

void emit_buffer_reshape(Cg *c, Op *op) { emit_buffer_trans(c, op); }
void emit_buffer_reinterpret(Cg *c, Op *op) { emit_buffer_trans(c, op); }
void emit_keep_alive(Cg *c, Op *op) { (void)c, (void)op; }

void emit_buffer_slice(Cg *c, Op *op) {
  const Type *t = op_operand(op, 0)->type;
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0), start = (uint32_t)op_int(op, ATTR_START, 0);
  uint32_t places[LAYOUT_MAX_BITS], at = 0;
  if (!layout_right_inverse(t->layout, places)) cg_unsupported(c, op, "the buffer's layout has holes");
  for (uint32_t x = start << layout_axis_shift(t->layout, axis); x; x &= x - 1) at ^= places[__builtin_ctz(x)];
  const CgValue *whole = cg_get(op_operand(op, 0));
  const uint32_t bytes = type_elem_bytes(type_elem(t));
  if (!type_is_moved(op_result(op, 0)->type)) {
    cg_set_scalar(c, op_result(op, 0), cg_add(c, whole->v[0], cg_i32(c, layout_address(t->layout, at) * bytes)));
    return;
  }
  CgValue *v = cg_value_new(c, 2);
  v->v[0] = whole->v[0];
  v->v[1] = cg_i32(c, at * bytes);
  if (whole->count > 1) v->v[1] = cg_xor(c, v->v[1], whole->v[1]);
  cg_set(op_result(op, 0), v);
}

void emit_local_load(Cg *c, Op *op) {
  Value *buf = op_operand(op, 0);
  const Type *t = op_result(op, 0)->type;
  PlaceMap m = cg_tile_map(c, op, t, buf);
  cg_set(op_result(op, 0), cg_shared_load_fastest(c, cg_scalar(buf), &m, type_elem(t)));
}

void emit_local_store(Cg *c, Op *op) {
  Value *value = op_operand(op, 0), *buf = op_operand(op, 1);
  store_tile(c, op, value, buf, cg_scalar(buf));
}
