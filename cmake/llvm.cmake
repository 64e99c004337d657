# tile-llvm: LLVM 22's headers and libraries, as an interface target that codegen alone uses.
if(NOT "${LLVM_DIR}" STREQUAL "${TILE_LLVM_DIR_BEFORE}")
  unset(LLVM_CONFIG CACHE)   # another LLVM than in an earlier run of cmake
endif()
set(TILE_LLVM_DIR_BEFORE "${LLVM_DIR}" CACHE INTERNAL "LLVM_DIR when LLVM_CONFIG was found")
if(LLVM_DIR)
  set(folders ${LLVM_DIR} ${LLVM_DIR}/bin)
  if(LLVM_DIR MATCHES "/lib/cmake/llvm/?$")   # where LLVM's own CMake package is, which other projects call LLVM_DIR
    list(APPEND folders ${LLVM_DIR}/../../../bin)
  endif()
  find_program(LLVM_CONFIG NAMES llvm-config-22 llvm-config PATHS ${folders} NO_DEFAULT_PATH)
  if(NOT LLVM_CONFIG)
    message(FATAL_ERROR "-DLLVM_DIR=${LLVM_DIR}: there is no llvm-config in it or in its bin/")
  endif()
endif()
find_program(LLVM_CONFIG NAMES llvm-config-22 llvm-config HINTS /usr/lib/llvm-22/bin)
if(NOT LLVM_CONFIG)
  message(FATAL_ERROR
    "LLVM 22 was not found: install llvm-22-dev (Debian) or pass -DLLVM_DIR=<folder with llvm-config>")
endif()
execute_process(COMMAND ${LLVM_CONFIG} --version OUTPUT_VARIABLE llvm_version OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT llvm_version MATCHES "^22\\.")
  message(FATAL_ERROR "${LLVM_CONFIG} is LLVM ${llvm_version}; tilec needs LLVM 22 (pass -DLLVM_DIR=…)")
endif()
execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE llvm_include OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${LLVM_CONFIG} --libdir OUTPUT_VARIABLE llvm_libdir OUTPUT_STRIP_TRAILING_WHITESPACE)
add_library(tile-llvm INTERFACE)
target_include_directories(tile-llvm SYSTEM INTERFACE ${llvm_include})
if(TILE_LINK_LLVM STREQUAL "static")
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libs nvptx passes bitreader linker analysis core
    OUTPUT_VARIABLE llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(llvm_libs)
  target_link_libraries(tile-llvm INTERFACE
    -Wl,--start-group ${llvm_libs} -Wl,--end-group -l:libz.a -l:libzstd.a rt dl m)
  # target_link_directories would also make the built programs
  # look there, and in the working directory, for libc and libm.
  target_link_options(tile-llvm INTERFACE -L${llvm_libdir})
  # codegen/emit.c may set options of an LLVM that nobody else in the process uses.
  target_compile_definitions(tile-llvm INTERFACE TILE_LLVM_STATIC=1)
  # The C++ runtime is linked statically: at run time only libc and libm are needed.
  target_link_options(tile-llvm INTERFACE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--as-needed)
else()
  target_link_directories(tile-llvm INTERFACE ${llvm_libdir})
  target_link_libraries(tile-llvm INTERFACE LLVM-22)
endif()
