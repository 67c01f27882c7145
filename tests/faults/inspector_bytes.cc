#include <algorithm>
#include <utility>

#include "faults/inspector.h"

// What bytes are in the file and in memory after a transfer.

namespace headrace::faults {

/// A rank that failed before it took its place has none: tries which of those that moved nothing
/// took one.
void Inspector::check_ordered(const Step& step, std::vector<Got> got, const Bytes& now) {
  std::vector<std::size_t> doubtful;
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    if (got[rank].error && got[rank].bytes == 0) doubtful.push_back(rank);
  }
  const ByteCount base = got.empty() ? 0 : got[0].begin;
  std::string first;
  for (unsigned chosen = 0; chosen < 1U << doubtful.size(); ++chosen) {
    ByteCount position = base;
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      got[rank].begin = position;
      const auto found = std::ranges::find(doubtful, rank);
      const bool is_left_out =
          found != doubtful.end() && (chosen >> (found - doubtful.begin()) & 1) != 0;
      if (!is_left_out) position += wanted_bytes(step.parts[rank]);
    }
    std::string wrong = step.is_write ? wrong_write(step, got, now) : wrong_read(step, got, now);
    if (wrong.empty()) return;
    if (first.empty()) first = std::move(wrong);
  }
  problems_.add(place_ + ": " + first);
}

std::string Inspector::wrong_write(const Step& step, const std::vector<Got>& got,
                                   const Bytes& now) const {
  // By place: the byte that a request gives, or -1.
  std::vector<std::int16_t> given(now.size(), -1);
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const Memory& memory = given_[rank];
    if (got[rank].memory != memory.bytes) return "a write changed the memory";
    if (step.parts[rank].wrong || views_[rank].shows_nothing()) continue;
    if (got[rank].begin < 0) continue;
    for (ByteCount i = 0; i < std::ssize(memory.places); ++i) {
      const auto offset = static_cast<std::size_t>(views_[rank].offset_of(got[rank].begin + i));
      const std::uint8_t byte =
          memory.bytes[static_cast<std::size_t>(memory.places[static_cast<std::size_t>(i)])];
      const bool is_there = offset < now.size() && now[offset] == byte;
      const bool may_come =
          is_held_back(step) || may_be_there(static_cast<FileOffset>(offset), now);
      if (i < got[rank].bytes && !got[rank].is_unknown && !is_there && !may_come) {
        return "byte " + std::to_string(i) + " of rank " + std::to_string(rank) +
               " is counted but missing";
      }
      if (offset < now.size()) given[offset] = byte;
    }
  }
  if (now.size() < file_.size()) return "the file became shorter";
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::uint8_t before = i < file_.size() ? file_[i] : std::uint8_t{0};
    const bool is_somebodys =
        now[i] == before || now[i] == given[i] || may_be_there(static_cast<FileOffset>(i), now);
    if (!is_somebodys) return "byte " + std::to_string(i) + " is nobody's";
  }
  const bool has_grown = now.size() > file_.size() && std::ssize(now) > held_.most_end();
  if (has_grown && given.back() < 0) return "the file grew by nobody's bytes";
  return {};
}

std::string Inspector::wrong_read(const Step& step, const std::vector<Got>& got,
                                  const Bytes& now) const {
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const Memory& memory = given_[rank];
    Bytes expected = memory.bytes;
    const bool is_invalid = step.parts[rank].wrong;
    const ByteCount wanted =
        is_invalid || views_[rank].shows_nothing() ? 0 : std::ssize(memory.places);
    for (ByteCount i = 0; i < wanted; ++i) {
      const auto place = static_cast<std::size_t>(memory.places[static_cast<std::size_t>(i)]);
      // Behind the count the memory is undefined.
      if (i >= got[rank].bytes || got[rank].is_unknown) {
        expected[place] = got[rank].memory[place];
        continue;
      }
      const auto offset = static_cast<std::size_t>(views_[rank].offset_of(got[rank].begin + i));
      if (buffers_) {
        const std::uint8_t byte = got[rank].memory[place];
        if (!may_read(got[rank], rank, static_cast<FileOffset>(offset), byte, now)) {
          return "byte " + std::to_string(i) + " that rank " + std::to_string(rank) +
                 " reads is nobody's, or not the one that it wrote";
        }
        expected[place] = byte;
        continue;
      }
      if (offset >= now.size()) return "rank " + std::to_string(rank) + " counts too many bytes";
      expected[place] = now[offset];
    }
    const std::string difference = sim::first_difference(got[rank].memory, expected);
    if (!difference.empty())
      return "memory of rank " + std::to_string(rank) + ": byte " + difference;
  }
  return {};
}

}  // namespace headrace::faults
