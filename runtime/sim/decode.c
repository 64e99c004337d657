// Decodes instructions at load time: mnemonic, modifiers and operands become an Instr. Afterwards every operand is a
// register row, an immediate row, a predicate, a memory operand, a vector or a label. Special registers and symbol
// addresses appear in mov only: for other instructions a hidden mov precedes them.
#include "runtime/sim/parse.h"

static const DecodeFn decoders[OP_COUNT] = {
#define PTX_OP(mnemonic, decode, flags) decode,
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP
};

_Static_assert(OPND_COUNT <= 16, "the kinds of an operand letter are 16 bits");

static bool same_name(const void *kept, const void *key) { return !strcmp(kept, key); }

static void add_name(PtxParser *p, Map *names, const char *name, uint64_t number) {
  MapSlot *slot = map_find(p->arena, names, map_hash_bytes(name, strlen(name)), name, same_name);
  slot->key = name;
  slot->number = number;
}

// The number of a name, or -1.
static int find_name(const Map *names, const char *name) {
  const MapSlot *slot = map_seek(names, map_hash_bytes(name, strlen(name)), name, same_name);
  return slot ? (int)slot->number : -1;
}

void ptx_init_tables(PtxParser *p) {
  for (int i = 0; i < M_COUNT; i++) add_name(p, &p->mods, ptx_mod_name(i), (uint64_t)i);
  for (int i = 0; i < OP_COUNT; i++) add_name(p, &p->ops, ptx_op_name(i), (uint64_t)i);
}

// ----------------------------------------------------------------------------------------------------- operands

bool ptx_operand_name(PtxParser *p, const char *name, const char *suffix, PtxOperand *out) {
  *out = (PtxOperand){.kind = OPND_SINK};
  if (name[0] == '_' && !name[1]) return true;
  Symbol *s = suffix ? NULL : ptx_lookup(p, name);
  if (s) {
    out->sym = s;
    out->bits = ptx_types[s->type].bits;
    out->slot = s->slot;
    switch (s->kind) {
    case SYM_REG:
      if (s->range) return ptx_error(p, p->line, "%s names a range of registers", name);
      out->kind = OPND_REG;
      return true;
    case SYM_PRED: out->kind = OPND_PRED; return true;
    case SYM_VAR:
      out->kind = OPND_SYM;
      if (s->space == SPACE_SHARED && p->fn) vec_push(p->arena, &p->fn->shared_used, s->slot);
      return true;
    case SYM_FUNC:
      if (p->fn) vec_push(p->arena, &p->fn->callees, s->func);
      out->kind = OPND_LABEL;
      return true;
    default: out->kind = OPND_LABEL; return true;
    }
  }
  char full[64];
  snprintf(full, sizeof full, "%s%s%s", name, suffix ? "." : "", suffix ? suffix : "");
  int sreg = sreg_find(full);
  if (sreg >= 0) {
    *out = (PtxOperand){.kind = OPND_SREG, .slot = (uint32_t)sreg, .bits = 64};
    return true;
  }
  if (!strcmp(full, "WARP_SZ")) {
    ptx_operand_number((Number){WARP_SIZE, 0}, false, out);
    return true;
  }
  if (name[0] == '%' || suffix) return ptx_error(p, p->line, "unknown register %s", full);
  s = arena_new(p->arena, Symbol);  // a label that may come later
  s->name = name;
  s->kind = SYM_LABEL;
  s->scope = p->scope;
  s->addr = UINT64_MAX;
  *out = (PtxOperand){.kind = OPND_LABEL, .sym = s};
  return true;
}

void ptx_operand_number(Number n, bool negative, PtxOperand *out) {
  uint64_t v = n.bits;
  if (negative) v = n.float_bytes ? v ^ UINT64_C(1) << (n.float_bytes * 8 - 1) : -v;
  *out = (PtxOperand){.kind = OPND_IMM, .bits = 64, .offset = (int64_t)v, .float_bytes = (uint8_t)n.float_bytes};
}

bool ptx_memory_operand(PtxParser *p, const PtxOperand *base, const OperandList *rest, PtxOperand *out) {
  if ((base->kind != OPND_REG && base->kind != OPND_SYM && base->kind != OPND_IMM) || base->float_bytes || base->pair)
    return ptx_error(p, p->line, "bad address operand");
  *out = *base;
  out->kind = OPND_MEM;
  out->base_kind = base->kind;
  out->sub = rest ? rest->data : NULL;
  out->count = rest ? rest->count : 0;
  return true;
}

static bool same_row(const void *kept, const void *key) { return *(const uint64_t *)kept == *(const uint64_t *)key; }

// A row whose lanes all hold v.
static const uint64_t *imm_row(PtxParser *p, uint64_t v) {
  MapSlot *slot = map_find(p->arena, &p->rows, map_hash_number(v), &v, same_row);
  if (slot->key) return slot->key;
  uint64_t *row = arena_array(p->arena, uint64_t, WARP_SIZE);
  for (int i = 0; i < WARP_SIZE; i++) row[i] = v;
  return slot->key = row;
}

static void finish_immediate(PtxParser *p, PtxOperand *o, PtxType t) {
  uint64_t v = (uint64_t)o->offset;
  if (o->float_bytes == 8 && ptx_types[t].bits == 32) {
    double d;
    memcpy(&d, &v, 8);
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, 4);
    v = u;
  } else if (o->float_bytes == 4 && t == T_F64) {
    uint32_t u = (uint32_t)v;
    float f;
    memcpy(&f, &u, 4);
    double d = f;
    memcpy(&v, &d, 8);
  }
  o->offset = (int64_t)v;
  o->lanes = imm_row(p, v);
}

static Instr new_instr(PtxParser *p, PtxOp op) {
  return (Instr){.op = (uint16_t)op, .guard = -1, .vec = 1, .line = p->instr_line, .loc = p->loc, .func = p->fn};
}

// Adds `mov fresh, o` before the instruction and replaces o by the fresh register.
static bool move_to_register(PtxParser *p, PtxOperand *o) {
  Instr in = new_instr(p, OP_mov);
  in.type[0] = T_B64;
  in.num_types = 1;
  in.num_ops = 2;
  in.ops = arena_array(p->arena, PtxOperand, 2);
  in.ops[0] = (PtxOperand){.kind = OPND_REG, .bits = 64, .slot = ptx_new_slot(p)};
  in.ops[1] = *o;
  in.ops[1].negated = false;
  if (!decode_mov(p, &in)) return false;
  *o = in.ops[0];
  vec_push(p->arena, &p->code, in);
  return true;
}

static bool finish_operand(PtxParser *p, PtxOperand *o, PtxType t, uint32_t flags) {
  if (o->kind == OPND_IMM || (o->kind == OPND_MEM && o->base_kind == OPND_IMM)) finish_immediate(p, o, t);
  if (o->kind == OPND_REG && o->offset)
    return decode_error(p, "a register plus a constant is an address: write it in brackets");
  if ((o->kind == OPND_SREG || o->kind == OPND_SYM) && !(flags & OPF_RAW_SYMS) && !move_to_register(p, o)) return false;
  for (uint32_t i = 0; i < o->count; i++)
    if (!finish_operand(p, &o->sub[i], t, flags)) return false;
  return true;
}

// ---------------------------------------------------------------------------------------------------- modifiers

static bool parse_shape(const char *s, Instr *in) {
  unsigned m = 0, n = 0, k = 0;
  int used = 0;
  if (sscanf(s, "m%un%uk%u%n", &m, &n, &k, &used) != 3 || s[used] || m > 256 || n > 256 || k > 256) return false;
  in->m = (uint16_t)m;
  in->n = (uint16_t)n;
  in->k = (uint16_t)k;
  return true;
}

static bool add_mod(PtxParser *p, Instr *in, const char *mnemonic, const char *name) {
  if (parse_shape(name, in)) return true;
  int m = find_name(&p->mods, name);
  if (m < 0) return decode_error(p, "unknown instruction %s: no modifier .%s is known", mnemonic, name);
  in->modset[m / 64] |= UINT64_C(1) << (m % 64);
  in->mods[in->num_mods++] = (uint16_t)m;
  if (m < T_COUNT - 1) {
    if (in->num_types == countof(in->type)) return decode_error(p, "too many types");
    in->type[in->num_types++] = (uint8_t)(m + T_PRED);
    return true;
  }
  switch (m) {
  case M_rn: in->rnd = RND_RN; break;
  case M_rz: in->rnd = RND_RZ; break;
  case M_rm: in->rnd = RND_RM; break;
  case M_rp: in->rnd = RND_RP; break;
  case M_rna: in->rnd = RND_RNA; break;
  case M_rs: in->rnd = RND_RS; break;
  case M_rni: in->rnd = RND_RN, in->rint = true; break;
  case M_rzi: in->rnd = RND_RZ, in->rint = true; break;
  case M_rmi: in->rnd = RND_RM, in->rint = true; break;
  case M_rpi: in->rnd = RND_RP, in->rint = true; break;
  case M_ftz: in->ftz = true; break;
  case M_sat: in->sat = true; break;
  case M_eq: in->cmp = CMP_EQ; break;
  case M_ne: in->cmp = CMP_NE; break;
  case M_lt: in->cmp = CMP_LT; break;
  case M_le: case M_ls: in->cmp = CMP_LE; break;
  case M_gt: in->cmp = CMP_GT; break;
  case M_ge: case M_hs: in->cmp = CMP_GE; break;
  case M_equ: in->cmp = CMP_EQ | CMP_UNORDERED; break;
  case M_neu: in->cmp = CMP_NE | CMP_UNORDERED; break;
  case M_ltu: in->cmp = CMP_LT | CMP_UNORDERED; break;
  case M_leu: in->cmp = CMP_LE | CMP_UNORDERED; break;
  case M_gtu: in->cmp = CMP_GT | CMP_UNORDERED; break;
  case M_geu: in->cmp = CMP_GE | CMP_UNORDERED; break;
  case M_num: in->cmp = CMP_NUM; break;
  case M_nan: in->cmp = CMP_NAN; break;
  case M_and: in->boolop = BOOL_AND; break;
  case M_or: in->boolop = BOOL_OR; break;
  case M_xor: in->boolop = BOOL_XOR; break;
  case M_global: in->space = SPACE_GLOBAL; break;
  case M_shared: case M_shared_cta: in->space = SPACE_SHARED; break;
  case M_shared_cluster: in->space = SPACE_SHARED_CLUSTER; break;
  case M_local: in->space = SPACE_LOCAL; break;
  case M_const: in->space = SPACE_CONST; break;
  case M_param: case M_param_entry: case M_param_func: in->space = SPACE_PARAM; break;
  case M_v2: in->vec = 2; break;
  case M_v4: in->vec = 4; break;
  case M_v8: in->vec = 8; break;
  default: break;
  }
  return true;
}

// -------------------------------------------------------------------------------------------------- instructions

static ExecResult exec_nop(Warp *w, const Instr *in, uint32_t mask) {
  (void)w; (void)in; (void)mask;
  return EXEC_NEXT;
}
bool decode_nop(PtxParser *p, Instr *in) {
  (void)p;
  in->exec = exec_nop;
  return true;
}

static PtxType immediate_type(const Instr *in) {
  if (!in->num_types) return T_NONE;
  bool second = (in->op == OP_cvt || in->op == OP_set || in->op == OP_slct) && in->num_types > 1;
  return in->type[second ? 1 : 0];
}

bool ptx_add_instr(PtxParser *p, const char *mnemonic, const WordList *mods, const OperandList *ops) {
  const char *guard = p->guard;
  p->guard = NULL;
  int op = find_name(&p->ops, mnemonic);
  if (op < 0) return decode_error(p, "unknown instruction %s", mnemonic);
  Instr in = new_instr(p, (PtxOp)op);
  uint32_t flags = ptx_op_flags((PtxOp)op);
  uint32_t num_mods = mods ? mods->count : 0;
  if (num_mods > 64) return decode_error(p, "too many modifiers");
  in.mods = arena_array(p->arena, uint16_t, num_mods + 1);
  for (uint32_t i = 0; i < num_mods; i++)
    if (!add_mod(p, &in, mnemonic, mods->data[i])) return false;
  in.num_ops = (uint16_t)(ops ? ops->count : 0);
  in.ops = ops ? ops->data : NULL;
  PtxType t = immediate_type(&in);
  for (uint32_t i = 0; i < in.num_ops; i++) {
    if (!finish_operand(p, &in.ops[i], t, flags)) return false;
    if (in.ops[i].pair && !finish_operand(p, in.ops[i].pair, t, flags)) return false;
  }
  if (guard) {
    Symbol *g = ptx_lookup(p, guard);
    if (!g || g->kind != SYM_PRED) return decode_error(p, "%s is not a predicate", guard);
    in.guard = (int32_t)g->slot;
    in.guard_negated = p->guard_negated;
  }
  if (!decoders[op](p, &in)) return p->failed ? false : decode_unknown(p, &in);
  vec_push(p->arena, &p->code, in);
  return true;
}
