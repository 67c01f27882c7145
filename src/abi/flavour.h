#pragma once

#include <atomic>
#include <span>

#include "abi/feature.h"

namespace headrace::abi {

/// A procedure that some libraries have beyond the standard's, and our function for it.
struct Extension {
  const char* name;
  void* function;
};

/// What the front needs from a flavour, which is this room's code compiled for one MPI ABI.
struct Flavour {
  /// Looks the library's procedures up by dlsym on `library`. Returns the name of the first that is
  /// missing, or null.
  const char* (*bind)(void* library);
  /// Whether MPI is between MPI_Init and MPI_Finalize.
  bool (*is_running)();
  /// Whether a call that opens a file before MPI_Init may come from a program that uses sessions
  /// only and that the layer supports.
  bool (*may_run_by_sessions)();
  /// Called once, when MPI runs: starts the features (start_features). False if MPI refuses what
  /// the layer needs.
  bool (*start)();
  /// Called at MPI_Init if start() was called before: arranges to be told of MPI_Finalize.
  bool (*await_end)();
  /// Outermost first.
  std::span<const Feature* const> features;
  /// The function that the library's Fortran layer must call for MPI_Register_datarep, if it passes
  /// Fortran's functions as if they were C's (MPICH); null if it wraps them in C functions.
  void* register_fortran_datarep;
  /// All objects must call our functions for these.
  std::span<const Extension> extensions;
};

// What a flavour needs from the front.

/// Starts the features that are wanted. False if none could start.
bool start_features();

/// Stops the features that were started.
void stop_features();

/// Lets a feature join the chains of the procedures that it wraps, if it was started. Cheap if it
/// has joined already. Calls that are under way when a feature joins or leaves may or may not pass
/// through it.
void switch_on(FeatureId feature);

/// Lets a feature leave the chains.
void switch_off(FeatureId feature);

/// The function after this layer for a procedure: the next tool's or the library's for MPI_X, the
/// library's for PMPI_X. Never null.
void* next_function(Name name, Entry entry);

/// The function after each feature; null until somebody asks.
extern std::atomic<void*> links[kFeatureCount][2][kEntryCount];

/// Finds the function after a feature whose link is null.
void* end_of_chain(FeatureId feature, Name name, Entry entry);

/// The function that a feature calls next: that of the next feature in the procedure's chain, or
/// the one after this layer. Never null.
inline void* next_function(FeatureId feature, Name name, Entry entry) {
  void* const next =
      links[static_cast<int>(feature)][static_cast<int>(name)][static_cast<int>(entry)].load(
          std::memory_order_acquire);
  return next != nullptr ? next : end_of_chain(feature, name, entry);
}

/// Makes calls from all objects that are loaded now reach us if their procedures are not exported,
/// since only some libraries have them (large counts); also those of the library's Fortran layer
/// that need another function than C's. Cheap if no object was added since the last call.
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
