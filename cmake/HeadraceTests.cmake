# C++ tests, one program per file, run by ctest.

if(HEADRACE_REQUIRE_TESTS)
  find_package(GTest REQUIRED)
else()
  find_package(GTest)
endif()
if(NOT GTest_FOUND)
  message(STATUS "GoogleTest is missing: no C++ tests in this build (Debian's libgtest-dev has it)")
endif()
include(GoogleTest)

# Seconds after which ctest takes a test for hung: it ends it with its processes, names it and goes on.
# Many times what any takes, so that no machine is too slow or too busy. Tests of many cases name the
# one that hangs themselves, sooner.
set(HEADRACE_TEST_LIMIT 3600)
set(HEADRACE_UNIT_TEST_LIMIT 600)

# headrace_compile_as_test(TARGET): its own sources, which run for seconds, are compiled in less time.
function(headrace_compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# The headers of all C++ tests.
if(GTest_FOUND)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_headers.cc" CONTENT "int main() {}\n")
  add_executable(headrace_test_headers EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/test_headers.cc")
  target_link_libraries(headrace_test_headers PRIVATE headrace_options GTest::gtest)
  headrace_precompile(headrace_test_headers HEADERS <gtest/gtest.h>)
  headrace_compile_as_test(headrace_test_headers)
endif()

# headrace_add_test(NAME SOURCES... [USES TARGET...] [LABEL L])
function(headrace_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "USES")
  if(NOT GTest_FOUND)
    return()
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE headrace_options ${arg_USES} GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  # As the library is: to bind a function at its first call takes kilobytes of a handler's stack.
  target_link_options(${name} PRIVATE -Wl,-z,now)
  headrace_precompile(${name} FROM headrace_test_headers)
  headrace_compile_as_test(${name})
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${HEADRACE_UNIT_TEST_LIMIT})
endfunction()

# A driver of a device that does not exist, for tests of whoever meets device memory.
add_library(headrace_fake_driver STATIC EXCLUDE_FROM_ALL
  "${CMAKE_SOURCE_DIR}/tests/support/gpu/fake_driver.cc")
target_link_libraries(headrace_fake_driver PUBLIC headrace_device PRIVATE headrace_options)
target_include_directories(headrace_fake_driver PUBLIC "${CMAKE_SOURCE_DIR}/tests")

# tests/unit/ROOM_test.cc or ROOM_TOPIC_test.cc: linked with that room only, so that a room which
# reaches up does not link. bench_TOPIC_test.cc: of headers of benchmarks that need nothing else.
function(headrace_add_unit_tests)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/unit/*_test.cc")
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    string(REGEX MATCH "^[a-z]+" room "${name}")
    if(room STREQUAL "bench" AND IS_DIRECTORY "${CMAKE_SOURCE_DIR}/bench")
      headrace_add_test(${name} "${source}" LABEL unit)
      if(TARGET ${name})
        target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/bench")
      endif()
      continue()
    endif()
    if(NOT TARGET headrace_${room})
      message(STATUS "Leaving out ${name}: there is no target headrace_${room} in this build")
      continue()
    endif()
    set(uses headrace_${room})
    if(room STREQUAL "device")
      list(APPEND uses headrace_fake_driver)
    endif()
    if(room MATCHES "^(view|device|file)$")
      list(APPEND uses headrace_made_types)
    endif()
    headrace_add_test(${name} "${source}" USES ${uses} LABEL unit)
  endforeach()
endfunction()
