# `cpack`: a tarball of the build that works where it is unpacked (TGZ), Debian packages by component (DEB), and by
# `cpack --config build/CPackSourceConfig.cmake` the sources. tools/package.sh makes all of them.
set(CPACK_TILE_NOBODY "tilec developers <tilec@packages.invalid>")
set(packager "${CPACK_TILE_NOBODY}")
if(DEFINED ENV{DEBEMAIL} AND DEFINED ENV{DEBFULLNAME})
  set(packager "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(TILE_PACKAGER "${packager}" CACHE STRING "Who answers for the packages that cpack makes: Name <mail>")
if(NOT TILE_PACKAGER MATCHES "^[^<>]*[^<> ] <[^<>@ ]+@[^<>@ ]+>$")
  message(FATAL_ERROR "TILE_PACKAGER is '${TILE_PACKAGER}'; write it as 'Name <mail@host>'")
endif()
set(CPACK_PACKAGE_NAME tilec)
set(CPACK_PACKAGE_CONTACT "${TILE_PACKAGER}")
set(CPACK_PACKAGE_VENDOR tilec)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME tilec-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_SOURCE_PACKAGE_FILE_NAME tilec-${PROJECT_VERSION})
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_GENERATOR TGZ)
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_COMPONENTS_ALL compiler runtime launcher simulator development python doc)
set(CPACK_VERBATIM_VARIABLES ON)

# Debian: one package per component; the libraries' names carry the number of their interface.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${TILE_PACKAGER}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(this_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# tile_debian(COMPONENT PACKAGE SECTION SUMMARY LINE…)
macro(tile_debian component package section summary)
  string(TOUPPER ${component} upper)
  set(lines ${ARGN})
  list(JOIN lines "\n" CPACK_DEBIAN_${upper}_DESCRIPTION)
  string(PREPEND CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
endmacro()
tile_debian(compiler tilec devel "compiler for Triton's kernel language"
  "tilec compiles kernels written in Triton's language to PTX, packs them for"
  "programs without a compiler, and runs, checks and times them on a GPU, a"
  "simulator or an interpreter. It needs neither Python nor CUDA's toolkit.")
tile_debian(runtime libtile${TILE_ABI_VERSION} libs "compiler for Triton's kernel language, library"
  "libtile compiles, caches, tunes, loads and launches kernels written in"
  "Triton's language, from C, C++ or Python.")
tile_debian(launcher libtile-rt${TILE_ABI_VERSION} libs "launcher for compiled kernels, library"
  "libtile-rt loads and launches kernels that tilec compiled before. It contains"
  "no compiler.")
tile_debian(simulator libtile-sim${TILE_ABI_VERSION} libs "simulated CUDA driver, library"
  "libtile-sim has the functions of the CUDA driver and executes PTX on the CPU,"
  "thread by thread. It reports races, undefined values and accesses out of"
  "bounds.")
tile_debian(development libtile-dev libdevel "compiler and launcher for tile kernels, development files"
  "Headers, the static launcher, and files for pkg-config and CMake, of libtile"
  "and libtile-rt.")
tile_debian(python python3-tilec python "compiler and launcher for tile kernels, Python 3 package"
  "The package tilec compiles and launches kernels written in Triton's language,"
  "by libtile. It takes the arrays of PyTorch and NumPy, and needs neither.")
tile_debian(doc tilec-doc doc "compiler for Triton's kernel language, documentation"
  "The pages about tilec and its libraries, and kernels to learn from.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "tilec ${this_version}, libtile${TILE_ABI_VERSION} ${this_version}, \
libtile-rt${TILE_ABI_VERSION} ${this_version}, libtile-sim${TILE_ABI_VERSION} ${this_version}")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any, libtile${TILE_ABI_VERSION} ${this_version}")
# Python keeps compiled modules beside the sources; these scripts make them and take them away.
set(scripts ${CMAKE_CURRENT_BINARY_DIR}/debian)
file(WRITE ${scripts}/postinst "#!/bin/sh
set -e
if command -v py3compile >/dev/null 2>&1; then
  py3compile -p python3-tilec
fi
")
file(WRITE ${scripts}/prerm "#!/bin/sh
set -e
if command -v py3clean >/dev/null 2>&1; then
  py3clean -p python3-tilec
fi
")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${scripts}/postinst;${scripts}/prerm")
foreach(component PYTHON DOC)
  set(CPACK_DEBIAN_${component}_PACKAGE_ARCHITECTURE all)
endforeach()

set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/cpack.cmake)
set(CPACK_TILE_SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/debian.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/debian_triggers.cmake)
set(CPACK_TILE_LINK_LLVM ${TILE_LINK_LLVM})
include(CPack)
