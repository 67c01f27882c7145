#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/memory_account.h"
#include "base/result.h"
#include "collective/rank_tables.h"
#include "collective/shape.h"
#include "fabric/channel.h"
#include "fabric/milestones.h"
#include "fabric/shared_memory.h"

namespace headrace::collective {

/// Memory that a node's ranks share for a communicator's collective calls: how far each rank has
/// come, the tables of its shape, and two stages, which calls use in turn. A rank that is alone on
/// its node has the same by itself.
class StageMemory {
 public:
  /// Why there is none. Of several reasons the last counts.
  enum class Lack { none, memory, sharing, room };

  /// Collective over the channel: all ranks get it or none, and then the same error. `ranks`: those
  /// of this node.
  static Result<std::unique_ptr<StageMemory>> make(fabric::Channel& channel, int tag,
                                                   const std::vector<int>& ranks,
                                                   const NodeTables& tables);
  ~StageMemory();
  StageMemory(const StageMemory&) = delete;
  StageMemory& operator=(const StageMemory&) = delete;

  std::size_t stage_size() const { return stage_size_; }
  /// Of the call with this number.
  std::byte* stage(std::uint64_t call) const {
    return base_ + stages_offset_ + (call % kStages) * stage_size_;
  }
  static constexpr std::uint64_t kStages = 2;

  fabric::MilestoneBells& bells() const;
  std::span<fabric::Milestone> milestones() const;
  /// The shape of the communicator, with tables that lie here.
  const Shape& shape() const { return shape_; }

 private:
  StageMemory(const fabric::Channel& channel, int largest_node);
  std::size_t size() const { return stages_offset_ + kStages * stage_size_; }
  Lack get(fabric::Channel& channel, int tag, const std::vector<int>& ranks);
  /// The leader's part, before others read it.
  void write_tables(const NodeTables& tables);
  void read_tables();

  Shape shape_;
  std::size_t tables_offset_ = 0;
  std::size_t stages_offset_ = 0;
  std::size_t stage_size_ = 0;
  std::unique_ptr<fabric::SharedMemory> shared_;
  std::byte* own_ = nullptr;  ///< of a rank that is alone
  std::byte* base_ = nullptr;
  bool is_counted_ = false;
};

}  // namespace headrace::collective
