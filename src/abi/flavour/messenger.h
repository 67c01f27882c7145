#pragma once

#include <memory>

#include "abi/flavour/native.h"
#include "exchange/messenger.h"

namespace headrace::HEADRACE_FLAVOUR {

/// Messages on a communicator that nobody else uses. Takes the communicator over and frees it at
/// the end, unless MPI is being finalised then (see stop_messengers).
std::unique_ptr<exchange::Messenger> make_messenger(MPI_Comm hidden);

/// For a communicator of one process, which needs no messages and no communicator.
std::unique_ptr<exchange::Messenger> make_solo_messenger();

/// From now on communicators are left to MPI_Finalize.
void stop_messengers();

}  // namespace headrace::HEADRACE_FLAVOUR
