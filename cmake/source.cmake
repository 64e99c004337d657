# cpack calls this with its staging folder as CMAKE_INSTALL_PREFIX: copies the sources there.
set(root ${CPACK_TILE_SOURCE_DIR})
set(files ${CPACK_TEMPORARY_DIRECTORY}/../files.txt)
execute_process(COMMAND git -C ${root} ls-files -z RESULT_VARIABLE status OUTPUT_FILE ${files} ERROR_QUIET)
file(MAKE_DIRECTORY ${CMAKE_INSTALL_PREFIX})
if(status EQUAL 0 AND EXISTS ${root}/.git)
  execute_process(COMMAND tar -C ${root} -c --null -T ${files}
    COMMAND tar -C ${CMAKE_INSTALL_PREFIX} -x COMMAND_ERROR_IS_FATAL ANY)
else()
  file(INSTALL ${root}/ DESTINATION ${CMAKE_INSTALL_PREFIX} USE_SOURCE_PERMISSIONS MESSAGE_NEVER
    REGEX "/build[^/]*$" EXCLUDE PATTERN __pycache__ EXCLUDE)
endif()
