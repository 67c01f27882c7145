#pragma once

#include <cstddef>

namespace headrace::fabric {

/// How many channels a team may have at a time.
inline constexpr int kMaxChannels = 4096;

/// What the channels of a team need.
struct ChannelNeeds {
  const char* use = "channel";  ///< what a channel is for, such as "file"; for messages
  /// Bytes that each channel needs in the node's shared memory. Zeroed when new.
  std::size_t state_bytes = 0;
  /// For so many channels, memory is taken when the ranks begin to share memory. If there is not
  /// enough for them, the ranks share nothing, and so no channel fails later for lack of memory.
  int at_once = 0;
};

/// Where the parts of a node's shared memory lie: the secret, then the team's own channel, then a
/// block for each other channel, then what NodeMemory reserves from. All offsets and sizes are in
/// bytes.
class MemoryLayout {
 public:
  MemoryLayout(int node_size, const ChannelNeeds& needs, std::size_t reservable);

  /// Offsets within a channel's block, in which the board's state lies at 0.
  std::size_t posts_offset() const;
  std::size_t relay_offset() const { return relay_offset_; }
  std::size_t state_offset() const { return state_offset_; }

  std::size_t channel_bytes() const { return channel_bytes_; }
  std::size_t channel_offset(int id) const;
  /// Bytes that are committed from the beginning.
  std::size_t at_once() const { return channel_offset(1 + channels_at_once_); }
  const char* use() const { return use_; }
  int channels_at_once() const { return channels_at_once_; }
  std::size_t reservable_offset() const;
  std::size_t reservable() const { return reservable_; }
  std::size_t total() const { return reservable_offset() + reservable_; }

 private:
  const char* use_;
  std::size_t relay_offset_;
  std::size_t state_offset_;
  std::size_t root_bytes_;
  std::size_t channel_bytes_;
  int channels_at_once_;
  std::size_t reservable_;
};

}  // namespace headrace::fabric
