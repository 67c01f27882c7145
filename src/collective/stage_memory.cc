#include "collective/stage_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/page_distance.h"
#include "base/rounding.h"
#include "base/settings.h"
#include "fabric/combined.h"
#include "fabric/node_sharing.h"

namespace headrace::collective {
namespace {

constexpr std::align_val_t kAlignment{4096};

/// Bytes of a stage, the same on all nodes. On one node a rank's part is small, so that it stays in
/// caches, and larger data goes in parts. Between nodes all ranks' data must have room; where none
/// shares a node, only what a rank gives itself.
std::size_t stage_size_for(const Shape& shape) {
  constexpr std::size_t kOfRank = std::size_t{64} << 10;
  constexpr std::size_t kMost = std::size_t{4} << 20;
  constexpr std::size_t kAlone = std::size_t{32} << 10;
  if (shape.node_count > 1) return shape.largest_node > 1 ? kMost : kAlone;
  return std::min(kMost, kOfRank * static_cast<std::size_t>(shape.node_size + 1));
}

Error error_of(StageMemory::Lack lack) {
  const char* text = "a rank has not enough memory";
  if (lack == StageMemory::Lack::sharing) text = "ranks of a node cannot share memory";
  if (lack == StageMemory::Lack::room) text = "a node has no room left in HEADRACE_NODE_MEMORY";
  return {ErrorClass::no_memory, ENOMEM, text};
}

/// Collective: an error on all ranks, the same, if one lacks something. Of the ranks only the
/// leader of a node may know what.
Error agree(fabric::Channel& channel, StageMemory::Lack mine) {
  fabric::Greatest greatest{static_cast<std::int64_t>(mine)};
  if (Error error = channel.combine(greatest)) return error;
  if (greatest.value == 0) return {};
  return error_of(static_cast<StageMemory::Lack>(greatest.value));
}

/// What a stage's memory begins with: nobody is in a call.
struct Head {
  std::byte secret[fabric::SharedMemory::kSecretBytes];
  fabric::MilestoneBells bells;
};

/// Of the tables, in the memory: whether the ranks are in order, then the numbers.
struct TableHead {
  int is_in_order;
};

}  // namespace

StageMemory::StageMemory(const fabric::Channel& channel, int largest_node) {
  const topo::NodeMap& nodes = channel.nodes();
  shape_.rank = nodes.rank();
  shape_.size = nodes.size();
  shape_.node_index = nodes.node_index();
  shape_.node_rank = nodes.node_rank();
  shape_.node_size = nodes.node_size();
  shape_.node_count = nodes.node_count();
  shape_.largest_node = largest_node;
  stage_size_ = stage_size_for(shape_);
  const auto ranks = static_cast<std::size_t>(shape_.node_size);
  tables_offset_ = sizeof(Head) + ranks * sizeof(fabric::Milestone);
  const auto numbers = static_cast<std::size_t>(shape_.node_count + 1 + shape_.size);
  const std::size_t end = tables_offset_ + sizeof(TableHead) + numbers * sizeof(int);
  constexpr std::size_t kPageBytes = 4096;
  stages_offset_ = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
}

StageMemory::~StageMemory() {
  if (is_counted_) give_memory_back(MemoryUse::buffers, static_cast<ByteCount>(size()));
  ::operator delete(own_, kAlignment);
}

fabric::MilestoneBells& StageMemory::bells() const {
  return reinterpret_cast<Head*>(base_)->bells;
}

std::span<fabric::Milestone> StageMemory::milestones() const {
  return {reinterpret_cast<fabric::Milestone*>(base_ + sizeof(Head)),
          static_cast<std::size_t>(shape_.node_size)};
}

Result<std::unique_ptr<StageMemory>> StageMemory::make(fabric::Channel& channel, int tag,
                                                       const std::vector<int>& ranks,
                                                       const NodeTables& tables) {
  std::unique_ptr<StageMemory> made;
  Lack lack = Lack::memory;
  static_cast<void>(attempt([&]() -> Error {
    made.reset(new StageMemory(channel, tables.largest_node));
    lack = Lack::none;
    // Counted where the node's leader runs, as buffers of files are.
    if (!channel.nodes().is_leader()) return {};
    const ByteCount most = buffers_share(settings().node_memory);
    const auto size = static_cast<ByteCount>(made->size());
    made->is_counted_ = take_memory_within(MemoryUse::buffers, size, most);
    if (!made->is_counted_) lack = Lack::room;
    return {};
  }));
  if (Error error = agree(channel, lack)) return error;
  lack = made->get(channel, tag, ranks);
  if (lack == Lack::none && channel.nodes().is_leader()) made->write_tables(tables);
  if (Error error = agree(channel, lack)) return error;
  made->read_tables();
  return made;
}

StageMemory::Lack StageMemory::get(fabric::Channel& channel, int tag,
                                   const std::vector<int>& ranks) {
  if (shape_.node_size > 1) {
    Result<fabric::NodeSharing> shared =
        fabric::share_memory(channel.messenger(), tag, ranks, size(), size());
    if (shared) shared_ = std::move(shared.value().memory);
    if (shared_ == nullptr) return Lack::sharing;
    base_ = shared_->base();
    return Lack::none;
  }
  own_ = static_cast<std::byte*>(::operator new(size(), kAlignment, std::nothrow));
  if (own_ == nullptr) return Lack::memory;
  std::memset(own_, 0, stages_offset_);
  base_ = own_;
  return Lack::none;
}

void StageMemory::write_tables(const NodeTables& tables) {
  const TableHead head{tables.is_in_order() ? 1 : 0};
  std::byte* const begin = base_ + tables_offset_;
  std::memcpy(begin, &head, sizeof head);
  std::byte* const numbers = begin + sizeof head;
  const std::size_t bytes = tables.begins.size() * sizeof(int);
  std::memcpy(numbers, tables.begins.data(), bytes);
  std::memcpy(numbers + bytes, tables.ranks.data(), tables.ranks.size() * sizeof(int));
}

void StageMemory::read_tables() {
  const auto* const numbers = reinterpret_cast<const int*>(base_ + tables_offset_);
  const auto nodes = static_cast<std::size_t>(shape_.node_count);
  shape_.node_begins = {numbers + 1, nodes + 1};
  if (numbers[0] == 0) {
    shape_.ranks = {numbers + 1 + nodes + 1, static_cast<std::size_t>(shape_.size)};
  }
}

}  // namespace headrace::collective
