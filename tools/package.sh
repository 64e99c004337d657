#!/usr/bin/env bash
# Makes what a release consists of, the same bits from the same commit: a tarball that works where it is unpacked,
# Debian packages (where dpkg is), the sources, and their SHA256 sums. docs/packages.md describes them.
#   tools/package.sh [FOLDER]      FOLDER: where they go (dist)
# LLVM_DIR may name an LLVM 22; DEBFULLNAME and DEBEMAIL name the maintainer of the Debian packages.
set -eu
out=$(realpath -m "${1:-dist}")
cd "$(dirname "$0")/.."
version=$(sed -nE 's/^## ([0-9.]+) .*/\1/p' CHANGELOG.md | head -1)
day=$(sed -nE 's/^## .* \((.*)\)/\1/p' CHANGELOG.md | head -1)
# Times in the packages are the last commit's, or, outside of git, the version's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date -u -d "$day" +%s)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8
umask 022

# Debian's hardening; the compiler's own defaults are PIE and what the CPU has.
build="build-package"
flags="-fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wformat -Werror=format-security \"-ffile-prefix-map=$PWD=.\""
configure() {
  cmake -S . -B $build -G Ninja -UTILE_PACKAGER -DCMAKE_BUILD_TYPE=Release -DTILE_BUILD_TESTS=OFF -DCMAKE_C_FLAGS="$flags" "$@" \
    ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} >/dev/null
}
configure -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib
cmake --build $build
rm -rf "$out/_CPack_Packages"
package() { (cd $build && cpack -B "$out" "$@" >"$out/cpack.log") || { cat "$out/cpack.log"; exit 1; }; }
mkdir -p "$out"
package -G TGZ
package -G TGZ --config CPackSourceConfig.cmake
missing=
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture file; do command -v $tool >/dev/null || missing+=" $tool"; done
if [ -n "$missing" ]; then
  echo "no Debian packages: these are missing:$missing" >&2
else
  configure -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
  package -G DEB
fi
rm -rf "$out/_CPack_Packages" "$out/cpack.log" "$out"/*.sha256
(cd "$out" && sha256sum -- *"$version"*.tar.gz *.deb 2>/dev/null >SHA256SUMS) || true
ls -l "$out"
