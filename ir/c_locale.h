// Numbers are read and written as in C, whatever locale the host has chosen: with a decimal comma 0.5 would read as 0.
// IN_C_LOCALE gives this thread C's locale until the end of the block, or until a return out of it. A longjmp must not
// leave the block: IN_C_LOCALE stands where the longjmps for memory and internal errors arrive.
#ifndef TILE_IR_C_LOCALE_H
#define TILE_IR_C_LOCALE_H

#include <locale.h>

#define IN_C_LOCALE __attribute__((cleanup(c_locale_leave), unused)) locale_t c_locale_before_ = c_locale_enter()

// C's locale is one object of the C library: this allocates nothing, and there is nothing to free.
static inline locale_t c_locale_enter(void) { return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

static inline void c_locale_leave(const locale_t *before) { uselocale(*before); }

#endif
