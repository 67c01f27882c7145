#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/messenger.h"

/// Blocks of bytes that the ranks of a messenger hand to rank 0, which need not know their sizes
/// before. Rank 0 takes one at a time, so it holds one more than what it keeps. Nobody waits for
/// long: what does not move for `patience` is given up, and the others go on.
namespace headrace::fabric {

using Patience = std::chrono::milliseconds;

/// Two tags are used, `tag` and the next one.
inline constexpr int kTagsOfCollection = 2;

/// On every rank but 0: gives `block` to rank 0. Without an error rank 0 has all of it.
Error hand_block(Messenger& messenger, int tag, std::string_view block, Patience patience);

/// On rank 0: calls `take(rank, block)` for each other rank's block, in order of arrival. Returns
/// the ranks whose blocks did not come.
using TakeBlock = std::function<void(int rank, std::string_view block)>;
std::vector<int> collect_blocks(Messenger& messenger, int tag, Patience patience,
                                const TakeBlock& take);

}  // namespace headrace::fabric
