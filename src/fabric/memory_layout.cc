#include "fabric/memory_layout.h"

#include "base/rounding.h"
#include "fabric/board.h"
#include "topo/page_relay.h"

namespace headrace::fabric {
namespace {

constexpr std::size_t kCacheLine = 64;
/// The reservable memory begins at a multiple of a huge page.
constexpr std::size_t kHugePage = std::size_t{1} << 21;

}  // namespace

MemoryLayout::MemoryLayout(int node_size, const ChannelNeeds& needs, std::size_t reservable)
    : use_(needs.use),
      relay_offset_(round_up(
          posts_offset() + kBoardDepth * static_cast<std::size_t>(node_size) * sizeof(Post),
          alignof(topo::PageRelay))),
      state_offset_(round_up(relay_offset_ + sizeof(topo::PageRelay), kCacheLine)),
      root_bytes_(round_up<std::size_t>(state_offset_, kPage)),
      channel_bytes_(round_up<std::size_t>(state_offset_ + needs.state_bytes, kPage)),
      channels_at_once_(needs.at_once),
      reservable_(reservable) {}

std::size_t MemoryLayout::posts_offset() const {
  return round_up(sizeof(BoardState), alignof(Post));
}

std::size_t MemoryLayout::channel_offset(int id) const {
  if (id == 0) return kPage;
  return kPage + root_bytes_ + static_cast<std::size_t>(id - 1) * channel_bytes_;
}

std::size_t MemoryLayout::reservable_offset() const {
  return round_up(channel_offset(kMaxChannels), kHugePage);
}

}  // namespace headrace::fabric
