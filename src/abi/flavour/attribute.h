#pragma once

#include "abi/flavour/native.h"

/// Callbacks of attributes, for communicators and datatypes alike (Handle).
namespace headrace::HEADRACE_FLAVOUR {

/// A duplicated object starts without the attribute: it finds its own when it is used.
template <class Handle>
int do_not_copy(Handle, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

/// For attributes that own a Value on the heap.
template <class Handle, class Value>
int delete_value(Handle, int, void* value, void*) {
  delete static_cast<Value*>(value);
  return MPI_SUCCESS;
}

}  // namespace headrace::HEADRACE_FLAVOUR
