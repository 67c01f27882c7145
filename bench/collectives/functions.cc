#include "collectives/functions.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/failure.h"

namespace headrace::bench::collectives {
namespace {

int add_name(dl_phdr_info* info, std::size_t, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
  return 0;
}

/// By its file's name alone: any folder above it may have the name, too.
bool is_headrace(const std::string& path) {
  return path.find("headrace", path.rfind('/') + 1) != std::string::npos;
}

/// The object that defines MPI's procedures, and is no preload: a look-up in its handle finds what
/// it and its needs define.
void* library_handle() {
  std::vector<std::string> names;
  dl_iterate_phdr(&add_name, &names);
  for (const std::string& name : names) {
    if (name.empty()) continue;  // the program: it is searched with its preloads
    void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, "PMPI_Init");
    Dl_info place{};
    if (found != nullptr && dladdr(found, &place) != 0 && name == place.dli_fname &&
        dlsym(handle, "PMPI_Comm_size") != nullptr && !is_headrace(name)) {
      return handle;
    }
    dlclose(handle);
  }
  throw Failure(
      "the MPI library's own procedures were not found (no object defines PMPI_Init), "
      "link the program dynamically");
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  void* const found = dlsym(handle, name);
  if (found == nullptr) throw Failure(std::string("the MPI library has no ") + name);
  std::memcpy(&function, &found, sizeof function);
}

}  // namespace

Functions called_functions() {
  return {&MPI_Barrier,    &MPI_Bcast,     &MPI_Allreduce,      &MPI_Allgather,
          &MPI_Allgatherv, &MPI_Alltoall,  &MPI_Reduce_scatter, &MPI_Reduce_scatter_block,
          &MPI_Gather,     &MPI_Gatherv,   &MPI_Scatter,        &MPI_Scatterv,
          &MPI_Alltoallv,  &MPI_Alltoallw, &MPI_Reduce};
}

Functions library_functions() {
  void* const handle = library_handle();
  Functions own{};
  find(handle, "MPI_Barrier", own.barrier);
  find(handle, "MPI_Bcast", own.bcast);
  find(handle, "MPI_Allreduce", own.allreduce);
  find(handle, "MPI_Allgather", own.allgather);
  find(handle, "MPI_Allgatherv", own.allgatherv);
  find(handle, "MPI_Alltoall", own.alltoall);
  find(handle, "MPI_Reduce_scatter", own.reduce_scatter);
  find(handle, "MPI_Reduce_scatter_block", own.reduce_scatter_block);
  find(handle, "MPI_Gather", own.gather);
  find(handle, "MPI_Gatherv", own.gatherv);
  find(handle, "MPI_Scatter", own.scatter);
  find(handle, "MPI_Scatterv", own.scatterv);
  find(handle, "MPI_Alltoallv", own.alltoallv);
  find(handle, "MPI_Alltoallw", own.alltoallw);
  find(handle, "MPI_Reduce", own.reduce);
  return own;
}

}  // namespace headrace::bench::collectives
