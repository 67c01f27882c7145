#pragma once

#include "abi/flavour.h"
#include "abi/flavour/error_handler.h"
#include "abi/flavour/glue.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/identity.h"
#include "abi/flavour/representation.h"

/// The procedures that make or end a handle: they decide whether a file is ours or the library's.
namespace headrace::HEADRACE_FLAVOUR::boundary {

/// There is no file yet, so errors go to the default file error handler.
template <class Conversion>
int register_functions(Registration::Convention convention, const char* datarep, Conversion* read,
                       Conversion* write, MPI_Datarep_extent_function* extent, void* state) {
  return answer(MPI_FILE_NULL, [&] {
    return register_representation(
        datarep, {convention, reinterpret_cast<void*>(read), reinterpret_cast<void*>(write),
                  reinterpret_cast<void*>(extent), state});
  });
}

template <abi::Name name>
int File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  bool is_ours = false;
  const int code = answer(MPI_FILE_NULL,
                          [&] { return handler::open(comm, filename, amode, info, fh, is_ours); });
  if (code != MPI_SUCCESS || is_ours) return code;
  const int native_code = next<decltype(&PMPI_File_open)>(
      abi::FeatureId::file, name, abi::Entry::File_open)(comm, filename, amode, info, fh);
  if (native_code == MPI_SUCCESS) note_native_file(*fh);
  return native_code;
}

template <abi::Name name>
int File_close(MPI_File* fh) {
  if (fh == nullptr || find_file(*fh) == nullptr) {
    if (fh != nullptr && was_closed(*fh)) return raise_closed();
    return next<decltype(&PMPI_File_close)>(abi::FeatureId::file, name, abi::Entry::File_close)(fh);
  }
  const SessionHold session = find_file(*fh)->session;
  const int code = answer(*fh, [&] { return handler::close(*fh); });
  close_identity(*fh, session);
  *fh = MPI_FILE_NULL;
  return code;
}

template <abi::Name name>
int File_delete(const char* filename, MPI_Info info) {
  bool is_ours = false;
  const int code = answer(MPI_FILE_NULL, [&] { return handler::remove(filename, is_ours); });
  if (code != MPI_SUCCESS || is_ours) return code;
  return next<decltype(&PMPI_File_delete)>(abi::FeatureId::file, name, abi::Entry::File_delete)(
      filename, info);
}

template <abi::Name name>
int File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* handler) {
  return create_error_handler(next<decltype(&PMPI_File_create_errhandler)>(
                                  abi::FeatureId::file, name, abi::Entry::File_create_errhandler),
                              function, handler);
}

template <abi::Name name>
int Abort(MPI_Comm comm, int code) {
  file::settle_files();
  return next<decltype(&PMPI_Abort)>(abi::FeatureId::file, name, abi::Entry::Abort)(comm, code);
}

/// The library is not told: no MPI library supports such representations.
template <abi::Name name>
int Register_datarep(const char* datarep, MPI_Datarep_conversion_function* read,
                     MPI_Datarep_conversion_function* write, MPI_Datarep_extent_function* extent,
                     void* state) {
  return register_functions(Registration::Convention::c, datarep, read, write, extent, state);
}

template <abi::Name name>
int Register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read,
                       MPI_Datarep_conversion_function_c* write,
                       MPI_Datarep_extent_function* extent, void* state) {
  return register_functions(Registration::Convention::c_large, datarep, read, write, extent, state);
}

/// For a library whose Fortran layer passes Fortran's functions. `state` is the address of the
/// program's variable, which may be gone before the functions are called.
inline int Register_datarep_fortran(const char* datarep, MPI_Datarep_conversion_function* read,
                                    MPI_Datarep_conversion_function* write,
                                    MPI_Datarep_extent_function* extent, const MPI_Aint* state) {
  void* const value = state == nullptr ? nullptr : reinterpret_cast<void*>(*state);
  return register_functions(Registration::Convention::fortran, datarep, read, write, extent, value);
}

}  // namespace headrace::HEADRACE_FLAVOUR::boundary
