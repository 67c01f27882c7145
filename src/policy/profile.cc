#include "policy/profile.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "base/fingerprint.h"
#include "base/spelling.h"
#include "base/toml.h"
#include "policy/profile_name.h"

namespace headrace::policy {
namespace {

constexpr std::string_view kFormat = "2";
constexpr std::string_view kBuiltIn = " built in";
constexpr double kMostCost = 1e15;
constexpr int kMostRanks = 1 << 20;
constexpr std::size_t kMostShown = 300;

const TomlEntry* find(const TomlText& text, std::string_view table, std::string_view key) {
  const auto found = std::ranges::find_if(text.entries, [&](const TomlEntry& entry) {
    return entry.table.size() == 1 && entry.table[0] == table && entry.key == key;
  });
  return found == text.entries.end() ? nullptr : &*found;
}

std::string value_of(const TomlText& text, std::string_view table, std::string_view key) {
  const TomlEntry* const entry = find(text, table, key);
  return entry == nullptr ? "" : entry->value;
}

/// Where a cost of this table and name is kept; null if there is none.
double* place_of(Costs& costs, const std::string& table, std::string_view name) {
  if (table == "common") {
    const auto* const found = std::ranges::find(kCommonCosts, name, &NamedCommonCost::name);
    return found == std::end(kCommonCosts) ? nullptr : &(costs.common.*(found->cost));
  }
  const auto* const found = std::ranges::find(kPathCosts, name, &NamedPathCost::name);
  if (found == std::end(kPathCosts)) return nullptr;
  // Not as one expression: GCC 12 takes the address of a copy then.
  PathCosts& of_path = table == "write" ? costs.write : costs.read;
  return &(of_path.*(found->cost));
}

/// A number of at least 0, at the end of the text or before `next`. Leaves what follows it.
std::optional<double> take_number(std::string_view& text, std::string_view next = " ") {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0 && number <= kMostCost)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && !text.starts_with(next)) return std::nullopt;
  return number;
}

bool is_known_table(const std::string& name) {
  return name == "profile" || name == "machine" || name == "file_system" || name == "choices";
}

/// A count from 1 to kMostRanks; 0 for what is none.
int count_of(const std::string& text) {
  int count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  return error == std::errc{} && rest == end && count >= 1 && count <= kMostRanks ? count : 0;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// "A to B, C to D", or "none". Nothing for another text.
std::optional<std::vector<PieceRange>> ranges_of(std::string_view text) {
  std::vector<PieceRange> ranges;
  if (text.empty() || text == "none") return ranges;
  do {
    const auto first = take_number(text, " ");
    if (!first || !take_word(text, " to ")) return std::nullopt;
    const auto last = take_number(text, ",");
    if (!last || *last < *first) return std::nullopt;
    ranges.push_back({*first, *last});
  } while (take_word(text, ", "));
  if (!text.empty()) return std::nullopt;
  return ranges;
}

/// Why an entry cannot be used, and what to write; empty where it is used or is none of ours.
std::string take_cost(const TomlEntry& entry, Costs& costs) {
  const std::string table = entry.table.size() == 1 ? entry.table[0] : "";
  if (is_known_table(table)) return {};
  if (table != "write" && table != "read" && table != "common") {
    return "(it stands below no header that is read here), write [write], [read] or [common] above "
           "it";
  }
  double* const cost = place_of(costs, table, entry.key);
  if (cost == nullptr) {
    return "(no cost of [" + table + "] is called '" + printable(entry.key) +
           "'), leave it out, or measure anew with headrace tune";
  }
  std::string_view text = entry.value;
  const auto number = take_number(text);
  if (!number) return "(it is no number from 0 to 1e15), write for example \"700 measured\"";
  if (text == kBuiltIn) return {};
  *cost = *number;
  return {};
}

/// Costs by which the model divides, or that are shares.
void bound(Costs& costs) {
  for (PathCosts* const path : {&costs.write, &costs.read}) {
    path->concurrency = std::max(1.0, path->concurrency);
    path->longest_transfer = std::max(path->longest_transfer, costs.common.usual_transfer);
  }
  costs.common.least_scattered = std::min(1.0, costs.common.least_scattered);
}

}  // namespace

std::int64_t Profile::fingerprint() const {
  Fingerprint print;
  const auto add = [&](double cost) { print.add(std::bit_cast<std::int64_t>(cost)); };
  for (const NamedPathCost& named : kPathCosts) {
    add(costs.write.*(named.cost));
    add(costs.read.*(named.cost));
  }
  for (const NamedCommonCost& named : kCommonCosts) add(costs.common.*(named.cost));
  for (const std::string* const text : {&file_system, &mount}) {
    for (const char letter : *text) print.add_byte(static_cast<unsigned char>(letter));
    print.add_byte(0);
  }
  print.add(node_ranks);
  print.add(nodes);
  for (const std::vector<PieceRange>* const ranges : {&write, &read}) {
    for (const PieceRange& range : *ranges) {
      add(range.first);
      add(range.last);
    }
    print.add_byte(0);
  }
  return print.value();
}

ReadProfile parse_profile(std::string_view text, const std::string& path) {
  TomlText read = parse_toml(text);
  ReadProfile result;
  result.profile.path = path;
  const std::string shown = profile_name(path);
  const auto refuse = [&](const std::string& why) {
    result.problems = {shown + " is ignored (" + why + "), measure anew with headrace tune"};
    return result;
  };
  const std::string format = value_of(read, "profile", "format");
  if (format.empty()) return refuse("it has no format below [profile]");
  if (format != kFormat) {
    return refuse("it is of format " + printable(format) + ", this version reads format " +
                  std::string(kFormat));
  }
  Profile& profile = result.profile;
  profile.file_system = value_of(read, "file_system", "kind");
  if (profile.file_system.empty()) return refuse("it names no kind below [file_system]");
  profile.mount = value_of(read, "file_system", "mount");
  profile.processor = value_of(read, "machine", "processor");
  profile.node_ranks = count_of(value_of(read, "machine", "node_ranks"));
  profile.nodes = count_of(value_of(read, "machine", "nodes"));
  if (profile.node_ranks == 0 || profile.nodes == 0) {
    return refuse("it has no counts node_ranks and nodes below [machine]");
  }
  for (std::string& problem : read.problems) result.problems.push_back(shown + " " + problem);
  for (const TomlEntry& entry : read.entries) {
    const std::string problem = take_cost(entry, profile.costs);
    if (problem.empty()) continue;
    result.problems.push_back(shown + " line " + std::to_string(entry.line) + " is ignored " +
                              problem);
  }
  for (const Direction direction : {Direction::write, Direction::read}) {
    const char* const name = direction == Direction::write ? "write" : "read";
    auto ranges = ranges_of(value_of(read, "choices", name));
    if (!ranges) {
      result.problems.push_back(shown + " counts for no " + name +
                                "s (what [choices] has for them are no pieces), write for example "
                                "\"1000 to 65536\" or \"none\"");
    } else {
      (direction == Direction::write ? profile.write : profile.read) = std::move(*ranges);
    }
  }
  bound(profile.costs);
  result.counts = true;
  return result;
}

bool has_enough_ranks(const Profile& profile, int node_ranks, int nodes) {
  return node_ranks <= profile.node_ranks && nodes <= profile.nodes;
}

std::string too_few_ranks(const Profile& profile, int node_ranks, int nodes) {
  const auto counts = [](int ranks, int of_nodes) {
    const auto several = [](int count, const char* what) {
      return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    return several(of_nodes, "node") + " with " + several(ranks, "rank") + " each";
  };
  return "it is of " + counts(profile.node_ranks, profile.nodes) + ", the file has " +
         counts(node_ranks, nodes);
}

const Profile* counting(const Profile* profile, Direction direction, double piece) {
  if (profile == nullptr) return nullptr;
  const auto& ranges = direction == Direction::write ? profile->write : profile->read;
  const bool counts = std::ranges::any_of(
      ranges, [&](const PieceRange& range) { return range.first <= piece && piece <= range.last; });
  return counts ? profile : nullptr;
}

std::string profile_name(const std::string& path) {
  return "profile '" + printable(path, kMostShown) + "'";
}

std::string explain_costs(const Profile* profile) {
  if (profile == nullptr) return "built in";
  std::string pieces;
  for (const auto& [verb, ranges] :
       {std::pair("writes", &profile->write), std::pair("reads", &profile->read)}) {
    if (ranges->empty()) continue;
    pieces += std::string(pieces.empty() ? " for " : ", ") + verb + " of ";
    for (const PieceRange& range : *ranges) {
      if (&range != ranges->data()) pieces += " and ";
      pieces += std::to_string(static_cast<std::int64_t>(range.first)) + " to " +
                std::to_string(static_cast<std::int64_t>(range.last));
    }
    pieces += " bytes";
  }
  const std::string name = profile_name(profile->path);
  if (pieces.empty()) return "built in (" + name + " counts for no pieces)";
  return "those of " + name + pieces + ", else built in";
}

std::string by_profile(const Profile* profile) {
  return profile == nullptr ? "" : "; costs are those of " + profile_name(profile->path);
}

}  // namespace headrace::policy
