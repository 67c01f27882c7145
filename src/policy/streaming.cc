#include "policy/streaming.h"

namespace headrace::policy {

/// More than one third-level cache of today's CPUs holds, and more than a core's share of it. Fixed
/// numbers, since the C library reports the sum of several such caches.
view::Stores stores_for(ByteCount of_all, ByteCount of_rank) {
  constexpr ByteCount kThirdLevel = 32 << 20;
  constexpr ByteCount kPerCore = 4 << 20;
  return of_all > kThirdLevel && of_rank > kPerCore ? view::Stores::streaming : view::Stores::usual;
}

}  // namespace headrace::policy
