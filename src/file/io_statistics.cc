#include "file/io_statistics.h"

#include <cstdio>

#include "policy/readable.h"

namespace headrace::file {
namespace {

constexpr std::array<const char*, kIoTimes> kTimeNames = {"in all calls", "exchanging", "waiting",
                                                          "copying", "in storage"};

std::string number(std::int64_t value) {
  return std::to_string(value);
}

/// "3 collective calls, 12 independent ones, 65536 bytes".
std::string calls_text(std::int64_t all, std::int64_t collective, ByteCount bytes, int ranks) {
  // A collective call is counted on each of its ranks.
  return number(collective / ranks) + " collective calls, " + number(all - collective) +
         " independent ones, " + number(bytes) + " bytes";
}

std::string requests_text(std::int64_t requests, ByteCount bytes) {
  std::string text = number(requests) + " requests, " + number(bytes) + " bytes";
  if (requests > 0) text += ", " + policy::readable(bytes / requests) + " on average";
  return text;
}

std::string seconds(double ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%10.6f", ns * 1e-9);
  return text.data();
}

}  // namespace

void StoreRequests::note(Direction direction, FileOffset offset, ByteCount bytes) {
  record::add(direction == Direction::write ? writes : reads, 1);
  const std::int64_t whole = unit;
  if (whole <= 0 || bytes <= 0) return;
  if (offset % whole != 0 || (offset + bytes) % whole != 0) record::add(unaligned, 1);
  if (bytes < whole) record::add(small, 1);
}

void IoSums::combine(const IoSums& other) {
  for (std::int64_t IoSums::* const field :
       {&IoSums::active_ranks, &IoSums::reads, &IoSums::writes, &IoSums::collective_reads,
        &IoSums::collective_writes, &IoSums::read, &IoSums::written, &IoSums::store_read,
        &IoSums::store_written, &IoSums::store_reads, &IoSums::store_writes, &IoSums::unaligned,
        &IoSums::small}) {
    fabric::add(this->*field, other.*field);
  }
}

void IoTimes::combine(const IoTimes& other) {
  for (std::size_t i = 0; i < kIoTimes; ++i) {
    fabric::keep_least(least[i], other.least[i]);
    fabric::keep_greatest(greatest[i], other.greatest[i]);
    fabric::add(sum[i], other.sum[i]);
  }
}

IoSums sums_of(const record::FileCounts& begin, const record::FileCounts& now,
               const StoreRequests& requests) {
  return {.active_ranks = requests.reads + requests.writes > 0 ? 1 : 0,
          .reads = now.reads - begin.reads,
          .writes = now.writes - begin.writes,
          .collective_reads = now.collective_reads - begin.collective_reads,
          .collective_writes = now.collective_writes - begin.collective_writes,
          .read = now.read - begin.read,
          .written = now.written - begin.written,
          .store_read = now.store_read - begin.store_read,
          .store_written = now.store_written - begin.store_written,
          .store_reads = requests.reads,
          .store_writes = requests.writes,
          .unaligned = requests.unaligned,
          .small = requests.small};
}

std::array<std::int64_t, kIoTimes> times_of(const record::FileCounts& begin,
                                            const record::FileCounts& now, double tick) {
  const auto since = [&](std::int64_t record::FileCounts::* field) {
    return static_cast<std::int64_t>(static_cast<double>(now.*field - begin.*field) * tick);
  };
  return {since(&record::FileCounts::ticks), since(&record::FileCounts::exchange),
          since(&record::FileCounts::wait), since(&record::FileCounts::copy),
          since(&record::FileCounts::store)};
}

std::vector<std::string> statistics_lines(const IoShape& shape, const IoSums& sums) {
  std::vector<std::string> lines;
  lines.push_back("I/O of '" + shape.path + "': " + number(shape.ranks) +
                  (shape.ranks == 1 ? " rank on " : " ranks on ") + number(shape.nodes) +
                  (shape.nodes == 1 ? " node, " : " nodes, ") + number(sums.active_ranks) +
                  " of them moved bytes");
  lines.push_back(
      "  writes: " + calls_text(sums.writes, sums.collective_writes, sums.written, shape.ranks) +
      "; to storage: " + requests_text(sums.store_writes, sums.store_written));
  lines.push_back(
      "  reads: " + calls_text(sums.reads, sums.collective_reads, sums.read, shape.ranks) +
      "; from storage: " + requests_text(sums.store_reads, sums.store_read));
  lines.push_back("  of these requests " + number(sums.unaligned) + " were not aligned to " +
                  policy::readable(shape.unit) + ", and " + number(sums.small) + " were smaller");
  return lines;
}

std::vector<std::string> timer_lines(const IoShape& shape, const IoTimes& times) {
  std::vector<std::string> lines;
  lines.push_back("times of '" + shape.path + "' in seconds, of " + number(shape.ranks) +
                  " ranks:      least       mean   greatest");
  for (std::size_t i = 0; i < kIoTimes; ++i) {
    std::string name = std::string("  ") + kTimeNames[i];
    name.resize(20, ' ');
    const double mean = static_cast<double>(times.sum[i]) / shape.ranks;
    lines.push_back(name + seconds(static_cast<double>(times.least[i])) + " " + seconds(mean) +
                    " " + seconds(static_cast<double>(times.greatest[i])));
  }
  return lines;
}

}  // namespace headrace::file
