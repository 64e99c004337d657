# The rooms of runtime/, libtile-rt, libtile and tilec.
tile_room(tile-rt-core runtime/rt)
tile_room(tile-compile runtime/compile)
tile_room(tile-jit runtime/jit)
tile_room(tile-cli runtime/cli)
get_target_property(cli_sources tile-cli SOURCES)
list(REMOVE_ITEM cli_sources ${CMAKE_CURRENT_SOURCE_DIR}/runtime/cli/main.c)
set_target_properties(tile-cli PROPERTIES SOURCES "${cli_sources}")
foreach(room tile-rt-core tile-compile tile-jit tile-cli)
  target_include_directories(${room} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/runtime)
endforeach()

find_program(TILE_LLD NAMES ld.lld ld.lld-22)
set(tile_rooms tile-cli tile-jit tile-compile tile-sim tile-rt-core tile-codegen tile-passes tile-lower tile-prelude
  tile-comptime tile-syntax tile-ir)
# What every executable over the rooms links; LLVM's link flags come with codegen.
add_library(tile-link INTERFACE)
target_link_libraries(tile-link INTERFACE -Wl,--start-group ${tile_rooms} -Wl,--end-group tile-llvm ${CMAKE_DL_LIBS} m)
# The build id is part of cache keys.
target_link_options(tile-link INTERFACE -Wl,--gc-sections -Wl,--as-needed -Wl,--build-id)
if(TILE_LLD AND NOT TILE_SANITIZE AND NOT TILE_SANITIZE_THREAD)
  target_link_options(tile-link INTERFACE -fuse-ld=lld)
endif()
if(TILE_LINK_LLVM STREQUAL "static")
  set(tile_linker_language CXX)   # tile-llvm's -static-libstdc++ needs the C++ driver
  target_link_options(tile-link INTERFACE $<$<CONFIG:Release>:-Wl,-s>)
else()
  set(tile_linker_language C)
endif()

add_executable(tilec runtime/cli/main.c)
add_executable(tile::tilec ALIAS tilec)
target_link_options(tilec PRIVATE -pie ${tile_hardening})
target_link_libraries(tilec PRIVATE tile-flags tile-link)
set_target_properties(tilec PROPERTIES LINKER_LANGUAGE ${tile_linker_language})
if(TILE_LINK_LLVM STREQUAL "static")
  # This option for lld keeps the code that runs at start together, as other linkers do by default.
  if(TILE_LLD)
    target_link_options(tilec PRIVATE -Wl,-z,keep-text-section-prefix)
  endif()
endif()

include(GNUInstallDirs)
set(tile_map ${CMAKE_CURRENT_SOURCE_DIR}/cmake/tile.map)
# The public libraries export tile_*, with a version, and bind their own calls to themselves.
function(tile_public_library name)
  target_link_options(${name} PRIVATE -Wl,--version-script=${tile_map} -Wl,--no-undefined -Wl,-Bsymbolic-functions
    ${tile_hardening})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/runtime> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TILE_ABI_VERSION}
    LINK_DEPENDS ${tile_map} BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
endfunction()

add_library(tile SHARED runtime/tile/tile.h)
target_link_libraries(tile PRIVATE
  -Wl,--whole-archive tile-compile tile-jit tile-rt-core -Wl,--no-whole-archive tile-link)
set_target_properties(tile PROPERTIES LINKER_LANGUAGE ${tile_linker_language})
tile_public_library(tile)
add_library(tile::tile ALIAS tile)

add_library(tile::sim ALIAS tile-sim-driver)

# libtile-rt: loads and launches, without the compiler. It links only those files of ir that it needs.
add_library(tile-rt SHARED runtime/rt/alone/linked.c)
target_link_libraries(tile-rt PRIVATE tile-flags
  -Wl,--whole-archive tile-rt-core -Wl,--no-whole-archive tile-ir ${CMAKE_DL_LIBS} m)
target_link_options(tile-rt PRIVATE -Wl,--gc-sections -Wl,--as-needed $<$<CONFIG:Release>:-Wl,-s>)
set_target_properties(tile-rt PROPERTIES EXPORT_NAME rt)
tile_public_library(tile-rt)
add_library(tile::rt ALIAS tile-rt)

# The same as an archive of one object, in which everything but tile_* is local.
set(tile_rt_static ${CMAKE_CURRENT_BINARY_DIR}/libtile-rt.a)
add_library(tile-rt-linked OBJECT runtime/rt/alone/linked.c)
target_link_libraries(tile-rt-linked PRIVATE tile-flags)
foreach(target tile-rt tile-rt-linked)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime)
endforeach()
find_program(TILE_OBJCOPY NAMES objcopy REQUIRED)
add_custom_command(OUTPUT ${tile_rt_static}
  COMMAND ${CMAKE_LINKER} -r -o tile-rt.o $<TARGET_OBJECTS:tile-rt-linked>
    --whole-archive $<TARGET_FILE:tile-rt-core> --no-whole-archive $<TARGET_FILE:tile-ir>
  COMMAND ${TILE_OBJCOPY} --localize-hidden $<$<CONFIG:Release>:--strip-unneeded> tile-rt.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${tile_rt_static}
  COMMAND ${CMAKE_AR} rcs ${tile_rt_static} tile-rt.o
  DEPENDS tile-rt-linked tile-rt-core tile-ir $<TARGET_OBJECTS:tile-rt-linked> COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(tile-rt-static DEPENDS ${tile_rt_static})
