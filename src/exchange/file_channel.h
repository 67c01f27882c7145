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
  /// See fabric::Team::open_channel. `pointers`: of the team's files.
  FileChannel(std::shared_ptr<fabric::Team> team, fabric::ChannelPlace place,
              std::shared_ptr<SharedPointers> pointers);
  ~FileChannel() override;

  /// What its calls need of a team's channels.
  static fabric::ChannelNeeds needs();

  /// Staging in the node's shared memory; a rank that is alone on one of several nodes has its own.
  Staging& staging() {
    assert(has_board());
    return state_->staging;
  }
  /// Null where no other rank of the node could wait for its turn.
  storage::WriteTurnState* write_turn() {
    return nodes().shares_node() ? &file().write_turn : nullptr;
  }
  /// Locks among all threads of the team's ranks where they share one node, else among those of
  /// this process: there the file system's locks come on top. From any thread.
  RangeLocks& locks() { return own_locks_ ? *own_locks_ : file().locks; }

  /// The shared pointer, which lies at the first rank; `cell` is 0 or 1. Moves it by `etypes` and
  /// returns where it was. From any thread; needs no other rank to call anything. Ranks of other
  /// nodes than the first rank's ask its process over the network.
  Result<std::int64_t> advance_pointer(int cell, std::int64_t etypes);
  /// The first rank's call.
  void set_pointer(int cell, std::int64_t position);

  /// Tells the node that a write failed, so that all learn of it at the next sync or close.
  void note_failed_write(int system_error);
  struct FailedWrites {
    std::int64_t count = 0;  ///< of all ranks of the node since the place was first used
    int last_system_error = 0;
  };
  FailedWrites failed_writes();

  // Messages between leaders of nodes, each kind with a tag of its own.

  enum class MessageKind { meeting, part, answer };
  int tag_of(MessageKind kind) const { return tag(static_cast<int>(kind)); }
  /// The leaders' call, collective among them: what each gave, in the order of the nodes, into
  /// `all`, with a `scratch` of the same size. Takes no memory.
  Error meet_leaders(std::span<const std::byte> mine, std::span<std::byte> scratch,
                     std::span<std::byte> all);
  /// The leaders' call, collective among them: whether all are ready. Takes no memory.
  Result<bool> are_leaders_ready(bool mine);

 private:
  SharedFile& file() { return state_ != nullptr ? state_->file : *own_file_; }
  SharedPointer* near_pointer();

  std::shared_ptr<SharedPointers> pointers_;
  FileState* state_ = nullptr;
  std::unique_ptr<FileState> own_state_;   ///< where this rank is alone on one of several nodes
  std::unique_ptr<SharedFile> own_file_;   ///< where it is all of the team
  std::unique_ptr<RangeLocks> own_locks_;  ///< where there are several nodes
};

}  // namespace headrace::exchange
