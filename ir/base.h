// Words that every file uses: attributes, array length, positions, small arithmetic.
#ifndef TILE_IR_BASE_H
#define TILE_IR_BASE_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define countof(a) (sizeof(a) / sizeof((a)[0]))

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, first) __attribute__((format(printf, fmt, first)))
#define NORETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))
#else
#define PRINTF_LIKE(fmt, first)
#define NORETURN
#define UNUSED
#endif

// A source position: an offset into the one address space of all source files of a Context (source.c). 0: no position.
typedef uint32_t Loc;
typedef struct { Loc begin, end; } Span;

static inline uint32_t log2_u32(uint32_t x) { return x ? 31u - (uint32_t)__builtin_clz(x) : 0; }
static inline bool is_pow2_u64(uint64_t x) { return x && (x & (x - 1)) == 0; }
static inline uint32_t round_up_u32(uint32_t x, uint32_t step) { return (x + step - 1) / step * step; }
static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
