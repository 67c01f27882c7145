#pragma once

#include "abi/flavour.h"
#include "abi/flavour/glue.h"
#include "abi/flavour/handler.h"

/// The procedures that make or end a handle: whose file it is, is decided here.
namespace headrace::HEADRACE_FLAVOUR::boundary {

template <abi::Name name>
int File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  bool is_ours = false;
  const int code = answer(MPI_FILE_NULL,
                          [&] { return handler::open(comm, filename, amode, info, fh, is_ours); });
  if (code != MPI_SUCCESS || is_ours) return code;
  return next<decltype(&PMPI_File_open)>(name, abi::Entry::File_open)(comm, filename, amode, info,
                                                                      fh);
}

template <abi::Name name>
int File_close(MPI_File* fh) {
  if (fh == nullptr || find_file(*fh) == nullptr) {
    return next<decltype(&PMPI_File_close)>(name, abi::Entry::File_close)(fh);
  }
  const int code = answer(*fh, [&] { return handler::close(*fh); });
  native.File_close(fh);
  return code;
}

template <abi::Name name>
int File_delete(const char* filename, MPI_Info info) {
  bool is_ours = false;
  const int code = answer(MPI_FILE_NULL, [&] { return handler::remove(filename, is_ours); });
  if (code != MPI_SUCCESS || is_ours) return code;
  return next<decltype(&PMPI_File_delete)>(name, abi::Entry::File_delete)(filename, info);
}

}  // namespace headrace::HEADRACE_FLAVOUR::boundary
