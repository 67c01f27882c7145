// What MPI's error codes and statuses tell.
#pragma once

#include <mpi.h>

#include <string>

namespace headrace::fuzz {

/// The small name of an error's class, as the fuzzer knows it; empty for success.
std::string class_of(int code);
std::string message_of(int code);  ///< empty for success

/// A status that tells of nothing until a call fills it.
MPI_Status empty_status();

/// Whether the errors of several requests are to be found in their statuses.
bool is_in_status(int code);

}  // namespace headrace::fuzz
