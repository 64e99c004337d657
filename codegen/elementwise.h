// Elementwise ops, one by one or as a run.
//
// A run is a list of elementwise ops on tensors of as many registers. A long one, such as a function of the prelude, is
// lowered a few registers at a time, through all of its ops. What it computes on the way is then live for these few
// registers only; the assembler, which takes the order of the code as its start, would otherwise spill in large blocks.
#ifndef TILE_CODEGEN_ELEMENTWISE_H
#define TILE_CODEGEN_ELEMENTWISE_H

#include "codegen/cg.h"
#include "ir/buf.h"

typedef struct {
  Op *op;
  ScalarKind k;              // of the operands
  const CgValue *in[4];
  const uint32_t *reps;
  CgValue *out;              // filled when the run ends
} RunStep;
typedef struct { VEC(RunStep) steps; uint32_t regs; } Run;   // {0} is empty

bool run_take(Cg *c, Run *run, Op *op);              // false: the op cannot be a part of it
bool run_is_apart(const Run *run, const Op *op);     // whether the op may come before what the run has taken
void run_end(Cg *c, Run *run);                       // lowers what it has taken

LLVMValueRef cg_lower_element(Cg *c, const Op *op, ScalarKind k, LLVMValueRef *in);   // or a vector of two halves
void cg_lower_elementwise(Cg *c, Op *op);

#endif
