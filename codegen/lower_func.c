// Kernels: signature (the ABI of the launcher), launch attributes, program ids. Parameters keep their order. A tensor
// descriptor becomes its 128-byte map by value, its extents (i32) and its strides (i64); an automatic tensor map, the
// 128 bytes alone. On targets without tensor maps (below sm_90) the base address takes the place of the map.
#include "codegen/cg.h"

#include <stdio.h>
#include <string.h>

enum { PTX_KERNEL_CC = 71, LARGE_PARAMS_PTX = 81 };

static bool is_map(const FuncParam *p) { return p->kind == PARAM_DESC || p->kind == PARAM_AUTO_TENSORMAP; }
static bool is_desc(const FuncParam *p) { return is_map(p) || p->kind == PARAM_DESC_FIELDS; }

static void add_string_attribute(Cg *c, unsigned index, const char *key, const char *value) {
  LLVMAddAttributeAtIndex(c->fn, index, LLVMCreateStringAttribute(c->ll, key, strlen(key), value, strlen(value)));
}

static void add_enum_attribute(Cg *c, unsigned index, const char *key, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(key, strlen(key));
  LLVMAddAttributeAtIndex(c->fn, index, LLVMCreateEnumAttribute(c->ll, kind, value));
}

static LLVMTypeRef param_type(Cg *c, const Type *t) {
  LLVMTypeRef e = cg_elem_type(c, t);
  return e == c->t_i1 ? c->t_i8 : e;   // a bool is a byte in the parameters
}

static void make_function(Cg *c, Func *f) {
  LLVMTypeRef *types = arena_array(&c->ctx->arena, LLVMTypeRef, f->num_params * (1 + 2 * MAX_DESC_RANK) + 1);
  unsigned n = 0;
  const uint32_t bytes = func_param_bytes(f), wanted = c->options->ptx_version;
  if (bytes > MAX_PARAM_BYTES_OLD) {
    cg_require_ptx(c, LARGE_PARAMS_PTX);
    if (wanted && wanted < LARGE_PARAMS_PTX) {
      diag_misfit(c->ctx, FIT_PARAMETERS, bytes, MAX_PARAM_BYTES_OLD);
      diag_error(c->ctx, f->span, "kernel `%s` has %u bytes of parameters, and PTX %u.%u takes at most %d bytes",
                 f->name, bytes, wanted / 10, wanted % 10, MAX_PARAM_BYTES_OLD);
    }
  }
  for (uint32_t i = 0; i < f->num_params; i++) {
    const Type *t = f->body->args[i]->type;
    if (!is_desc(&f->params[i])) {
      types[n++] = param_type(c, t);
      continue;
    }
    types[n++] = f->params[i].kind == PARAM_DESC_FIELDS ? c->t_i64 : c->t_ptr;
    if (f->params[i].kind == PARAM_AUTO_TENSORMAP) continue;
    for (uint32_t k = 0; k < t->rank; k++) types[n++] = c->t_i32;
    for (uint32_t k = 0; k < t->rank; k++) types[n++] = c->t_i64;
  }
  c->fn = LLVMAddFunction(c->mod, f->name, LLVMFunctionType(c->t_void, types, n, false));
  LLVMSetFunctionCallConv(c->fn, PTX_KERNEL_CC);
}

static void set_launch_attributes(Cg *c) {
  const Module *m = c->module;
  char text[48];
  snprintf(text, sizeof text, "%u,1,1", c->roles.total_warps * WARP_SIZE);
  add_string_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "nvvm.reqntid", text);
  if (m->num_ctas > 1) {
    snprintf(text, sizeof text, "%u,1,1", m->num_ctas);
    add_string_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "nvvm.cluster_dim", text);
  }
  if (m->maxnreg || c->roles.registers) {
    snprintf(text, sizeof text, "%u", c->roles.registers ? c->roles.registers : m->maxnreg);
    add_string_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "nvvm.maxnreg", text);
  } else if (m->min_blocks) {
    snprintf(text, sizeof text, "%u", m->min_blocks);
    add_string_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "nvvm.minctasm", text);
  }
  add_enum_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "nounwind", 0);
  add_enum_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "convergent", 0);
  // Disables LLVM's load and store vectorizer: accesses are as wide as they can be, and its time grows with the square
  // of a basic block's stores.
  add_enum_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "noimplicitfloat", 0);
  add_string_attribute(c, (unsigned)LLVMAttributeFunctionIndex, "target-cpu", m->target->name);
}

static void bind_params(Cg *c, Func *f) {
  unsigned n = 0;
  for (uint32_t i = 0; i < f->num_params; i++) {
    const FuncParam *p = &f->params[i];
    Value *arg = f->body->args[i];
    const Type *t = arg->type;
    LLVMValueRef v = LLVMGetParam(c->fn, n);
    if (p->name) LLVMSetValueName2(v, p->name, strlen(p->name));
    if (is_map(p)) {
      LLVMTypeRef map = LLVMArrayType2(c->t_i64, 16);
      unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
      LLVMAddAttributeAtIndex(c->fn, n + 1, LLVMCreateTypeAttribute(c->ll, kind, map));
      add_enum_attribute(c, n + 1, "align", 128);
      add_string_attribute(c, n + 1, "nvvm.grid_constant", "");
    }
    if (is_desc(p)) {
      uint32_t rest = p->kind == PARAM_AUTO_TENSORMAP ? 0 : 2 * t->rank;
      CgValue *d = cg_value_new(c, 1 + 2 * t->rank);
      for (uint32_t k = 0; k <= rest; k++) d->v[k] = LLVMGetParam(c->fn, n + k);
      cg_set(arg, d);
      n += 1 + rest;
      continue;
    }
    if (t->kind == TYPE_PTR) {
      // The launcher checks what the kernel is specialised for: the alignment is a fact.
      bool known = p->divisible > 1 && is_pow2_u64((uint64_t)p->divisible);
      uint64_t align = known ? (uint64_t)min_i64(p->divisible, 1024) : type_elem_bytes(t->elem);
      add_enum_attribute(c, n + 1, "align", align);
    }
    if (cg_elem_type(c, t) == c->t_i1) v = cg_cmp(c, LLVMIntNE, v, 0);
    cg_set_scalar(c, arg, v);
    n++;
  }
}

// LLVM learns how many threads there are only after it has simplified: that a sum with a thread's number carries no
// bit, for example, it must know before.
static LLVMValueRef thread_number(Cg *c) {
  LLVMValueRef tid = cg_special_register(c, "tid", 0);
  cg_set_range(c, tid, 0, c->roles.total_warps * WARP_SIZE);
  return tid;
}

void cg_lower_func(Cg *c, Func *f) {
  c->func = f;
  c->roles = roles_info(f);
  c->roles_ops.count = 0;
  c->num_warps = c->module->num_warps;
  c->barrier = BARRIER_KERNEL;
  make_function(c, f);
  set_launch_attributes(c);
  c->entry = cg_block(c, "entry");
  LLVMPositionBuilderAtEnd(c->b, c->entry);
  if (c->debug) debug_lines_begin_func(c->debug, f);
  c->tid = thread_number(c);
  c->lane = LLVMBuildAnd(c->b, c->tid, cg_i32(c, WARP_SIZE - 1), "lane");
  c->warp = LLVMBuildLShr(c->b, c->tid, cg_i32(c, log2_u32(WARP_SIZE)), "warp");
  c->uniform_warp = NULL;
  c->divisions.count = 0;
  c->elected.block = NULL;
  bind_params(c, f);
  if (c->roles.num_ops) cg_begin_roles(c);
  cg_lower_block(c, f->body);
  if (c->roles.num_ops) cg_end_roles(c);
  else LLVMBuildRetVoid(c->b);
}

void emit_return(Cg *c, Op *op) { cg_unsupported(c, op, "return in a nested block"); }

void emit_program_id(Cg *c, Op *op) {
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  // The blocks of a cluster work on one program.
  LLVMValueRef id = axis == 0 && c->module->num_ctas > 1 ? cg_insn(c, INSN_CLUSTERID_X, c->t_i32, NULL, 0)
                                                         : cg_special_register(c, "ctaid", axis);
  cg_set_scalar(c, op_result(op, 0), id);
}

void emit_block_rank(Cg *c, Op *op) {
  const bool alone = c->module->num_ctas == 1;
  cg_set_scalar(c, op_result(op, 0), alone ? cg_i32(c, 0) : cg_insn(c, INSN_CLUSTER_RANK, c->t_i32, NULL, 0));
}

void emit_num_programs(Cg *c, Op *op) {
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  LLVMValueRef n = cg_special_register(c, "nctaid", axis);
  if (axis == 0 && c->module->num_ctas > 1) n = cg_op(c, LLVMUDiv, n, c->module->num_ctas);
  cg_set_scalar(c, op_result(op, 0), n);
}

void emit_special(Cg *c, Op *op) {
  static const InsnId ids[] = {[SREG_GLOBALTIMER] = INSN_GLOBALTIMER, [SREG_SMID] = INSN_SMID,
                               [SREG_CLOCK] = INSN_CLOCK64};
  int64_t sreg = op_int(op, ATTR_SREG, 0);
  LLVMValueRef v = cg_insn(c, ids[sreg], sreg == SREG_SMID ? c->t_i32 : c->t_i64, NULL, 0);
  LLVMTypeRef want = cg_elem_type(c, op_result(op, 0)->type);
  cg_set_scalar(c, op_result(op, 0), LLVMBuildIntCast2(c->b, v, want, false, ""));
}
