#include "policy/streaming.h"

namespace headrace::policy {

/// More than the third level of today's CPUs holds in one piece, and more than a core's part of it.
/// The C library's answers count the caches of several such pieces together.
view::Stores stores_for(ByteCount of_all, ByteCount of_rank) {
  constexpr ByteCount kThirdLevel = 32 << 20;
  constexpr ByteCount kPerCore = 4 << 20;
  return of_all > kThirdLevel && of_rank > kPerCore ? view::Stores::streaming : view::Stores::usual;
}

}  // namespace headrace::policy
