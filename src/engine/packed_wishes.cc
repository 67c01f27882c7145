#include "engine/packed_wishes.h"

#include <algorithm>

#include "base/settings.h"

namespace headrace::engine {
namespace {

constexpr std::int64_t kCountRange = 0x10000;
constexpr std::int64_t kPretended = std::int64_t{1} << 60;

constexpr std::int64_t kMostAggregators = (std::int64_t{1} << 30) - 1;
constexpr std::int64_t kFactorRange = 0x4000;
constexpr std::int64_t kAlignments = 4;

std::int64_t pack(const Stripes& stripes) {
  return stripes.size * kCountRange + stripes.count;
}

}  // namespace

std::int64_t pack_stripes(const HintValues& wanted) {
  const Stripes& pretended = settings().mimic_stripes;
  if (pretended.size > 0) return kPretended + pack(pretended);
  return pack(storage::usable({wanted.striping_unit, wanted.striping_factor}));
}

bool is_pretended(std::int64_t packed) {
  return packed >= kPretended;
}

Stripes stripes_of(const storage::Layout& layout, std::int64_t packed) {
  if (!is_pretended(packed)) {
    Stripes found = storage::usable(layout.stripes);
    if (layout.is_endless) found.count = 0;
    if (found.size > 0) return found;
  }
  packed %= kPretended;
  return {packed / kCountRange, packed % kCountRange};
}

std::int64_t pack_aggregators(const HintValues& wanted) {
  const plan::AggregatorWish& wish = wanted.aggregators;
  std::int64_t packed = std::min(wish.count, kMostAggregators);
  packed = packed * kFactorRange + std::min(wish.multiplier, kFactorRange - 1);
  packed = packed * kFactorRange + std::min(wish.most_for_object, kFactorRange - 1);
  packed = packed * kAlignments + static_cast<std::int64_t>(wanted.alignment);
  return packed * 2 + (wanted.lock_ahead ? 1 : 0);
}

void unpack_aggregators(std::int64_t packed, Agreement& agreement) {
  agreement.lock_ahead = packed % 2 == 1;
  packed /= 2;
  agreement.alignment = static_cast<plan::Alignment>(packed % kAlignments);
  packed /= kAlignments;
  agreement.aggregators.most_for_object = packed % kFactorRange;
  packed /= kFactorRange;
  agreement.aggregators.multiplier = packed % kFactorRange;
  agreement.aggregators.count = packed / kFactorRange;
}

}  // namespace headrace::engine
