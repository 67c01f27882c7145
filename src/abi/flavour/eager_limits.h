#pragma once

#include <cstdint>
#include <vector>

#include "record/process_facts.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A message that is larger waits until its receiver is ready. One that is not may be sent at once:
/// libraries take some bytes of the limit for themselves (up to 80), and wait if they lack room.
struct EagerLimit {
  bool is_on_node;       ///< else between nodes
  std::int64_t bytes;    ///< 0 or more
  const char* variable;  ///< the library's control variable (MPI_T) that says so
};

/// What the library tells of this process: at most one limit within nodes, and one between them.
/// After MPI_Init; no messages.
std::vector<EagerLimit> eager_limits();

/// Shows them. Rank 0 calls it.
void show_eager_limits();

/// For the record: eager_limit_node and eager_limit_network, each with the name of its variable.
record::Facts eager_facts();

/// Whether to ask takes long: Open MPI then opens all its components again, for 0.2 s where
/// one of them is for Omni-Path.
bool are_eager_limits_costly();

}  // namespace headrace::HEADRACE_FLAVOUR
