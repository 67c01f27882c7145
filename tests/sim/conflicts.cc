#include "sim/conflicts.h"

#include <algorithm>

namespace headrace::sim {
namespace {

bool reaches(const std::vector<FileOffset>& bytes, ByteCount size) {
  return std::ranges::any_of(bytes, [size](FileOffset offset) { return offset >= size; });
}

}  // namespace

void Conflicts::clear(ByteCount size) {
  for (const FileOffset offset : touched_) {
    writers_[static_cast<std::size_t>(offset)] = kNobody;
    readers_[static_cast<std::size_t>(offset)] = kNobody;
  }
  touched_.clear();
  settled_size_ = size;
  has_grown_ = false;
  end_was_seen_ = false;
}

bool Conflicts::concerns(int rank, Direction direction, const std::vector<FileOffset>& bytes,
                         ByteCount size) const {
  const bool writes = direction == Direction::write;
  if (writes ? end_was_seen_ && reaches(bytes, size)
             : has_grown_ && reaches(bytes, settled_size_)) {
    return true;
  }
  return std::ranges::any_of(bytes, [&](FileOffset offset) {
    const auto place = static_cast<std::size_t>(offset);
    if (writers_[place] != kNobody && writers_[place] != rank) return true;
    return writes && readers_[place] != kNobody && readers_[place] != rank;
  });
}

void Conflicts::add(int rank, Direction direction, const std::vector<FileOffset>& bytes,
                    ByteCount size) {
  const bool writes = direction == Direction::write;
  if (reaches(bytes, size)) (writes ? has_grown_ : end_was_seen_) = true;
  for (const FileOffset offset : bytes) {
    const auto place = static_cast<std::size_t>(offset);
    std::int8_t& user = writes ? writers_[place] : readers_[place];
    user = user == kNobody || user == rank ? static_cast<std::int8_t>(rank) : kSeveral;
    touched_.push_back(offset);
  }
}

}  // namespace headrace::sim
