#include "record/part_rounds.h"

namespace headrace::record {

std::vector<PartRound> rounds_of(std::span<const std::int64_t> sizes, std::int64_t most) {
  std::vector<PartRound> rounds;
  std::int64_t bytes = 0;  // of the last round
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0) continue;
    const int rank = static_cast<int>(i);
    if (rounds.empty() || bytes + sizes[i] > most) {
      rounds.push_back({rank, rank});
      bytes = 0;
    }
    rounds.back().end = rank + 1;
    bytes += sizes[i];
  }
  return rounds;
}

}  // namespace headrace::record
