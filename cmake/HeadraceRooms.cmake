# headrace_add_room(NAME [ROOM...]): the static library headrace_NAME of src/NAME/*.cc, which may use
# the rooms listed. A room with headers only (or still empty) becomes an interface library.
function(headrace_add_room name)
  set(target headrace_${name})
  list(TRANSFORM ARGN PREPEND headrace_ OUTPUT_VARIABLE uses)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${CMAKE_SOURCE_DIR}/src/${name}/*.cc" "${CMAKE_SOURCE_DIR}/src/${name}/*.S")
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC headrace_options ${uses})
    if(name STREQUAL "base")
      headrace_precompile(${target})
    else()
      headrace_precompile(${target} FROM headrace_base)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE headrace_options ${uses})
  endif()
endfunction()

# headrace_depend_on_folders(TARGET FOLDER...): TARGET builds every program and library that the
# CMakeLists.txt of these folders define; folders that are not in this build are left out.
function(headrace_depend_on_folders target)
  get_property(subdirectories DIRECTORY "${CMAKE_SOURCE_DIR}" PROPERTY SUBDIRECTORIES)
  foreach(folder ${ARGN})
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" NORMALIZE
      OUTPUT_VARIABLE absolute)
    string(REGEX REPLACE "/$" "" absolute "${absolute}")
    if(NOT absolute STREQUAL CMAKE_SOURCE_DIR AND NOT absolute IN_LIST subdirectories)
      continue()
    endif()
    get_property(targets DIRECTORY "${absolute}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(candidate ${targets})
      get_target_property(type ${candidate} TYPE)
      if(type MATCHES "EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY")
        add_dependencies(${target} ${candidate})
      endif()
    endforeach()
  endforeach()
endfunction()

# headrace_use_no_vectors(FILE...): compiles files without registers of vectors and floating numbers,
# which callers of their functions may need (src/trace/enter.cc). What sanitizers would call may use
# them.
function(headrace_use_no_vectors)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set_source_files_properties(${ARGN} PROPERTIES
      SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-mgeneral-regs-only;-fno-sanitize=all")
  endif()
endfunction()

# headrace_take_any_pointers(FILE...): compiles files whose functions stand in for the C library's,
# and hand on what programs give. The C library's declarations promise pointers that are not null; a
# program may break that, and gets the C library's answer.
function(headrace_take_any_pointers)
  set(options "-fno-delete-null-pointer-checks")
  if(HEADRACE_SANITIZE)
    list(APPEND options "-fno-sanitize=nonnull-attribute")
  endif()
  set_source_files_properties(${ARGN} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "${options}")
endfunction()
