// The small readers of the command line: .npy files, SPECs, options.
#include <string.h>

#include "runtime/compile/host_tensor.h"
#include "runtime/cli/run_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  Arena a;
  arena_init(&a);
  const char *text = arena_strndup(&a, (const char *)data + 1, size - 1);
  tile_error *error = NULL;
  if (data[0] % 3 == 0) {
    HostTensor t;
    if (!npy_read(&a, text, size - 1, &t)) {
      Buf b = buf_make(&a);
      if (t.count < 10000) host_print(&b, &t);
      npy_write(&b, &t);
    }
  } else if (data[0] % 3 == 1) {
    run_spec_parse(&a, text, &error);
  } else {
    Options o;
    options_init(&o, &a);
    const char *argv[64];
    int argc = 0;
    // A response file of the fuzzer's choosing would read the machine's files.
    for (const char *s = text; argc < 64 && s < text + size - 1; s += strlen(s) + 1)
      if (*s != '@') argv[argc++] = s;
    options_parse(&o, data[0] & 64 ? COMMAND_RUN : COMMAND_COMPILE, argc, argv, &error);
  }
  tile_error_free(error);
  arena_free(&a);
  return 0;
}
