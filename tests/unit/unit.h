// What every unit test includes: CMocka with the headers that it wants first, and the head of a test that needs no state.
#ifndef TILE_TESTS_UNIT_H
#define TILE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) static void name(__attribute__((unused)) void **state)

#endif
