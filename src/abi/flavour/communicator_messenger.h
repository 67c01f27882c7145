#pragma once

#include <memory>

#include "abi/flavour/native.h"
#include "fabric/messenger.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Collective: messages among a communicator's ranks, on one of its own that is freed at the end,
/// unless MPI is being finalised then (see stop_messengers). A rank that cannot go on passes what
/// it has found wrong: then all ranks get an error.
Result<std::unique_ptr<fabric::Messenger>> make_messenger(MPI_Comm communicator,
                                                          const Error& failed);

/// For a communicator of one process, which needs no messages and no communicator.
std::unique_ptr<fabric::Messenger> make_solo_messenger();

/// From now on communicators are left to MPI_Finalize.
void stop_messengers();

}  // namespace headrace::HEADRACE_FLAVOUR
