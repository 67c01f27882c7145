#include "file/hint_display.h"

#include <algorithm>
#include <iterator>
#include <string_view>

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

/// Why another value is in force than was asked for.
const char* why_corrected(const std::string& name) {
  if (name == "cb_buffer_size")
    return "buffers are whole pages, and stripes or equal parts of them";
  return "the file has this one";
}

std::string origin_of(const std::string& name, const std::string& value, const HintsKnown& known) {
  const std::string origin = find_or(known.origins, name, "");
  const std::string asked = find_or(known.asked, name, "");
  const std::string_view reason = reason_of(name);
  if (!origin.empty() && !asked.empty() && asked != value) {
    return "corrected, since " + std::string(why_corrected(name)) + "; " + origin + " asked for " +
           printable(asked);
  }
  if (!origin.empty() && !reason.empty()) {
    return origin + "; no effect, since " + std::string(reason);
  }
  if (!origin.empty()) return origin;
  return asked.empty() && name.starts_with("striping_") ? "the file system" : "default";
}

}  // namespace

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
  for (const std::string& line : hint_sources().idle) text += "\n  " + line;
  return text;
}

}  // namespace headrace::file
