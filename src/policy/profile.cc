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

constexpr std::string_view kFormat = "1";
constexpr std::string_view kBuiltIn = " built in";
constexpr double kMostCost = 1e15;
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

/// A number of at least 0, and what follows it.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0 && number <= kMostCost)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && text.front() != ' ') return std::nullopt;
  return number;
}

bool is_known_table(const std::string& name) {
  return name == "profile" || name == "machine" || name == "file_system";
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
  for (std::string& problem : read.problems) result.problems.push_back(shown + " " + problem);
  for (const TomlEntry& entry : read.entries) {
    const std::string problem = take_cost(entry, profile.costs);
    if (problem.empty()) continue;
    result.problems.push_back(shown + " line " + std::to_string(entry.line) + " is ignored " +
                              problem);
  }
  bound(profile.costs);
  result.counts = true;
  return result;
}

std::string profile_name(const std::string& path) {
  return "profile '" + printable(path, kMostShown) + "'";
}

std::string by_profile(const Profile* profile) {
  return profile == nullptr ? "" : "; costs are those of " + profile_name(profile->path);
}

}  // namespace headrace::policy
