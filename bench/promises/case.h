#pragma once

#include <span>

#include "promises/trial.h"

namespace headrace::bench::promises {

/// Where a promise comes from: the text of the MPI standard, or what programs count on though the
/// standard does not demand it (a hint, a helpful error).
enum class Ground { standard, practice };

/// One promise and how it is tried.
struct Case {
  const char* name;
  int ranks;
  Ground ground;
  const char* section;  ///< of the MPI standard, 4.1 and 5.0
  const char* promise;  ///< one line
  /// Tries it, on all ranks. May call MPI_Finalize itself.
  void (*run)(Trial&);
  bool threads = false;  ///< wants MPI_THREAD_MULTIPLE
  int patience = 1;      ///< how many times the usual time it may take
};

std::span<const Case> data_cases();
std::span<const Case> error_cases();
std::span<const Case> fault_cases();
std::span<const Case> limit_cases();
std::span<const Case> request_cases();
std::span<const Case> sharing_cases();
std::span<const Case> short_read_cases();

}  // namespace headrace::bench::promises
