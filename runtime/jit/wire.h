// What an isolated JIT (isolated.c) and its compiler process (worker.c), which are of one version, say to each other:
// numbers and texts one after another.
//   request: WIRE_REQUEST, version, architecture, path, source, options, source map, include paths, kernel ("": only
//            read the source); then the launch
//   answer:  WIRE_ANSWER, status, PTX or message, files that were read, what does not fit; then how many messages the
//            hook `log` gets, and of each the level and the text
#ifndef TILE_RUNTIME_JIT_WIRE_H
#define TILE_RUNTIME_JIT_WIRE_H

#include "runtime/jit/jit_impl.h"

enum { WIRE_REQUEST = 0x716a6c74, WIRE_ANSWER = 0x616a6c74 };

void wire_put_u64(Buf *b, uint64_t v);
void wire_put_bytes(Buf *b, const char *s, size_t n);
void wire_put_text(Buf *b, const char *s);
// What decides a variant: the configuration, launch options and arguments. A variant keeps this for later outputs.
typedef struct { int config; tile_jit_launch_options options; tile_arg *args; uint32_t num_args; } WireLaunch;
void wire_put_launch(Buf *b, const WireLaunch *l);

// Past the end, numbers are 0, texts are empty and bad is set.
typedef struct { const char *at; size_t left; Arena *arena; bool bad; } WireReader;
uint64_t wire_take_u64(WireReader *r);
const char *wire_take_bytes(WireReader *r, size_t *size);
const char *wire_take_text(WireReader *r);
const char **wire_take_texts(WireReader *r, size_t *n);
void wire_take_launch(WireReader *r, WireLaunch *l);

#endif
