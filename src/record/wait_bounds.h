#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "record/entry_log.h"

namespace headrace::record {

/// Of whom a collective operation needs something: what its name says.
enum class Meeting : std::uint8_t {
  all,        ///< each rank needs all
  from_root,  ///< each needs the root
  to_root,    ///< the root needs all
  lower,      ///< each needs those of lower rank
  some        ///< each may need any, which its arguments tell
};

/// One call of one rank, in ticks.
struct MetCall {
  Meeting meeting = Meeting::all;
  int root = 0;
  std::uint32_t mark = 0;  ///< of the procedure and root, for Entry
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// How long the rank waited in it for others to enter.
struct WaitBounds {
  std::int64_t least = 0;  ///< ticks, for those that it needs
  std::int64_t most = 0;   ///< ticks, for whoever came last
  int awaited = -1;        ///< of those that it needs, who came last, by rank in the communicator;
                           ///< -1 if it waited for none of them
};

/// From all ranks' entries; `entries[own]` is not looked at. `gives_up`: what is missing will not
/// come. Nothing if it cannot be said, or not yet.
std::optional<WaitBounds> wait_of(const MetCall& call, int own,
                                  std::span<const std::optional<Entry>> entries, bool gives_up);

}  // namespace headrace::record
