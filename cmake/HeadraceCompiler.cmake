# Compiler settings common to every target, carried by the interface target headrace_options.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR
    "GCC ${CMAKE_CXX_COMPILER_VERSION} is too old (Headrace needs C++20 as GCC 12 has it), "
    "choose another compiler: by CXX for ./dev and pip, by -DCMAKE_CXX_COMPILER=... for cmake")
endif()

# What users run has the C++ library in it. libgcc unwinds the stack, for exceptions and for threads that
# pthread_cancel ends: a copy in it does that where it was built; what is built for older systems has
# to take theirs (cmake/portable.cmake).
set(HEADRACE_LIBGCC static CACHE STRING "static, or shared: the system's libgcc_s")
set(headrace_runtime -static-libstdc++ -${HEADRACE_LIBGCC}-libgcc)

find_package(Threads REQUIRED)

# headrace_compile_together(TARGET...): several files at a time, which takes two thirds of the time of
# one after the other. So no two of them may have things of one name in an unnamed namespace.
function(headrace_compile_together)
  set_target_properties(${ARGV} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

add_library(headrace_options INTERFACE)
target_include_directories(headrace_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_definitions(headrace_options INTERFACE
  _GNU_SOURCE _FILE_OFFSET_BITS=64 HEADRACE_VERSION="${PROJECT_VERSION}")
target_compile_options(headrace_options INTERFACE
  -Wall -Wextra -Wshadow $<$<BOOL:${HEADRACE_WERROR}>:-Werror>)
# GCC 12 warns wrongly of "text" + std::string (its bug 105651).
target_compile_options(headrace_options INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
# posix/handler_lock.h changes two words by one instruction. All x86-64 processors since 2006 have it.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(headrace_options INTERFACE -mcx16)
  set(CMAKE_REQUIRED_FLAGS -mcx16)
endif()
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("
  alignas(16) __int128 words = 0;
  int main() { return __sync_bool_compare_and_swap(&words, 0, 1) ? 0 : 1; }" HEADRACE_SWAPS_TWO_WORDS)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT HEADRACE_SWAPS_TWO_WORDS)
  message(FATAL_ERROR
    "Headrace cannot be built for ${CMAKE_SYSTEM_PROCESSOR} (this compiler has no instruction there "
    "that changes 16 bytes at once), build it for x86-64 or AArch64")
endif()
# Before glibc 2.34 dlsym and shm_open are in libraries of their own.
target_link_libraries(headrace_options INTERFACE Threads::Threads ${CMAKE_DL_LIBS} rt)

# What the undefined sanitizer finds ends the program, as what the others find does.
if(HEADRACE_SANITIZE)
  target_compile_options(headrace_options INTERFACE
    -fsanitize=${HEADRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(headrace_options INTERFACE -fsanitize=${HEADRACE_SANITIZE})
  # The thread sanitizer knows nothing of fences, and GCC says so of each. Ours are between atomic
  # variables, or for what other processes read: it looks at neither.
  target_compile_options(headrace_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
