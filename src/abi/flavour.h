#pragma once

#include <atomic>
#include <span>

#include "abi/feature.h"

namespace headrace::abi {

/// A procedure that some libraries have beside the standard's, and what stands before it.
struct Extension {
  const char* name;
  void* function;
};

/// What the front needs of one flavour, the room's code compiled for one MPI ABI.
struct Flavour {
  /// Finds the library's procedures by dlsym on `library`; returns the name of the first that is
  /// missing, or null.
  const char* (*bind)(void* library);
  /// Whether MPI is between MPI_Init and MPI_Finalize.
  bool (*is_running)();
  /// Whether a call that opens a file before MPI_Init may be that of a program by sessions alone,
  /// which the layer can carry.
  bool (*may_run_by_sessions)();
  /// Called once, when MPI runs; starts the features (start_features). False where MPI refuses what
  /// the layer needs.
  bool (*start)();
  /// Called at MPI_Init where start() was called before: to be told of MPI_Finalize.
  bool (*await_end)();
  /// Outermost first.
  std::span<const Feature* const> features;
  /// What the library's Fortran layer is to call for MPI_Register_datarep, where it hands over
  /// Fortran's functions as if they were C's (MPICH); null where it makes C functions of them.
  void* register_fortran_datarep;
  /// All objects are to call these.
  std::span<const Extension> extensions;
};

// What a flavour needs of the front.

/// Starts the features that are wanted. False where none could.
bool start_features();

/// Stops those that were started.
void stop_features();

/// The feature joins the chains of the procedures that it wraps, if it was started. Cheap when it
/// has. Calls that are under way when a feature joins or leaves may or may not pass through it.
void switch_on(FeatureId feature);

/// The feature leaves the chains.
void switch_off(FeatureId feature);

/// What stands behind all of us for this procedure: the next tool's function for MPI_X, the
/// library's for PMPI_X. Never null.
void* next_function(Name name, Entry entry);

/// What stands behind each feature; null while nobody asked.
extern std::atomic<void*> links[kFeatureCount][2][kEntryCount];

/// Finds what stands behind a feature whose link is null.
void* end_of_chain(FeatureId feature, Name name, Entry entry);

/// What a feature calls on to: the next feature of the procedure's chain, or what stands behind us.
/// Never null.
inline void* next_function(FeatureId feature, Name name, Entry entry) {
  void* const next =
      links[static_cast<int>(feature)][static_cast<int>(name)][static_cast<int>(entry)].load(
          std::memory_order_acquire);
  return next != nullptr ? next : end_of_chain(feature, name, entry);
}

/// Makes the calls that only some libraries have, and that are therefore not exported (large
/// counts), reach us from all objects that are loaded now, and those of the library's Fortran layer
/// that need another function than C's. Cheap when none was added since the last call.
void catch_unexported();

}  // namespace headrace::abi

namespace headrace::abi_mpich {
extern const abi::Flavour flavour;
}
namespace headrace::abi_openmpi {
extern const abi::Flavour flavour;
}
namespace headrace::abi_mpiabi {
extern const abi::Flavour flavour;
}
