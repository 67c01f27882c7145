#pragma once

#include <string>

namespace headrace::faults {

/// What this process has open: descriptors, threads, and mappings of memory that ranks share.
struct Holdings {
  int descriptors = 0;
  int threads = 0;
  int shared_mappings = 0;

  static Holdings now();
  /// What there is more than before; empty where nothing is.
  std::string more_than(const Holdings& before) const;
};

}  // namespace headrace::faults
