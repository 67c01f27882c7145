#pragma once

#include <span>

#include "abi/generated/entry.h"
#include "base/settings.h"

namespace headrace::abi {

/// The name by which a procedure was called: MPI_X, which tools may also define, or PMPI_X.
enum class Name : int { mpi, pmpi };

/// A feature's functions for one procedure, with the procedure's parameters, for calls by either
/// name. They call the next function of the chain by next_function() (flavour.h).
struct Wrapper {
  using Function = void (*)();

  Entry entry;
  Function functions[2];  ///< by Name
};

/// How a feature starts. Only one that has started wraps procedures.
enum class Start {
  started,
  unneeded,  ///< there is nothing for it to do in this process
  refused,   ///< MPI refuses what it needs; the user is told
};

/// A part of the layer between program and library. Features do not know each other: the features
/// that wrap a procedure form a chain, in the order of FeatureId, with the library at its end.
/// Calls of a procedure that no feature wraps go straight to the library.
struct Feature {
  FeatureId id;
  const char* name;
  std::span<const Wrapper> wrappers;
  /// Whether the user's settings ask for it; null: always.
  bool (*is_wanted)(const Settings& settings);
  /// Called once, when MPI runs, innermost feature first. Null: nothing is to do.
  Start (*start)();
  /// Called once, before MPI ends, outermost feature first; or null.
  void (*stop)();
  /// The feature joins the chains only by switch_on(), not at its start.
  bool joins_later = false;
  /// Whether it needs the calls of a procedure that it wraps, once it has started; null: of all.
  /// Calls no MPI.
  bool (*needs)(Entry entry) = nullptr;
  /// Called once, when all features that are wanted were asked to start: records what was decided
  /// then. Null: nothing.
  void (*explain)() = nullptr;
};

}  // namespace headrace::abi
