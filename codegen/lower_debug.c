// Printing, assertions, hints, barriers and inline assembly.
#include <stdio.h>
#include <string.h>

#include "codegen/cg.h"
#include "ir/inline_asm.h"

// ---- text and calls into the driver's printf and assert ----

static LLVMValueRef text_constant(Cg *c, const char *s) {
  LLVMValueRef init = LLVMConstStringInContext2(c->ll, s, strlen(s), false);
  LLVMValueRef g = LLVMAddGlobalInAddressSpace(c->mod, LLVMTypeOf(init), "tile_text", 1);
  LLVMSetInitializer(g, init);
  LLVMSetGlobalConstant(g, true);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  return LLVMConstAddrSpaceCast(g, c->t_ptr);
}

static void call_extern(Cg *c, const char *name, LLVMTypeRef result, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef types[8];
  for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef ft = LLVMFunctionType(result, types, n, false);
  LLVMValueRef fn = LLVMGetNamedFunction(c->mod, name);
  if (!fn) fn = LLVMAddFunction(c->mod, name, ft);
  LLVMBuildCall2(c->b, ft, fn, args, n, "");
}

// vprintf takes its arguments as a structure in local memory.
static void print_line(Cg *c, const char *format, LLVMValueRef *args, unsigned n) {
  c->has_allocas = true;
  LLVMTypeRef types[64];
  for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef pack = LLVMStructTypeInContext(c->ll, types, n, false);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(c->b);
  LLVMValueRef first = LLVMGetFirstInstruction(c->entry);
  LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(c->b);
  LLVMPositionBuilderBefore(c->b, first);
  LLVMValueRef buffer = LLVMBuildAlloca(c->b, pack, "");
  LLVMSetAlignment(buffer, 8);
  LLVMPositionBuilderAtEnd(c->b, here);
  LLVMSetCurrentDebugLocation2(c->b, line);
  for (unsigned i = 0; i < n; i++) LLVMBuildStore(c->b, args[i], LLVMBuildStructGEP2(c->b, pack, buffer, i, ""));
  call_extern(c, "vprintf", c->t_i32, (LLVMValueRef[]){text_constant(c, format), buffer}, 2);
}

// Returns the conversion for one element, and widens the element to what printf reads.
static const char *print_spec(Cg *c, const Type *t, bool hex, bool is_signed, LLVMValueRef *v) {
  const Type *e = type_elem(t);
  if (e->kind == TYPE_PTR) return "%p";
  if (scalar_is_float(e->scalar)) {
    *v = e->scalar == SC_F64 ? *v : LLVMBuildFPExt(c->b, cg_float_to_f32(c, *v, e->scalar), c->t_f64, "");
    return "%f";
  }
  uint32_t bits = scalar_bits(e->scalar);
  bool extend_sign = is_signed && bits > 1 && !hex;
  if (bits < 32) *v = LLVMBuildIntCast2(c->b, *v, c->t_i32, extend_sign, "");
  if (hex) return bits == 64 ? "0x%016llx" : bits == 32 ? "0x%08x" : bits == 16 ? "0x%04x" : "0x%02x";
  if (bits == 64) return is_signed ? "%lld" : "%llu";
  return extend_sign ? "%d" : "%u";
}

static void escape_percent(Buf *b, const char *s) {
  for (; *s; s++) {
    if (*s == '%') buf_putc(b, '%');
    buf_putc(b, *s);
  }
}

static int decimal_digits(int64_t x) {
  int n = 1;
  for (; x >= 10; x /= 10) n++;
  return n;
}

// Prints one line per element, with indices padded to the width of the axis, like the interpreter.
void emit_print(Cg *c, Op *op) {
  bool hex = op_int(op, ATTR_HEX, 0) != 0, is_signed = op_int(op, ATTR_SIGNED, 1) != 0;
  const char *prefix = op_str(op, ATTR_TEXT, "");
  LLVMValueRef args[16];
  for (uint32_t k = 0; k < 3; k++) args[k] = cg_special_register(c, "ctaid", k);
  uint32_t num = op->num_operands;
  for (uint32_t i = 0; i < (num ? num : 1); i++) {
    Value *x = num ? op_operand(op, i) : NULL;
    const Type *t = x ? x->type : type_scalar(c->ctx, SC_I32);   // without operands a line is printed as for a scalar
    const uint32_t *reps = cg_reps(c, t);
    LLVMValueRef threads[LAYOUT_MAX_RANK] = {0};
    CgIf only = cg_begin_if(c, cg_layout_owner(c, t));
    for (uint32_t r = 0; r < cg_num_regs(t); r++) {
      if (reps[r] != r) continue;
      unsigned n = 3;
      Buf f = buf_make(c->arena);
      buf_puts(&f, "pid (%u, %u, %u) idx (");
      for (uint32_t a = 0; type_is_tensor(t) && a < t->rank; a++) {
        buf_printf(&f, "%s%%%du", a ? ", " : "", decimal_digits(t->shape[a] - 1));
        args[n++] = cg_axis_index(c, t->layout, a, r, &threads[a]);
      }
      buf_puts(&f, prefix[0] == ' ' ? ")" : ") ");
      escape_percent(&f, prefix);
      if (num > 1) buf_printf(&f, "(operand %u) ", i);
      if (x) {
        LLVMValueRef v = cg_reg(cg_get(x), r);
        buf_puts(&f, print_spec(c, t, hex, is_signed, &v));
        args[n++] = v;
      }
      buf_putc(&f, '\n');
      print_line(c, buf_str(&f), args, n);
    }
    cg_end_if(c, only);
  }
}

void emit_assert(Cg *c, Op *op) {
  Value *cond = op_operand(op, 0);
  const CgValue *v = cg_get(cond);
  LLVMValueRef all = NULL;
  for (uint32_t r = 0; r < (v->splat ? 1 : v->count); r++) all = cg_and(c, all, v->v[r]);
  LineCol at = source_locate(c->ctx, op->span.begin);
  CgIf failed = cg_begin_if(c, LLVMBuildNot(c->b, all, ""));
  const char *function = op->inlined_at ? op->inlined_at->function : c->func->name;
  LLVMValueRef args[] = {text_constant(c, op_str(op, ATTR_TEXT, "")), text_constant(c, at.file ? at.file->path : ""),
                         cg_i32(c, at.line),
                         text_constant(c, function), cg_i64(c, 1)};
  call_extern(c, "__assertfail", c->t_void, args, 5);
  cg_end_if(c, failed);
}

// Only the interpreter stops.
void emit_breakpoint(Cg *c, Op *op) {
  if (diag_warning(c->ctx, WARN_IGNORED_BREAKPOINT, op->span, "breakpoint_if is ignored in compiled code"))
    diag_note(c->ctx, (Span){0, 0}, "`tilec run --device=interp` stops there");
}

void emit_assume(Cg *c, Op *op) {
  const CgValue *v = cg_get(op_operand(op, 0));
  if (v->count != 1) return;
  cg_call_intrinsic(c, "llvm.assume", NULL, 0, (LLVMValueRef[]){v->v[0]}, 1);
}

void emit_grid_dependency(Cg *c, Op *op) {
  cg_insn(c, op_int(op, ATTR_DEPENDENTS, 0) ? INSN_GRID_LAUNCH : INSN_GRID_WAIT, c->t_void, NULL, 0);
}

void emit_barrier(Cg *c, Op *op) {
  (void)op;
  cg_barrier(c);
}

// ---- inline assembly on elements ----

static LLVMTypeRef register_type(Cg *c, char letter) {
  switch (letter) {
  case 'h': return c->t_i16;
  case 'l': return c->t_i64;
  case 'f': return c->t_f32;
  case 'd': return c->t_f64;
  case 'b': return c->t_i1;
  default: return c->t_i32;
  }
}

static LLVMValueRef resize_int(Cg *c, LLVMValueRef v, uint32_t bits) {
  return LLVMBuildIntCast2(c->b, v, LLVMIntTypeInContext(c->ll, bits), false, "");
}

static uint32_t storage_bits(const Type *t) { return type_is_ptr(t) ? 64 : type_elem_bytes(type_elem(t)) * 8; }

// Finds the arguments of the piece that begins at register `first`. If pack exceeds a thread's elements, the last one
// repeats.
static void asm_arguments(Cg *c, const Op *op, const AsmRegisters *regs, uint32_t first, uint32_t n,
                          LLVMValueRef *args) {
  uint32_t pack = (uint32_t)op_int(op, ATTR_PACK, 1), at = 0;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Type *t = op_operand(op, i)->type;
    const CgValue *x = cg_get(op_operand(op, i));
    uint32_t each = inline_asm_per_register(t, pack);
    for (uint32_t k = 0; k < pack; k += each) {
      LLVMValueRef parts[4];
      for (uint32_t e = 0; e < each; e++) {
        uint32_t r = first + k + e < n ? first + k + e : n - 1;
        parts[e] = cg_to_storage(c, cg_reg(x, x->count == 1 ? 0 : r), cg_elem_kind(t));
      }
      const char letter = regs->letters[regs->num_results + at];
      LLVMTypeRef want = register_type(c, inline_asm_is_number(letter) && each * storage_bits(t) == 64 ? 'l' : letter);
      args[at++] = cg_bitcast(c, resize_int(c, cg_pack(c, parts, each, storage_bits(t)), cg_bits(c, want)), want);
    }
  }
}

static void asm_results(Cg *c, Op *op, uint32_t first, uint32_t n, LLVMValueRef call, CgValue *const *out) {
  uint32_t pack = (uint32_t)op_int(op, ATTR_PACK, 1), at = 0;
  for (uint32_t i = 0; i < op->num_results; i++) {
    const Type *t = op_result(op, i)->type;
    uint32_t each = inline_asm_per_register(t, pack), bits = storage_bits(t);
    for (uint32_t k = 0; k < pack; k += each, at++) {
      LLVMValueRef word = cg_asm_get(c, call, at), parts[4];
      word = cg_bitcast(c, word, LLVMIntTypeInContext(c->ll, cg_bits(c, LLVMTypeOf(word))));
      cg_unpack(c, resize_int(c, word, each * bits), each, bits, parts);
      for (uint32_t e = 0; e < each && first + k + e < n; e++)
        out[i]->v[first + k + e] = cg_from_storage(c, parts[e], cg_elem_type(c, t));
    }
  }
}

// The PTX version that has all instructions of the text that are newer than the oldest target.
static uint32_t asm_ptx_version(const char *text) {
  static const struct { const char *part; uint32_t version; } since[] = {
    {"mbarrier.try_wait", 78}, {"griddepcontrol", 78}, {"barrier.cluster", 78}, {"mapa.", 78}, {"cp.async.bulk", 80},
    {"elect.sync", 80}, {"setmaxnreg", 80}, {"wgmma.", 80}, {"multimem.", 81}, {"st.async", 81}, {"tensormap.", 83},
    {".b128", 83}, {"tcgen05.", 86}, {"e2m1x2", 86}, {"e2m3x2", 86}, {"e3m2x2", 86}, {"ue8m0x2", 86}, {".f32x2", 86},
    {".v8.", 88},
  };
  uint32_t version = 0;
  for (size_t i = 0; i < countof(since); i++)
    if (since[i].version > version && strstr(text, since[i].part)) version = since[i].version;
  return version;
}

// Emits one piece of assembly for every `pack` registers.
void emit_inline_asm(Cg *c, Op *op) {
  uint32_t pack = (uint32_t)op_int(op, ATTR_PACK, 1), num_out = op->num_results;
  const char *constraints = op_str(op, ATTR_CONSTRAINTS, ""), *text = op_str(op, ATTR_TEXT, "");
  AsmRegisters regs;
  const char *wrong = inline_asm_registers(c->ctx, op, &regs);
  if (wrong) cg_unsupported(c, op, wrong);
  cg_require_ptx(c, asm_ptx_version(text));
  const Type *t = num_out ? op_result(op, 0)->type : op_operand(op, 0)->type;
  uint32_t n = cg_num_regs(t), effects = op_int(op, ATTR_PURE, 0) ? EFFECT_NONE : EFFECT_SIDE;
  CgValue **out = arena_array(c->arena, CgValue *, num_out);
  for (uint32_t i = 0; i < num_out; i++) out[i] = cg_value_new(c, n);
  const uint32_t *reps = pack == 1 ? cg_reps(c, t) : NULL;

  LLVMTypeRef *types = arena_array(c->arena, LLVMTypeRef, regs.num_results);
  for (uint32_t i = 0; i < regs.num_results; i++) types[i] = register_type(c, regs.letters[i]);
  LLVMTypeRef result = cg_asm_type(c, types, regs.num_results);
  LLVMValueRef *args = arena_array(c->arena, LLVMValueRef, regs.num_args);
  for (uint32_t first = 0; first < n; first += pack) {
    if (reps && reps[first] != first) continue;
    asm_arguments(c, op, &regs, first, n, args);
    LLVMValueRef call = cg_asm(c, effects, text, constraints, result, args, regs.num_args);
    asm_results(c, op, first, n, call, out);
  }
  for (uint32_t i = 0; i < num_out; i++) {
    for (uint32_t r = 0; r < n && reps; r++) out[i]->v[r] = out[i]->v[reps[r]];
    cg_set(op_result(op, i), out[i]);
  }
}
