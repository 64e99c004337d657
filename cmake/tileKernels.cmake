# tile_add_kernels(TARGET FILES FILE… [ARCHS ARCH…] [SIGNATURES SIGNATURE…] [OPTIONS OPTION…] [HEADER NAME]
#                  [PACKAGE NAME])
#
# Compiles kernels at build time for TARGET, and links it with tile::rt. TARGET includes the header "NAME" (default
# TARGET_kernels.h), which has a typed load and launch function for each kernel.
#   ARCHS       architectures (default: tilec's)
#   SIGNATURES  as `tilec pack -s` takes them: "add(*fp32:16, *fp32:16, *fp32:16, i32, 256)"; without one, all kernels
#               whose parameters are annotated are compiled
#   OPTIONS     further options of tilec: --num-warps=8
#   PACKAGE     a package file beside the header, for programs that load kernels from a file
# The variable TILE_TILEC names the tilec to call instead of tile::tilec: where a project is compiled for another
# machine, or has no compiler in its build. The build makes the header again when a file, or one that it imports, changes.
function(tile_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;PACKAGE" "FILES;ARCHS;SIGNATURES;OPTIONS")
  if(NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tile_add_kernels(${target} FILES file… [ARCHS …] [SIGNATURES …] [OPTIONS …] "
      "[HEADER name] [PACKAGE name]): ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_HEADER)
    set(arg_HEADER ${target}_kernels.h)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/tile_kernels/${target})
  file(MAKE_DIRECTORY ${folder})
  set(files)
  foreach(file IN LISTS arg_FILES)
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND files ${file})
  endforeach()
  set(flags ${arg_OPTIONS})
  if(arg_ARCHS)
    list(JOIN arg_ARCHS "," archs)
    list(APPEND flags --arch=${archs})
  endif()
  foreach(signature IN LISTS arg_SIGNATURES)
    list(APPEND flags -s ${signature})
  endforeach()
  set(tilec tile::tilec)
  if(TILE_TILEC)
    set(tilec ${TILE_TILEC})
  endif()
  set(emits header ${arg_HEADER})
  if(arg_PACKAGE)
    list(APPEND emits package ${arg_PACKAGE})
  endif()
  while(emits)
    list(POP_FRONT emits emit name)
    add_custom_command(OUTPUT ${folder}/${name}
      COMMAND ${tilec} pack ${files} ${flags} --emit=${emit} -o ${folder}/${name} -MD -MF ${folder}/${name}.d
      DEPENDS ${files} ${tilec} DEPFILE ${folder}/${name}.d COMMENT "Compiling kernels for ${target}" VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${name})
  endwhile()
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE tile::rt)
endfunction()
