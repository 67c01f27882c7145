#pragma once

#include <span>

#include "abi/generated/entry.h"
#include "base/settings.h"

namespace headrace::abi {

/// The name a procedure was called by: MPI_X, which tools may stand behind, or PMPI_X.
enum class Name : int { mpi, pmpi };

/// What a feature puts in front of one procedure: functions with the procedure's own parameters,
/// for a call by either name. They call on by next_function (flavour.h).
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

/// A part of the layer that stands between program and library. Features do not know of each other:
/// for each procedure those that wrap it make a chain, in the order of FeatureId, with the library
/// at its end. A procedure that nobody wraps leads straight there.
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
  /// Joins the chains by switch_on alone, not at its start.
  bool joins_later = false;
};

}  // namespace headrace::abi
