#pragma once

#include <string>

namespace headrace::bench::promises {

/// What a rank leaves for `headrace bench promises`, which reads it after the job: a file of lines,
/// each written at once, so that it tells as much as can be known of a rank that ends in the
/// middle.
///
///     begun               MPI_Init is done
///     signal N CALL       the process got signal N in CALL
///     hangs CALL          CALL did not come back within the time
///     layer               a file was carried by Headrace
///     broken TEXT         a promise was broken in this way
///     ends                this rank is about to end on purpose, and its job with it
///     judged              the case was tried to its end
///     finished            MPI_Finalize is done
///
/// Fields are separated by tabs.
void start_watch(const std::string& record_file, int seconds);

/// One line of the record.
void record(const std::string& line);

/// Says which call is being made; the text must stay. What follows a '(' is left out.
void doing(const char* call);

}  // namespace headrace::bench::promises

/// Makes an MPI call whose name is known should it crash or hang.
#define CALL(call) (::headrace::bench::promises::doing(#call), call)
