// Counts what the engine does in fixed cases and prints it as JSON, to be compared with a baseline
// (compare.py). The numbers are exact: the same on every machine, whatever else it does.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "count/trial.h"

extern char** environ;

namespace headrace::count {
namespace {

constexpr ByteCount kFile = 4 << 20;

std::string size_name(ByteCount bytes) {
  return bytes % 1000 == 0 && bytes > 1000 ? std::to_string(bytes / 1000) + "KB"
                                           : std::to_string(bytes) + "B";
}

Case tiles(ByteCount piece, int ranks, ByteCount total = kFile) {
  const std::string name = "tile_" + size_name(piece) + "_" + std::to_string(ranks) + "_ranks";
  return {name, ranks, [=](int rank) { return tile(total, piece, rank, ranks); }};
}

Case renamed(Case one, const std::string& suffix) {
  one.name += "_" + suffix;
  return one;
}

Case forced(Case one, const std::string& path) {
  one.hints = {{"headrace_write_path", path}, {"headrace_read_path", path}};
  return renamed(std::move(one), path);
}

Case in_turn(Case one, int calls, bool is_collective) {
  one.calls = calls;
  one.is_collective = is_collective;
  one.takes_turns = true;
  return one;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int ranks : {2, 8}) {
    const std::string suffix = "_" + std::to_string(ranks) + "_ranks";
    for (const ByteCount piece : {64, 1'000, 100'000}) cases.push_back(tiles(piece, ranks));
    cases.push_back(
        {"irregular" + suffix, ranks, [=](int rank) { return irregular(kFile, rank, ranks); }});
    cases.push_back({"lattice" + suffix, ranks, [=](int rank) { return lattice(rank, ranks); }});
    Case loop = renamed(tiles(1'000, ranks, 50'000 * ranks), "100_calls");
    loop.calls = 100;
    cases.push_back(loop);
    // Nobody may wait for anybody here.
    const Case stretch{"contiguous" + suffix, ranks,
                       [](int rank) { return contiguous(10'000, 100, rank); }};
    cases.push_back(in_turn(renamed(stretch, "100_calls"), 100, true));
  }
  const Case strided = in_turn(renamed(tiles(64, 2, 64'000), "independent"), 10, false);
  cases.push_back(strided);
  for (const char* path : {"staged", "direct"}) cases.push_back(forced(tiles(1'000, 2), path));
  Case spread = renamed(tiles(1'000, 4), "2_nodes");
  spread.nodes = 2;
  cases.push_back(spread);
  return cases;
}

void print(const Counts& counts) {
  const char* comma = "";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    std::printf("%s\"%s\": %lld", comma, name_of(static_cast<Counter>(i)),
                static_cast<long long>(counts[i]));
    comma = ", ";
  }
}

/// A user's settings must not change the counts.
void forget_settings() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (text.starts_with("HEADRACE_")) names.push_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
  setenv("HEADRACE_QUIET", "1", 1);
  setenv("HEADRACE_CORE_DISTANCE", "80", 1);
}

int count_all(Plant plant) {
  forget_settings();
  std::printf("{\n\"made_with\": {},\n\"counts\": {");
  const char* comma = "\n";
  for (const Case& one : all_cases()) {
    for (const auto& [phase, counts] : run(one, plant)) {
      std::printf("%s  \"%s.%s\": {", comma, one.name.c_str(), phase.c_str());
      print(counts);
      std::printf("}");
      comma = ",\n";
    }
  }
  std::printf("\n}\n}\n");
  return 0;
}

int main(int argument_count, char** arguments) {
  if (argument_count == 1) return count_all(Plant::nothing);
  const std::string plant = arguments[1];
  if (plant == "store") return count_all(Plant::store);
  if (plant == "meeting") return count_all(Plant::meeting);
  if (plant == "copy") return count_all(Plant::copy);
  std::fprintf(stderr, "count: unknown plant '%s', give store, meeting or copy\n", plant.c_str());
  return 2;
}

}  // namespace
}  // namespace headrace::count

int main(int argument_count, char** arguments) {
  return headrace::count::main(argument_count, arguments);
}
