// fuzz [--seed S] [--count N] [--without FEATURE]... [--keep-going] [--no-shrink] [--print]
//      [--limit SECONDS]
// fuzz --program FILE...
//
// Runs random programs, or those in files, on the engine in the simulation and judges what they
// saw. Prints each program that fails, made as small as possible, with its seed. One that has not
// ended after the limit fails, too.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/generate.h"
#include "fuzz/shrink.h"
#include "fuzz/sim/isolated.h"
#include "fuzz/text.h"

namespace headrace::fuzz {
namespace {

constexpr unsigned kSecondsForOne = 600;  ///< many times what any takes
constexpr unsigned kSecondsToShrink = 10;
constexpr std::int64_t kBatch = 200;

struct Options {
  std::uint64_t seed = 1;
  std::int64_t count = 1000;
  unsigned seconds_for_one = kSecondsForOne;
  bool keeps_going = false;
  bool shrinks = true;
  bool prints = false;
  Features features;
  std::vector<std::string> programs;
};

bool set_feature(Features& features, const std::string& name) {
  if (name == "nonblocking")
    features.nonblocking = false;
  else if (name == "split")
    features.split = false;
  else if (name == "shared")
    features.shared = false;
  else if (name == "atomic")
    features.atomic = false;
  else if (name == "sequential")
    features.sequential = false;
  else if (name == "large")
    features.large_files = false;
  else if (name == "groups")
    features.groups = false;
  else if (name == "errors")
    features.errors = false;
  else
    return false;
  return true;
}

bool read_options(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--keep-going")
      options.keeps_going = true;
    else if (word == "--no-shrink")
      options.shrinks = false;
    else if (word == "--print")
      options.prints = true;
    else if (++i == count)
      return false;
    else if (word == "--seed")
      options.seed = std::strtoull(words[i], nullptr, 10);
    else if (word == "--count")
      options.count = std::strtoll(words[i], nullptr, 10);
    else if (word == "--limit")
      options.seconds_for_one = static_cast<unsigned>(std::atoi(words[i]));
    else if (word == "--ranks")
      options.features.ranks = std::atoi(words[i]);
    else if (word == "--program")
      options.programs.emplace_back(words[i]);
    else if (word != "--without" || !set_feature(options.features, words[i]))
      return false;
  }
  return true;
}

Verdict run_once(const Program& program, unsigned seconds) {
  return run_isolated(1, [&](std::int64_t) { return program; }, seconds);
}

/// A failure that depends on time is looked for several times.
void report(const Program& program, const std::string& problem, const Options& options) {
  std::printf("FAILED, seed %llu:\n%s", static_cast<unsigned long long>(program.seed),
              problem.c_str());
  if (!options.shrinks) return;
  std::fflush(stdout);
  int failures = 0;
  for (int i = 0; i < 4; ++i)
    failures += run_once(program, kSecondsToShrink).problem.empty() ? 0 : 1;
  const int tries = failures == 4 ? 1 : 8;
  std::string last = problem;
  const Program small = shrink(program, [&](const Program& candidate) {
    for (int i = 0; i < tries; ++i) {
      const std::string found = run_once(candidate, kSecondsToShrink).problem;
      if (found.empty()) continue;
      last = found;
      return true;
    }
    return false;
  });
  std::printf("failed %d times of 4; the smallest program found:\n%sfails by: %s\n", failures,
              to_text(small).c_str(), last.c_str());
}

int run_seeds(const Options& options) {
  std::int64_t failures = 0;
  for (std::int64_t done = 0; done < options.count;) {
    const std::uint64_t first = options.seed + static_cast<std::uint64_t>(done);
    const auto make = [&](std::int64_t i) {
      return generate(first + static_cast<std::uint64_t>(i), options.features);
    };
    const Verdict verdict =
        run_isolated(std::min(kBatch, options.count - done), make, options.seconds_for_one);
    done += verdict.clean;
    std::fflush(stdout);
    if (verdict.problem.empty()) continue;
    failures += 1;
    report(make(verdict.clean), verdict.problem, options);
    done += 1;
    if (!options.keeps_going) {
      std::printf("%lld sequences were run\n", static_cast<long long>(done));
      return 1;
    }
  }
  std::printf("%lld of %lld sequences failed\n", static_cast<long long>(failures),
              static_cast<long long>(options.count));
  return failures == 0 ? 0 : 1;
}

int run_files(const Options& options) {
  int failures = 0;
  for (const std::string& name : options.programs) {
    std::ifstream file(name);
    std::ostringstream text;
    text << file.rdbuf();
    const std::variant<Program, std::string> parsed = parse(text.str());
    if (const auto* reason = std::get_if<std::string>(&parsed)) {
      std::printf("%s: %s\n", name.c_str(), reason->c_str());
      failures += 1;
      continue;
    }
    const Verdict verdict = run_once(std::get<Program>(parsed), options.seconds_for_one);
    if (verdict.problem.empty()) continue;
    std::printf("%s fails:\n%s", name.c_str(), verdict.problem.c_str());
    failures += 1;
  }
  std::printf("%d of %zu programs failed\n", failures, options.programs.size());
  return failures == 0 ? 0 : 1;
}

int main(int count, char** words) {
  Options options;
  if (!read_options(count, words, options)) {
    std::fprintf(stderr,
                 "usage: fuzz [--seed S] [--count N] [--ranks R] [--without FEATURE]... "
                 "[--keep-going] [--no-shrink] [--print] [--limit SECONDS] [--program FILE]...\n");
    return 2;
  }
  if (!options.programs.empty()) return run_files(options);
  if (!options.prints) return run_seeds(options);
  for (std::int64_t i = 0; i < options.count; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    std::printf("%s\n", to_text(generate(seed, options.features)).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace headrace::fuzz

int main(int count, char** words) {
  return headrace::fuzz::main(count, words);
}
