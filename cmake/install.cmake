# What `cmake --install` installs, by component; docs/packages.md has the table. `uninstall` removes it again.
include(CMakePackageConfigHelpers)
set(tile_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tile)

install(TARGETS tilec EXPORT tileTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
function(tile_install_library target component)
  install(TARGETS ${target} ${ARGN} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
    NAMELINK_COMPONENT development)
endfunction()
tile_install_library(tile runtime EXPORT tileTargets)
tile_install_library(tile-rt launcher EXPORT tileTargets)
tile_install_library(tile-sim-driver simulator)

add_custom_target(tile-installed ALL)
add_dependencies(tile-installed tile-rt-static)
install(FILES ${tile_rt_static} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY runtime/tile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(EXPORT tileTargets NAMESPACE tile:: DESTINATION ${tile_package_dir} COMPONENT development)
configure_package_config_file(cmake/tileConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/tileConfig.cmake
  INSTALL_DESTINATION ${tile_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/tileKernels.cmake ${CMAKE_CURRENT_BINARY_DIR}/tileConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/tileConfigVersion.cmake DESTINATION ${tile_package_dir} COMPONENT development)

# The .pc files compute their prefix from their own place: `cmake --install --prefix` and moved trees work.
foreach(dir bin lib include)
  string(TOUPPER ${dir} upper)
  set(tile_pc_${dir} ${CMAKE_INSTALL_${upper}DIR})
  if(NOT IS_ABSOLUTE "${tile_pc_${dir}}")
    string(PREPEND tile_pc_${dir} "\${prefix}/")
  endif()
endforeach()
set(tile_pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH tile_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "^(.*)/$" "\${pcfiledir}/\\1" tile_pc_prefix ${tile_pc_prefix})
endif()
foreach(package libtile libtile-rt)
  configure_file(cmake/${package}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
endforeach()

install(DIRECTORY runtime/python/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tile/python COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN py.typed PATTERN __pycache__ EXCLUDE)

# The licences go with every part; the pages and examples are one of their own.
foreach(component compiler runtime launcher simulator development python doc)
  install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT ${component})
endforeach()
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)

# Man pages and completions, which tilec prints from its options.
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/pages)
function(tile_page file destination)
  set(page ${CMAKE_CURRENT_BINARY_DIR}/pages/${file})
  add_custom_command(OUTPUT ${page} COMMAND tilec ${ARGN} > ${page} DEPENDS tilec VERBATIM)
  install(FILES ${page} DESTINATION ${destination} COMPONENT compiler)
  target_sources(tile-installed PRIVATE ${page})
endfunction()
tile_page(tilec.1 ${CMAKE_INSTALL_MANDIR}/man1 --print-options=man)
foreach(command run tune pack cache)
  tile_page(tilec-${command}.1 ${CMAKE_INSTALL_MANDIR}/man1 ${command} --print-options=man)
endforeach()
tile_page(tilec ${CMAKE_INSTALL_DATADIR}/bash-completion/completions --print-options=bash)
tile_page(_tilec ${CMAKE_INSTALL_DATADIR}/zsh/site-functions --print-options=zsh)
tile_page(tilec.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d --print-options=fish)

if(NOT TARGET uninstall)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_CURRENT_BINARY_DIR}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)
endif()

# `pip wheel .` (pyproject.toml): the package with the library in it, and the program.
if(SKBUILD)
  install(DIRECTORY runtime/python/ DESTINATION . COMPONENT wheel
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
  install(FILES $<TARGET_FILE:tile> DESTINATION tilec RENAME libtile.so.${TILE_ABI_VERSION} COMPONENT wheel)
  install(PROGRAMS $<TARGET_FILE:tilec> DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel)
endif()
