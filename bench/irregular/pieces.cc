#include "irregular/pieces.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/failure.h"
#include "common/pattern.h"

namespace headrace::bench::irregular {
namespace {

/// Random numbers that are the same everywhere: mix() of a seed and a counter.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(mix(seed)) {}

  /// Uniform in [0, bound).
  std::int64_t below(std::int64_t bound) {
    const std::uint64_t word = mix(seed_ ^ count_++);
    return static_cast<std::int64_t>(
        static_cast<unsigned __int128>(word) * static_cast<std::uint64_t>(bound) >> 64);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

struct Run {
  std::int64_t offset;
  std::int64_t length;
};

/// Draws the rank of the next piece: of all that are left, any is as likely as any other.
int draw_rank(Random& random, std::vector<std::int64_t>& left, std::int64_t left_of_all) {
  std::int64_t number = random.below(left_of_all);
  int rank = 0;
  for (; number >= left[static_cast<std::size_t>(rank)]; ++rank) {
    number -= left[static_cast<std::size_t>(rank)];
  }
  --left[static_cast<std::size_t>(rank)];
  return rank;
}

std::vector<Run> draw_runs(const World& world, const Shape& shape) {
  Random random(static_cast<std::uint64_t>(shape.seed));
  std::vector<std::int64_t> left(static_cast<std::size_t>(world.size), shape.pieces);
  std::vector<Run> mine;
  std::int64_t offset = 0;
  for (std::int64_t rest = shape.pieces * world.size; rest > 0; --rest) {
    offset += random.below(2 * shape.gap + 1);
    const std::int64_t length =
        shape.shortest() + random.below(shape.longest() - shape.shortest() + 1);
    if (draw_rank(random, left, rest) == world.rank) mine.push_back({offset, length});
    offset += length;
  }
  return mine;
}

Datatype hindexed(const std::vector<Run>& runs) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  for (const Run& run : runs) {
    lengths.push_back(static_cast<int>(run.length));
    displacements.push_back(static_cast<MPI_Aint>(run.offset));
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(static_cast<int>(runs.size()), lengths.data(), displacements.data(),
                           MPI_BYTE, &type);
  return Datatype::commit(type);
}

/// Where the pieces stand in memory, in the order of the file.
std::vector<Run> permuted_memory(const World& world, const Shape& shape,
                                 const std::vector<Run>& file) {
  Random random(mix(static_cast<std::uint64_t>(shape.seed)) +
                static_cast<std::uint64_t>(world.rank));
  std::vector<std::size_t> order(file.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  std::vector<Run> memory(file.size());
  std::int64_t offset = 0;
  for (const std::size_t number : order) {
    memory[number] = {offset, file[number].length};
    offset += file[number].length;
  }
  return memory;
}

Strips strips_of(const std::vector<Run>& runs) {
  Strips strips;
  for (const Run& run : runs) add_run(strips, run.offset, run.length);
  return strips;
}

}  // namespace

std::int64_t Shape::shortest() const {
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(
                                       std::llround(static_cast<double>(mean) * (1 - spread))));
}

std::int64_t Shape::longest() const {
  return std::max(shortest(), static_cast<std::int64_t>(
                                  std::llround(static_cast<double>(mean) * (1 + spread))));
}

Layout random_layout(const World& world, const Shape& shape) {
  Layout layout;
  agree_on_memory(world.communicator, std::to_string(shape.pieces) + " pieces", [&] {
    const std::vector<Run> runs = draw_runs(world, shape);
    layout.file = strips_of(runs);
    layout.file_type = hindexed(runs);
    if (!shape.permuted) return;
    const std::vector<Run> memory = permuted_memory(world, shape, runs);
    layout.memory = strips_of(memory);
    layout.memory_type = hindexed(memory);
  });
  complete(world, layout);
  return layout;
}

}  // namespace headrace::bench::irregular
