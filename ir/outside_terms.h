// The terms that an access's offset is the sum of: found when the kernel is compiled, evaluated for a report. They hold
// no pointers, so a copy of the bytes is a copy.
#ifndef TILE_IR_OUTSIDE_TERMS_H
#define TILE_IR_OUTSIDE_TERMS_H

#include "ir/outside.h"

enum { OUTSIDE_TERMS = 10, OUTSIDE_NODES = 128, OUTSIDE_TEXT = 64 };

// The operations of a term, in postfix order. COUNT is the number of iterations that a loop has completed; RANGE is one of
// the `count` integers starting at `value`; LOAD is the integer at its operand's offset from a parameter; BELOW is its
// first operand, which is less than the second.
typedef enum {
  OFFSET_ANY, OFFSET_CONSTANT, OFFSET_COUNT, OFFSET_RANGE, OFFSET_PROGRAM, OFFSET_PROGRAMS, OFFSET_PARAM,
  OFFSET_WRAP, OFFSET_UNSIGNED, OFFSET_LOAD,      // of one operand
  OFFSET_ADD, OFFSET_SUB, OFFSET_MUL, OFFSET_DIV, OFFSET_REM, OFFSET_MIN, OFFSET_MAX, OFFSET_BELOW
} OutsideNodeKind;
typedef struct {
  uint8_t kind, bits;          // bits: of the result; of the operand of UNSIGNED
  uint32_t count;              // RANGE; PARAM, LOAD: the parameter's number among those of the PTX
  int64_t value;               // CONSTANT, RANGE; PROGRAM(S): the axis; PARAM, LOAD: the parameter; COUNT: its line
} OutsideNode;

typedef struct {
  char text[OUTSIDE_TEXT];     // as the user wrote it
  uint32_t line;               // 0: not known
  bool is_subtracted;
  bool is_repeated;            // a loop adds it in each iteration; text is the statement
  uint32_t first, num_nodes;   // of OutsideTerms.nodes
} OutsideTerm;

typedef struct OutsideTerms {
  char base[OUTSIDE_TEXT];     // the parameter to which they are added
  int64_t constant;            // the sum of those that are constants
  bool is_tile;                // the access has several axes
  uint32_t count;
  OutsideTerm terms[OUTSIDE_TERMS];
  uint32_t num_nodes;
  OutsideNode nodes[OUTSIDE_NODES];
} OutsideTerms;

// False if the pointer is not a parameter and a sum of terms whose text is known. op: an access of global memory.
bool outside_find_terms(struct Context *ctx, const struct Op *op, OutsideTerms *out);

bool outside_same_terms(const OutsideTerms *a, const OutsideTerms *b);

typedef struct {
  const uint32_t *grid;
  // The value of the node's parameter, and size bytes of memory. False: it is not known.
  bool (*param)(const void *user, const OutsideNode *node, uint64_t *bits);
  bool (*memory)(const void *user, uint64_t address, uint32_t size, uint64_t *bits);
  const void *user;
} OutsideInputs;
// The notes of a report: how the element is the sum of the terms, NULL: nothing that helps; and the way out, or NULL.
typedef struct { const char *sum, *way_out; } OutsideWords;
// terms: NULL if they are not known.
OutsideWords outside_words(Arena *a, const Outside *o, const OutsideWays *ways, const OutsideTerms *terms,
                           const OutsideInputs *in);

#endif
