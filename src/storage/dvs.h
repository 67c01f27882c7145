#pragma once

#include <string_view>

#include "base/types.h"
#include "storage/mounts.h"

namespace headrace::storage {

/// How Cray's DVS forwards the blocks of a file to its servers.
struct DvsForwarding {
  Stripes stripes = {};  ///< blocks that go to several servers in turn; none: each file has one
  ByteCount block = 0;   ///< 0: unknown
};

/// By the options of the mount (`blksize`, `maxnodes`, `nodename`) and by what users may set for
/// their jobs, DVS_BLOCKSIZE and DVS_MAXNODES; those are "" if they are not set. The latter may
/// have underscores at its end.
DvsForwarding dvs_forwarding(const Mount& mount, std::string_view block_size,
                             std::string_view most_nodes);

/// By the variables of this process.
DvsForwarding dvs_forwarding(const Mount& mount);

/// Whether nodes see each other's writes at once: a node keeps neither data nor attributes, and
/// each part of a file has one server for all nodes. By the mount's options, and by what users may
/// set, DVS_CACHE; "" if it is not set. What the options do not say counts against it.
bool dvs_keeps_nothing(const Mount& mount, std::string_view cache);

/// By the variable of this process.
bool dvs_keeps_nothing(const Mount& mount);

}  // namespace headrace::storage
