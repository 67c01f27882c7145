#pragma once

#include <exception>
#include <new>
#include <utility>

#include "abi/flavour.h"
#include "abi/flavour/error.h"
#include "abi/flavour/file_handle.h"
#include "abi/flavour/native.h"

namespace headrace::HEADRACE_FLAVOUR {

/// The function that a feature calls next, with its type.
template <class Function>
Function next(abi::FeatureId feature, abi::Name name, abi::Entry entry) {
  return reinterpret_cast<Function>(abi::next_function(feature, name, entry));
}

/// Runs a handler and returns its error, or an error for what it throws.
template <class Handler>
Error caught(Handler handler) {
  try {
    return handler();
  } catch (const std::bad_alloc&) {
    return {ErrorClass::no_memory, 0, {}};  // without a message: it needs no memory
  } catch (const std::exception&) {
    return {ErrorClass::other, 0, {}};
  }
}

/// Runs a handler and raises its error through `fh`. This is the boundary: no exception of ours
/// passes it. An exception of the program's error handler does, as it would pass the library.
template <class Handler>
int answer(MPI_File fh, Handler handler) {
  const Error error = caught(std::move(handler));
  return error ? raise(fh, error) : MPI_SUCCESS;
}

/// Raises the error of a procedure that got the handle of a closed file of ours.
inline int raise_closed() {
  return raise(MPI_FILE_NULL, {ErrorClass::file, 0,
                               "the file handle is not valid (its file was closed), do not use it "
                               "after MPI_File_close"});
}

}  // namespace headrace::HEADRACE_FLAVOUR
