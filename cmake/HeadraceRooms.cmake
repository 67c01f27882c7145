# headrace_add_room(NAME [ROOM...]): the static library headrace_NAME of src/NAME/*.cc, which may use
# the rooms listed. A room with headers only (or still empty) becomes an interface library.
function(headrace_add_room name)
  set(target headrace_${name})
  list(TRANSFORM ARGN PREPEND headrace_ OUTPUT_VARIABLE uses)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cc")
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC headrace_options ${uses})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE headrace_options ${uses})
  endif()
endfunction()
