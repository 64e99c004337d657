// Words of the IR text form that the printer and the reader share.
#ifndef TILE_IR_TEXT_H
#define TILE_IR_TEXT_H

#include "ir/ir.h"

static const char *const stage_words[] = {
  [STAGE_TILE] = "tile", [STAGE_LAID_OUT] = "laid_out", [STAGE_ALLOCATED] = "allocated"
};
static const char *const param_kind_words[] = {[PARAM_PLAIN] = "plain",
                                               [PARAM_DESC] = "desc",
                                               [PARAM_AUTO_TENSORMAP] = "auto_tensormap",
                                               [PARAM_SCRATCH] = "scratch",
                                               [PARAM_DESC_FIELDS] = "desc_fields"};
_Static_assert(countof(param_kind_words) == NUM_PARAM_KINDS, "each kind of parameter has a word");

#endif
