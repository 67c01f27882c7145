#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace headrace::abi {

enum class Abi { mpich, openmpi, standard, unknown };

/// The MPI library of this process.
struct Library {
  void* handle = nullptr;  ///< for dlsym; never closed
  std::string path;
  Abi abi = Abi::unknown;
  /// File procedures that it exports, and that we neither implement nor may leave to it.
  std::vector<std::string> unknown_procedures;
  /// Whether it has procedures that we catch by patching slots.
  bool has_large_counts = false;
};

/// Finds the loaded object that is the MPI library: the one that itself defines the procedures that
/// the layer calls, wherever it was loaded from and whatever its scope. Nothing while no MPI is
/// loaded. An error if there are several, and no way to tell which one the program uses.
Result<std::optional<Library>> find_library();

}  // namespace headrace::abi
