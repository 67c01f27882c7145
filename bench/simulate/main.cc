// Plays a collective write and counts what it takes: messages, rounds, locks that move between
// nodes, reads at the servers. The plans are the engine's own (src/plan). Output is JSON; the
// command `headrace simulate` makes tables and figures of it.
//
//   simulate [FLAG VALUE]...      simulate --help lists the flags

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "simulate/simulation.h"

namespace headrace::simulate {
namespace {

struct Flags {
  Workload workload{32, 8, 1'000'000, 1, 3220};
  System system{{1 << 20, 16}, 1 << 20, 1 << 20, {}, kDefaultCosts};
};

struct Flag {
  std::string_view name;
  std::string_view help;
  std::int64_t least;
  std::int64_t& (*value)(Flags& flags);
};

constexpr Flag kFlags[] = {
    {"--ranks", "ranks of the job", 1, [](Flags& f) -> std::int64_t& { return f.workload.ranks; }},
    {"--ranks-per-node", "ranks on a node", 1,
     [](Flags& f) -> std::int64_t& { return f.workload.ranks_per_node; }},
    {"--piece", "bytes of a piece", 1, [](Flags& f) -> std::int64_t& { return f.workload.piece; }},
    {"--pieces", "pieces of a rank in a call", 1,
     [](Flags& f) -> std::int64_t& { return f.workload.pieces; }},
    {"--calls", "calls", 1, [](Flags& f) -> std::int64_t& { return f.workload.calls; }},
    {"--stripes", "objects of the file", 1,
     [](Flags& f) -> std::int64_t& { return f.system.stripes.count; }},
    {"--stripe-size", "bytes of a stripe", 4096,
     [](Flags& f) -> std::int64_t& { return f.system.stripes.size; }},
    {"--server-block", "bytes that a server writes without reading", 1,
     [](Flags& f) -> std::int64_t& { return f.system.server_block; }},
    {"--buffer", "bytes of an aggregator's buffer (cb_buffer_size)", 4096,
     [](Flags& f) -> std::int64_t& { return f.system.buffer; }},
    {"--aggregators", "aggregators wished for (cb_nodes); 0: as many as stripes", 0,
     [](Flags& f) -> std::int64_t& { return f.system.hint.count; }},
    {"--multiplier", "aggregators for each stripe (cray_cb_nodes_multiplier)", 0,
     [](Flags& f) -> std::int64_t& { return f.system.hint.multiplier; }},
};

/// Larger jobs and files than any; below, no product of two of these overflows.
constexpr std::int64_t kMaxValue = std::int64_t{1} << 30;
constexpr ByteCount kMaxBytes = ByteCount{1} << 60;

void show_help() {
  std::puts(
      "usage: simulate [FLAG VALUE]...\n\nNumbers; sizes in bytes. A cost of the model: "
      "--cost NAME=VALUE\n");
  Flags defaults;
  for (const Flag& flag : kFlags) {
    std::printf("  %-18s %s (default %lld)\n", std::string(flag.name).c_str(),
                std::string(flag.help).c_str(), static_cast<long long>(flag.value(defaults)));
  }
  std::puts("\nCosts:");
  for (const Cost& cost : kDefaultCosts) {
    std::printf("  %-18s %g %s: %s\n", std::string(cost.name).c_str(), cost.value,
                std::string(cost.unit).c_str(), std::string(cost.source).c_str());
  }
}

bool take_cost(std::string_view text, Costs& costs) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  for (Cost& cost : costs) {
    if (cost.name != text.substr(0, equals)) continue;
    const std::string_view number = text.substr(equals + 1);
    const auto read = std::from_chars(number.data(), number.data() + number.size(), cost.value);
    cost.source = "given";
    return read.ec == std::errc{} && read.ptr == number.data() + number.size() && cost.value > 0;
  }
  return false;
}

bool take(std::string_view name, std::string_view value, Flags& flags) {
  if (name == "--cost") return take_cost(value, flags.system.costs);
  for (const Flag& flag : kFlags) {
    if (flag.name != name) continue;
    std::int64_t& number = flag.value(flags);
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    return read.ec == std::errc{} && read.ptr == value.data() + value.size() &&
           number >= flag.least && number <= kMaxValue;
  }
  return false;
}

void show(const char* name, std::int64_t value, bool is_last = false) {
  std::printf("\"%s\": %lld%s", name, static_cast<long long>(value), is_last ? "" : ", ");
}

void show(const Method& method, const Outcome& outcome, const Workload& workload, bool is_last) {
  std::printf("    {\"method\": \"%s\", ", method.name.c_str());
  show("aggregators", outcome.aggregators);
  show("window", outcome.window);
  show("rounds", outcome.rounds);
  show("messages", outcome.messages);
  show("message_bytes", outcome.message_bytes);
  show("most_messages_of_node", outcome.most_messages_of_node);
  show("most_bytes_of_node", outcome.most_bytes_of_node);
  show("lock_grants", outcome.storage.lock_grants);
  show("lock_transfers", outcome.storage.lock_transfers);
  show("requests", outcome.storage.requests);
  show("read_modify_writes", outcome.storage.read_modify_writes);
  show("bytes", outcome.storage.bytes);
  show("plan_bytes_of_rank", outcome.plan_bytes_of_rank);
  show("plan_bytes_of_leader", outcome.plan_bytes_of_leader);
  show("buffer_bytes_of_aggregator", outcome.buffer_bytes_of_aggregator);
  const auto bytes = static_cast<double>(workload.call_bytes() * workload.calls);
  std::printf("\"seconds\": %.6g, \"bytes_per_second\": %.6g}%s\n", outcome.seconds,
              bytes / outcome.seconds, is_last ? "" : ",");
}

/// What planning one call costs the leader of the last node, with all that is needed for it.
void show_planning(const Flags& flags, const Method& method) {
  const auto begin = std::chrono::steady_clock::now();
  const plan::AggregatorChoice choice = aggregators_of(flags.workload, flags.system);
  const auto count = static_cast<int>(choice.aggregators.size());
  const std::int64_t windows = plan_one_call(rule_of(flags.system, method, count), flags.workload,
                                             flags.workload.nodes() - 1);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("  \"planning\": {\"windows\": %lld, \"seconds\": %.3g},\n",
              static_cast<long long>(windows), time.count());
}

void run(const Flags& flags) {
  const Method methods[] = {
      {"direct", true, plan::Alignment::persistent, false},
      {"cb_align 0", false, plan::Alignment::even, false},
      {"cb_align 1", false, plan::Alignment::stripes, false},
      {"cb_align 2", false, plan::Alignment::persistent, false},
      {"cb_align 2, lock-ahead", false, plan::Alignment::persistent, true},
  };
  std::puts("{");
  Flags shown = flags;
  for (const Flag& flag : kFlags) {
    std::printf("  \"%s\": %lld,\n", std::string(flag.name.substr(2)).c_str(),
                static_cast<long long>(flag.value(shown)));
  }
  std::printf("  \"nodes\": %lld,\n  \"costs\": [\n",
              static_cast<long long>(flags.workload.nodes()));
  for (const Cost& cost : flags.system.costs) {
    std::printf("    {\"name\": \"%s\", \"value\": %g, \"unit\": \"%s\", \"source\": \"%s\"}%s\n",
                std::string(cost.name).c_str(), cost.value, std::string(cost.unit).c_str(),
                std::string(cost.source).c_str(), &cost == &flags.system.costs.back() ? "" : ",");
  }
  std::puts("  ],");
  show_planning(flags, methods[3]);
  std::puts("  \"methods\": [");
  for (const Method& method : methods) {
    const Outcome outcome = simulate(flags.workload, flags.system, method);
    show(method, outcome, flags.workload, &method == std::end(methods) - 1);
  }
  std::puts("  ]\n}");
}

int fail(const std::string& problem) {
  std::fprintf(stderr, "simulate: %s, --help lists the flags\n", problem.c_str());
  return 2;
}

int main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; i += 2) {
    if (std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0) {
      show_help();
      return 0;
    }
    if (i + 1 >= argc || !take(argv[i], argv[i + 1], flags)) {
      return fail("cannot use '" + std::string(argv[i]) + " " + (i + 1 < argc ? argv[i + 1] : "") +
                  "' (no such flag, or not its kind of value)");
    }
  }
  if (flags.system.stripes.size % 4096 != 0) {
    return fail("cannot use stripes of " + std::to_string(flags.system.stripes.size) +
                " bytes (they are no whole pages)");
  }
  const auto& job = flags.workload;
  ByteCount bytes = 0;
  if (__builtin_mul_overflow(job.ranks * job.piece, job.pieces, &bytes) ||
      __builtin_mul_overflow(bytes, job.calls, &bytes) || bytes > kMaxBytes) {
    return fail("cannot play a file of more than 2^60 bytes (offsets would not hold it)");
  }
  run(flags);
  return 0;
}

}  // namespace
}  // namespace headrace::simulate

int main(int argc, char** argv) {
  return headrace::simulate::main(argc, argv);
}
