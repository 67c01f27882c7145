#pragma once

#include <span>

#include "abi/generated/entry.h"

namespace headrace::abi {

/// The name a procedure was called by: MPI_X, which tools may stand behind, or PMPI_X.
enum class Name : int { mpi, pmpi };

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
  /// Called once, when MPI runs. False where MPI refuses what the layer needs.
  bool (*start)();
  /// Called at MPI_Init where start() was called before: to be told of MPI_Finalize.
  bool (*await_end)();
  /// The typed function for a procedure called by that name; null for MPI_Init.
  void* (*entry_function)(Name name, Entry entry);
  /// What the library's Fortran layer is to call for MPI_Register_datarep, where it hands over
  /// Fortran's functions as if they were C's (MPICH); null where it makes C functions of them.
  void* register_fortran_datarep;
  /// All objects are to call these.
  std::span<const Extension> extensions;
};

// What a flavour needs of the front.

/// The function that stands behind us for this procedure: of the next tool for MPI_X, of the
/// library for PMPI_X. Never null.
void* next_function(Name name, Entry entry);

/// Makes the calls that only some libraries have, and that are therefore not exported (large
/// counts), reach us from all objects that are loaded now, and those of the library's Fortran layer
/// that need another function than C's. Cheap when none was added since the last call.
void catch_unexported();

/// From now on the procedures that complete requests reach the flavour's entries; until then they
/// lead to the functions behind us. Cheap when called again.
void catch_completions();

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
