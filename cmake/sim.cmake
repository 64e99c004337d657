# libtile-sim.so: the simulator under the driver's own names. Installed or linked as
# libcuda.so.1, it runs other people's programs unmodified. Inside libtile and tilec the names
# stay hidden: nothing interposes there if the real driver is loaded.
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/sim/driver.def sim_rows REGEX "^SIM_FN\\(")
set(sim_symbols)
foreach(row IN LISTS sim_rows)
  string(REGEX REPLACE "^SIM_FN\\(([A-Za-z0-9_]+).*" "\\1" name "${row}")
  list(APPEND sim_symbols ${name})
endforeach()
set(sim_link_options)
set(sim_exports "")
foreach(name IN LISTS sim_symbols)
  foreach(exported ${name} ${name}_v2)
    if(exported STREQUAL name OR NOT exported IN_LIST sim_symbols)
      list(APPEND sim_link_options "-Wl,--defsym=${exported}=sim_${name}")
      string(APPEND sim_exports "    ${exported};\n")
    endif()
  endforeach()
endforeach()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sim.map
  "{\n  global:\n${sim_exports}    sim_last_report;\n    sim_reset;\n    sim_count_launches;\n    sim_set_stop;\n    sim_name_pointer;\n    sim_show_source;\n    sim_note_place;\n    sim_size_pointer;\n    sim_last_fault;\n  local: *;\n};\n")
add_library(tile-sim-driver SHARED runtime/sim/driver.h)
set_target_properties(tile-sim-driver PROPERTIES OUTPUT_NAME tile-sim LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION ${TILE_ABI_VERSION})
target_link_libraries(tile-sim-driver PRIVATE -Wl,--whole-archive tile-sim -Wl,--no-whole-archive tile-ir m)
target_link_options(tile-sim-driver PRIVATE ${sim_link_options} ${tile_hardening}
  -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/sim.map)
