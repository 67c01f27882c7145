#pragma once

#include <memory>

#include "abi/flavour/native.h"
#include "base/result.h"
#include "exchange/file_team.h"

namespace headrace::HEADRACE_FLAVOUR {

/// The ranks of a communicator as those that open files together; made at the first call, which is
/// collective, and kept with the communicator as an attribute, where no rank has many already. Null
/// where the layer must stay out: on an intercommunicator, and where a rank lies outside our own
/// MPI_COMM_WORLD, which may run without the layer. Every rank finds the same answer without asking
/// the others.
Result<std::shared_ptr<exchange::FileTeam>> file_team_of(MPI_Comm communicator);

/// Collective: the same team, for other uses than files, where it stays with its communicator; else
/// null. The communicator has several ranks.
Result<std::shared_ptr<fabric::Team>> staying_team_of(MPI_Comm communicator);

/// Once, when MPI runs. False where MPI refuses.
bool start_teams();

}  // namespace headrace::HEADRACE_FLAVOUR
