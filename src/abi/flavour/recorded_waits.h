#pragma once

#include <cstdint>

#include "abi/flavour/recorded_call.h"
#include "record/wait_bounds.h"

/// What is taken down of calls so that ranks of a node learn how long they waited for each other.
namespace headrace::HEADRACE_FLAVOUR::recording {

/// A blocking collective call has ended. `operation`: its number, alike on all ranks.
void meet(const Measured& call, MPI_Comm communicator, record::Meeting meeting, int root,
          std::uint32_t operation) noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR::recording
