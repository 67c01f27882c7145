#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "fabric/messenger.h"

namespace headrace::fabric {

/// Collective over `members` (rank numbers; `index` is the caller's place): each member gives
/// `mine`, equally long everywhere, and gets all blocks in the order of the members. Bruck's
/// algorithm: ceil(log2 P) rounds (Bruck et al., IEEE TPDS 8(11), 1997).
Result<std::vector<std::byte>> allgather(Messenger& messenger, int tag,
                                         std::span<const int> members, int index,
                                         std::span<const std::byte> mine);
/// The same over all ranks.
Result<std::vector<std::byte>> allgather(Messenger& messenger, int tag,
                                         std::span<const std::byte> mine);
/// The same over `members`, into `all`, which has mine.size() * members.size() bytes, as `scratch`
/// has. Takes no memory.
Error allgather(Messenger& messenger, int tag, std::span<const int> members, int index,
                std::span<const std::byte> mine, std::span<std::byte> scratch,
                std::span<std::byte> all);

/// Collective: whether `mine` is true on all ranks. Takes no memory.
Result<bool> is_true_everywhere(Messenger& messenger, int tag, bool mine);
/// The same over `members`, as in allgather().
Result<bool> is_true_everywhere(Messenger& messenger, int tag, std::span<const int> members,
                                int index, bool mine);

/// Collective over `members` (rank numbers; `index` is the caller's place): copies member 0's block
/// to `block` on all others, down a binomial tree.
Error broadcast(Messenger& messenger, int tag, std::span<const int> members, int index,
                std::span<std::byte> block);

/// Collective over `members` (rank numbers; `index` is the caller's place): calls
/// `merge(into, from)` with each pair of blocks along a binomial tree to member 0, whose result
/// then replaces `block` on all members. Takes no memory: blocks have at most kLargestReduced
/// bytes.
inline constexpr std::size_t kLargestReduced = 128;
template <class Merge>
Error reduce_to_all(Messenger& messenger, int tag, std::span<const int> members, int index,
                    std::span<std::byte> block, Merge merge) {
  const int count = static_cast<int>(members.size());
  assert(block.size() <= kLargestReduced);
  std::array<std::byte, kLargestReduced> memory;
  const std::span<std::byte> incoming = std::span(memory).first(block.size());
  int step = 1;
  for (; step < count && index % (2 * step) == 0; step *= 2) {
    if (index + step >= count) continue;
    if (Error error = messenger.exchange(tag, -1, {}, members[index + step], incoming))
      return error;
    merge(block, std::span<const std::byte>(incoming));
  }
  if (index != 0) {
    const int parent = members[index - step];
    if (Error error = messenger.exchange(tag, parent, block, -1, {})) return error;
  }
  return broadcast(messenger, tag, members, index, block);
}

}  // namespace headrace::fabric
