// Collective operations through what is preloaded against the MPI library's own, in turns within
// one job; with --guidelines, also against the same done by other operations, both ways.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/batches.h"
#include "collectives/emulation.h"
#include "collectives/fitting.h"
#include "common/failure.h"
#include "common/json.h"
#include "common/options.h"
#include "common/world.h"

namespace headrace::bench::collectives {
namespace {

constexpr std::int64_t kFactor = 8;  ///< from one size to the next

struct Parameters {
  std::string operations;
  Size least{8};
  Size most{std::int64_t{4} << 20};
  std::int64_t batches = 40;
  double milliseconds = 1;  ///< of a batch
  bool guidelines = false;
  bool plain = false;
  std::int64_t nodes = 1;
  bool print = false;
  bool show_help = false;
};

/// What is measured: an operation, and what it is compared with. `emulation`: with --guidelines.
struct Case {
  std::string operation;
  std::string emulation;
  std::int64_t bytes = 0;
};

struct Finding {
  Case of;
  Measured measured;
};

/// The operations that can be measured, each once.
std::vector<std::string> known_operations(const Parameters& p) {
  if (!p.guidelines) {
    return operation_names();
  }
  std::vector<std::string> names;
  for (const Guideline& one : Emulation::guidelines()) names.emplace_back(one.operation);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::vector<std::string> wanted_operations(const Parameters& p) {
  const std::vector<std::string> known = known_operations(p);
  if (p.operations.empty()) return known;
  std::vector<std::string> wanted;
  std::istringstream words(p.operations);
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
          {'b', "batches", &p.batches, "of each size and way, in turns", 1},
          {0, "batchTime", &p.milliseconds, "milliseconds that a batch should take"},
          {0, "guidelines", &p.guidelines, "is an operation slower than what does the same?"},
          {0, "plain", &p.plain, "the MPI library's own alone"},
          {0, "nodes", &p.nodes, "fail where the ranks are on fewer nodes", 1},
          {0, "print", &p.print, "print the results as JSON, between two lines"},
          {'h', "help", &p.show_help, "this help"},
      });
  parser.parse(argc, argv);
  help = parser.help();
  if (p.least.bytes % 8 != 0 || p.most.bytes % 8 != 0 || p.least.bytes > p.most.bytes) {
    throw AgreedFailure("sizes must be multiples of 8, the first no larger than the last", 2);
  }
  if (p.plain && p.guidelines) {
    throw AgreedFailure("--plain and --guidelines exclude each other, leave one of them out", 2);
  }
  return p;
}

std::vector<std::int64_t> sizes_of(const Parameters& p) {
  std::vector<std::int64_t> sizes;
  std::int64_t size = p.least.bytes;
  while (size < p.most.bytes) {
    sizes.push_back(size);
    if (__builtin_mul_overflow(size, kFactor, &size)) break;
  }
  sizes.push_back(p.most.bytes);
  return sizes;
}

std::vector<Case> cases_of(const Parameters& p) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& operation, std::string_view emulation) {
    const bool is_barrier = operation == "barrier";
    for (const std::int64_t bytes : is_barrier ? std::vector<std::int64_t>{0} : sizes_of(p)) {
      cases.push_back({operation, std::string(emulation), bytes});
    }
  };
  for (const std::string& operation : wanted_operations(p)) {
    if (!p.guidelines) add(operation, "");
    for (const Guideline& one : Emulation::guidelines()) {
      if (p.guidelines && one.operation == operation) add(operation, one.emulation);
    }
  }
  return cases;
}

/// The library's own procedures, then what the program calls; of each first the operation, then
/// its emulation if there is one.
class Bench {
 public:
  Bench(const Parameters& parameters, const World& world)
      : world_(world),
        is_plain_(parameters.plain),
        own_(library_functions()),
        called_(called_functions()),
        batches_(world, own_, parameters.batches, parameters.milliseconds,
                 !parameters.guidelines && !parameters.plain) {}

  Finding measure(const Case& one) {
    Cell cell(world_, one.operation, one.bytes);
    if (is_plain_) {
      const std::function<void()> ways[] = {[&] { cell.call(own_); }};
      return {one, batches_.measure(cell, ways)};
    }
    if (one.emulation.empty()) {
      const std::function<void()> ways[] = {[&] { cell.call(own_); }, [&] { cell.call(called_); }};
      return {one, batches_.measure(cell, ways)};
    }
    Emulation emulation(cell, {one.operation, one.emulation});
    const std::function<void()> ways[] = {[&] { cell.call(own_); }, [&] { emulation.call(own_); },
                                          [&] { cell.call(called_); },
                                          [&] { emulation.call(called_); }};
    return {one, batches_.measure(cell, ways)};
  }

 private:
  const World& world_;
  bool is_plain_;
  Functions own_;
  Functions called_;
  Batches batches_;
};

void print_header(const Parameters& p) {
  std::printf("%-22s %9s %9s %12s", "operation", "bytes", "calls", "plain (us)");
  if (!p.plain) std::printf(" %12s", p.guidelines ? "by others" : "called (us)");
  if (p.guidelines) std::printf(" %12s %12s", "called (us)", "by others");
  std::printf(" %8s%s\n", "wrong", p.guidelines ? "  others" : "");
}

void print(const Finding& found) {
  std::printf("%-22s %9lld %9lld", found.of.operation.c_str(),
              static_cast<long long>(found.of.bytes), static_cast<long long>(found.measured.calls));
  for (std::vector<double> values : found.measured.seconds) {
    std::ranges::sort(values);
    std::printf(" %12.3f", values[values.size() / 2] * 1e6);
  }
  std::printf(" %8lld%s%s\n", static_cast<long long>(found.measured.wrong),
              found.of.emulation.empty() ? "" : "  ", found.of.emulation.c_str());
  std::fflush(stdout);
}

/// Bytes and packets of a call, by batch.
void add_sent(JsonWriter& json, const std::string& way, const std::vector<SentByCall>& sent) {
  json.open_array(way + "_sent");
  for (const SentByCall& one : sent) json.member("", one.bytes);
  json.close_array();
  json.open_array(way + "_packets");
  for (const SentByCall& one : sent) json.member("", one.packets);
  json.close_array();
}

/// Whether ranks outnumber the cores of a node. Collective.
bool is_any_node_crowded(const World& world) {
  const bool shares = world.largest_node > 1;
  return sum(world, shares && world.largest_node > sysconf(_SC_NPROCESSORS_ONLN) ? 1 : 0) > 0;
}

std::string json_of(const World& world, bool is_crowded, const std::vector<Finding>& all,
                    const std::vector<std::string>& left_out) {
  constexpr const char* kWays[] = {"plain", "headrace"};
  constexpr const char* kGuidelineWays[] = {"plain", "plain_emulated", "headrace",
                                            "headrace_emulated"};
  JsonWriter json;
  json.open_object();
  json.member("program", "headrace bench collectives");
  json.member("MPI", library_version());
  json.member("ranks", world.size);
  json.member("nodes", world.node_count);
  json.member("node_ranks", world.largest_node);
  json.member("crowded", is_crowded);
  json.open_array("node_sizes");
  for (const int size : world.node_sizes) json.member("", size);
  json.close_array();
  json.open_array("cells");
  for (const auto& [of, measured] : all) {
    json.open_object();
    json.member("operation", of.operation);
    if (!of.emulation.empty()) json.member("emulation", of.emulation);
    json.member("bytes", of.bytes);
    json.member("calls", measured.calls);
    json.member("wrong", measured.wrong);
    for (std::size_t way = 0; way < measured.seconds.size(); ++way) {
      json.open_array(of.emulation.empty() ? kWays[way] : kGuidelineWays[way]);
      for (const double seconds : measured.seconds[way]) json.member("", seconds);
      json.close_array();
      if (!measured.sent.empty()) add_sent(json, kWays[way], measured.sent[way]);
    }
    json.close_object();
  }
  json.close_array();
  json.open_array("left_out");
  for (const std::string& one : left_out) json.member("", one);
  json.close_array();
  json.close_object();
  return json.text();
}

/// Before anything is measured, which takes minutes.
void require_nodes(const World& world, std::int64_t nodes) {
  if (world.node_count >= nodes) return;
  throw AgreedFailure("the ranks are on too few nodes (on " + std::to_string(world.node_count) +
                      ", but " + std::to_string(nodes) +
                      " at least are wanted), let the launcher spread them");
}

int body(int argc, char** argv) {
  const World world = survey(MPI_COMM_WORLD);
  std::string help;
  const Parameters parameters = parse(argc, argv, help);
  if (parameters.show_help) {
    if (world.rank == 0) std::fputs(help.c_str(), stdout);
    return 0;
  }
  require_nodes(world, parameters.nodes);
  Bench bench(parameters, world);
  const std::vector<Case> cases = cases_of(parameters);
  if (world.rank == 0) print_header(parameters);
  std::vector<Finding> all;
  std::vector<std::string> left_out;
  std::int64_t wrong = 0;
  for (const Case& one : cases) {
    const std::string why = obstacle(world, one.operation, one.emulation, one.bytes);
    if (!why.empty()) {
      left_out.push_back(one.operation + " of " + std::to_string(one.bytes) +
                         " bytes is left out (" + why + ")");
      if (world.rank == 0) std::printf("%s\n", left_out.back().c_str());
      continue;
    }
    all.push_back(bench.measure(one));
    wrong += all.back().measured.wrong;
    if (world.rank == 0) print(all.back());
  }
  if (all.empty()) throw AgreedFailure(left_out.front() + ", make --least and --most smaller");
  const bool is_crowded = is_any_node_crowded(world);
  if (world.rank == 0 && parameters.print) {
    std::printf("results\n%s\nend of results\n", json_of(world, is_crowded, all, left_out).c_str());
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace headrace::bench::collectives

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"collectives", "--most"},
                                      headrace::bench::collectives::body);
}
