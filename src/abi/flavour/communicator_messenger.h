#pragma once

#include <memory>

#include "abi/flavour/native.h"
#include "fabric/messenger.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Collective: makes a messenger for a communicator's ranks. It uses a communicator of its own,
/// which is freed at the end unless MPI is being finalised then (see stop_messengers). A rank that
/// cannot go on passes its error: then all ranks get an error.
Result<std::unique_ptr<fabric::Messenger>> make_messenger(MPI_Comm communicator,
                                                          const Error& failed);

/// A messenger for a communicator of one process: it needs no communicator and sends nothing.
std::unique_ptr<fabric::Messenger> make_solo_messenger();

/// From now on, communicators are left to MPI_Finalize.
void stop_messengers();

}  // namespace headrace::HEADRACE_FLAVOUR
