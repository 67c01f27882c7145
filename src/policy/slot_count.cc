#include "policy/slot_count.h"

#include <algorithm>

namespace headrace::policy {
namespace {

constexpr std::int64_t kUsual = 8;
constexpr std::int64_t kOfRank = 2;
constexpr std::int64_t kLeast = 4;
constexpr ByteCount kUsualBytes = ByteCount{16} << 20;
constexpr ByteCount kMaxBytes = ByteCount{32} << 20;

}  // namespace

std::int64_t slots_for_ranks(int nodes, int ranks, bool is_crowded) {
  const std::int64_t usual =
      nodes > 1 ? std::max(std::int64_t{2} * nodes, kUsual) : std::min(kOfRank * ranks, kUsual);
  return is_crowded ? std::max(usual, 2 * kUsual) : usual;
}

std::int64_t slots_of_size(std::int64_t wanted, ByteCount size, int nodes) {
  const std::int64_t of_nodes = std::min<std::int64_t>(nodes, kMaxBytes / size);
  const std::int64_t most = std::max({kUsualBytes / size, kLeast, of_nodes});
  return std::min(wanted, most);
}

}  // namespace headrace::policy
