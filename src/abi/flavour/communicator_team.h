#pragma once

#include <memory>

#include "abi/flavour/native.h"
#include "base/result.h"
#include "exchange/file_team.h"

namespace headrace::HEADRACE_FLAVOUR {

/// The team of ranks that open files together on a communicator. The first call is collective and
/// makes the team; it is kept with the communicator as an attribute, unless some rank has many
/// already. Null if the layer must stay out: on an intercommunicator, and if a rank lies outside
/// our own MPI_COMM_WORLD, since it may run without the layer. Every rank finds the same answer
/// without asking the others.
Result<std::shared_ptr<exchange::FileTeam>> file_team_of(MPI_Comm communicator);

/// Collective: the same team, for other uses than files, where it stays with its communicator; else
/// null. The communicator has several ranks.
Result<std::shared_ptr<fabric::Team>> staying_team_of(MPI_Comm communicator);

/// Whether all ranks of an intracommunicator are in this process's job: its MPI_COMM_WORLD.
Result<bool> lies_in_world(MPI_Comm communicator);

/// Called once, when MPI runs. False if MPI refuses.
bool start_teams();

}  // namespace headrace::HEADRACE_FLAVOUR
