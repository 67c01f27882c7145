// An object that is loaded while a file is open, and makes an error handler of C++.
#include <mpi.h>

#include <cstdio>

namespace {

void forgive(MPI::File& file, int* code, ...) {
  std::printf("C++ saw %s of a file of access mode %d\n",
              *code == MPI_SUCCESS ? "no error" : "an error", file.Get_amode());
  *code = MPI_SUCCESS;
}

}  // namespace

extern "C" void attach_handler(MPI_File file) {
  MPI::Errhandler handler = MPI::File::Create_errhandler(forgive);
  MPI_File_set_errhandler(file, handler);
  handler.Free();
}
