// Gathers a report from the final IR, the remarks, the PTX and, if there is an assembler, the machine code.
#include "runtime/compile/report.h"

#include <string.h>

#include "ir/scratch.h"
#include "runtime/compile/compile.h"

// ---- from the IR ----

typedef struct { Context *ctx; const Module *module; KernelReport *out; } Gather;

static ReportItem item_at(const Gather *g, const Op *op, const char *what, const Type *t) {
  return (ReportItem){.what = what,
                      .name = op_user_name(op),
                      .type = remark_type(g->ctx, t),
                      .at = source_locate(g->ctx, op_user_span(g->ctx, op).begin),
                      .count = 1};
}

// Copies of one op (of a prologue, of a loop in versions) count as one item.
static void add(const Gather *g, ReportItems *to, ReportItem item) {
  VEC_EACH(x, *to)
    if (x->at.file == item.at.file && x->at.line == item.at.line && x->at.col == item.at.col && x->what == item.what &&
        x->bytes == item.bytes && x->offset == item.offset && x->name == item.name) {
      x->count++;
      return;
    }
  vec_push(&g->ctx->arena, to, item);
}

static const char *barrier_or_buffer(const Type *t) {
  return t->rank == 1 && t->shape[0] == 1 && type_is_scalar(type_elem(t), SC_I64) ? "mbarriers" : "buffer";
}

static void add_shared(const Gather *g, const Op *op) {
  uint32_t align, bytes;
  const Type *t = op->num_results ? op->results[0].type : op->num_operands ? op_operand(op, 0)->type : NULL;
  if (op->opcode == OP_ALLOC) bytes = scratch_tile_stride(t) * (t->count ? t->count : 1);
  else bytes = scratch_op_bytes(g->ctx, op, &align);
  if (!bytes || !t) return;
  ReportItem item = item_at(g, op, op->opcode == OP_ALLOC ? barrier_or_buffer(t) : op_info[op->opcode].name, t);
  if (op->opcode == OP_ALLOC && t->count > 1) item.type = arena_printf(&g->ctx->arena, "%u × %s", t->count, item.type);
  item.bytes = bytes;
  item.offset = (uint32_t)op_int(op, ATTR_OFFSET, 0);
  add(g, &g->out->shared, item);
}

static void add_access(const Gather *g, const Op *op) {
  static const struct { Opcode opcode; const char *what; bool is_tma; uint8_t address; } kinds[] = {
      {OP_LOAD, "load", false, 0},           {OP_STORE, "store", false, 0},
      {OP_ATOMIC_RMW, "atomic", false, 0},   {OP_ATOMIC_CAS, "atomic", false, 0},
      {OP_ASYNC_COPY, "cp.async", false, 1}, {OP_TMA_LOAD, "TMA load", true, 0},
      {OP_TMA_STORE, "TMA store", true, 0},  {OP_TMA_REDUCE, "TMA reduction", true, 0}};
  for (uint32_t i = 0; i < countof(kinds); i++) {
    if (op->opcode != kinds[i].opcode) continue;
    const Type *t = op_operand(op, kinds[i].address)->type;
    if (kinds[i].is_tma) {
      add(g, &g->out->accesses, item_at(g, op, kinds[i].what, op_operand(op, 1)->type));
      return;
    }
    const Value *value = op->num_results ? &op->results[0] : op->opcode == OP_STORE ? op_operand(op, 2) : NULL;
    ReportItem item = item_at(g, op, kinds[i].what, op->opcode == OP_ASYNC_COPY ? op_operand(op, 0)->type
                                                   : value                      ? value->type
                                                                                : t);
    const int64_t vector = op_int(op, ATTR_VECTOR, 1);
    item.bytes = (uint32_t)(op_int(op, ATTR_COPY, vector) * type_elem_bytes(type_elem(t)->elem));
    add(g, &g->out->accesses, item);
    return;
  }
}

static void visit(Op *op, void *user) {
  const Gather *g = user;
  if (op->opcode == OP_CONVERT_LAYOUT) {
    uint32_t align;
    ReportItem item = item_at(g, op, "conversion", op->results[0].type);
    item.bytes = scratch_op_bytes(g->ctx, op, &align);
    if (item.bytes) add(g, &g->out->conversions, item);
  }
  add_shared(g, op);
  add_access(g, op);
}

static void choose_remarks(Context *ctx, KernelReport *k) {
  uint32_t count;
  const Remark **all = remarks_sorted(ctx, "", &count);
  k->remarks = arena_array(&ctx->arena, const Remark *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    if (!strcmp(all[i]->kernel, k->name)) k->remarks[k->num_remarks++] = all[i];
}

// ---- from the code ----

static tile_status gather_code(const tile_program *p, Arena *a, const MachineCode *code, KernelReport *k,
                               tile_error **error) {
  const char *sass = NULL;
  k->made_by = code->made_by;
  k->resources = (tile_resources)TILE_RESOURCES_INIT;
  machine_code_resources(p, code, k->name, &k->resources);
  if (code->cubin) RETURN_IF_FAILED(sass_check(error));
  if (code->cubin && sass_find(a)) RETURN_IF_FAILED(sass_of_cubin(a, code->cubin, code->size, &sass, error));
  k->counted = sass ? "SASS" : "PTX";
  if (sass) instructions_of_sass(sass, k->name, k->counts);
  else instructions_of_ptx(p->outputs[log2_u32(TILE_EMIT_PTX)].data, k->name, k->counts);
  return TILE_OK;
}

tile_status report_make(tile_program *p, CostReport **report, tile_error **error) {
  Context *ctx = &p->ctx;
  const Module *m = p->module;
  CostReport *r = *report = arena_new(&ctx->arena, CostReport);
  *r = (CostReport){m->target->name, m->num_warps, m->num_stages, m->num_ctas, p->config_text, NULL, 0};
  MachineCode code;
  RETURN_IF_FAILED(machine_code_make(p, &ctx->arena, &code, error));
  assembler_warn(p, &code);
  r->kernels = arena_array(&ctx->arena, KernelReport, (uint32_t)tile_program_num_kernels(p) + 1);
  EACH_FUNC(f, m) {
    KernelReport *k = &r->kernels[r->num_kernels++];
    *k = (KernelReport){.name = f->name};
    Gather g = {ctx, m, k};
    block_walk(f->body, visit, &g);
    choose_remarks(ctx, k);
    RETURN_IF_FAILED(gather_code(p, &ctx->arena, &code, k, error));
  }
  return TILE_OK;
}
