#include "exchange/file_channel.h"

#include <cassert>

#include "exchange/shared_pointers.h"
#include "fabric/messages.h"
#include "fabric/team.h"

namespace headrace::exchange {

FileChannel::FileChannel(std::shared_ptr<fabric::Team> team, fabric::ChannelPlace place,
                         std::shared_ptr<SharedPointers> pointers)
    : Channel(std::move(team), place), pointers_(std::move(pointers)) {
  if (nodes().node_count() > 1) own_locks_ = std::make_unique<RangeLocks>();
  if (shared_state() != nullptr) {
    state_ = reinterpret_cast<FileState*>(shared_state());
  } else if (nodes().node_count() > 1) {
    own_state_ = std::make_unique<FileState>();
    state_ = own_state_.get();
  } else {
    own_file_ = std::make_unique<SharedFile>();
  }
  if (SharedPointer* const pointer = near_pointer()) pointers_->add(id(), *pointer);
}

FileChannel::~FileChannel() {
  pointers_->remove(id());
}

fabric::ChannelNeeds FileChannel::needs() {
  return {.use = "file", .state_bytes = sizeof(FileState), .at_once = 1};
}

SharedPointer* FileChannel::near_pointer() {
  return nodes().is_on_first_node() ? &file().pointer : nullptr;
}

Result<std::int64_t> FileChannel::advance_pointer(int cell, std::int64_t etypes) {
  assert(cell == 0 || cell == 1);
  std::int64_t before = 0;
  if (SharedPointer* const pointer = near_pointer()) {
    before = advance(pointer->cells[static_cast<std::size_t>(cell)], etypes);
  } else {
    const Result<std::int64_t> moved = pointers_->advance(id(), cell, etypes);
    if (!moved) return moved;
    before = moved.value();
  }
  if (before >= 0) return before;
  if (before == kPointerGone) {
    return Error{ErrorClass::file, 0,
                 "the shared pointer is gone (rank 0 has closed the file), close it on all ranks"};
  }
  return Error{ErrorClass::argument, 0,
               "the shared file pointer cannot go that far (it would not fit in 63 bits), seek to "
               "a smaller offset"};
}

void FileChannel::set_pointer(int cell, std::int64_t position) {
  near_pointer()->cells[static_cast<std::size_t>(cell)].store(position, std::memory_order_release);
}

void FileChannel::note_failed_write(int system_error) {
  file().last_system_error.store(system_error, std::memory_order_relaxed);
  file().failed_writes.fetch_add(1, std::memory_order_release);
}

FileChannel::FailedWrites FileChannel::failed_writes() {
  const std::int64_t count = file().failed_writes.load(std::memory_order_acquire);
  return {count, file().last_system_error.load(std::memory_order_relaxed)};
}

Error FileChannel::meet_leaders(std::span<const std::byte> mine, std::span<std::byte> scratch,
                                std::span<std::byte> all) {
  return fabric::allgather(messenger(), tag_of(MessageKind::meeting), nodes().leaders(),
                           nodes().node_index(), mine, scratch, all);
}

Result<bool> FileChannel::are_leaders_ready(bool mine) {
  return fabric::is_true_everywhere(messenger(), tag_of(MessageKind::meeting), nodes().leaders(),
                                    nodes().node_index(), mine);
}

}  // namespace headrace::exchange
