#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/messenger.h"
#include "fabric/shared_memory.h"

namespace headrace::fabric {

/// The outcome when ranks of a node try to share memory.
struct NodeSharing {
  std::unique_ptr<SharedMemory> memory;  ///< null if they cannot
  std::string how;                       ///< which kind of memory, or why none; for people
};

/// Collective over a node's `ranks`. The first rank makes `size` bytes of memory, of the first kind
/// that its settings and the system allow, and commits the first `committed` bytes; the others open
/// it. All ranks get the memory or none does. Returns an error only if a message failed.
Result<NodeSharing> share_memory(Messenger& messenger, int tag, const std::vector<int>& ranks,
                                 std::size_t size, std::size_t committed);

}  // namespace headrace::fabric
