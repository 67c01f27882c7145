#include "abi/flavour/identity.h"

namespace headrace::HEADRACE_FLAVOUR {

MPI_File open_identity() {
  MPI_File handle = MPI_FILE_NULL;
  const int code =
      native.File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &handle);
  return code == MPI_SUCCESS ? handle : MPI_FILE_NULL;
}

}  // namespace headrace::HEADRACE_FLAVOUR
