// How pieces are best copied to a staging slot on this processor: view::copy against other ways.

#include <getopt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "copy/jobs.h"

namespace headrace::bench::copying {
namespace {

struct Parameters {
  int rounds = 11;
  double milliseconds = 1;
  std::vector<std::string> directories;
  std::vector<std::size_t> lengths = {8, 16, 32, 64, 100, 256, 1000, 4096};
  bool has_own_lengths = false;
};

[[noreturn]] void reject(const char* problem) {
  std::fprintf(stderr, "copy: error: %s, see 'headrace bench copy -- -h'\n", problem);
  std::exit(2);
}

std::vector<std::size_t> lengths_of(const char* text) {
  std::vector<std::size_t> lengths;
  do {
    char* end = nullptr;
    const long long length = std::strtoll(text, &end, 10);
    if (end == text || (*end != ',' && *end != '\0') || length < 1 || length > 65536) {
      reject("--lengths must be numbers from 1 to 65536 with commas between them");
    }
    lengths.push_back(static_cast<std::size_t>(length));
    text = *end == ',' ? end + 1 : end;
  } while (*text != '\0');
  return lengths;
}

constexpr const char* kHelp = R"(headrace bench copy: ways to copy pieces to a staging slot

  -i, --rounds N     measured rounds, in which all ways take turns (11)
  --time MS          how long one measurement takes at least (1)
  --lengths N,N,...  only pieces of so many bytes, instead of 8 to 4096 and whole stretches
  --dir DIRECTORY    also fill slots and write each to a file there; may be repeated
  -h, --help         this help

GiB/s: medians. ratio: times faster than view::copy, the median of the rounds' ratios, and
[low, high], an order-statistic interval of it that covers 95 % or more from 6 rounds on.
)";

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Bytes a second.
double measure(const Job& job, const Kernel& kernel, Memory& memory, double at_least) {
  static std::int64_t turn = 0;
  std::int64_t runs = 0;
  const double begin = seconds();
  double time = 0;
  for (std::int64_t batch = 1; time < at_least; batch *= 2) {
    for (std::int64_t i = 0; i < batch; ++i) job.run(kernel, memory, turn++);
    runs += batch;
    time = seconds() - begin;
  }
  return static_cast<double>(runs) * static_cast<double>(job.bytes()) / time;
}

struct Interval {
  double median;
  double low;
  double high;
};

/// Between the k-th smallest and the k-th largest, with the largest k that covers 95 %.
Interval interval_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  double outside = 0;  // probability that the median lies beyond one end
  double term = std::pow(0.5, static_cast<double>(count));
  std::size_t k = 0;
  while (k + 1 <= count / 2 && outside + term <= 0.025) {
    outside += term;
    term *= static_cast<double>(count - k) / static_cast<double>(k + 1);
    ++k;
  }
  const std::size_t low = k > 0 ? k - 1 : 0;
  return {(values[(count - 1) / 2] + values[count / 2]) / 2, values[low], values[count - 1 - low]};
}

/// Measures a job by all kernels that suit it, in turn, and prints it.
void compare(const Job& job, const Parameters& parameters, Memory& memory) {
  std::vector<Kernel> suited;
  for (const Kernel& kernel : kernels()) {
    if (kernel.suits(job.length)) suited.push_back(kernel);
  }
  std::vector<std::vector<double>> speeds(suited.size());
  for (const Kernel& kernel : suited) job.run(kernel, memory, 0);
  for (int round = 0; round < parameters.rounds; ++round) {
    for (std::size_t i = 0; i < suited.size(); ++i) {
      const std::size_t at = (i + static_cast<std::size_t>(round)) % suited.size();
      speeds[at].push_back(measure(job, suited[at], memory, parameters.milliseconds / 1000));
    }
  }
  std::printf("\n%s\n", job.title().c_str());
  for (std::size_t i = 0; i < suited.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < speeds[i].size(); ++round) {
      ratios.push_back(speeds[i][round] / speeds[0][round]);
    }
    const Interval ratio = interval_of(ratios);
    const double median = interval_of(speeds[i]).median / (std::size_t{1} << 30);
    std::printf("  %-15s %7.2f GiB/s", suited[i].name, median);
    if (i > 0) std::printf("   %5.2f [%.2f, %.2f]", ratio.median, ratio.low, ratio.high);
    std::printf("\n");
  }
  std::fflush(stdout);
}

void compare_all(const std::string& heading, bool is_hot, Sink* sink, const Parameters& parameters,
                 Memory& memory) {
  std::printf("\n== %s\n", heading.c_str());
  for (const std::size_t length : {4096, 16384, 65536, 262144, 1048576}) {
    if (parameters.has_own_lengths || (sink != nullptr && length != kSlot)) continue;
    compare({Way::contiguous, length, is_hot, sink}, parameters, memory);
  }
  for (const Way way : {Way::gather, Way::scatter}) {
    // A slot that is written has no holes.
    if (sink != nullptr && way == Way::scatter) continue;
    for (const std::size_t length : parameters.lengths) {
      compare({way, length, is_hot, sink}, parameters, memory);
    }
  }
}

Parameters parse(int argc, char** argv) {
  static constexpr option kOptions[] = {
      {"rounds", required_argument, nullptr, 'i'}, {"time", required_argument, nullptr, 't'},
      {"dir", required_argument, nullptr, 'd'},    {"lengths", required_argument, nullptr, 'l'},
      {"help", no_argument, nullptr, 'h'},         {}};
  Parameters parameters;
  for (int letter = 0; (letter = getopt_long(argc, argv, "i:h", kOptions, nullptr)) != -1;) {
    switch (letter) {
      case 'i': parameters.rounds = std::atoi(optarg); break;
      case 't': parameters.milliseconds = std::atof(optarg); break;
      case 'd': parameters.directories.emplace_back(optarg); break;
      case 'l':
        parameters.lengths = lengths_of(optarg);
        parameters.has_own_lengths = true;
        break;
      case 'h': std::fputs(kHelp, stdout); std::exit(0);
      default: std::exit(2);  // getopt has said what is wrong
    }
  }
  if (optind < argc) reject("an argument is no option");
  if (parameters.rounds < 1) reject("--rounds must be a number from 1 on");
  if (!(parameters.milliseconds > 0)) reject("--time must be a positive number");
  return parameters;
}

void run(const Parameters& parameters) {
  std::vector<std::unique_ptr<Sink>> sinks;
  for (const std::string& directory : parameters.directories) {
    sinks.push_back(std::make_unique<Sink>(directory));
  }
  std::printf("%s, %d rounds\n", processor().c_str(), parameters.rounds);
  for (const Kernel& kernel : kernels()) std::printf("  %-15s %s\n", kernel.name, kernel.what);
  Memory memory;
  compare_all("source and slot in the cache", true, nullptr, parameters, memory);
  compare_all("neither in the cache", false, nullptr, parameters, memory);
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    const std::string where = ", each slot written to a file in " + parameters.directories[i];
    compare_all("one slot again and again" + where, true, sinks[i].get(), parameters, memory);
    compare_all("the next of many slots" + where, false, sinks[i].get(), parameters, memory);
  }
}

}  // namespace
}  // namespace headrace::bench::copying

int main(int argc, char** argv) {
  using namespace headrace::bench::copying;
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "copy: error: %s\n", error.what());
    return 1;
  }
}
