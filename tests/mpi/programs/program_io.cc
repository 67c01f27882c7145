// Streams of C++, which call the C library's functions for descriptors.
// Without the bindings of MPI-2, which are in libraries of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <fstream>
#include <iostream>
#include <string>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const std::string name = std::string(words[1]) + "/file";
  {
    std::ofstream file(name, std::ios::binary);
    const std::string data(100000, 'x');
    for (int i = 0; i < 5; ++i) file << data;
    file.seekp(0);
    file << "begin";
  }
  {
    std::ifstream file(name, std::ios::binary);
    std::string data(500000, ' ');
    file.read(data.data(), 500000);
    if (file.gcount() != 500000) std::cout << "lost " << std::endl;
  }
  MPI_Finalize();
  return 0;
}
