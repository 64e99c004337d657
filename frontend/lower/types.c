// The language's types (with signedness) and the IR types that carry them.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"

#include <stdlib.h>
#include <string.h>

// Pointers to int1 are accessed as bytes, and pointers to pointers as 64-bit integers.
const Type *lower_ir_elem_type(Lower *L, const CtType *t) {
  if (t->kind != CT_TYPE_POINTER) return type_scalar(L->ctx, dtype_info[t->scalar].scalar);
  const CtType *to = t->elem;
  ScalarKind k = to->kind == CT_TYPE_POINTER ? SC_I64 : to->scalar == DT_INT1 ? SC_I8 : dtype_info[to->scalar].scalar;
  return type_ptr(L->ctx, type_scalar(L->ctx, k), t->is_const);
}

const Type *lower_ir_type(Lower *L, const CtType *t) {
  if (t->kind != CT_TYPE_BLOCK) return lower_ir_elem_type(L, t);
  t = lower_block_part(L, t);
  return type_tensor(L->ctx, lower_ir_elem_type(L, t->elem), (int)t->rank, t->shape, t->layout);
}

const Type *lower_ir_desc_type(Lower *L, const CtType *block) {
  block = lower_block_part(L, block);
  return type_desc(L->ctx, lower_ir_elem_type(L, block->elem), (int)block->rank, block->shape, block->layout);
}

const CtType *lower_shaped(Lower *L, const CtType *elem, const int64_t *shape, uint32_t rank) {
  return rank ? ct_type_block(L->ctx, elem, shape, rank) : elem;
}

const CtType *lower_with_elem(Lower *L, const CtType *t, const CtType *elem) {
  if (t->kind != CT_TYPE_BLOCK) return elem;
  return ct_type_with_layout(L->ctx, ct_type_block(L->ctx, elem, t->shape, t->rank), t->layout, t->spelled);
}

const char *lower_shape_text(Lower *L, const CtType *t) {
  Buf b = buf_make(L->arena);
  buf_putc(&b, '[');
  for (uint32_t i = 0; i < ct_rank(t); i++) buf_printf(&b, "%s%lld", i ? ", " : "", (long long)t->shape[i]);
  buf_putc(&b, ']');
  return buf_str(&b);
}

static int64_t next_pow2(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

// Says how entry i of the shape that stands at `span` was computed.
static void note_extent(Lower *L, Span span, uint32_t rank, uint32_t i, int64_t value) {
  const Node *n = lower_node_at(L, span);
  const bool is_list = n && (n->kind == NODE_TUPLE || n->kind == NODE_LIST);
  if (is_list && n->list.count == rank) lower_note_computed(L, n->list.data[i], value);
  else if (!is_list && rank == 1 && n && n->kind != NODE_CALL) lower_note_computed(L, n, value);
}

bool lower_check_shape(Lower *L, const int64_t *shape, uint32_t rank, Span span) {
  int64_t numel = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] <= 0) {
      lower_error(L, span, "dimension %u of a tensor is %lld, it must be positive", i, (long long)shape[i]);
      note_extent(L, span, rank, i, shape[i]);
      return lower_hint(L, shape[i] == -1 ? "nothing is inferred here: write the number of elements, a power of two"
                                          : "a tensor has at least one element: write a power of two") != NULL;
    }
    if (!is_pow2_u64((uint64_t)shape[i])) {
      lower_error(L, span, "dimension %u of a tensor is %lld, not a power of two", i, (long long)shape[i]);
      note_extent(L, span, rank, i, shape[i]);
      if (shape[i] < MAX_TENSOR_NUMEL)
        lower_hint(L, "use %lld and mask off what is beyond %lld", (long long)next_pow2(shape[i]), (long long)shape[i]);
      return false;
    }
    if (shape[i] > MAX_TENSOR_NUMEL || (numel *= shape[i]) > MAX_TENSOR_NUMEL) {
      lower_error(L, span, "a tensor has at most %d elements", MAX_TENSOR_NUMEL);
      lower_hint(L, "take smaller blocks: more programs, or a loop");
      return false;
    }
  }
  return true;
}

// "fp16[128,64]" after "tensordesc<".
static bool parse_desc(Context *ctx, const char *text, const CtType **out) {
  const char *open = strchr(text, '[');
  if (!open) return false;
  DtypeKind kind;
  size_t n = (size_t)(open - text);
  while (n && text[n - 1] == ' ') n--;
  if (!dtype_find(intern_n(ctx, text, n), &kind)) return false;
  int64_t shape[CT_MAX_RANK];
  uint32_t rank = 0;
  const char *p = open + 1;
  for (;;) {
    char *end;
    long long v = strtoll(p, &end, 10);
    if (end == p || v <= 0 || rank == MAX_DESC_RANK) return false;
    shape[rank++] = v;
    p = end;
    while (*p == ' ') p++;
    if (*p == ',') { p++; continue; }
    break;
  }
  if (*p != ']') return false;
  *out = ct_type_block(ctx, ct_type_scalar(ctx, kind), shape, rank);
  return true;
}

bool frontend_parse_type(Context *ctx, const char *text, const CtType **out, bool *is_desc) {
  while (*text == ' ') text++;
  *is_desc = false;
  if (strncmp(text, "tensordesc<", 11) == 0) {
    *is_desc = true;
    return parse_desc(ctx, text + 11, out);
  }
  if (*text == '*') {
    bool is_const = text[1] == 'k';
    const CtType *elem;
    bool inner_desc;
    if (!frontend_parse_type(ctx, text + 1 + is_const, &elem, &inner_desc) || inner_desc) return false;
    *out = ct_type_pointer(ctx, elem, is_const);
    return true;
  }
  size_t n = strlen(text);
  while (n && text[n - 1] == ' ') n--;
  DtypeKind kind;
  if (n == 0 || !dtype_find(intern_n(ctx, text, n), &kind)) return false;
  *out = ct_type_scalar(ctx, kind);
  return true;
}
