#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "abi/flavour/native.h"

/// A barrier before collective operations, where the user wants one (HEADRACE_COLL_SYNC).
namespace headrace::HEADRACE_FLAVOUR::sync {

inline constexpr std::size_t kOperations = 16;

/// Those that can have one, by number, which the forms with small and large counts share;
/// generated.
extern const std::span<const std::string_view> operations;

/// The program calls an operation. Meets the others if it is the call's turn, which all ranks of
/// the communicator find alike: not on intercommunicators, and not where a rank lies outside
/// MPI_COMM_WORLD, since it may run without the layer. What that takes is recorded apart.
void before(int operation, MPI_Comm communicator) noexcept;

}  // namespace headrace::HEADRACE_FLAVOUR::sync
