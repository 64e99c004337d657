#!/usr/bin/env bash
# The ways in which tile reaches its users, besides check.sh's: Debian packages, install components, uninstall, FetchContent.
#   tests/install/package.sh BUILD [--record]    --record: take the installed files as they are
#   tests/install/package.sh --full              what tools/package.sh makes, twice at two paths: minutes
set -eu
build=$(realpath -m -- "$1") record=${2:-}
cd "$(dirname "$0")"
root=$(realpath ../..)
tmp=$(mktemp -d)
# What a user installed from this build stays what `uninstall` removes.
mkdir "$tmp/manifests" && cp "$build"/install_manifest*.txt "$tmp/manifests" 2>/dev/null || true
trap 'rm -f "$build"/install_manifest*.txt; cp "$tmp"/manifests/* "$build" 2>/dev/null || true; rm -rf "$tmp"' EXIT
fail() { echo "package: $*"; exit 1; }
clean() { env -i PATH="$PATH" HOME="$tmp" ${LLVM_DIR:+LLVM_DIR="$LLVM_DIR"} "$@"; }

# Who links a library with a sanitizer inside needs its runtime too.
sanitize=
if grep -qs 'TILE_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then sanitize=-fsanitize=address,undefined; fi

# Uses the Debian packages of a folder, unpacked into one root. $2: what the libraries' folder is called.
use_debian() {
  local usr=$tmp/root/usr package name
  for package in "$1"/*.deb; do
    name=$(dpkg-deb -f "$package" Package)
    dpkg-deb -x "$package" "$tmp/root"
    for file in copyright changelog.gz changelog.Debian.gz; do [ -s "$usr/share/doc/$name/$file" ] || fail "$name has no $file"; done
    grep -q 'Apache-2.0' "$usr/share/doc/$name/copyright" && grep -q Zstandard "$usr/share/doc/$name/copyright" || fail "the copyright file of $name lacks a licence"
    dpkg-deb --ctrl-tarfile "$package" | tar t >"$tmp/control"
    [ "$name" = python3-tilec ] || ! grep -qE 'post|pre' "$tmp/control" || fail "$name has scripts: $(tr '\n' ' ' <"$tmp/control")"
    case $name in libtile*[0-9]) grep -q triggers "$tmp/control" && dpkg-deb -I "$package" shlibs | grep -q "$name" || fail "$name has no shlibs or does not trigger ldconfig" ;; esac
  done
  for page in tilec tilec-run tilec-tune tilec-pack tilec-cache; do gzip -dc "$usr/share/man/man1/$page.1.gz" | grep -q '^.SH EXAMPLES' || fail "$page.1.gz is not a man page"; done
  for file in bash-completion/completions/tilec zsh/vendor-completions/_tilec fish/vendor_completions.d/tilec.fish; do [ -s "$usr/share/$file" ] || fail "no $file"; done
  clean "$usr/bin/tilec" pack "$root/examples/vector_add.tile" scale.tile -s "add(*fp32:16, *fp32:16, *fp32:16, i32:16, 256)" -s "add(*fp32, *fp32, *fp32, i32, 256)" -s "scale(*fp32, fp32, i32)" -o "$tmp/ahead_kernels.h"
  # shellcheck disable=SC2046,SC2086
  cc -std=c11 $sanitize "-I$tmp" ahead.c -o "$tmp/ahead" $(PKG_CONFIG_PATH=$usr/$2/pkgconfig pkg-config --cflags --libs libtile-rt)
  [ "$(clean LD_LIBRARY_PATH="$usr/$2" "$tmp/ahead")" = ok ] || fail "libtile-rt of the Debian package does not work"
}

if [ "$1" = --full ]; then
  command -v lintian >/dev/null || { echo "skipped: packages in full: lintian is not here"; exit 77; }
  git -C "$root" clone -q "$root" "$tmp/first" && git -C "$root" clone -q "$root" "$tmp/the second"
  for copy in first "the second"; do "$tmp/$copy/tools/package.sh" "$tmp/$copy-dist" >"$tmp/$copy.log" 2>&1 || { tail -n 30 "$tmp/$copy.log"; fail "tools/package.sh failed"; }; done
  diff "$tmp/first-dist/SHA256SUMS" "$tmp/the second-dist/SHA256SUMS" || fail "the packages depend on the path of the build"
  lintian --fail-on error,warning --suppress-tags spelling-error-in-binary "$tmp"/first-dist/*.deb || fail "lintian has complaints"
  use_debian "$tmp/first-dist" "lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
  PYTHONPATH=$tmp/root/usr/lib/python3/dist-packages python3 -c 'import tilec; tilec.Device("sim")' || fail "the Python package does not find its library"
  mkdir "$tmp/unpacked" && tar -C "$tmp/unpacked" --strip-components=1 -xzf "$(ls "$tmp"/first-dist/*-linux-*.tar.gz)"
  echo '@kernel
def f(x: *fp32): store(x, 1.0)' | clean "$tmp/unpacked/bin/tilec" - --stdin-name=f.tile | grep -q 'visible .entry f' || fail "tilec of the tarball does not work"
  mkdir "$tmp/sources" && tar -C "$tmp/sources" --strip-components=1 -xzf "$(find "$tmp/first-dist" -name "tilec-*.tar.gz" -not -name "*-linux-*")"
  (cd "$tmp/sources" && find . -type f -o -type l | sed 's|^./||' | LC_ALL=C sort) | diff - <(git -C "$root" ls-files | LC_ALL=C sort) || fail "the source tarball has other files than git"
  cmake -G Ninja -S "$tmp/sources" -B "$tmp/sources/build" >/dev/null && ninja -C "$tmp/sources/build" tile-rt >/dev/null || fail "the source tarball does not build"
  echo "package: ok, in full"
  exit
fi

# Each file belongs to a component; components together are the whole. The folders of pages and examples count as one.
for component in compiler runtime launcher simulator development python doc; do
  cmake --install "$build" --prefix "$tmp/$component" --component $component >/dev/null
  (cd "$tmp/$component" && find . -type f -o -type l) | sed -E "s|^\./|$component |; s#(/(docs|examples|python/tilec))/.*#\1/…#; s|lib/[a-z0-9_]+-linux-gnu[a-z0-9]*/|lib/|; s|\.so\.[0-9.]+|.so.N|; s|Targets-[a-z]+\.cmake|Targets-….cmake|"
done | LC_ALL=C sort -u >"$tmp/files"
[ "$record" = --record ] && cp "$tmp/files" recorded/files
diff recorded/files "$tmp/files" || fail "other files are installed than recorded/files lists; if that is meant: tests/install/package.sh BUILD --record"
DESTDIR=$tmp/all cmake --install "$build" --prefix /usr >/dev/null
[ "$(find "$tmp/all" -type f -o -type l | wc -l)" = "$(find "$tmp"/{compiler,runtime,launcher,simulator,development,python,doc} \( -type f -o -type l \) -printf '%P\n' | sort -u | wc -l)" ] || fail "components leave something out"
mkdir -p "$tmp/all/usr/include/tile/mine"
DESTDIR=$tmp/all cmake -DBUILD="$build" -P "$root/cmake/uninstall.cmake" >/dev/null
left=$(find "$tmp/all" -type f -o -type l -o -path '*/tile/*')
[ "$left" = "$tmp/all/usr/include/tile/mine" ] || fail "uninstall leaves $left"
cmake -DBUILD="$build" -P "$root/cmake/uninstall.cmake" >/dev/null 2>&1 && fail "there is nothing to uninstall, and nobody says so"

# What is shipped is position independent, and its tables are read-only when the program starts.
for file in "$tmp/compiler/bin/tilec" "$tmp"/{runtime,launcher,simulator}/lib*/*.so.*.*.*; do
  objdump -p "$file" | grep -q RELRO && readelf -d "$file" | grep -q NOW && readelf -h "$file" | grep -q 'DYN' || fail "$(basename "$file") lacks RELRO, BIND_NOW or PIE"
done

# NOTICE names every archive that is linked in.
if grep -q 'TILE_LINK_LLVM:STRING=static' "$build/CMakeCache.txt" && [ -f "$build/build.ninja" ]; then
  for archive in $(ninja -C "$build" -t commands tilec | tail -n 1 | tr ' :' '\n\n' | sed -n 's|.*/||; s/^\(lib\|-l\)LLVM.*/libLLVM*.a/; /^libtile-/d; /\.a$/p' | sort -u); do
    grep -qF "$archive" "$root/NOTICE" || fail "tilec links $archive, which NOTICE does not name"
  done
fi

# Part of another project. TILE_TILEC saves building the compiler.
said=$(cmake -G Ninja -S parent -B "$tmp/parent" -DTILE_SOURCE="$root" -DTILE_TILEC="$build/tilec" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DCMAKE_C_FLAGS="$sanitize" ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} 2>&1) && cmake --build "$tmp/parent" --target app >"$tmp/log" 2>&1 || { echo "$said" | tail; tail -n 20 "$tmp/log"; fail "FetchContent does not work"; }
[ "$(clean LD_LIBRARY_PATH="$build" "$tmp/parent/app")" = ok ] || fail "the program of the project that includes tile failed"
! grep -qE -- '-W|gnu17|ffunction-sections' "$tmp/parent/compile_commands.json" || fail "tile's options reach the project that includes it"
[ "$(ctest --test-dir "$tmp/parent" -N | sed -n 's/^Total Tests: //p')" = 0 ] || fail "tile's tests reach the project that includes it"
ninja -C "$tmp/parent" -n all | grep -qE 'tilec|libtile\.so' && fail "the project that includes tile builds all of it"
DESTDIR=$tmp/installed cmake --install "$tmp/parent" >/dev/null
[ "$(find "$tmp/installed" -type f | wc -l)" = 1 ] || fail "tile's files are installed with the project that includes it"

# A folder without LLVM is refused, in a fresh and in a used build folder.
for folder in "$tmp/none" "$tmp/parent"; do
  said=$(cmake -G Ninja -S "$root" -B "$tmp/refused" -DLLVM_DIR="$folder" 2>&1) && fail "-DLLVM_DIR=$folder is not refused"
  case $said in *"there is no llvm-config in it"*) ;; *) fail "-DLLVM_DIR=$folder: $said" ;; esac
done

# So are values that say nothing.
refused() {
  said=$(cmake -G Ninja -S "$root" -B "$tmp/refused" ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} "$1" 2>&1) && fail "$1 is not refused"
  case $said in *"$2"*) ;; *) fail "$1: $said" ;; esac
  rm -rf "$tmp/refused"
}
refused -DTILE_LINK_LLVM=both "TILE_LINK_LLVM is 'both'; it can be static or shared"
refused -DTILE_PACKAGER=me "TILE_PACKAGER is 'me'; write it as 'Name <mail@host>'"

for tool in dpkg-deb dpkg-shlibdeps file pkg-config; do
  command -v $tool >/dev/null || { echo "skipped: Debian packages: $tool is not here"; echo "package: ok"; exit 0; }
done
# All but libtile's, which is large and made as the others.
(cd "$build" && cpack -G DEB -B "$tmp/deb" -D CPACK_DEBIAN_COMPRESSION_TYPE=none -D "CPACK_COMPONENTS_ALL=compiler;launcher;simulator;development;python;doc") >"$tmp/log" 2>&1 || { tail "$tmp/log"; fail "cpack -G DEB"; }
packager=$(sed -n 's/^TILE_PACKAGER:STRING=//p' "$build/CMakeCache.txt")
for package in "$tmp"/deb/*.deb; do [ "$(dpkg-deb -f "$package" Maintainer)" = "$packager" ] || fail "$package has another maintainer than $packager"; done
case $packager in *packages.invalid*) grep -q 'whom no mail reaches' "$tmp/log" || fail "cpack does not say that the maintainer is nobody" ;; esac
use_debian "$tmp/deb" "$(sed -n 's/^CMAKE_INSTALL_LIBDIR:PATH=//p' "$build/CMakeCache.txt")"
echo "package: ok"
