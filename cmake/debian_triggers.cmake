# cpack calls this after it made packages. Its Debian packages of libraries call ldconfig in scripts of their own;
# Debian's policy wants dpkg to call it once, by a trigger. This replaces the scripts in each package's control archive.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(when $ENV{SOURCE_DATE_EPOCH})
if(NOT when)
  string(TIMESTAMP when "%s" UTC)
endif()
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  set(work ${package}.control)
  file(MAKE_DIRECTORY ${work}/files)
  execute_process(COMMAND ar p ${package} control.tar.gz OUTPUT_FILE ${work}/control.tar.gz COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND tar -C ${work}/files -xzf ${work}/control.tar.gz COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS ${work}/files/postrm)   # python3-tilec has none
    file(REMOVE ${work}/files/postinst ${work}/files/postrm)
    file(WRITE ${work}/files/triggers "activate-noawait ldconfig\n")
    execute_process(COMMAND tar -C ${work}/files -c --sort=name --format=gnu --owner=0 --group=0 --numeric-owner
        --mode=u=rwX,go=rX --mtime=@${when} . COMMAND gzip -9n OUTPUT_FILE ${work}/control.tar.gz COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ar rD ${package} control.tar.gz WORKING_DIRECTORY ${work} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(REMOVE_RECURSE ${work})
endforeach()
