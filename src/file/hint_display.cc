#include "file/hint_display.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/setting_rule.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "file/hint_sources.h"
#include "file/hint_table.h"

namespace headrace::file {
namespace {

constexpr std::string_view kReport = "it only reports";
constexpr std::size_t kLongestName = 4096;

std::string_view reason_of(std::string_view name) {
  const auto* const rule = std::ranges::find(hint_table, name, &HintRule::name);
  return rule == std::end(hint_table) ? std::string_view() : rule->reason;
}

/// ROMIO's names of what our own names tell better.
bool is_told_better(const std::string& name, const HintsKnown& known) {
  return (name == "romio_cb_write" || name == "romio_cb_read") && !known.origins.contains(name);
}

std::string find_or(const Hints& hints, const std::string& name, const char* fallback) {
  const auto found = hints.find(name);
  return found == hints.end() ? fallback : found->second;
}

HintType type_of(std::string_view name) {
  const auto* const rule = std::ranges::find(hint_table, name, &HintRule::name);
  return rule == std::end(hint_table) ? HintType::text : rule->type;
}

/// Whether two texts mean the same value of a hint.
bool mean_the_same(const std::string& name, const std::string& one, const std::string& other) {
  constexpr ByteCount kMost = std::numeric_limits<ByteCount>::max();
  const HintType type = type_of(name);
  if (type != HintType::size && type != HintType::integer) {
    return lower_case(one) == lower_case(other);
  }
  ByteCount first = 0;
  ByteCount second = 0;
  return read_size(one, 0, kMost, first).empty() && read_size(other, 0, kMost, second).empty() &&
         first == second;
}

/// Why another value is in force than was asked for.
const char* why_corrected(const std::string& name, const std::string& asked) {
  if (asked == "0") return "which changes nothing";
  if (name == "cb_buffer_size") {
    return "but buffers are whole pages, and stripes or equal parts of them, from 64 KiB to 1 GiB; "
           "between nodes, no more stripes than one aggregator has in turn";
  }
  if (name == "ind_rd_buffer_size") return "but it is kept within 4 KiB and 1 GiB";
  if (name == "cb_nodes") return "but there are no more ranks";
  if (name.starts_with("striping_")) return "but the file has this one";
  return "but another hint overrides it";
}

/// Why these words of access_style change nothing; "" if they do.
std::string why_idle(const std::string& style) {
  if (style_of(style) != storage::Style::usual) return {};
  if (style.find("_once") != std::string::npos) return "the kernel drops first what is used once";
  if (style.find("_mostly") != std::string::npos) return "each call tells what it does";
  return "the kernel takes no such advice";
}

/// What becomes of a hint about stripes where the file got none of them; "" where it did.
std::string fate_of_stripes(const std::string& name, const HintsKnown& known) {
  const bool is_striping = name.starts_with("striping_") || name.ends_with("start_iodevice") ||
                           name == "overstriping_count";
  if (!is_striping || find_or(known.in_force, "headrace_striping", "").starts_with("applied")) {
    return {};
  }
  // Without stripes of the file's own, collective buffers follow those of the hints.
  const bool is_followed =
      name.starts_with("striping_") && known.in_force.contains("striping_unit");
  return is_followed ? "for collective buffers only, see striping" : "no effect, see striping";
}

std::string origin_of(const std::string& name, const std::string& value, const HintsKnown& known) {
  const std::string origin = find_or(known.origins, name, "");
  if (origin.empty()) {
    const bool is_of_file = name.starts_with("striping_") && !known.asked.contains(name);
    return is_of_file ? "the file system" : "default";
  }
  const std::string asked = find_or(known.asked, name, "");
  if (const std::string_view reason = reason_of(name); !reason.empty()) {
    return origin + "; no effect, since " + std::string(reason);
  }
  if (!asked.empty() && !mean_the_same(name, asked, value)) {
    return origin + "; asked for " + printable(asked) + ", " + why_corrected(name, asked);
  }
  if (const std::string why = name == "access_style" ? why_idle(asked) : ""; !why.empty()) {
    return origin + "; no effect, since " + why;
  }
  const std::string fate = fate_of_stripes(name, known);
  return fate.empty() ? origin : origin + "; " + fate;
}

}  // namespace

namespace {
std::atomic<bool> is_asked_for = false;
}

bool is_display_wanted() {
  return settings().hints_display || is_asked_for;
}

void ask_for_display() {
  is_asked_for = true;
}

Hints hints_in_force(Hints shown, const storage::Layout& layout, int ranks, ByteCount window_size) {
  shown["cb_buffer_size"] = std::to_string(window_size);
  if (const auto nodes = shown.find("cb_nodes"); nodes != shown.end()) {
    std::int64_t count = 0;
    read_integer(nodes->second, 0, std::numeric_limits<std::int64_t>::max(), count);
    if (count > ranks) nodes->second = std::to_string(ranks);
  }
  for (auto& [name, value] : hints_of(layout)) shown[name] = std::move(value);
  return shown;
}

std::string explain_hints(const std::string& path, const HintsKnown& known) {
  std::string text = "hints of '" + printable(path, kLongestName) + "' on " +
                     find_or(known.in_force, "headrace_file_system", "an unknown file system") +
                     ":";
  for (const auto& [name, value] : known.in_force) {
    if (reason_of(name) == kReport || is_told_better(name, known)) continue;
    text += "\n  " + name + " = " + printable(value) + " (" + origin_of(name, value, known) + ")";
  }
  const std::string striping = find_or(known.in_force, "headrace_striping", "");
  if (!striping.empty()) text += "\n  striping: " + striping;
  const std::string corrections = find_or(known.in_force, "headrace_corrections", "");
  if (!corrections.empty()) text += "\n  corrected: " + corrections;
  if (!known.nodes.empty()) text += "\n  nodes: " + known.nodes;
  if (!known.costs.empty()) text += "\n  costs: " + known.costs;
  for (const std::string& line : hint_sources().idle) text += "\n  " + line;
  return text;
}

}  // namespace headrace::file
