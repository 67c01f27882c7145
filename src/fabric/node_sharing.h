#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/messenger.h"
#include "fabric/shared_memory.h"

namespace headrace::fabric {

/// What came of ranks of a node trying to share memory.
struct NodeSharing {
  std::unique_ptr<SharedMemory> memory;  ///< null where they cannot
  std::string how;                       ///< or why not, for people
};

/// Collective over a node's `ranks`, of which the first makes memory of the first kind that its
/// settings and the system allow, `committed` of its `size` bytes at once; the others open it. All
/// get it or nobody does. An error: a message failed.
Result<NodeSharing> share_memory(Messenger& messenger, int tag, const std::vector<int>& ranks,
                                 std::size_t size, std::size_t committed);

}  // namespace headrace::fabric
