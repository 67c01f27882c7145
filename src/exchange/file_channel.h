#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "exchange/file_state.h"
#include "fabric/channel.h"
#include "fabric/memory_layout.h"
#include "fabric/node_memory.h"

namespace headrace::exchange {

class SharedPointers;

/// What the ranks of a team use to work on one open file.
class FileChannel : public fabric::Channel {
 public:
  /// See fabric::Team::open_channel. `pointers`: the shared pointers of the team's files.
  FileChannel(std::shared_ptr<fabric::Team> team, fabric::ChannelPlace place,
              std::shared_ptr<SharedPointers> pointers);
  ~FileChannel() override;

  /// What file channels need from a team.
  static fabric::ChannelNeeds needs();

  /// The state of staging, in the node's shared memory; a rank that is alone on one of several
  /// nodes has one of its own.
  Staging& staging() {
    assert(has_board());
    return state_->staging;
  }
  /// Null if this rank is alone on its node.
  storage::WriteTurnState* write_turn() {
    return nodes().shares_node() ? &file().write_turn : nullptr;
  }
  /// Locks among all threads of the team's ranks if they share one node; otherwise among the
  /// threads of this process, and the caller also locks the file itself. From any thread.
  RangeLocks& locks() { return own_locks_ ? *own_locks_ : file().locks; }

  /// Moves the shared pointer by `etypes` >= 0 and returns where it was, in etypes. `cell` is 0 or
  /// 1. From any thread; no other rank need call anything. The pointer lies on the first rank's
  /// node; ranks of other nodes ask the first rank's process over TCP.
  Result<std::int64_t> advance_pointer(int cell, std::int64_t etypes);
  /// Called by the first rank: sets the pointer to `position`, in etypes.
  void set_pointer(int cell, std::int64_t position);

  /// Tells the node's ranks that a write failed: they learn of it at the next sync or close.
  void note_failed_write(int system_error);
  struct FailedWrites {
    std::int64_t count = 0;  ///< by all ranks of the node, since the channel's place was first used
    int last_system_error = 0;
  };
  FailedWrites failed_writes();

  // Messages between the leaders of nodes. Each kind has a tag of its own.

  enum class MessageKind { meeting, part, answer };
  int tag_of(MessageKind kind) const { return tag(static_cast<int>(kind)); }
  /// Collective over the nodes' leaders: gathers each one's `mine` into `all`, in the order of the
  /// nodes. `all` and `scratch` have mine.size() bytes for each node. Takes no memory.
  Error meet_leaders(std::span<const std::byte> mine, std::span<std::byte> scratch,
                     std::span<std::byte> all);
  /// Collective over the nodes' leaders: whether all are ready. Takes no memory.
  Result<bool> are_leaders_ready(bool mine);

 private:
  SharedFile& file() { return state_ != nullptr ? state_->file : *own_file_; }
  SharedPointer* near_pointer();

  std::shared_ptr<SharedPointers> pointers_;
  FileState* state_ = nullptr;
  std::unique_ptr<FileState> own_state_;   ///< if this rank is alone on one of several nodes
  std::unique_ptr<SharedFile> own_file_;   ///< if this rank is the whole team
  std::unique_ptr<RangeLocks> own_locks_;  ///< if there are several nodes
};

}  // namespace headrace::exchange
