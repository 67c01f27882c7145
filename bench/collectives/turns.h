#pragma once

#include <cstddef>

namespace headrace::bench::collectives {

/// Which of `count` ways is measured at this turn of a round (both from 0). `count`: even, or 1.
/// Within `count` rounds each way comes once at each turn, and once straight after each other way
/// (Williams, "Experimental designs balanced for the estimation of residual effects of treatments",
/// 1949). A round of odd number is the reverse of the one before, so that of each pair of ways
/// either one comes first equally often.
constexpr std::size_t way_of(std::size_t round, std::size_t turn, std::size_t count) {
  const std::size_t begin = round / 2 + round % 2 * (count / 2);
  // 0, 1, -1, 2, -2, ...
  const std::size_t step = turn % 2 == 1 ? (turn + 1) / 2 : count - turn / 2;
  return (begin + step) % count;
}

}  // namespace headrace::bench::collectives
