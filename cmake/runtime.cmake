# tile-runtime (the room as a static library), libtile.so and tilec, and what `cmake --install` puts where.
file(GLOB runtime_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/*.c)
list(REMOVE_ITEM runtime_sources ${CMAKE_CURRENT_SOURCE_DIR}/runtime/main.c)
add_library(tile-runtime STATIC ${runtime_sources})
target_link_libraries(tile-runtime PRIVATE tile-flags)
target_include_directories(tile-runtime PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/runtime)
if(TARGET tile-sim AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/sim/driver.h)
  target_compile_definitions(tile-runtime PRIVATE TILE_HAVE_SIM)
endif()

find_program(TILE_LLD NAMES ld.lld ld.lld-22)
set(tile_rooms tile-runtime tile-codegen tile-passes tile-frontend tile-ir)
if(TARGET tile-sim)
  list(INSERT tile_rooms 1 tile-sim)
endif()
# Every executable over the rooms: LLVM's link flags come with codegen.
add_library(tile-link INTERFACE)
target_link_libraries(tile-link INTERFACE -Wl,--start-group ${tile_rooms} -Wl,--end-group tile-llvm ${CMAKE_DL_LIBS} m)
target_link_options(tile-link INTERFACE -Wl,--gc-sections -Wl,--as-needed -Wl,--build-id)   # the id is part of cache keys
if(TILE_LLD AND NOT TILE_SANITIZE)
  target_link_options(tile-link INTERFACE -fuse-ld=lld)
endif()
if(TILE_LINK_LLVM STREQUAL "static")
  set(tile_linker_language CXX)   # libstdc++ goes inside, by tile-llvm's -static-libstdc++
  target_link_options(tile-link INTERFACE $<$<CONFIG:Release>:-Wl,-s>)
else()
  set(tile_linker_language C)
endif()

add_executable(tilec runtime/main.c)
target_link_libraries(tilec PRIVATE tile-flags tile-link)
set_target_properties(tilec PROPERTIES LINKER_LANGUAGE ${tile_linker_language})

add_library(tile SHARED runtime/tile/tile.h)
target_link_libraries(tile PRIVATE -Wl,--whole-archive tile-runtime -Wl,--no-whole-archive tile-link)
target_link_options(tile PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/tile.map -Wl,--no-undefined)
target_include_directories(tile INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/runtime> $<INSTALL_INTERFACE:include>)
set_target_properties(tile PROPERTIES LINKER_LANGUAGE ${tile_linker_language} VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cmake/tile.map)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS tilec RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tile EXPORT tileTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tile-sim-driver)
  install(TARGETS tile-sim-driver LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY runtime/tile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES runtime/python/tile.py DESTINATION ${CMAKE_INSTALL_DATADIR}/tile/python)
install(EXPORT tileTargets NAMESPACE tile:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tile)
configure_package_config_file(cmake/tileConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tileConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tile)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tileConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tileConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tile)
configure_file(cmake/libtile.pc.in ${CMAKE_CURRENT_BINARY_DIR}/libtile.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libtile.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/tilec.1
  COMMAND tilec --print-options=man > ${CMAKE_CURRENT_BINARY_DIR}/tilec.1 DEPENDS tilec VERBATIM)
add_custom_target(tilec-man ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/tilec.1)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilec.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
