# cpack calls this between filling the folders of the components and packing them. For Debian packages it writes what
# Debian's policy wants in each: copyright, changelog, compressed man pages; no run path, because /usr/lib needs none.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

if(CPACK_DEBIAN_PACKAGE_MAINTAINER STREQUAL CPACK_TILE_NOBODY)
  message(NOTICE "The packages' maintainer is ${CPACK_TILE_NOBODY}, whom no mail reaches; "
    "to give them to others, configure with -DTILE_PACKAGER=\"Name <mail@host>\"")
endif()

# An entry of Debian's changelog for each version of CHANGELOG.md: "## 1.2.3 (2026-01-31)".
set(ENV{LC_ALL} C)
set(debian_changes "")
file(STRINGS ${CPACK_TILE_SOURCE_DIR}/CHANGELOG.md headings REGEX "^## ")
foreach(heading IN LISTS headings)
  if(NOT heading MATCHES "^## ([0-9.]+) \\(([-0-9]+)\\)$")
    message(FATAL_ERROR "CHANGELOG.md: '${heading}' is not of the form '## VERSION (YYYY-MM-DD)'")
  endif()
  set(version ${CMAKE_MATCH_1})
  execute_process(COMMAND date -u -R -d ${CMAKE_MATCH_2} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND debian_changes "tilec (${version}-${CPACK_DEBIAN_PACKAGE_RELEASE}) stable; urgency=medium\n\n\
  * Version ${version}: changelog.gz says what changed.\n\n -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n\n")
endforeach()
if(NOT debian_changes MATCHES "^tilec \\(${CPACK_PACKAGE_VERSION}-")
  message(FATAL_ERROR "CHANGELOG.md does not begin with version ${CPACK_PACKAGE_VERSION}")
endif()

# "Files: *" and the licences of NOTICE, in Debian's machine-readable form.
file(READ ${CPACK_TILE_SOURCE_DIR}/NOTICE notice)
string(REGEX REPLACE "\n" "\n " notice "${notice}")
string(REGEX REPLACE "\n *\n" "\n .\n" notice "${notice}")
string(REGEX REPLACE "\n *\n" "\n .\n" notice "${notice}")
string(STRIP "${notice}" notice)
set(copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tilec
Comment:
 ${notice}

Files: *
Copyright: the tilec developers
License: Apache-2.0
 On Debian systems, the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")

function(write_compressed path text)
  file(WRITE ${path} "${text}")
  execute_process(COMMAND gzip -9nf ${path} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  string(TOUPPER ${component} c)
  set(package ${CPACK_DEBIAN_${c}_PACKAGE_NAME})
  if(NOT IS_DIRECTORY ${root})
    message(FATAL_ERROR "${root} is not there: cpack keeps its folders elsewhere")
  endif()
  # share/doc has a folder per package; its licence is in `copyright`.
  file(GLOB docs ${root}/share/doc/*)
  list(GET docs 0 doc)
  if(NOT doc STREQUAL "${root}/share/doc/${package}")
    file(RENAME ${doc} ${root}/share/doc/${package})
  endif()
  set(doc ${root}/share/doc/${package})
  file(REMOVE ${doc}/LICENSE ${doc}/NOTICE)
  file(WRITE ${doc}/copyright "${copyright}")
  write_compressed(${doc}/changelog.Debian "${debian_changes}")
  file(READ ${CPACK_TILE_SOURCE_DIR}/CHANGELOG.md changes)
  write_compressed(${doc}/changelog "${changes}")
  file(REMOVE ${doc}/CHANGELOG.md)
  file(GLOB pages ${root}/share/man/man1/*.1)
  foreach(page IN LISTS pages)
    execute_process(COMMAND gzip -9nf ${page} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(GLOB_RECURSE libraries ${root}/lib/*.so.*)
  foreach(library IN LISTS libraries)
    if(NOT IS_SYMLINK ${library})
      file(RPATH_REMOVE FILE ${library})
    endif()
  endforeach()
  # Debian has other folders for zsh's completions and Python's packages.
  if(IS_DIRECTORY ${root}/share/zsh/site-functions)
    file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
  endif()
  if(component STREQUAL "python")
    file(MAKE_DIRECTORY ${root}/lib/python3)
    file(RENAME ${root}/share/tile/python ${root}/lib/python3/dist-packages)
    file(REMOVE_RECURSE ${root}/share/tile)
  endif()
  if(CPACK_TILE_LINK_LLVM STREQUAL "static" AND component MATCHES "^(compiler|runtime)$")
    file(WRITE ${root}/share/lintian/overrides/${package}
      "# LLVM is linked in with its zlib: no release of Debian has this LLVM yet, or only some do.\n"
      "${package}: embedded-library zlib *\n")
  endif()
endforeach()
