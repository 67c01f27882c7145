# A toolchain whose library and programs run on every Linux from an older glibc on: this system's GCC,
# against the headers and stub libraries of that glibc, which tools/devtool/old_glibc.py puts into a
# folder. ./dev package uses it:
#   cmake -S . -B build/portable --toolchain cmake/portable.cmake \
#     -DHEADRACE_SYSROOT=build/glibc-2.28 -DHEADRACE_GLIBC=2.28
set(HEADRACE_GLIBC "" CACHE STRING "The oldest glibc that the build is to run with")
set(HEADRACE_SYSROOT "" CACHE PATH "Folder with that glibc's headers and stub libraries")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEADRACE_GLIBC HEADRACE_SYSROOT)

set(CMAKE_SYSROOT "${HEADRACE_SYSROOT}")
string(REGEX REPLACE "^2\\." "" headrace_glibc_minor "${HEADRACE_GLIBC}")
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH headrace_source)
# The headers are those of all glibc versions in one. GCC's are told that thread functions may be called
# without a look whether they are there, as in every other build: they are linked.
string(JOIN " " CMAKE_CXX_FLAGS_INIT "-D__GLIBC_MINOR__=${headrace_glibc_minor}"
  -D_GLIBCXX_GTHREAD_USE_WEAK=0 -isystem "${headrace_source}/packaging/old_glibc"
  # GCC looks in folders beside its own first, which are the system's.
  "-B${HEADRACE_SYSROOT}/usr/lib")
set(HEADRACE_LIBGCC shared)
# This system's libgcc_s, and the MPI libraries that programs are linked with, need a later glibc.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--as-needed -Wl,--allow-shlib-undefined")
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,--as-needed)
