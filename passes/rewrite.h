// Algebraic rules. Laws: a rule keeps the type; it looks one operand deep unless its comment says why not; every rule
// shrinks the program or moves it one way (constants right, scalars before splats, shapes outward), so that the driver ends;
// it is exact bit for bit.
#ifndef TILE_PASSES_REWRITE_H
#define TILE_PASSES_REWRITE_H

#include "ir/build.h"

// The value that replaces op's only result, made before op; NULL when the rule does not apply. A rule may also change op in
// place and return its own result.
typedef Value *(*RewriteFn)(Builder *b, Op *op);
typedef struct { Opcode opcode; RewriteFn fn; } RewriteRule;
typedef struct { const RewriteRule *rules; uint32_t count; } RewriteRules;
// The rules for one opcode; those for every elementwise op are rewrite_elementwise.
RewriteRules rewrite_rules(void);
Value *rewrite_elementwise(Builder *b, Op *op);

#endif
