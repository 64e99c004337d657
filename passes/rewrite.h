// Algebraic rewrites. A rule keeps the type and every bit of the result. It looks one operand deep unless its comment
// says why not. It shrinks the program or moves it in one direction (constants right, scalars before splats, shapes
// outward); therefore the driver ends.
#ifndef TILE_PASSES_REWRITE_H
#define TILE_PASSES_REWRITE_H

#include "ir/build.h"

// Returns the value, made before op, that replaces op's only result, or NULL if the rule does not apply. A rule may
// also change op in place and return its result.
typedef Value *(*RewriteFn)(Builder *b, Op *op);
typedef struct { Opcode opcode; RewriteFn fn; } RewriteRule;
typedef struct { const RewriteRule *rules; uint32_t count; } RewriteRules;
// The rules that each belong to one opcode. rewrite_elementwise holds for every elementwise op.
RewriteRules rewrite_rules(void);
Value *rewrite_elementwise(Builder *b, Op *op);

#endif
