// The files that a command reads and writes: none may be an input and an output, or two outputs.
#ifndef TILE_RUNTIME_FILE_USES_H
#define TILE_RUNTIME_FILE_USES_H

#include <sys/types.h>

#include "runtime/compile/compile.h"

typedef struct {
  const char *option;          // that names the output, or a variable of the environment; NULL: an input
  const char *path;
  const char *buffer;          // of which this is the .npy file that it comes from, or that --save writes; NULL: none
  dev_t device;                // of the file, or of the folder where it will be
  ino_t inode;
  const char *name;            // in that folder; "" for a file that is there
} FileUse;
typedef struct {
  FileUse *data;               // a VEC(FileUse)
  uint32_t count, capacity;
  bool has_conflict;           // adding a file has failed
} FileUses;

// An error of status TILE_ERROR_USAGE if the file is in use already, by this name or another: a link counts as its
// target. "-", devices and pipes may be used any number of times.
tile_status file_uses_add(FileUses *uses, Arena *a, const char *option, const char *path, tile_error **error);
// The .npy file from which a buffer comes, an input; with an option, the one to which the buffer goes. Both may be one
// file.
tile_status file_uses_add_buffer(FileUses *uses, Arena *a, const char *option, const char *path, const char *buffer,
                                 tile_error **error);
// What every command line names as inputs: the source files, and --ir-override's file.
tile_status file_uses_add_inputs(FileUses *uses, const Options *o, tile_error **error);
// Every file that the front end has read: the source and what it imports.
tile_status file_uses_add_sources(FileUses *uses, Arena *a, const Frontend *fe, tile_error **error);

#endif
