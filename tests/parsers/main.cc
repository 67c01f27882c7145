#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>

#include "parsers/target.h"

// Runs parsers on their corpus and on inputs changed from it at random.
//
//   parsers [TARGET] [--count N] [--seed S]     N changed inputs for each target
//   parsers TARGET --input FILE                 one input
//
// What fails is kept in the file parsers-failed; under the sanitizers a crash prints its seed,
// which with --count 1 gives the same input again.

namespace headrace::parsers {
namespace {

const Target* const kTargets[] = {
    &settings_target,      &hints_target,      &hint_file_target,
    &hint_patterns_target, &file_name_target,  &pointer_question_target,
    &pointer_home_target,  &claim_target,      &part_target,
    &lustre_layout_target, &mount_info_target, &gluster_volume_target,
    &image_target};

/// One change of an input.
void change(Input& input, const std::vector<Input>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  const auto at = [&](std::size_t place) {
    return input.begin() + static_cast<std::ptrdiff_t>(place);
  };
  switch (below(8)) {
    case 0:
      if (!input.empty()) input[below(input.size())] ^= static_cast<std::uint8_t>(1U << below(8));
      break;
    case 1:
      if (!input.empty()) input[below(input.size())] = static_cast<std::uint8_t>(random());
      break;
    case 2: input.insert(at(below(input.size() + 1)), static_cast<std::uint8_t>(random())); break;
    case 3: {
      const std::size_t begin = below(input.size() + 1);
      input.erase(at(begin), at(begin + below(input.size() - begin + 1)));
      break;
    }
    case 4: {  // a part twice
      const std::size_t begin = below(input.size() + 1);
      const std::size_t len = std::min<std::size_t>(below(input.size() - begin + 1), 4096);
      const Input part(at(begin), at(begin + len));
      if (input.size() < 100'000) input.insert(at(begin), part.begin(), part.end());
      break;
    }
    case 5: {  // the end of another one
      const Input& other = corpus[below(corpus.size())];
      input.resize(below(input.size() + 1));
      input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size())),
                   other.end());
      break;
    }
    case 6: {  // a number of a message
      constexpr std::int64_t kNumbers[] = {0, -1, 1, INT64_MAX, INT64_MIN, 1 << 20, INT32_MAX};
      const std::int64_t number = kNumbers[below(std::size(kNumbers))];
      if (input.size() < sizeof number) break;
      const std::size_t place = below(input.size() - sizeof number + 1) / 4 * 4;
      std::memcpy(input.data() + place, &number, sizeof number);
      break;
    }
    default: {  // a number of a text
      constexpr const char* kNumbers[] = {
          "0",   "-1",   "9223372036854775807", "18446744073709551616", "1g",
          "64k", "0x10", "99999999999999999999"};
      const std::string number = kNumbers[below(std::size(kNumbers))];
      const std::size_t begin = below(input.size() + 1);
      input.insert(at(begin), number.begin(), number.end());
    }
  }
}

bool run(const Target& target, const Input& input, const std::string& which) {
  try {
    target.run(input);
    return true;
  } catch (const std::exception& wrong) {
    std::cout << target.name << ": " << wrong.what() << " (" << which << ", kept in parsers-failed)"
              << std::endl;
  }
  std::ofstream("parsers-failed", std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()), std::ssize(input));
  return false;
}

bool run_many(const Target& target, std::uint64_t seed, std::int64_t count) {
  const std::vector<Input> corpus = target.corpus();
  for (const Input& input : corpus) {
    if (!run(target, input, "as in the corpus")) return false;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(i));
    Input input = corpus[random() % corpus.size()];
    for (std::uint64_t changes = 1 + random() % 12; changes > 0; --changes) {
      change(input, corpus, random);
    }
    if (!run(target, input, "seed " + std::to_string(seed + static_cast<std::uint64_t>(i)))) {
      return false;
    }
  }
  return true;
}

int run_file(const Target& target, const char* path) {
  std::ifstream file(path, std::ios::binary);
  const Input input{std::istreambuf_iterator<char>(file), {}};
  return run(target, input, path) ? 0 : 1;
}

int usage() {
  std::cerr << "parsers [TARGET] [--count N] [--seed S] | parsers TARGET --input FILE\ntargets:";
  for (const Target* const target : kTargets) std::cerr << ' ' << target->name;
  std::cerr << '\n';
  return 2;
}

int act(int argc, char** argv) {
  const Target* only = nullptr;
  std::int64_t count = 2000;
  std::uint64_t seed = 1;
  const char* input = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto* const found = std::ranges::find(kTargets, word, &Target::name);
    if (found != std::end(kTargets)) {
      only = *found;
    } else if (i + 1 == argc) {
      return usage();
    } else if (word == "--count") {
      count = std::atoll(argv[++i]);
    } else if (word == "--seed") {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--input") {
      input = argv[++i];
    } else {
      return usage();
    }
  }
  if (input != nullptr) return only == nullptr ? usage() : run_file(*only, input);
  for (const Target* const target : kTargets) {
    if (only != nullptr && target != only) continue;
    if (!run_many(*target, seed, count)) return 1;
    std::cout << target->name << ": " << count << " inputs from seed " << seed << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace headrace::parsers

int main(int argc, char** argv) {
  return headrace::parsers::act(argc, argv);
}
