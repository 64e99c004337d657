// reduce, scan and map: a region of scalars that runs over many elements at once. reduce_order.h gives the order.
#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"
#include "ir/num.h"
#include "ir/reduce_order.h"

// Whether the region can run on arrays in place of scalars: it has elementwise ops only, and no branches.
static bool is_straight(const Block *b) {
  EACH_OP(op, b) {
    bool same_for_all = op_is(op, TRAIT_PURE) && !op->num_operands;
    if (!op_is(op, TRAIT_ELEMENTWISE | TRAIT_TERMINATOR) && !same_for_all) return false;
  }
  return true;
}

// Runs the region for `lanes` sets of arguments: in[k] is the array of argument k, out[k] gets what the block yields.
static bool run_region(Prog *p, const Op *op, const void *const *in, void *const *out, uint32_t lanes) {
  Block *b = op->blocks[0];
  uint32_t outer = p->lanes, step = is_straight(b) ? lanes : 1, num_out = b->last->num_operands;
  p->lanes = step;
  for (uint32_t at = 0; at < lanes; at += step) {
    for (uint32_t k = 0; k < b->num_args; k++) {
      size_t bytes = type_elem_bytes(b->args[k]->type);
      memcpy(interp_value_storage(p, b->args[k]), (const char *)in[k] + at * bytes, step * bytes);
    }
    if (!interp_run_block(p, b)) return false;
    for (uint32_t k = 0; k < num_out; k++) {
      size_t bytes = type_elem_bytes(operand_type(b->last, k));
      memcpy((char *)out[k] + at * bytes, interp_operand_data(p, b->last, k), step * bytes);
    }
  }
  p->lanes = outer;
  return true;
}

// The operands of a reduce or scan. Element (o, i, n), with i along the axis, is at (o · size + i) · inner + n.
typedef struct {
  Prog *p;
  const Op *op;
  uint32_t num;                 // operands; of a sum of products, the first
  uint32_t bytes[MAX_COMBINED];
  char *data[MAX_COMBINED];
  size_t outer, size, inner;
  bool reverse;
  char *left[MAX_COMBINED], *right[MAX_COMBINED];   // gathered
} Combine;

static size_t place(const Combine *c, size_t o, size_t i, size_t n) {
  return (o * c->size + (c->reverse ? c->size - 1 - i : i)) * c->inner + n;
}

// Packs the elements at index[0..count) along the axis, of all operands, or puts them back.
static void move(const Combine *c, char *const *packed, const uint32_t *index, uint32_t count, bool pack) {
  for (uint32_t k = 0; k < c->num; k++) {
    uint32_t bytes = c->bytes[k];
    size_t at = 0;
    for (size_t o = 0; o < c->outer; o++)
      for (uint32_t i = 0; i < count; i++)
        for (size_t n = 0; n < c->inner; n++, at++) {
          size_t from = place(c, o, index[i], n);
          if (pack) set_element(packed[k], bytes, at, element(c->data[k], bytes, from));
          else set_element(c->data[k], bytes, from, element(packed[k], bytes, at));
        }
  }
}

// Element to[t] becomes combine(element a[t], element b[t]), for all t at once.
static bool combine(const Combine *c, const uint32_t *to, const uint32_t *a, const uint32_t *b, uint32_t count) {
  if (!count) return true;
  const void *in[2 * MAX_COMBINED];
  void *out[MAX_COMBINED];
  move(c, c->left, a, count, true);
  move(c, c->right, b, count, true);
  for (uint32_t k = 0; k < c->num; k++) {
    in[k] = c->left[k];
    in[c->num + k] = c->right[k];
    out[k] = c->left[k];
  }
  if (!run_region(c->p, c->op, in, out, (uint32_t)(count * c->outer * c->inner))) return false;
  move(c, c->left, to, count, false);
  return true;
}

static void begin(Combine *c, Prog *p, Op *op) {
  const Type *t = operand_type(op, 0);
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  *c = (Combine){.p = p, .op = op, .num = op->num_results, .outer = 1, .inner = 1, .size = (size_t)t->shape[axis]};
  for (uint32_t k = 0; k < t->rank; k++)
    *(k < axis ? &c->outer : k > axis ? &c->inner : &(size_t){0}) *= (size_t)t->shape[k];
  for (uint32_t k = 0; k < c->num; k++) {
    c->bytes[k] = type_elem_bytes(operand_type(op, k));
    size_t n = (size_t)type_numel(t) * c->bytes[k];
    c->data[k] = interp_malloc(n);
    memcpy(c->data[k], interp_operand_data(p, op, k), n);
    c->left[k] = interp_malloc(n);
    c->right[k] = interp_malloc(n);
  }
}

static bool end(Combine *c, bool ok) {
  for (uint32_t k = 0; k < c->num; k++) {
    free(c->data[k]);
    free(c->left[k]);
    free(c->right[k]);
  }
  return ok;
}

// The chain of multiply-adds that begins a sum of products with y, over the first n of the order's bits.
static void multiply(const Combine *c, const float *y, const uint8_t *bits, uint32_t n) {
  uint32_t chained = 0;
  for (uint32_t k = 0; k < n; k++) chained |= 1u << bits[k];
  float *x = (float *)c->data[0];
  for (size_t o = 0; o < c->outer; o++)
    for (uint32_t i = 0; i < c->size; i++)
      for (size_t in = 0; in < c->inner && !(i & chained); in++) {
        float sum = 0;
        for (uint32_t number = 0; number < 1u << n; number++) {
          uint32_t j = i;
          for (uint32_t k = 0; k < n; k++) j |= (number >> k & 1) << bits[k];
          const size_t at = place(c, o, j, in);
          sum = number ? num_fma_f32(x[at], y[at], sum, NUM_RNE, false) : x[at] * y[at];
        }
        x[place(c, o, i, in)] = sum;
      }
}

bool interp_reduce(Prog *p, Op *op) {
  Combine c;
  begin(&c, p, op);
  uint8_t bits[LAYOUT_MAX_BITS];
  uint32_t n = reduce_order(operand_type(op, 0), (uint32_t)op_int(op, ATTR_AXIS, 0), bits);
  uint32_t *low = interp_malloc(c.size * sizeof *low), *high = interp_malloc(c.size * sizeof *high), folded = 0,
           first = 0;
  bool ok = true;
  if (op_int(op, ATTR_PRODUCT, 0)) {
    first = reduce_product_folds(operand_type(op, 0), (uint32_t)op_int(op, ATTR_AXIS, 0));
    multiply(&c, (const float *)interp_operand_data(p, op, 1), bits, first);
    for (uint32_t k = 0; k < first; k++) folded |= 1u << bits[k];
  }
  for (uint32_t k = first; k < n && ok; k++) {
    uint32_t count = 0, bit = 1u << bits[k];
    for (uint32_t i = 0; i < c.size; i++)
      if (!(i & (folded | bit))) {
        low[count] = i;
        high[count++] = i | bit;
      }
    ok = combine(&c, low, low, high, count);
    folded |= bit;
  }
  for (uint32_t k = 0; k < c.num && ok; k++) {
    char *out = interp_result_data(p, op, k);
    for (size_t o = 0; o < c.outer; o++)
      memcpy(out + o * c.inner * c.bytes[k], c.data[k] + o * c.size * c.inner * c.bytes[k], c.inner * c.bytes[k]);
  }
  free(low);
  free(high);
  return end(&c, ok);
}

typedef struct { uint32_t *to, *a, *b; } ScanIndex;

// Block j of each chunk of num blocks, for j from first to end: its total becomes combine(total of block j − back, it).
static bool scan_totals(const Combine *c, ScanIndex at, uint32_t block, uint32_t num, uint32_t first, uint32_t end,
                        uint32_t back) {
  uint32_t n = 0;
  for (uint32_t chunk = 0; chunk < c->size; chunk += block * num)
    for (uint32_t j = first; j < end; j++, n++) {
      at.to[n] = at.b[n] = chunk + j * block + block - 1;
      at.a[n] = chunk + (j - back) * block + block - 1;
    }
  return combine(c, at.to, at.a, at.b, n);
}

// One group of a scan: blocks of 2^lo scanned elements become blocks of 2^(lo + k). Totals are scanned in place, at the
// last element of each block. The other elements of a block get the scanned total of the block before it.
static bool scan_group(const Combine *c, ScanGroup g, ScanIndex at) {
  uint32_t block = 1u << g.first, num = 1u << g.count, n = 0;
  bool by_lanes = g.dim == LAYOUT_LANE;
  for (uint32_t j = 1; j < num; j += by_lanes ? j : 1)
    if (!scan_totals(c, at, block, num, j, by_lanes ? num : j + 1, by_lanes ? j : 1)) return false;
  for (uint32_t chunk = 0; chunk < c->size; chunk += block * num)
    for (uint32_t j = 1; j < num; j++)
      for (uint32_t i = 0; i + 1 < block; i++, n++) {
        at.to[n] = at.b[n] = chunk + j * block + i;
        at.a[n] = chunk + j * block - 1;
      }
  return combine(c, at.to, at.a, at.b, n);
}

bool interp_scan(Prog *p, Op *op) {
  Combine c;
  begin(&c, p, op);
  c.reverse = op_int(op, ATTR_REVERSE, 0) != 0;
  ScanGroup groups[LAYOUT_MAX_BITS];
  uint32_t n = reduce_scan_order(operand_type(op, 0), (uint32_t)op_int(op, ATTR_AXIS, 0), groups);
  uint32_t *index = interp_malloc(3 * c.size * sizeof *index);
  bool ok = true;
  ScanIndex at = {index, index + c.size, index + 2 * c.size};
  for (uint32_t k = 0; k < n && ok; k++) ok = scan_group(&c, groups[k], at);
  for (uint32_t k = 0; k < c.num && ok; k++)
    memcpy(interp_result_data(p, op, k), c.data[k], c.outer * c.size * c.inner * c.bytes[k]);
  free(index);
  return end(&c, ok);
}

bool interp_map(Prog *p, Op *op) {
  uint32_t pack = (uint32_t)op_int(op, ATTR_PACK, 1), num_in = op->num_operands * pack,
           num_out = op->num_results * pack;
  const Block *b = op->blocks[0];
  size_t lanes = (size_t)interp_value_count(p, op->results[0].type) / pack;
  char **in = interp_malloc((num_in + num_out) * sizeof *in), **out = in + num_in;
  for (uint32_t k = 0; k < num_in; k++) {
    uint32_t bytes = type_elem_bytes(b->args[k]->type);
    in[k] = interp_malloc(lanes * bytes);
    const void *x = interp_operand_data(p, op, k / pack);
    for (size_t i = 0; i < lanes; i++) set_element(in[k], bytes, i, element(x, bytes, i * pack + k % pack));
  }
  for (uint32_t k = 0; k < num_out; k++) out[k] = interp_malloc(lanes * type_elem_bytes(op->results[k / pack].type));
  bool ok = run_region(p, op, (const void *const *)in, (void *const *)out, (uint32_t)lanes);
  for (uint32_t k = 0; k < num_out && ok; k++) {
    uint32_t bytes = type_elem_bytes(op->results[k / pack].type);
    void *r = interp_result_data(p, op, k / pack);
    for (size_t i = 0; i < lanes; i++) set_element(r, bytes, i * pack + k % pack, element(out[k], bytes, i));
  }
  for (uint32_t k = 0; k < num_in + num_out; k++) free(in[k]);
  free(in);
  return ok;
}
