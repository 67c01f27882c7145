#pragma once

#include <cstddef>

namespace headrace::fabric {

/// Channels that a team may have at a time.
inline constexpr int kMaxChannels = 4096;

/// What the user of a team's channels needs.
struct ChannelNeeds {
  const char* use = "channel";  ///< what a channel is opened for, for messages
  /// Of each channel, in memory that the ranks of a node share: bytes, zeroed when new.
  std::size_t state_bytes = 0;
  /// Channels that have memory as soon as a node shares any: where there is none for them, ranks
  /// share nothing, and no channel fails later for lack of it.
  int at_once = 0;
};

/// Where the parts of a node's shared memory lie: the secret, then the team's own channel, then a
/// block for each channel of its users, then what may be reserved (see NodeMemory).
class MemoryLayout {
 public:
  MemoryLayout(int node_size, const ChannelNeeds& needs, std::size_t reservable);

  /// Within a channel's block, its board's state lies at 0.
  std::size_t posts_offset() const;
  std::size_t relay_offset() const { return relay_offset_; }
  std::size_t state_offset() const { return state_offset_; }

  std::size_t channel_bytes() const { return channel_bytes_; }
  std::size_t channel_offset(int id) const;
  /// What is there from the beginning.
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
