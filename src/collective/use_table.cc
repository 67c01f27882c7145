#include "collective/use_table.h"

#include <charconv>
#include <cstddef>
#include <utility>

#include "base/spelling.h"
#include "base/toml.h"

namespace headrace::collective {
namespace {

constexpr double kMostGain = 1e6;
constexpr std::string_view kOfTheLibrary = "library";
constexpr std::string_view kCrowded = "crowded";

/// Takes a number from the front of a text; none if there is none.
template <class Number>
std::optional<Number> take(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

/// "1-512 1.5" and nothing more.
bool read_range(std::string_view text, Use& use) {
  const auto least = take<std::size_t>(text);
  if (!least || !take(text, "-")) return false;
  const auto most = take<std::size_t>(text);
  if (!most || !take(text, " ")) return false;
  const auto gain = take<double>(text);
  if (!gain || !text.empty() || *least > *most || !(*gain > 1 && *gain < kMostGain)) return false;
  use.least = *least;
  use.most = *most;
  use.gain = *gain;
  return true;
}

/// All of "1-512 1.5, 4096-1048576 1.2", or none of it.
bool read_ranges(std::string_view text, Use use, std::vector<Use>& uses) {
  std::vector<Use> read;
  for (;;) {
    const std::size_t comma = text.find(", ");
    if (!read_range(text.substr(0, comma), use)) return false;
    read.push_back(use);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 2);
  }
  uses.insert(uses.end(), read.begin(), read.end());
  return true;
}

/// What a header says after the library's name.
std::optional<MeasuredNodes> nodes_of(const std::vector<std::string>& header) {
  const bool is_crowded = header.size() > 2 && header.back() == kCrowded;
  const std::size_t words = header.size() - (is_crowded ? 1 : 0);
  if (words < 2 || words > 3) return std::nullopt;
  const bool is_one = header[1] == "one";
  if (!is_one && header[1] != "several") return std::nullopt;
  MeasuredNodes nodes = is_one ? kOneNode : kSeveralNodes;
  nodes.is_crowded = is_crowded;
  if (words == 2) return nodes;
  const bool is_read = is_one ? read_ranks(header[2], nodes) : read_nodes(header[2], nodes);
  return is_read ? std::optional(nodes) : std::nullopt;
}

/// Why an entry cannot be used, and what to write; empty where it is used or is none of ours.
std::string use_entry(const TomlEntry& entry, std::vector<Use>& uses) {
  if (!entry.table.empty() && entry.table[0] == "origin") return {};
  if (entry.table.size() > 2 && entry.table[2] == kOfTheLibrary) return {};
  const auto library = entry.table.empty() ? std::nullopt : library_named(entry.table[0]);
  const auto nodes = library ? nodes_of(entry.table) : std::nullopt;
  if (!nodes) {
    return "(it is below no header of a library and a number of nodes), write for example "
           "[mpich.one.8] above it for up to 8 ranks on one node, or [mpich.several.4x2] for 4 "
           "nodes of 2 ranks";
  }
  const auto operation = operation_named(entry.key);
  if (!operation) {
    return "(no operation is called '" + printable(entry.key) + "'), write for example allreduce";
  }
  if (!read_ranges(entry.value, {*library, *operation, *nodes, 0, 0, 0}, uses)) {
    return "(it has no ranges of bytes, each with a gain above 1), write for example \"1-512 1.5, "
           "4096-65536 1.2\"";
  }
  return {};
}

}  // namespace

std::optional<Library> library_named(std::string_view name) {
  if (name == "mpich") return Library::mpich;
  if (name == "intel") return Library::intel;
  if (name == "openmpi") return Library::openmpi;
  return std::nullopt;
}

UseTable read_use_table(std::string_view text) {
  TomlText read = parse_toml(text);
  UseTable table;
  table.problems = std::move(read.problems);
  for (const TomlEntry& entry : read.entries) {
    const std::string problem = use_entry(entry, table.uses);
    if (problem.empty()) continue;
    table.problems.push_back("line " + std::to_string(entry.line) + " is ignored " + problem);
  }
  return table;
}

}  // namespace headrace::collective
