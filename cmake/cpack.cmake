# cpack reads this for each generator. The source tarball has what git tracks, or, unpacked from a tarball, everything.
if(CPACK_INSTALLED_DIRECTORIES)
  set(CPACK_INSTALLED_DIRECTORIES)
  set(CPACK_INSTALL_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/source.cmake)
endif()
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_STRIP_FILES ON)
endif()
