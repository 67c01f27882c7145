#include "record/run_findings.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "record/call_rows.h"
#include "record/generated/verdict_texts.h"

namespace headrace::record {
namespace {

constexpr std::size_t kMostFrames = 8;

/// POP's (https://co-design.pop-coe.eu/metrics/), U being useful times and T the longest run.
struct Efficiency {
  double balance;        ///< mean U / greatest U
  double communication;  ///< greatest U / T
  double parallel() const { return balance * communication; }
};

bool is_known(const RunTimes& times, std::int64_t ranks) {
  return ranks > 0 && times.most_useful > 0 && times.longest_run > 0;
}

Efficiency efficiency(const RunTimes& times, std::int64_t ranks) {
  const auto most = static_cast<double>(times.most_useful);
  const double mean = static_cast<double>(times.useful) / static_cast<double>(ranks);
  return {mean / most, most / static_cast<double>(times.longest_run)};
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f%%", 100 * share);
  return text.data();
}

std::string ratio(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

std::string_view text_at(const NodeView& node, std::int64_t place) {
  const auto index = static_cast<std::size_t>(place);
  return place >= 0 && index < node.texts.size() ? node.texts[index] : std::string_view();
}

bool is_in_run(const NodeView& node, const CallsRow& row) {
  return std::ranges::find(verdict::kOutsideRun, text_at(node, row.procedure)) ==
         verdict::kOutsideRun.end();
}

std::vector<FoundFrame> frames_of(const NodeView& node, std::int64_t path) {
  std::vector<FoundFrame> frames;
  while (path >= 0 && frames.size() < kMostFrames) {
    const PathsRow& row = node.paths[static_cast<std::size_t>(path)];
    FoundFrame frame{{}, row.offset, std::string(text_at(node, row.function)), row.line};
    if (row.module >= 0) {
      frame.file = text_at(node, node.modules[static_cast<std::size_t>(row.module)].file);
    }
    frames.push_back(std::move(frame));
    path = row.caller;
  }
  return frames;
}

double share_of(std::int64_t time, const RunTimes& times) {
  return times.runs == 0 ? 0 : static_cast<double>(time) / static_cast<double>(times.runs);
}

std::string cost_text(const RunTimes& times, const Costliest* first) {
  const std::string share = percent(share_of(times.in_mpi, times));
  if (first == nullptr) return filled(verdict::kCostOnNodes, {{"share", share}});
  if (first->procedure.empty()) return std::string(verdict::kNoCost);
  return filled(verdict::kCostliest, {{"share", share},
                                      {"procedure", first->procedure},
                                      {"part", percent(share_of(first->time, times))}});
}

/// Of those with the greatest time the first one by its key.
template <class Key>
const std::pair<const Key, std::int64_t>* greatest(const std::map<Key, std::int64_t>& times) {
  const std::pair<const Key, std::int64_t>* found = nullptr;
  for (const auto& each : times) {
    if (each.second > 0 && (found == nullptr || each.second > found->second)) found = &each;
  }
  return found;
}

}  // namespace

std::string filled(std::string_view text, const Names& names) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find('{', at), text.size());
    made += text.substr(at, begin - at);
    if (begin == text.size()) break;
    const std::size_t end = std::min(text.find('}', begin), text.size() - 1);
    const std::string_view name = text.substr(begin + 1, end - begin - 1);
    for (const auto& [known, value] : names) {
      if (known == name) made += value;
    }
    at = end + 1;
  }
  return made;
}

void RunTimes::add(const RunTimes& other) {
  runs = sum(runs, other.runs);
  longest_run = std::max(longest_run, other.longest_run);
  in_mpi = sum(in_mpi, other.in_mpi);
  useful = sum(useful, other.useful);
  most_useful = std::max(most_useful, other.most_useful);
}

RunTimes times_of_run(const NodeView& node) {
  std::map<std::int64_t, std::int64_t> in_mpi;
  for (const CallsRow& row : node.calls) {
    std::int64_t& time = in_mpi[row.rank];
    if (is_in_run(node, row)) time = sum(time, row.time);
  }
  RunTimes times;
  for (const RanksRow& rank : node.ranks) {
    const std::int64_t own = in_mpi[rank.rank] / std::max<std::int64_t>(1, rank.threads);
    const std::int64_t recorded = rank.run - rank.off;
    const std::int64_t useful = std::max<std::int64_t>(0, recorded - own);
    times.add({recorded, recorded, own, useful, useful});
  }
  return times;
}

Costliest costliest(const NodeView& node) {
  std::map<std::string_view, std::int64_t> procedures;
  std::map<std::pair<std::string_view, std::int64_t>, std::int64_t> sites;
  for (const CallsRow& row : node.calls) {
    if (!is_in_run(node, row)) continue;
    const std::string_view name = text_at(node, row.procedure);
    procedures[name] = sum(procedures[name], row.time);
    sites[{name, row.path}] = sum(sites[{name, row.path}], row.time);
  }
  Costliest found;
  if (const auto* const first = greatest(procedures)) {
    found.procedure = first->first;
    found.time = first->second;
  }
  if (const auto* const first = greatest(sites)) {
    found.site_procedure = first->first.first;
    found.site_time = first->second;
    found.site = frames_of(node, first->first.second);
  }
  return found;
}

std::string verdict_of(const RunTimes& times, std::int64_t ranks, const Costliest* first) {
  if (!is_known(times, ranks)) return std::string(verdict::kUnknown);
  const Efficiency one = efficiency(times, ranks);
  constexpr double kAcceptable = verdict::kAcceptablePercent / 100.0;
  const std::string_view text = one.parallel() >= kAcceptable     ? verdict::kGood
                                : one.balance < one.communication ? verdict::kUnequal
                                                                  : verdict::kInMpi;
  return filled(text, {{"parallel", percent(one.parallel())},
                       {"acceptable", percent(kAcceptable)},
                       {"worst", percent(std::min(one.balance, one.communication))},
                       {"costliest", cost_text(times, first)}});
}

std::string efficiency_of(const RunTimes& times, std::int64_t ranks) {
  if (!is_known(times, ranks)) return {};
  const Efficiency one = efficiency(times, ranks);
  return filled(verdict::kEfficiency, {{"parallel", ratio(one.parallel())},
                                       {"balance", ratio(one.balance)},
                                       {"communication", ratio(one.communication)}});
}

}  // namespace headrace::record
