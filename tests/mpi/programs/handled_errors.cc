// What procedures return when an error handler of MPICH's C++ bindings has changed the code.
//
//   handled_errors DIRECTORY
#include <mpi.h>

#include <cstdio>
#include <string>

namespace {

void forgive(MPI::File& file, int* code, ...) {
  std::printf("forgive saw %s%s\n", file == MPI::FILE_NULL ? "no file" : "a file",
              *code == MPI_SUCCESS ? " without error" : "");
  *code = MPI_SUCCESS;
}

void told(const char* call, int code) {
  std::printf("%s returned %s\n", call, code == MPI_SUCCESS ? "no error" : "the error");
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const MPI::Errhandler handler = MPI::File::Create_errhandler(forgive);
  const std::string path = std::string(argv[1]) + "/data";
  MPI_File file = MPI_FILE_NULL;
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  told("open", MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  told("open", MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                             MPI_INFO_NULL, &file));
  told("seek", MPI_File_seek(file, -5, MPI_SEEK_SET));
  MPI_File_close(&file);
  MPI::Finalize();
  return 0;
}
