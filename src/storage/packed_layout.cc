#include <bit>
#include <cstdint>

#include "base/rounding.h"
#include "storage/file_layout.h"
#include "storage/kinds.h"

namespace headrace::storage {
namespace {

// The fields of a packed layout, from the lowest: outcome, errno, endless, locks, coherent, kind,
// the power of 2 that a block has, count, pages of a stripe.
constexpr std::int64_t kOutcomes = 8;
constexpr std::int64_t kErrors = 1 << 8;
constexpr std::int64_t kKindRange = 1 << 6;
constexpr std::int64_t kBlockRange = 1 << 5;
constexpr std::int64_t kCountRange = 1 << 17;
constexpr std::int64_t kPageRange = 1 << 21;

std::int64_t within(std::int64_t value, std::int64_t range) {
  return value >= 0 && value < range ? value : 0;
}

/// Removes the lowest digit and returns it.
std::int64_t take(std::int64_t& packed, std::int64_t range) {
  const std::int64_t digit = packed % range;
  packed /= range;
  return digit;
}

}  // namespace

std::int64_t pack(const Layout& layout) {
  const bool whole_pages = layout.stripes.size % kPage == 0;
  std::int64_t packed = whole_pages ? within(layout.stripes.size / kPage, kPageRange) : 0;
  packed = packed * kCountRange + within(layout.stripes.count, kCountRange);
  const auto block = static_cast<std::uint64_t>(layout.block_size);
  const std::int64_t power = std::has_single_bit(block) ? std::countr_zero(block) : 0;
  packed = packed * kBlockRange + within(power, kBlockRange);
  packed = packed * kKindRange + within(layout.kind, kKindRange);
  packed = packed * 2 + (layout.is_coherent ? 1 : 0);
  packed = packed * 2 + (layout.locks_whole_files ? 1 : 0);
  packed = packed * 2 + (layout.is_endless ? 1 : 0);
  packed = packed * kErrors + within(layout.system_error, kErrors);
  return packed * kOutcomes + static_cast<std::int64_t>(layout.outcome);
}

Layout unpack_layout(std::int64_t packed) {
  Layout layout;
  layout.outcome = static_cast<StripingOutcome>(take(packed, kOutcomes));
  layout.system_error = static_cast<int>(take(packed, kErrors));
  layout.is_endless = take(packed, 2) == 1;
  layout.locks_whole_files = take(packed, 2) == 1;
  layout.is_coherent = take(packed, 2) == 1;
  const std::int64_t kind = take(packed, kKindRange);
  layout.kind = kind < std::ssize(kinds()) ? static_cast<int>(kind) : 0;
  const std::int64_t power = take(packed, kBlockRange);
  layout.block_size = power == 0 ? 0 : ByteCount{1} << power;
  layout.stripes.count = take(packed, kCountRange);
  layout.stripes.size = packed * kPage;
  return layout;
}

}  // namespace headrace::storage
