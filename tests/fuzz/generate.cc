#include "fuzz/generate.h"

#include <algorithm>

#include "fuzz/step_maker.h"

namespace headrace::fuzz {
namespace {

using sim::Random;

std::vector<int> random_nodes(Random& random, int ranks) {
  const std::int64_t count = random.chance(55) ? 1 : random.number(2, 3);
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    nodes.push_back(static_cast<int>(random.number(0, count - 1)));
  }
  return nodes;
}

int rank_count(Random& random) {
  if (random.chance(8)) return static_cast<int>(random.number(5, 9));
  return random.one_of<int>({1, 2, 2, 2, 3, 3, 4});
}

Mode random_mode(Random& random, const Features& features) {
  Mode mode;
  const std::int64_t kind = random.number(0, 19);
  mode.read = kind != 0;
  mode.write = kind != 1;
  if (mode.write) mode.create = random.chance(60);
  mode.append = random.chance(12);
  mode.delete_on_close = random.chance(6);
  mode.unique_open = random.chance(10);
  if (features.sequential && features.shared && random.chance(7)) {
    mode.sequential = true;
    mode.read = random.chance(50);
    mode.write = !mode.read;
    mode.create = mode.write;
  }
  return mode;
}

std::int64_t initial_size(Random& random, const Features& features) {
  if (features.large_files && random.chance(3)) {
    return (std::int64_t{1} << random.number(31, 33)) + random.number(-300, 300);
  }
  switch (random.number(0, 5)) {
    case 0: return 0;
    case 1: return random.number(1, 3) * 65536 + random.number(-200, 200);
    case 2: return random.number(0, 200'000);
    default: return random.number(0, 3'000);
  }
}

File random_file(Random& random, int ranks, const Features& features) {
  File file;
  file.mode = random_mode(random, features);
  if (!file.mode.create || random.chance(50)) file.size = initial_size(random, features);
  file.mode.exclusive = file.mode.create && !file.size && random.chance(50);
  file.hints = random_hints(random);
  const std::int64_t kind = features.groups ? random.number(0, 9) : 0;
  for (int rank = 0; rank < ranks; ++rank) {
    file.groups.push_back(kind == 9 ? rank : kind == 8 ? static_cast<int>(random.number(0, 1)) : 0);
  }
  return file;
}

}  // namespace

Program generate(std::uint64_t seed, const Features& features) {
  Random random(seed);
  Program program;
  program.seed = seed;
  program.nodes = random_nodes(random, features.ranks > 0 ? features.ranks : rank_count(random));
  if (random.chance(45)) program.delay_every = static_cast<int>(random.number(3, 40));
  if (random.chance(40)) program.chunk = random.one_of<std::int64_t>({64, 512, 4096});
  const std::int64_t files = random.chance(80) ? 1 : random.number(2, 3);
  program.has_thread_a_file = files > 1 && random.chance(50);
  for (std::int64_t i = 0; i < files; ++i) {
    program.files.push_back(random_file(random, program.ranks(), features));
  }
  StepMaker maker(random, program, features);
  for (int file = 0; file < files; ++file) maker.begin(file);
  for (std::int64_t left = files * random.number(3, 14); left > 0; --left) {
    maker.add_step(static_cast<int>(random.number(0, files - 1)));
  }
  for (int file = 0; file < files; ++file) maker.complete_all(file);
  program.on_real_files = random.chance(20);
  // Atomic calls come between the pieces of others only where these take their time.
  const bool has_atomic = std::ranges::any_of(program.steps, &Step::atomic);
  if (has_atomic && random.chance(60)) {
    program.delay_every = static_cast<int>(random.number(2, 6));
    program.on_real_files = false;
  }
  return program;
}

}  // namespace headrace::fuzz
