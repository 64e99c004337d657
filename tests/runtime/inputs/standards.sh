#!/usr/bin/env bash
# The public headers, and a program over tile.hpp, in all standards by gcc and clang: no warning.
#   standards.sh INCLUDE PROGRAM.cpp
set -eu
flags="-Wall -Wextra -pedantic -Wshadow -Werror -fsyntax-only -I$1"
for header in error rt tile jit; do
  for std in c99 c11 c17 c2x; do
    for cc in gcc clang; do
      # shellcheck disable=SC2086
      if command -v $cc >/dev/null; then printf '#include "tile/%s.h"\nint main(void) { return tile_status_name(TILE_OK) == 0; }\n' $header | $cc -x c -std=$std $flags -; fi
    done
  done
done
for std in c++11 c++14 c++17 c++20; do
  for cxx in g++ clang++; do
    # shellcheck disable=SC2086
    if command -v $cxx >/dev/null; then $cxx -std=$std $flags "$2"; fi
  done
done
