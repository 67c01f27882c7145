#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "faults/script.h"

namespace headrace::faults {

/// What buffers (HEADRACE_IOBUF) may do with the bytes of a file until all ranks have emptied them:
/// bytes that a rank was told are written may reach the file later, and a rank may read what it
/// read ahead.
class HeldBack {
 public:
  explicit HeldBack(const Bytes& file) : least_size_(std::ssize(file)) {}

  /// A rank gives this byte, which may be in the file from now on.
  void give(int rank, FileOffset offset, std::uint8_t byte);
  /// The rank was told that the byte it gave last is written.
  void owe(int rank, FileOffset offset, std::uint8_t byte);
  /// Who writes this place is not known: nothing is owed there.
  void doubt(FileOffset offset);
  /// The file has changed, and a rank may have read what was there before.
  void note_change(const Bytes& before, const Bytes& now);
  /// The rank was told that what it holds back is lost.
  void lose(int rank);
  /// All ranks have emptied their buffers.
  void forget(const Bytes& now);

  /// Whether the byte may be found there, or come there.
  bool may_be(FileOffset offset, std::uint8_t byte) const;
  /// What the rank alone has written there and must find.
  std::optional<std::uint8_t> owed(int rank, FileOffset offset) const;
  /// Where a byte is missing that the rank was told is written.
  std::optional<FileOffset> missing(int rank, const Bytes& now) const;
  /// The least that the file's end may be for the rank.
  ByteCount least_end(int rank) const;
  /// Behind the last byte that any rank gave.
  ByteCount most_end() const { return std::ssize(places_); }

 private:
  static constexpr int kNobody = -1;
  static constexpr int kSeveral = -2;

  struct Place {
    std::bitset<256> values;  ///< that it may have
    int owner = kNobody;      ///< which rank has written here
    std::optional<std::uint8_t> owed;
  };

  Place& at(FileOffset offset);
  const Place* find(FileOffset offset) const;

  std::vector<Place> places_;
  ByteCount least_size_;  ///< of the file, since all buffers were empty
};

}  // namespace headrace::faults
