// The order in which `reduce` and `scan` combine elements, as the layout gives it. Codegen, the interpreter and
// constant folding follow it: sums agree bit for bit.
//
// Reduction. The bits of the axis' index are folded one after another: first those that registers hold, then those of
// lanes, then those of warps, each group in the order of the place's bits. Folding bit b:
//     for every index i with bit b and all bits folded before clear:  acc[i] = combine(acc[i], acc[i | 1 << b])
// The result is acc[0]. Example, 8 elements, 2 registers × 4 lanes: (0+1)+(2+3) + ((4+5)+(6+7)).
//
// Sum of products. The first folds in registers, at most three, are one chain of multiply-adds. It takes the 2^k
// elements x[j], y[j] that these folds bring together, in the order of those bits' number: acc[0] = x[0]·y[0], then
// acc[0] = fma(x[j], y[j], acc[0]).
//
// Scan. The bits of the axis' index, from the lowest up, form groups of neighbours that the same kind of place holds. A
// group of k bits above 2^lo scanned elements has 2^k blocks of 2^lo elements; T[j] is the last element of block j.
// Registers and warps: P[0] = T[0], P[j] = combine(P[j-1], T[j]). Lanes: P = T, then for d = 1, 2, 4 …
//     P[j] = combine(P[j-d], P[j]) for all j ≥ d at once.
// Then block j ≥ 1: its last element becomes P[j], any other element x becomes combine(P[j-1], x).
// A reverse scan is the same with index i read as N−1−i.
//
// A tensor without a layout (stage TILE) counts as held by the registers of one thread.
#ifndef TILE_IR_REDUCE_ORDER_H
#define TILE_IR_REDUCE_ORDER_H

#include "ir/type.h"

// The bits of the axis' index in the order of folding; returns how many there are (log2 of the axis' size).
uint32_t reduce_order(const Type *t, uint32_t axis, uint8_t bits[LAYOUT_MAX_BITS]);

// How many of the first folds of a sum of products form its chain.
uint32_t reduce_product_folds(const Type *t, uint32_t axis);

// Whether lanes that reduce several rows over some lane bits do so together: at each bit a lane sends half of its rows
// and goes on with the others, and at the end fetches each row from the lanes that have it. Otherwise each row is
// reduced by itself. `shuffles` is what a thread does, with selects counted as shuffles.
bool reduce_by_halves(uint32_t rows, uint32_t lane_bits, uint32_t *shuffles);

typedef struct { LayoutDim dim; uint8_t first, count; } ScanGroup;   // axis bits first … first + count − 1
uint32_t reduce_scan_order(const Type *t, uint32_t axis, ScanGroup groups[LAYOUT_MAX_BITS]);

// For every bit of the axis' index, the place bit that holds it: group and number. False if a column mixes the axis
// with others or holds several of its bits; a pass then converts the tensor first.
typedef struct { uint8_t dim, bit; } AxisPlace;
bool reduce_axis_places(const Layout *l, uint32_t axis, AxisPlace places[LAYOUT_MAX_BITS]);

#endif
