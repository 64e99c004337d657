// Warnings about numbers. An instruction that makes NaN of operands that are none, or an infinite number of 16 bits of
// finite ones, is remembered; also a minimum or maximum of NaN and an infinite number, which leaves NaN out. A store of
// such a number is traced back to it through the registers and shared memory. If
// the program has loaded such a number, too, nothing is said: then it may be that one.
#include "runtime/sim/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/num.h"
#include "runtime/sim/lead.h"
#include "runtime/sim/shadow.h"
#include "runtime/sim/slice.h"

typedef enum { MADE_NAN, MADE_INFINITE, MADE_CHOICE, NUM_MADE } Made;
typedef struct { uint64_t cta; double a, b, c; } Maker;      // the last program in which it made one, and its operands
struct Numbers {
  Maker *makers[NUM_MADE];     // by the number of the instruction; NULL: none has made any
  uint64_t loaded[NUM_MADE];   // the last program that loaded one: its number plus 1
};

static const uint8_t result_bits[] = {[NUMBER_F32] = 32, [NUMBER_F64] = 64, [NUMBER_F16] = 16, [NUMBER_BF16] = 16,
                                      [NUMBER_F16X2] = 16, [NUMBER_BF16X2] = 16};

static NumFormat format_of(NumberKind k) {
  return k == NUMBER_F32 ? NUM_F32 : k == NUMBER_F64 ? NUM_F64 : k == NUMBER_F16 || k == NUMBER_F16X2 ? NUM_F16 : NUM_BF16;
}

static bool computes(const Instr *in) {
  switch (in->op) {
  case OP_add: case OP_sub: case OP_mul: case OP_mad: case OP_fma: case OP_div: case OP_rcp: case OP_sqrt: case OP_rsqrt:
  case OP_lg2: case OP_ex2: case OP_sin: case OP_cos: case OP_cvt: return true;
  default: return false;
  }
}

static bool can_decode(PtxType t) {
  return t == T_F32 || t == T_F64 || t == T_F16 || t == T_BF16 || ptx_types[t].cls == CLASS_SINT ||
         ptx_types[t].cls == CLASS_UINT;
}

static bool chooses(const Instr *in) {
  return (in->op == OP_min || in->op == OP_max) && in->num_types && in->type[0] == T_F32 && in->num_ops == 3 &&
         !has_mod(in, M_NaN) && in->ops[1].kind == OPND_REG && in->ops[2].kind == OPND_REG &&
         in->ops[0].slot != in->ops[1].slot && in->ops[0].slot != in->ops[2].slot;
}

uint8_t numbers_kind(const Instr *in) {
  if (chooses(in)) return NUMBER_CHOICE;
  if (!computes(in) || !in->num_types || in->sat || in->ops[0].kind != OPND_REG || in->ops[0].pair) return NUMBER_NONE;
  if (in->op == OP_cvt && (in->num_types < 2 || has_mod(in, M_satfinite) || !can_decode(in->type[1]))) return NUMBER_NONE;
  for (uint32_t i = 1; i < in->num_ops; i++)
    if ((in->ops[i].kind != OPND_REG && in->ops[i].kind != OPND_IMM) ||
        (in->ops[i].kind == OPND_REG && in->ops[i].slot == in->ops[0].slot))
      return NUMBER_NONE;
  switch (in->type[0]) {
  case T_F32: return NUMBER_F32;
  case T_F64: return NUMBER_F64;
  case T_F16: return NUMBER_F16;
  case T_BF16: return NUMBER_BF16;
  case T_F16X2: return NUMBER_F16X2;
  case T_BF16X2: return NUMBER_BF16X2;
  default: return NUMBER_NONE;
  }
}

// An operand's value in that half of the result.
static double operand(const Warp *w, const Instr *in, uint32_t i, uint32_t lane, uint32_t half) {
  const uint64_t v = src_row(w, &in->ops[i])[lane];
  const PtxType t = in->op == OP_cvt ? in->type[1] : in->type[0];
  const uint32_t shift = 16 * half;
  switch (t) {
  case T_F32: return num_decode(NUM_F32, v & UINT32_MAX);
  case T_F64: return num_decode(NUM_F64, v);
  case T_F16: case T_F16X2: return num_decode(NUM_F16, v >> (t == T_F16 ? 0 : shift) & 0xffff);
  case T_BF16: case T_BF16X2: return num_decode(NUM_BF16, v >> (t == T_BF16 ? 0 : shift) & 0xffff);
  default: break;
  }
  const uint32_t bits = ptx_types[t].bits;
  return ptx_types[t].cls == CLASS_SINT ? (double)((int64_t)(v << (64 - bits)) >> (64 - bits))
                                        : (double)(v & width_mask(bits));
}

static void keep(Grid *g, const Warp *w, const Instr *in, Made made, const double x[3]) {
  Maker **all = &g->numbers->makers[made];
  if (!*all) *all = calloc(g->module->num_code, sizeof **all);
  if (*all) (*all)[in - g->module->code] = (Maker){w->cta->linear + 1, x[0], x[1], x[2]};
}

static void remember(Warp *w, const Instr *in, Made made, uint32_t lane, uint32_t half) {
  Grid *g = w->grid;
  double x[3] = {0, 0, 0};
  // cvt.f16x2 packs its first source into the upper half.
  const bool packs = in->op == OP_cvt && in->num_ops == 3;
  if (packs) x[0] = operand(w, in, half ? 1 : 2, lane, 0);
  for (uint32_t i = 1; !packs && i < in->num_ops && i <= 3; i++) x[i - 1] = operand(w, in, i, lane, half);
  for (int i = 0; i < 3; i++)
    if (x[i] != x[i] || (made == MADE_INFINITE && isinf(x[i]))) return;
  keep(g, w, in, made, x);
}

static bool has_made(const Grid *g, const Warp *w, const Instr *in, Made made) {
  const Maker *all = g->numbers->makers[made];
  return all && all[in - g->module->code].cta == w->cta->linear + 1;
}

static void look_at_choice(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *d = dst_at(w, in);
  FOR_LANES(l, mask) {
    const double a = operand(w, in, 1, l, 0), b = operand(w, in, 2, l, 0);
    if (!isinf(num_decode(NUM_F32, d[l])) || (a == a && b == b)) continue;
    keep(w->grid, w, in, MADE_CHOICE, (double[3]){0, 0, 0});
    return;
  }
}

// A number is infinite or NaN if its exponent has all bits set: adding one to it then reaches the place of the sign. For
// 32 bits, where only NaN matters, the fraction is added to.
typedef struct { uint64_t bits, one, sign; } Exponent;
static const Exponent exponents[] = {[NUMBER_F32] = {0x7fffffff, 0x7fffff, 0x80000000},
                                     [NUMBER_CHOICE] = {0x7f800000, 0x800000, 0x80000000},
                                     [NUMBER_F64] = {0x7ff0000000000000, 0x0010000000000000, 0x8000000000000000},
                                     [NUMBER_F16] = {0x7c00, 0x400, 0x8000},
                                     [NUMBER_BF16] = {0x7f80, 0x80, 0x8000},
                                     [NUMBER_F16X2] = {0x7c007c00, 0x04000400, 0x80008000},
                                     [NUMBER_BF16X2] = {0x7f807f80, 0x00800080, 0x80008000}};

void numbers_step(Warp *w, const Instr *in, uint32_t mask) {
  if (in->numbers == NUMBER_WRAP) {
    wraps_step(w, in, mask);
    return;
  }
  const uint64_t *d = dst_at(w, in);
  const NumberKind k = (NumberKind)in->numbers;
  const Exponent e = exponents[k];
  uint64_t any = 0;
  LANES_ARE_INDEPENDENT for (uint32_t l = 0; l < WARP_SIZE; l++) any |= (d[l] & e.bits) + e.one;
  if (!(any & e.sign)) return;
  if (k == NUMBER_CHOICE) {
    look_at_choice(w, in, mask);
    return;
  }
  const bool knows_nan = has_made(w->grid, w, in, MADE_NAN);
  const bool knows_infinite = result_bits[k] > 16 || has_made(w->grid, w, in, MADE_INFINITE);
  if (knows_nan && knows_infinite) return;
  FOR_LANES(l, mask) {
    for (uint32_t half = 0; half <= (k > NUMBER_BF16); half++) {
      const double x = num_decode(format_of(k), d[l] >> (16 * half) & width_mask(result_bits[k]));
      if (!knows_nan && x != x) remember(w, in, MADE_NAN, l, half);
      if (!knows_infinite && isinf(x)) remember(w, in, MADE_INFINITE, l, half);
    }
  }
}

// ---- loads and stores

// The format of the numbers at the access plus 1; 0: they are no floats, or it is not known.
static uint8_t format_at(Grid *g, const Instr *in, uint8_t *quiet) {
  PtxModule *m = g->module;
  if (!m->formats) m->formats = arena_array(&m->arena, AccessFormat, m->num_accesses + 1);
  AccessFormat *f = &m->formats[in->access];
  PlaceNote place;
  if (!f->is_known && report_note(g, in, &place))
    *f = (AccessFormat){.format = place.format, .quiet = place.quiet};
  f->is_known = true;
  *quiet = f->quiet;
  return f->format;
}

// A division may be a product with a reciprocal of the same place.
static bool divides(const PtxModule *m, const Instr *in) {
  for (uint32_t i = in->func->first; i < in->func->end; i++) {
    const Instr *it = &m->code[i];
    if ((it->op == OP_rcp || it->op == OP_div) && it->loc && in->loc && it->loc->file == in->loc->file &&
        it->loc->line == in->loc->line && it->loc->col == in->loc->col)
      return true;
  }
  return false;
}

static const char *reason(const PtxModule *module, const Instr *in, const Maker *m) {
  const char *way = NULL;
  if (in->op == OP_div || in->op == OP_rcp || divides(module, in))
    return "zero divided by zero, or an infinite number by another, is NaN: bound the divisor from below, as "
           "tl.maximum(x, 1e-6), or divide by 1 where it is 0";
  if (in->op == OP_sqrt || in->op == OP_rsqrt || in->op == OP_lg2)
    return "the root or the logarithm of a negative number is NaN: bound it from below by tl.maximum(x, 0.0)";
  const bool is_product = in->op == OP_mul || in->op == OP_fma || in->op == OP_mad;
  if (is_product && (isinf(m->a) ? m->b == 0 : isinf(m->b) && m->a == 0))
    return "zero times an infinite number is NaN: choose by tl.where(condition, x, 0.0) in place of a product with 0 and 1";
  if (isinf(m->a) || isinf(m->b) || isinf(m->c))
    way = "the difference of two infinite numbers is NaN: where all of a row is masked, its maximum is -inf; take "
          "tl.where(m == float(\"-inf\"), 0.0, m) in its place, or a large finite number in place of inf";
  return way;
}

static const char *largest(NumFormat f) { return f == NUM_F16 ? "65504" : "3.39e38"; }

static void warn(Warp *w, const Instr *store, const Instr *maker, Made made, int lane, uint64_t address, NumFormat f) {
  Grid *g = w->grid;
  PlaceNote at, its;
  if (!report_note(g, store, &at)) return;
  Arena a;
  arena_init(&a);
  const bool is_lost = made == MADE_CHOICE;
  if (is_lost) made = MADE_NAN;
  const Maker *m = &g->numbers->makers[made][maker - g->module->code];
  const char *what = lead_element(&a, w, store, lane, address, at.elem_bytes, "an element");
  const char *name = f == NUM_F16 ? "float16" : "bfloat16", *text, *way, *here;
  if (made == MADE_NAN) {
    text = arena_printf(&a, is_lost ? "%s stores an infinite number to %s in place of NaN, which a minimum or maximum has "
                                      "left out [-Wnan-store]"
                                    : "%s stores NaN to %s, and has loaded no NaN [-Wnan-store]",
                        report_program_of(&a, w->cta), what);
    way = reason(g->module, maker, m);
    here = "this makes it of numbers that are not NaN";
  } else {
    const bool converts = maker->op == OP_cvt;
    text = arena_printf(&a, "%s stores an infinite number to %s, and has loaded none [-Wto-infinity]",
                        report_program_of(&a, w->cta), what);
    here = converts ? arena_printf(&a, "this converts %g to %s, whose largest number is %s", m->a, name, largest(f))
                    : arena_printf(&a, "this computes with %g and %g in %s, whose largest number is %s", m->a, m->b, name,
                                   largest(f));
    way = arena_printf(&a, "%scompute in float32, x.to(tl.float32), and store what fits, or store float32",
                       report_note(g, maker, &its) && report_same_place(&its, &at) && converts
                           ? arena_printf(&a, "%g does not fit %s, whose largest number is %s: ", m->a, name, largest(f))
                           : "");
  }
  const bool has_place = report_note(g, maker, &its);
  report_warning(g, &at, text, has_place ? &its : NULL, here, way);
  arena_free(&a);
}

typedef struct { Warp *w; const Instr *found; Made made; bool chooses; } Search;
static void visit(void *user, const Instr *in) {
  Search *s = user;
  if (in->numbers == NUMBER_WRAP) return;
  if (in->numbers == NUMBER_CHOICE) s->chooses |= has_made(s->w->grid, s->w, in, MADE_CHOICE);
  else if (in->numbers && has_made(s->w->grid, s->w, in, s->made) && (!s->found || in < s->found)) s->found = in;
}

static void judge(Warp *w, const Instr *in, Made made, int lane, uint64_t address, NumFormat f, uint8_t quiet) {
  Grid *g = w->grid;
  AccessFormat *told = &g->module->formats[in->access];
  const bool is_lost = made == MADE_CHOICE;   // NaN; otherwise it is stored
  if (is_lost) made = MADE_NAN;
  if (told->told >> made & 1 || quiet >> made & 1 || g->numbers->loaded[made] == w->cta->linear + 1) return;
  if (!g->numbers->makers[made] || !in->func->is_entry) return;
  Search s = {.w = w, .made = made};
  slice_walk(g->module, in, false, visit, &s);
  if (!s.found || (is_lost && !s.chooses)) return;
  told->told |= (uint8_t)(1u << made);
  warn(w, in, s.found, is_lost ? MADE_CHOICE : made, lane, address, f);
}

static bool all_finite(NumFormat f, const uint8_t *from, uint32_t size) {
  uint64_t any = 0;
  if (f == NUM_F32) {
    for (uint32_t at = 0; at + 4 <= size; at += 4) {
      uint32_t v;
      memcpy(&v, from + at, 4);
      any |= (uint64_t)(v & 0x7f800000) + 0x800000;
    }
    return !(any & 0x80000000);
  }
  if (f != NUM_F16 && f != NUM_BF16) return false;
  const Exponent e = exponents[f == NUM_F16 ? NUMBER_F16 : NUMBER_BF16];
  for (uint32_t at = 0; at + 2 <= size; at += 2) {
    uint16_t v;
    memcpy(&v, from + at, 2);
    any |= (v & e.bits) + e.one;
  }
  return !(any & e.sign);
}

void numbers_access(Warp *w, const Instr *in, const MemAccess *a) {
  const bool stores = a->kind == ACCESS_WRITE;
  if (!in->access || (!stores && a->kind != ACCESS_READ) || a->space[__builtin_ctz(a->mask)] != SPACE_GLOBAL) return;
  uint8_t quiet;
  const uint8_t format = format_at(w->grid, in, &quiet);
  if (!format) return;
  const NumFormat f = (NumFormat)(format - 1);
  const uint32_t bytes = num_format_info(f)->width / 8;
  FOR_LANES(l, a->mask) {
    uint8_t stored[32];
    const uint8_t *from = stores ? stored : a->host[l];
    if (a->space[l] != SPACE_GLOBAL || (stores && !access_store_bytes(w, in, (int)l, a->size, stored))) return;
    if (all_finite(f, from, a->size)) continue;
    for (uint32_t at = 0; at + bytes <= a->size; at += bytes) {
      uint64_t bits = 0;
      memcpy(&bits, from + at, bytes);
      const double x = num_decode(f, bits);
      if (x - x == 0) continue;
      const Made made = x != x ? MADE_NAN : MADE_INFINITE;
      if (!stores) w->grid->numbers->loaded[made] = w->cta->linear + 1;
      else if (made == MADE_NAN || f == NUM_F16 || f == NUM_BF16) judge(w, in, made, (int)l, a->addr[l] + at, f, quiet);
      if (stores && made == MADE_INFINITE && w->grid->numbers->makers[MADE_CHOICE])
        judge(w, in, MADE_CHOICE, (int)l, a->addr[l] + at, f, quiet);
    }
  }
}

void numbers_end(Grid *g) {
  for (int i = 0; g->numbers && i < NUM_MADE; i++) free(g->numbers->makers[i]);
  free(g->numbers);
  g->numbers = NULL;
}

void numbers_begin(Grid *g) {
  g->numbers = calloc(1, sizeof *g->numbers);
  wraps_begin(g);
}
