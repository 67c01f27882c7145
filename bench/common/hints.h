#pragma once

#include <mpi.h>

#include <map>
#include <string>

namespace headrace::bench {

/// Hints by key, in key order.
using Hints = std::map<std::string, std::string>;

/// The hints a user asked for: environment variables IOR_HINT__MPI__<key>=<value>, then the lines
/// of `file_name` (empty: none) in that same form, which win. Blank lines and lines beginning with
/// '#' count for nothing. Throws Failure naming the line that is not of this form.
Hints requested_hints(const std::string& file_name);

/// The same for all ranks of the communicator: where one cannot read them, all throw AgreedFailure.
/// Collective.
Hints requested_hints(MPI_Comm communicator, const std::string& file_name);

/// An info object with these hints, MPI_INFO_NULL for none. The caller frees it.
MPI_Info make_info(const Hints& hints);

/// The hints that an open file reports. Local.
Hints file_hints(MPI_File file);

/// Prints "hints returned from opened file {", a tab and "key = value" for each, "}".
void print_hints(const Hints& hints);

}  // namespace headrace::bench
