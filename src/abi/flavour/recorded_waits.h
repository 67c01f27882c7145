#pragma once

#include <cstdint>

#include "abi/flavour/recorded_call.h"
#include "record/message_waits.h"
#include "record/wait_bounds.h"

/// What is taken down of calls so that ranks of a node learn how long they waited for each other.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// A blocking collective call has ended. `operation`: its number, alike on all ranks.
void meet(const Measured& call, MPI_Comm communicator, record::Meeting meeting, int root,
          std::uint32_t operation) noexcept;

/// A call has sent a message.
void note_sent(const Measured& call, MPI_Comm communicator, int to, int tag,
               record::MessageWaits::Sending how) noexcept;
/// It has started what sends one, to a rank of MPI_COMM_WORLD.
void note_started(const Measured& call, const TrackedRequest& request) noexcept;
/// A receive is posted. Returns its number, 0 if it has none.
std::uint64_t note_posted(const TrackedRequest& request) noexcept;
/// It has received one.
void note_received(const Measured& call, const MPI_Status& status) noexcept;
/// A receive is complete.
void note_received(const TrackedRequest& request, const MPI_Status& status) noexcept;
/// The call that ends has completed a request of which nothing is known.
void note_unknown_wait() noexcept;
/// Messages were received in an order that is not known here.
void stop_following_messages() noexcept;

/// The call that has ended needed the messages that were noted since the last one. It may be one
/// that is not recorded.
void end_messages(const Measured& call, record::MessageWaits::Needs needs) noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR::recording
