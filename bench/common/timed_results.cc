#include "common/timed_results.h"

#include <algorithm>
#include <cstdio>

namespace headrace::bench {
namespace {

constexpr double mebibyte = 1 << 20;

}  // namespace

std::vector<double> later_calls(const TimedAccess& access) {
  if (access.calls.size() < 2) return {};
  std::vector<double> later(access.calls.begin() + 1, access.calls.end());
  std::sort(later.begin(), later.end());
  return later;
}

void print_head(const std::string& program,
                const std::vector<std::pair<std::string, std::string>>& lines) {
  std::printf("%s\n%-20s: %s\n", program.c_str(), "MPI", library_version().c_str());
  for (const auto& [title, text] : lines) {
    std::printf("%-20s: %s\n", title.c_str(), text.c_str());
  }
  std::printf("\n");
}

void print_access_header() {
  std::printf("%-9s %-10s %-10s %-10s %-10s %-10s %-10s %s\n", "access", "bw(MiB/s)", "MiB",
              "open(s)", "wr/rd(s)", "close(s)", "total(s)", "iter");
}

void print_access(const TimedAccess& access) {
  std::printf("%-9s %-10.2f %-10.2f %-10.6f %-10.6f %-10.6f %-10.6f %lld\n",
              access.writing ? "write" : "read", access.bandwidth() / mebibyte,
              static_cast<double>(access.bytes) / mebibyte, access.seconds.open,
              access.seconds.transfer, access.seconds.close, access.seconds.total,
              static_cast<long long>(access.repetition));
  std::fflush(stdout);
}

void print_maxima(const std::vector<TimedAccess>& accesses) {
  for (const bool writing : {true, false}) {
    double best = 0;
    for (const TimedAccess& access : accesses) {
      if (access.writing == writing) best = std::max(best, access.bandwidth());
    }
    if (best == 0) continue;
    std::printf("%-10s %.2f MiB/sec (%.2f MB/sec)\n",
                writing ? "Max Write:" : "Max Read: ", best / mebibyte, best / 1e6);
  }
}

void print_calls(const std::vector<TimedAccess>& accesses) {
  for (const TimedAccess& access : accesses) {
    const std::vector<double> later = later_calls(access);
    if (later.empty()) continue;
    std::printf("%-5s calls (us)    : first %.1f, later median %.1f, longest %.1f\n",
                access.writing ? "write" : "read", access.calls.front() * 1e6,
                later[later.size() / 2] * 1e6, later.back() * 1e6);
  }
}

void write_accesses(JsonWriter& json, const std::vector<TimedAccess>& accesses) {
  json.open_array("results");
  for (const TimedAccess& access : accesses) {
    json.open_object();
    json.member("access", access.writing ? "write" : "read");
    json.member("iter", access.repetition);
    json.member("bytes", access.bytes);
    json.member("bwMiB", access.bandwidth() / mebibyte);
    json.member("openTime", access.seconds.open);
    json.member("wrRdTime", access.seconds.transfer);
    json.member("closeTime", access.seconds.close);
    json.member("totalTime", access.seconds.total);
    if (access.request > 0) json.member("request", access.request);
    const std::vector<double> later = later_calls(access);
    if (!later.empty()) {
      json.member("calls", static_cast<std::int64_t>(access.calls.size()));
      json.member("firstCall", access.calls.front());
      json.member("medianLaterCall", later[later.size() / 2]);
      json.member("longestLaterCall", later.back());
      json.member("betweenCalls", access.between_calls);
    }
    json.open_object("hintsBeforeClose");
    for (const auto& [key, value] : access.hints) json.member(key, value);
    json.close_object();
    json.close_object();
  }
  json.close_array();
}

}  // namespace headrace::bench
