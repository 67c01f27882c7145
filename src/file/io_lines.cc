#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/readable.h"
#include "base/spelling.h"
#include "file/io_statistics.h"

// The lines of HEADRACE_IO_STATS and HEADRACE_IO_TIMERS.

namespace headrace::file {
namespace {

constexpr std::size_t kLongestName = 1024;
/// As many lines on ranks as people read.
constexpr std::size_t kMostRankLines = 64;

constexpr std::array<const char*, kIoTimes> kTimeNames = {
    "in all calls", "opening", "closing", "meeting", "exchanging",
    "sending",      "waiting", "copying", "reading", "writing"};

std::string number(std::int64_t value) {
  return std::to_string(value);
}

/// "1 rank", "2 ranks".
std::string counted(std::int64_t count, const std::string& noun) {
  return number(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string name_of(const std::string& path) {
  return "'" + printable(path, kLongestName) + "'";
}

/// Of one direction.
struct Side {
  const char* verb;  ///< "writes"
  const char* way;   ///< "to"
  std::int64_t calls;
  std::int64_t collective;
  std::int64_t bytes;
  const RequestSums& requests;
};

Side write_side(const IoSums& sums) {
  return {"writes",           "to",           sums.calls.writes, sums.calls.collective_writes,
          sums.calls.written, sums.to_storage};
}

Side read_side(const IoSums& sums) {
  return {"reads",         "from",           sums.calls.reads, sums.calls.collective_reads,
          sums.calls.read, sums.from_storage};
}

/// "writes: 3 collective calls, 12 independent ones, 65536 bytes; to storage: ...". A collective
/// call is counted on each of its ranks.
std::string calls_text(const Side& side, int ranks) {
  const RequestSums& requests = side.requests;
  std::string text = std::string(side.verb) + ": " + number(side.collective / ranks) +
                     " collective calls, " + number(side.calls - side.collective) +
                     " independent ones, " + number(side.bytes) + " bytes; " + side.way +
                     " storage: " + number(requests.requests) + " requests, " +
                     number(requests.bytes) + " bytes";
  if (requests.requests > 0) {
    text += ", " + readable(requests.bytes / requests.requests) + " on average";
  }
  return text;
}

/// How the requests lie, and who made them.
std::string requests_text(const Side& side, ByteCount unit) {
  const RequestSums& requests = side.requests;
  const std::string size = unit > 0 ? readable(unit) : "a stripe or block";
  return number(requests.whole) + " of " + size + ", " + number(requests.small) + " smaller, " +
         number(requests.unaligned) + " not aligned to it, " + number(requests.repeated) +
         " repeated; by " + counted(requests.aggregators, "rank") + " in collective calls, " +
         number(requests.independent) + " in others";
}

/// Bytes that nobody asked for. What several ranks read is asked for several times, so more may
/// have been read in vain than the difference.
std::string gaps_text(const Side& side) {
  const RequestSums& requests = side.requests;
  if (side.way == std::string_view("to")) {
    if (requests.gaps == 0) return {};
    return counted(requests.gaps, "gap") + " of " + number(requests.gap_bytes) +
           " bytes left out within buffers";
  }
  const std::int64_t unasked = requests.bytes - side.bytes;
  return unasked > 0 ? "at least " + number(unasked) + " bytes that nobody asked for"
                     : std::string();
}

/// The lines on both directions.
void add_sides(std::vector<std::string>& lines, const IoSums& sums, int ranks, ByteCount unit) {
  for (const Side& side : {write_side(sums), read_side(sums)}) {
    lines.push_back("  " + calls_text(side, ranks));
    if (side.requests.requests == 0) continue;
    std::string line = "    requests: " + requests_text(side, unit);
    if (const std::string gaps = gaps_text(side); !gaps.empty()) line += "; " + gaps;
    lines.push_back(std::move(line));
  }
}

std::string stripes_text(const IoShape& shape) {
  if (shape.stripes.size > 0) {
    const std::string size = readable(shape.stripes.size);
    if (shape.stripes.count > 0) return counted(shape.stripes.count, "stripe") + " of " + size;
    return "stripes of " + size;
  }
  return shape.unit > 0 ? "no stripes known, blocks of " + readable(shape.unit)
                        : "no stripes known";
}

std::string seconds(double ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%10.6f", ns * 1e-9);
  return text.data();
}

void add_times(std::vector<std::string>& lines, const IoTimes& times, std::int64_t ranks) {
  for (std::size_t i = 0; i < kIoTimes; ++i) {
    if (i == meeting) {
      const bool is_any = std::any_of(times.greatest.begin() + meeting, times.greatest.end(),
                                      [](std::int64_t ns) { return ns > 0; });
      lines.push_back(is_any ? "  of collective calls:" : "  of collective calls: there were none");
      if (!is_any) return;
    }
    std::string name = std::string(i < meeting ? "  " : "    ") + kTimeNames[i];
    name.resize(20, ' ');
    const double mean = static_cast<double>(times.sum[i]) / static_cast<double>(ranks);
    lines.push_back(name + seconds(static_cast<double>(times.least[i])) + " " + seconds(mean) +
                    " " + seconds(static_cast<double>(times.greatest[i])));
  }
}

/// "128 files of one rank each, on 64 ranks, such as '/a/0'".
std::string lone_text(const std::string& example, const LoneSums& sums) {
  return counted(sums.files, "file") + " of one rank each, on " + counted(sums.ranks, "rank") +
         ", such as " + name_of(example);
}

std::string rank_text(const RankIo& one) {
  std::string text;
  for (const Side& side : {write_side(one.sums), read_side(one.sums)}) {
    const RequestSums& requests = side.requests;
    if (!text.empty()) text += "; ";
    text += std::string(side.verb) + ": " + number(side.calls) + " calls, " + number(side.bytes) +
            " bytes, " + number(requests.requests) + " requests (" + number(requests.collective) +
            " in collective calls, " + number(requests.unaligned) + " not aligned), " +
            number(requests.bytes) + " bytes " + side.way + " storage";
  }
  return " on " + printable(one.host.data()) + ": " + text;
}

}  // namespace

std::vector<std::string> statistics_lines(const IoShape& shape, const IoSums& sums) {
  std::vector<std::string> lines;
  std::string head = "I/O of " + name_of(shape.path) + ": " + counted(shape.ranks, "rank") +
                     " on " + counted(shape.nodes, "node") + ", " +
                     number(sums.calls.active_ranks) + " of them moved bytes; ";
  if (shape.opens > 0) head += "opened " + counted(shape.opens, "time") + "; ";
  lines.push_back(head + stripes_text(shape));
  add_sides(lines, sums, shape.ranks, shape.unit);
  return lines;
}

std::vector<std::string> timer_lines(const IoShape& shape, const IoTimes& times) {
  std::vector<std::string> lines;
  lines.push_back("times of " + name_of(shape.path) + " in seconds, of " +
                  counted(shape.ranks, "rank") + ":      least       mean   greatest");
  add_times(lines, times, shape.ranks);
  return lines;
}

std::vector<std::string> rank_lines(const std::vector<RankIo>& ranks) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < ranks.size();) {
    const std::string text = rank_text(ranks[begin]);
    std::size_t end = begin + 1;
    while (end < ranks.size() && rank_text(ranks[end]) == text) ++end;
    if (lines.size() == kMostRankLines) {
      lines.push_back("  ranks " + number(static_cast<std::int64_t>(begin)) + " to " +
                      number(static_cast<std::int64_t>(ranks.size()) - 1) +
                      " are in the record alone");
      break;
    }
    std::string name = "  rank " + number(static_cast<std::int64_t>(begin));
    if (end - begin > 1) {
      name = "  each of ranks " + number(static_cast<std::int64_t>(begin)) + " to " +
             number(static_cast<std::int64_t>(end) - 1);
    }
    lines.push_back(name + text);
    begin = end;
  }
  return lines;
}

std::vector<std::string> lone_statistics_lines(const std::string& example, const LoneSums& sums) {
  std::vector<std::string> lines = {"I/O of " + lone_text(example, sums)};
  add_sides(lines, sums.sums, 1, 0);
  return lines;
}

std::vector<std::string> lone_timer_lines(const std::string& example, const LoneSums& sums) {
  std::vector<std::string> lines = {"times of " + lone_text(example, sums) +
                                    ", in seconds of a rank:      least       mean   greatest"};
  add_times(lines, sums.times, sums.ranks);
  return lines;
}

}  // namespace headrace::file
