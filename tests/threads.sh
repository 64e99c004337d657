#!/usr/bin/env bash
# The runtime under ThreadSanitizer: 16 threads that launch and compile, the interpreter, the simulator and the stub driver as devices of 16 threads, variants prepared and candidates compiled on several threads,
# hooks. Builds what these tests need in build-tsan (about 40 s of processor time without ccache). LLVM's library is not instrumented, so
# what happens inside of it is not looked at; nothing is suppressed.
#   tests/threads.sh
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Where addresses are too random for the sanitizer's memory map, they are made less so.
quiet=
setarch "$(uname -m)" -R true 2>/dev/null && quiet="setarch $(uname -m) -R"
export TSAN_OPTIONS=halt_on_error=1:exitcode=66

# Two threads that write one variable: if that goes unnoticed here, so would all else.
cat >"$folder/race.c" <<'C'
#include <pthread.h>
static int shared;
static void *add(void *p) { for (int i = 0; i < 1000; i++) shared++; return p; }
int main(void) {
  pthread_t t;
  if (pthread_create(&t, 0, add, 0)) return 1;
  add(0);
  return pthread_join(t, 0);
}
C
if ! ${CC:-cc} -fsanitize=thread -g "$folder/race.c" -o "$folder/race" -lpthread 2>"$folder/log"; then
  echo "skipped: threads: the compiler has no ThreadSanitizer"
  exit 77
fi
status=0
$quiet "$folder/race" >"$folder/log" 2>&1 || status=$?
if [ $status != 66 ]; then
  if grep -q "unexpected memory mapping" "$folder/log"; then echo "skipped: threads: ThreadSanitizer does not run here"; exit 77; fi
  echo "threads: a race goes unnoticed here"; cat "$folder/log"; exit 1
fi

tests="test_interp_threads test_jit test_jit_arrays test_jit_tune test_jit_hooks test_jit_tuples test_deep_stack test_streams test_device_threads"
{ cmake --preset tsan ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} && cmake --build --preset tsan --target $tests; } >build-tsan.log 2>&1 ||
  { tail -n 30 build-tsan.log; echo "threads: the build failed"; exit 1; }
# What test_device_threads finds as a gpu.
${CC:-cc} -O1 -g -fsanitize=thread -fPIC -shared -I. tests/stub/driver.c tests/stub/defaults.c -o "$folder/libcuda.so.1"
for t in $tests; do
  [ $t = test_device_threads ] && export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  $quiet build-tsan/tests/"$t" >"$folder/log" 2>&1 || { cat "$folder/log"; echo "threads: $t failed"; exit 1; }
done
echo "threads: ok"
