// Collective operations through what is preloaded against the MPI library's own, in turns within
// one job: batches of calls, whose buffers are written anew before each call.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/functions.h"
#include "collectives/operation.h"
#include "common/failure.h"
#include "common/json.h"
#include "common/options.h"
#include "common/world.h"

namespace headrace::bench::collectives {
namespace {

constexpr std::int64_t kFactor = 8;  ///< from one size to the next
constexpr int kWarmUp = 8;           ///< calls: more than HEADRACE_COLL_AFTER

struct Parameters {
  std::string operations;
  Size least{8};
  Size most{std::int64_t{4} << 20};
  std::int64_t batches = 40;
  double milliseconds = 1;  ///< of a batch
  std::string json;
  bool show_help = false;
};

/// What was measured: seconds of a call in each batch, on the rank that took longest.
struct Times {
  std::string operation;
  std::int64_t bytes = 0;
  std::int64_t calls = 0;                      ///< of a batch
  std::int64_t wrong = 0;                      ///< elements, on all ranks
  std::array<std::vector<double>, 2> seconds;  ///< plain, called
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::string> wanted_operations(const std::string& text) {
  const std::vector<std::string> known = operation_names();
  if (text.empty()) return known;
  std::vector<std::string> wanted;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (std::ranges::find(known, word) == known.end()) {
      std::string all;
      for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
      throw AgreedFailure("no operation '" + word + "', write some of " + all, 2);
    }
    wanted.push_back(word);
  }
  return wanted;
}

Parameters parse(int argc, char** argv, std::string& help) {
  Parameters p;
  OptionParser parser(
      "headrace bench collectives",
      "collectives: collective operations as the program calls them, against the MPI library's own",
      {
          {'o', "operations", &p.operations, "names with commas between them; all"},
          {0, "least", &p.least, "bytes of a rank's block, the first size", 8},
          {0, "most", &p.most, "the last size; each is 8 times the one before", 8},
          {'b', "batches", &p.batches, "pairs of batches of each size", 1},
          {0, "batchTime", &p.milliseconds, "milliseconds that a batch should take"},
          {0, "json", &p.json, "write the results as JSON here"},
          {'h', "help", &p.show_help, "this help"},
      });
  parser.parse(argc, argv);
  help = parser.help();
  if (p.least.bytes % 8 != 0 || p.most.bytes % 8 != 0 || p.least.bytes > p.most.bytes) {
    throw AgreedFailure("sizes must be multiples of 8, the first no larger than the last", 2);
  }
  return p;
}

std::vector<std::int64_t> sizes_of(const Parameters& p) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = p.least.bytes; size < p.most.bytes; size *= kFactor) {
    sizes.push_back(size);
  }
  sizes.push_back(p.most.bytes);
  return sizes;
}

class Bench {
 public:
  Bench(const Parameters& parameters, const World& world)
      : parameters_(parameters), world_(world), ways_{library_functions(), called_functions()} {}

  Times measure(const std::string& operation, std::int64_t bytes) {
    Times times;
    times.operation = operation;
    times.bytes = bytes;
    Cell cell(world_, operation, bytes);
    double longest = 0;
    for (const Functions& way : ways_) {
      times.wrong += check(cell, way);
      longest = std::max(longest, batch(cell, way, kWarmUp));
    }
    times.calls = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(parameters_.milliseconds / 1e3 / std::max(longest, 1e-9)), 1,
        10'000);
    for (std::int64_t i = 0; i < parameters_.batches; ++i) {
      for (const std::size_t turn : {i % 2, 1 - i % 2}) {
        times.seconds[turn].push_back(batch(cell, ways_[turn], times.calls));
      }
    }
    for (const Functions& way : ways_) times.wrong += check(cell, way);
    return times;
  }

 private:
  /// Seconds of a call, the same on all ranks.
  double batch(Cell& cell, const Functions& way, std::int64_t calls) {
    double spent = 0;
    ways_[0].barrier(world_.communicator);
    for (std::int64_t i = 0; i < calls; ++i) {
      cell.fill(++number_);
      const double begin = now();
      cell.call(way);
      spent += now() - begin;
    }
    double longest = 0;
    ways_[0].allreduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, world_.communicator);
    return longest / static_cast<double>(calls);
  }

  std::int64_t check(Cell& cell, const Functions& way) {
    std::int64_t wrong = 0;
    for (int i = 0; i < kWarmUp; ++i) {
      cell.fill(++number_);
      cell.call(way);
      wrong += cell.wrong(number_);
    }
    return sum(world_, wrong);
  }

  const Parameters& parameters_;
  const World& world_;
  std::array<Functions, 2> ways_;
  std::int64_t number_ = 0;  ///< of the last call
};

void print(const Times& times) {
  const auto median = [](std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2] * 1e6;
  };
  std::printf("%-22s %9lld %9lld %12.3f %12.3f %8lld\n", times.operation.c_str(),
              static_cast<long long>(times.bytes), static_cast<long long>(times.calls),
              median(times.seconds[0]), median(times.seconds[1]),
              static_cast<long long>(times.wrong));
  std::fflush(stdout);
}

std::string json_of(const World& world, const std::vector<Times>& all) {
  JsonWriter json;
  json.open_object();
  json.member("program", "headrace bench collectives");
  json.member("MPI", library_version());
  json.member("ranks", world.size);
  json.member("nodes", world.node_count);
  json.open_array("cells");
  for (const Times& times : all) {
    json.open_object();
    json.member("operation", times.operation);
    json.member("bytes", times.bytes);
    json.member("calls", times.calls);
    json.member("wrong", times.wrong);
    for (std::size_t way = 0; way < 2; ++way) {
      json.open_array(way == 0 ? "plain" : "headrace");
      for (const double seconds : times.seconds[way]) json.member("", seconds);
      json.close_array();
    }
    json.close_object();
  }
  json.close_array();
  json.close_object();
  return json.text();
}

int body(int argc, char** argv) {
  const World world = survey(MPI_COMM_WORLD);
  std::string help;
  const Parameters parameters = parse(argc, argv, help);
  if (parameters.show_help) {
    if (world.rank == 0) std::fputs(help.c_str(), stdout);
    return 0;
  }
  Bench bench(parameters, world);
  if (world.rank == 0) {
    std::printf("%-22s %9s %9s %12s %12s %8s\n", "operation", "bytes", "calls", "plain (us)",
                "called (us)", "wrong");
  }
  std::vector<Times> all;
  std::int64_t wrong = 0;
  for (const std::string& operation : wanted_operations(parameters.operations)) {
    const bool is_barrier = operation == "barrier";
    for (const std::int64_t bytes :
         is_barrier ? std::vector<std::int64_t>{0} : sizes_of(parameters)) {
      all.push_back(bench.measure(operation, bytes));
      wrong += all.back().wrong;
      if (world.rank == 0) print(all.back());
    }
  }
  std::string problem;
  if (world.rank == 0 && !parameters.json.empty()) {
    std::ofstream file(parameters.json);
    file << json_of(world, all) << "\n";
    if (!file.flush()) problem = "cannot write '" + parameters.json + "', give another path";
  }
  agree(world.communicator, problem);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace headrace::bench::collectives

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"collectives", "--most"},
                                      headrace::bench::collectives::body);
}
