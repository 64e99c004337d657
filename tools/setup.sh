#!/usr/bin/env bash
# Installs what is missing, builds the release preset, compiles the first example and runs it.
# On Debian 12 it installs packages by apt; elsewhere it prints their
# names, and LLVM_DIR may name an LLVM 22 (its folder or bin/).
set -eu
cd "$(dirname "$0")/.."

have_llvm() {
  [ -n "${LLVM_DIR:-}" ] || command -v llvm-config-22 >/dev/null || [ -x /usr/lib/llvm-22/bin/llvm-config ]
}
missing=()
need() { command -v "$1" >/dev/null || missing+=("$2"); }
need cc gcc; need c++ g++; need cmake cmake; need ninja ninja-build; need flex flex; need bison bison
need ld.lld lld; need python3 python3; need pkg-config pkg-config
have_llvm || missing+=(llvm-22-dev)
{ [ -x /usr/lib/llvm-22/bin/FileCheck ] || command -v FileCheck-22 >/dev/null; } || missing+=(llvm-22-tools)
# has_header NAME PACKAGE
has_header() {
  printf '#include <%s>\n' stdarg.h stddef.h setjmp.h stdint.h "$1" | cc -E - >/dev/null 2>&1 || missing+=("$2")
}
if command -v cc >/dev/null; then
  has_header cmocka.h libcmocka-dev; has_header zstd.h libzstd-dev; has_header zlib.h zlib1g-dev
else
  missing+=(libcmocka-dev libzstd-dev zlib1g-dev libc6-dev)
fi
if [ ${#missing[@]} -gt 0 ]; then
  if [ -r /etc/debian_version ] && command -v apt-get >/dev/null; then
    echo "installing: ${missing[*]}"
    sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
    if [ -n "$sudo" ] && ! command -v sudo >/dev/null; then
      echo "there is no sudo here: install them as root, then run this again" >&2; exit 1
    fi
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${missing[@]}"
  else
    echo "These are missing: ${missing[*]}" >&2
    echo "Install what your system calls them (LLVM must be version 22, or name one in LLVM_DIR)." >&2
    exit 1
  fi
fi

cmake --preset release ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"}
cmake --build --preset release
build/tilec examples/vector_add.tile -o build/vector_add.ptx
echo "wrote build/vector_add.ptx"
eval "$(sed -nE 's/^[#\/ ]*(tilec run .*)$/build\/\1/p' examples/vector_add.tile | head -1)"
# Under sudo, the build is the user's: who installs from it writes to it.
[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" build

cat <<END

tilec is built: build/tilec. To call it by name, in this shell:
  export PATH=$PWD/build:\$PATH
What to try next: docs/tutorial.md, the first hour: a kernel, a bug, a speed-up, a C program; it needs no GPU.
Or at once:
  tilec examples/vector_add.tile --report     # what a kernel costs: registers, occupancy, accesses, loops
  tilec run examples/vector_add.tile -k add --grid "cdiv(n,BLOCK)" --arg x=fp32[1000]=randn:1 \\
    --arg y=fp32[1000]=randn:2 --arg out=fp32[1000]=zeros --arg n=1000 --expect "out=x + y"   # is it right?
  tilec run --help                            # docs/README.md lists all pages
END
