#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "unit/collective_world.h"

/// Calls in which each rank gives each other a parcel of a drawn size, and what comes of them.
namespace headrace::collective {

/// Bytes from each rank to each other.
using Sizes = std::vector<std::vector<std::size_t>>;

inline std::byte given(int from, int to, std::size_t call, std::size_t i) {
  return static_cast<std::byte>(static_cast<std::size_t>(from) * 31 +
                                static_cast<std::size_t>(to) * 57 + call * 101 + i * 7 + i / 251);
}

/// Parcels for, or from, all ranks, in reverse and with gaps.
inline std::vector<Parcel> laid_out(const std::vector<std::size_t>& sizes, std::size_t& end) {
  std::vector<Parcel> parcels(sizes.size());
  end = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    parcels[i] = {end, sizes[i]};
    end += sizes[i] + 3;
  }
  return parcels;
}

struct Case {
  std::vector<RankCall> ranks;
  std::vector<std::vector<std::byte>> expected;
};

/// What the ranks do to move parcels of these sizes. `in_place`: sizes are the same in both
/// directions.
inline Case make_case(const Call& call, const Sizes& sizes, std::size_t number, bool in_place) {
  const std::size_t count = sizes.size();
  Case made;
  for (std::size_t r = 0; r < count; ++r) {
    RankCall own;
    own.call = call;
    own.is_in_place = in_place;
    std::vector<std::size_t> from(count);
    for (std::size_t i = 0; i < count; ++i) from[i] = sizes[i][r];
    std::size_t sent = 0;
    std::size_t received = 0;
    own.to = laid_out(sizes[r], sent);
    own.from = laid_out(from, received);
    own.send.resize(sent);
    own.receive.resize(received);
    std::vector<std::byte> expected = own.receive;
    for (std::size_t other = 0; other < count; ++other) {
      for (std::size_t i = 0; i < own.to[other].bytes; ++i) {
        (in_place ? own.receive : own.send)[own.to[other].offset + i] =
            given(static_cast<int>(r), static_cast<int>(other), number, i);
      }
      for (std::size_t i = 0; i < own.from[other].bytes; ++i) {
        expected[own.from[other].offset + i] =
            given(static_cast<int>(other), static_cast<int>(r), number, i);
      }
    }
    made.ranks.push_back(std::move(own));
    made.expected.push_back(std::move(expected));
  }
  return made;
}

/// Nothing, less than is small, or more than that.
inline std::size_t draw_size(std::mt19937& random, std::size_t small) {
  switch (random() % 4) {
    case 0: return 0;
    case 1: return small + 1 + random() % 2000;
    default: return 1 + random() % small;
  }
}

inline Sizes draw_sizes(const Call& call, std::size_t ranks, std::size_t small, bool in_place,
                        std::mt19937& random) {
  Sizes sizes(ranks, std::vector<std::size_t>(ranks));
  const auto root = static_cast<std::size_t>(call.root);
  const bool gathers = call.operation == Operation::gather || call.operation == Operation::gatherv;
  const bool scatters =
      call.operation == Operation::scatter || call.operation == Operation::scatterv;
  const bool is_sparse = random() % 3 == 0;
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if ((gathers && to != root) || (scatters && from != root)) continue;
      if (has_common_size(call.operation)) {
        sizes[from][to] = call.bytes;
      } else if (in_place && to < from) {
        sizes[from][to] = sizes[to][from];
      } else if (!is_sparse || random() % 4 == 0) {
        sizes[from][to] = draw_size(random, small);
      }
    }
  }
  return sizes;
}

inline const Nodes kShapes[] = {
    in_blocks({2}),          in_blocks({5}),
    in_blocks({2, 2}),       in_blocks({3, 1, 2}),
    in_blocks({1, 1, 1}),    in_blocks({1, 5}),
    in_blocks({4, 4, 4, 4}), in_blocks({3, 1, 2, 2, 1, 4, 2}),
    dealt_round({2, 2}),     dealt_round({3, 1, 2}),
    dealt_round({4, 4, 4}),  dealt_round({1, 6, 2, 2, 3}),
};

}  // namespace headrace::collective
