# A toolchain whose library and programs run on every x86-64 or ARM Linux from glibc 2.28 on (RHEL 8,
# SLES 15, Ubuntu 20.04): PyPI's ziglang has Clang, libc++, and the headers and stubs of old glibc
# versions. ./dev package uses it:
#   cmake -S . -B build/portable --toolchain cmake/portable.cmake -DHEADRACE_ZIG=.dev/venv/bin/python-zig
set(HEADRACE_GLIBC 2.28 CACHE STRING "The oldest glibc that the build is to run with")
set(HEADRACE_ZIG python-zig CACHE FILEPATH "The program python-zig of PyPI's ziglang")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEADRACE_GLIBC HEADRACE_ZIG)

cmake_host_system_information(RESULT headrace_machine QUERY OS_PLATFORM)
set(CMAKE_CXX_COMPILER "${HEADRACE_ZIG}" c++ -target ${headrace_machine}-linux-gnu.${HEADRACE_GLIBC})
