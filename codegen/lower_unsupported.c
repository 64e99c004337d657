// Ops of the later stages that this code generator refuses so far.
#include "codegen/cg.h"

#define REFUSE(name) \
  void emit_##name(Cg *c, Op *op) { cg_unsupported(c, op, "not supported yet"); }
REFUSE(make_desc) REFUSE(alloc) REFUSE(buffer_index) REFUSE(buffer_trans) REFUSE(buffer_slice) REFUSE(local_load) REFUSE(local_store)
REFUSE(async_copy) REFUSE(async_commit) REFUSE(async_wait) REFUSE(mbar_init) REFUSE(mbar_inval) REFUSE(mbar_expect) REFUSE(mbar_arrive)
REFUSE(mbar_wait) REFUSE(tma_load) REFUSE(tma_store) REFUSE(tma_reduce) REFUSE(tma_wait) REFUSE(fence_async) REFUSE(wgmma)
REFUSE(wgmma_wait) REFUSE(mma)
