#include "faults/held_back.h"

#include <algorithm>

namespace headrace::faults {

HeldBack::Place& HeldBack::at(FileOffset offset) {
  const auto index = static_cast<std::size_t>(offset);
  if (index >= places_.size()) places_.resize(index + 1);
  return places_[index];
}

const HeldBack::Place* HeldBack::find(FileOffset offset) const {
  return offset < std::ssize(places_) ? &places_[static_cast<std::size_t>(offset)] : nullptr;
}

void HeldBack::give(int rank, FileOffset offset, std::uint8_t byte) {
  Place& place = at(offset);
  place.values.set(byte);
  place.owner = place.owner == kNobody || place.owner == rank ? rank : kSeveral;
  place.owed.reset();
}

void HeldBack::owe(int rank, FileOffset offset, std::uint8_t byte) {
  Place& place = at(offset);
  if (place.owner == rank) place.owed = byte;
}

void HeldBack::doubt(FileOffset offset) {
  Place& place = at(offset);
  place.owner = kSeveral;
  place.owed.reset();
}

void HeldBack::note_change(const Bytes& before, const Bytes& now) {
  const std::size_t common = std::min(before.size(), now.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (before[i] == now[i]) continue;
    Place& place = at(static_cast<FileOffset>(i));
    place.values.set(before[i]);
    place.values.set(now[i]);
  }
  // There were zeros where another rank's bytes lie behind the end.
  for (std::size_t i = common; i < now.size(); ++i) {
    Place& place = at(static_cast<FileOffset>(i));
    place.values.set(0);
    place.values.set(now[i]);
  }
  least_size_ = std::min(least_size_, std::ssize(now));
}

void HeldBack::lose(int rank) {
  for (Place& place : places_) {
    if (place.owner == rank) place.owed.reset();
  }
}

void HeldBack::forget(const Bytes& now) {
  places_.clear();
  least_size_ = std::ssize(now);
}

bool HeldBack::may_be(FileOffset offset, std::uint8_t byte) const {
  const Place* const place = find(offset);
  return place != nullptr && place->values.test(byte);
}

std::optional<std::uint8_t> HeldBack::owed(int rank, FileOffset offset) const {
  const Place* const place = find(offset);
  return place != nullptr && place->owner == rank ? place->owed : std::nullopt;
}

std::optional<FileOffset> HeldBack::missing(int rank, const Bytes& now) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.owner != rank || !place.owed) continue;
    if (i >= now.size() || now[i] != *place.owed) return static_cast<FileOffset>(i);
  }
  return std::nullopt;
}

ByteCount HeldBack::least_end(int rank) const {
  for (ByteCount end = std::ssize(places_); end > least_size_; --end) {
    if (owed(rank, end - 1)) return end;
  }
  return least_size_;
}

}  // namespace headrace::faults
