# cpack calls this between filling the folders of the components and packing them. For Debian packages it writes what
# Debian's policy wants in each: copyright, changelog, compressed man pages; no run path, because /usr/lib needs none.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(when $ENV{SOURCE_DATE_EPOCH})
if(NOT when)
  string(TIMESTAMP when "%s" UTC)
endif()
set(ENV{LC_ALL} C)
execute_process(COMMAND date -u -R -d @${when} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)

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
  write_compressed(${doc}/changelog.Debian "tilec (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) stable; \
urgency=medium\n\n  * Version ${CPACK_PACKAGE_VERSION}; see changelog.gz.\n\n -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
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
  # Programs find what they need by their place: zsh's completions and Python's modules are elsewhere in Debian.
  if(IS_DIRECTORY ${root}/share/zsh/site-functions)
    file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
  endif()
  if(component STREQUAL "python")
    file(WRITE ${root}/lib/python3/dist-packages/tile.pth "/usr/share/tile/python\n")
  endif()
endforeach()
