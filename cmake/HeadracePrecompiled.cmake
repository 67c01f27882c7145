# Standard headers, parsed once for all: that halves the time of a build. Each source includes what it
# uses all the same; the wheel is built without, and so finds a header that is missing.

option(HEADRACE_PRECOMPILE "Parse the standard headers once for all sources" ON)

set(headrace_standard_headers <algorithm> <array> <atomic> <cassert> <cerrno> <chrono>
  <condition_variable> <cstdint> <cstdlib> <cstring> <deque> <functional> <map> <memory> <mutex>
  <optional> <span> <string> <string_view> <thread> <utility> <variant> <vector>)

# headrace_precompile(TARGET [FROM OTHER] [HEADERS HEADER...]): TARGET parses these headers and the
# standard ones, or takes what OTHER parsed, whose compiler options have to be the same.
function(headrace_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "HEADERS")
  if(NOT HEADRACE_PRECOMPILE)
    return()
  endif()
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${headrace_standard_headers} ${arg_HEADERS})
  endif()
  # GCC 12 warns wrongly of std::string's own code (its bug 105651), and where that was precompiled it
  # does not hold it back as a system header's. The presets debug and core keep these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE
      -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  endif()
endfunction()
