#pragma once

#include <cstdint>
#include <vector>

#include "sim/requests.h"

namespace headrace::sim {

/// Which rank touched which byte since all ranks last met. MPI leaves the order of conflicting
/// accesses of different ranks open, so a scenario makes the ranks meet before such an access.
class Conflicts {
 public:
  /// All ranks meet; the file then has `size` bytes.
  void clear(ByteCount size);

  /// Whether the order of this access and one before it decides what comes of them. `size` is the
  /// present size of the file.
  bool concerns(int rank, Direction direction, const std::vector<FileOffset>& bytes,
                ByteCount size) const;
  void add(int rank, Direction direction, const std::vector<FileOffset>& bytes, ByteCount size);
  /// The same for a question about the size.
  bool concerns_size() const { return has_grown_; }
  void add_size_question() { end_was_seen_ = true; }

 private:
  static constexpr std::int8_t kNobody = -1;
  static constexpr std::int8_t kSeveral = -2;

  std::vector<std::int8_t> writers_ = std::vector<std::int8_t>(kEndOfRequests, kNobody);
  std::vector<std::int8_t> readers_ = std::vector<std::int8_t>(kEndOfRequests, kNobody);
  std::vector<FileOffset> touched_;
  ByteCount settled_size_ = 0;  ///< when the ranks met
  bool has_grown_ = false;
  bool end_was_seen_ = false;  ///< a read met the end, or somebody asked for the size
};

}  // namespace headrace::sim
