#include "trace/plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/name_pattern.h"
#include "base/spelling.h"
#include "trace/generated/groups.h"

namespace headrace::trace {
namespace {

constexpr std::size_t kLeastPatch = 5;  // bytes of a jump
constexpr std::size_t kMostMoved = 32;
constexpr std::size_t kLongestName = 2048;
constexpr std::uint32_t kUnknownStackArguments = 4096;

using Fields = std::vector<std::string_view>;

Fields fields_of(std::string_view line) {
  Fields fields;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) fields.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return fields;
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int digit_of(char digit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t place = kDigits.find(digit);
  return place == kDigits.npos ? -1 : static_cast<int>(place);
}

std::optional<std::vector<unsigned char>> bytes_in(std::string_view text) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit_of(text[i]);
    const int low = digit_of(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<unsigned char>(high << 4 | low));
  }
  if (text.size() % 2 != 0 || bytes.size() < kLeastPatch || bytes.size() > kMostMoved) {
    return std::nullopt;
  }
  return bytes;
}

/// With its %XX as characters.
std::string text_in(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : digit_of(text[i + 2]);
    plain += low < 0 ? text[i] : static_cast<char>(high << 4 | low);
    if (low >= 0) i += 2;
  }
  return plain;
}

bool set_stack(std::string_view text, PlannedFunction& made) {
  const auto bytes = number_in<std::uint32_t>(text, 10);
  if (!bytes || *bytes % 8 != 0 || *bytes > kMostStackArguments) return false;
  made.stack_arguments = *bytes;
  return true;
}

/// hooks MODULE OFFSET NAME; nops MODULE OFFSET LENGTH STACK NAME; prologue MODULE OFFSET STACK
/// BYTES NAME.
std::optional<PlannedFunction> function_in(const Fields& fields) {
  constexpr std::array<std::string_view, 3> kWays = {"hooks", "nops", "prologue"};
  constexpr std::array<std::size_t, 3> kFields = {4, 6, 6};
  const auto way = static_cast<std::size_t>(std::ranges::find(kWays, fields[0]) - kWays.begin());
  if (way == kWays.size() || fields.size() != kFields[way]) return std::nullopt;
  PlannedFunction made;
  made.way = static_cast<Way>(way + 1);
  made.module = text_in(fields[1]);
  const auto offset = number_in<std::uint64_t>(fields[2], 16);
  made.name = fields.back();
  if (!offset || made.name.size() > kLongestName) return std::nullopt;
  made.offset = *offset;
  if (made.way == Way::hooks) return made;
  if (made.way == Way::nops) {
    const auto length = number_in<std::uint32_t>(fields[3], 10);
    if (!length || *length < kLeastPatch || *length > kMostMoved) return std::nullopt;
    made.length = *length;
    return set_stack(fields[4], made) ? std::optional(made) : std::nullopt;
  }
  auto bytes = bytes_in(fields[4]);
  if (!bytes || !set_stack(fields[3], made)) return std::nullopt;
  made.bytes = std::move(*bytes);
  return made;
}

bool take_line(const Fields& fields, TracePlan& plan) {
  if (fields.size() == 2 && fields[0] == "group") {
    take_groups({std::string(fields[1])}, plan);
    return true;
  }
  if (fields.size() == 2 && fields[0] == "import") {
    plan.imports.emplace(fields[1]);
    return true;
  }
  if (fields == Fields{"hooks", "*", "0", "*"}) {
    plan.has_all_hooks = true;
    return true;
  }
  if (fields.size() == 4 && fields[0] == "refused") {
    // A module that is not known is written as %.
    const std::string module = fields[1] == "%" ? "" : text_in(fields[1]);
    plan.refused.push_back({module, text_in(fields[2]), text_in(fields[3])});
    return true;
  }
  auto function = function_in(fields);
  if (!function) return false;
  plan.functions.push_back(std::move(*function));
  return true;
}

std::string known_groups() {
  std::string names;
  for (const GroupName& group : kGroups) {
    if (group.not_traced.empty()) names += (names.empty() ? "" : ", ") + std::string(group.name);
  }
  return names;
}

void take_group(std::string_view name, TracePlan& plan) {
  const auto* const found = std::ranges::find(kGroups, name, &GroupName::name);
  const std::string told = "'" + printable(name) + "' of HEADRACE_TRACE is ignored (";
  if (found == std::end(kGroups)) {
    plan.problems.push_back(told + "there is no such group), write " + known_groups());
  } else if (!found->not_traced.empty()) {
    plan.problems.push_back(told + std::string(found->not_traced) + "), leave it out");
  } else {
    plan.groups.emplace(name);
  }
}

}  // namespace

void read_plan(std::string_view text, TracePlan& plan) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Fields fields = fields_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.empty() || fields[0].starts_with('#') || take_line(fields, plan)) continue;
    plan.problems.push_back("line " + std::to_string(number) +
                            " of HEADRACE_TRACE_PLAN is ignored (it does not say what to trace), "
                            "make the file anew with headrace profile --apa");
  }
}

void take_groups(const std::vector<std::string>& names, TracePlan& plan) {
  for (const std::string& name : names) {
    bool is_set = false;
    for (const GroupOfSet& one : kGroupsOfSets) {
      if (one.set != name) continue;
      is_set = true;
      take_group(one.group, plan);
    }
    if (!is_set && name != "0") take_group(name, plan);
  }
}

std::string_view group_of(std::string_view function, std::string_view library) {
  for (const GroupPattern& one : kFunctionPatterns) {
    const auto is_of_group = [&](const GroupPattern& other) { return other.group == one.group; };
    const auto is_library = [&](const GroupPattern& other) {
      return is_of_group(other) && library.starts_with(other.pattern);
    };
    if (std::ranges::any_of(kLibraries, is_of_group) &&
        std::ranges::none_of(kLibraries, is_library)) {
      continue;
    }
    if (matches(one.pattern, function)) return kGroups[one.group].name;
  }
  return {};
}

std::uint32_t stack_arguments_of(std::string_view group) {
  const auto* const found = std::ranges::find(kGroups, group, &GroupName::name);
  return found == std::end(kGroups) ? kUnknownStackArguments : found->stack;
}

bool is_never_traced(std::string_view function) {
  return std::ranges::any_of(kNeverTraced,
                             [&](std::string_view pattern) { return matches(pattern, function); });
}

}  // namespace headrace::trace
