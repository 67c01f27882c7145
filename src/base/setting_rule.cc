#include "base/setting_rule.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/rounding.h"
#include "base/spelling.h"

namespace headrace {
namespace {

constexpr std::string_view kPrefix = "HEADRACE_";

const SettingRule* find_rule(std::span<const SettingRule> rules, std::string_view name) {
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const auto& rule) { return name == rule.name; });
  return found == rules.end() ? nullptr : &*found;
}

const SettingRule* find_alias(std::span<const SettingRule> rules, std::string_view name) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const auto& rule) {
    return rule.alias != nullptr && name == rule.alias;
  });
  return found == rules.end() ? nullptr : &*found;
}

/// At most so many lines name unknown variables: an environment may hold any number of them.
constexpr std::size_t kMaxUnknown = 20;

std::string unknown_variable(std::span<const SettingRule> rules, std::string_view name) {
  std::vector<std::string_view> names;
  for (const SettingRule& rule : rules) names.emplace_back(rule.name);
  // The time of a comparison grows with the name's length.
  const std::string_view nearest = nearest_name(name.substr(0, kMaxPrinted), names);
  std::string line = printable(name) + " is ignored (no setting has this name), ";
  if (!nearest.empty()) return line + "did you mean " + std::string(nearest) + "?";
  return line + "docs/reference/settings.md lists them";
}

/// Removes the number at the beginning of `text` and returns it; none if there is no number.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The factor a unit stands for, or none.
std::optional<std::int64_t> unit_factor(std::string_view unit) {
  const std::string lower = lower_case(unit);
  if (lower.empty() || lower == "b") return 1;
  const auto rest = lower.substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
  switch (lower[0]) {
    case 'k': return std::int64_t{1} << 10;
    case 'm': return std::int64_t{1} << 20;
    case 'g': return std::int64_t{1} << 30;
    default: return std::nullopt;
  }
}

std::string size_text(ByteCount size) {
  const char* const units[] = {"", "k", "m", "g"};
  int unit = 0;
  while (unit < 3 && size != 0 && size % 1024 == 0) {
    size /= 1024;
    ++unit;
  }
  return std::to_string(size) + units[unit];
}

/// The environment, or null in a setuid program: whoever starts one chooses its environment.
const char* const* trusted_environment() {
  return has_raised_privileges() ? nullptr : environ;
}

/// Of a variable that is there several times the last one counts, as in apply().
std::string last_value(const char* const* environment, std::string_view name) {
  std::string value;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(name) || entry.substr(name.size(), 1) != "=") continue;
    if (entry.size() > name.size() + 1) value = entry.substr(name.size() + 1);
  }
  return value;
}

/// Reads our own variables into `settings`, or only their aliases.
void apply(std::span<const SettingRule> rules, const char* const* environment, bool aliases,
           Settings& settings, std::vector<std::string>& problems) {
  std::size_t unknown = 0;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals));
    if (aliases ? find_alias(rules, name) == nullptr : !name.starts_with(kPrefix)) continue;
    const std::string value(entry.substr(equals + 1));
    const SettingRule* const rule = aliases ? find_alias(rules, name) : find_rule(rules, name);
    if (rule == nullptr) {
      if (++unknown <= kMaxUnknown) problems.push_back(unknown_variable(rules, name));
    } else if (rule->apply != nullptr && !value.empty()) {
      const std::string problem = rule->apply(value, settings);
      // The default is always valid, even if it lies outside the range of other values.
      if (problem.empty() || value == rule->default_text) {
        settings.given.emplace_back(rule->name);
      } else {
        problems.push_back(name + "='" + printable(value) + "' " + problem + ", the default " +
                           rule->default_text + " is used");
      }
    }
  }
}

}  // namespace

bool has_raised_privileges() {
  return getauxval(AT_SECURE) != 0;
}

Settings apply_rules(std::span<const SettingRule> rules, const char* const* environment,
                     std::vector<std::string>& problems) {
  Settings settings;
  for (const bool aliases : {true, false}) {
    apply(rules, environment, aliases, settings, problems);
  }
  return settings;
}

std::vector<SettingInForce> rules_in_force(std::span<const SettingRule> rules,
                                           const char* const* environment) {
  std::vector<SettingInForce> in_force;
  for (const SettingRule& rule : rules) {
    if (rule.apply == nullptr) continue;
    SettingInForce& one = in_force.emplace_back(rule.name, rule.default_text, "default");
    for (const bool is_alias : {true, false}) {
      const char* const name = is_alias ? rule.alias : rule.name;
      const std::string value = name == nullptr ? "" : last_value(environment, name);
      Settings scratch;
      const bool counts =
          !value.empty() && (rule.apply(value, scratch).empty() || value == rule.default_text);
      if (counts) one = {rule.name, value, is_alias ? name : "environment"};
    }
  }
  return in_force;
}

std::vector<SettingInForce> settings_in_force() {
  return settings_in_force(trusted_environment());
}

const Settings& settings() {
  static const auto* const read = [] {
    std::vector<std::string> ignored;
    // never destroyed: usable during exit
    auto* const made = new Settings(read_settings(trusted_environment(), ignored));
    if (has_raised_privileges()) made->disable = true;
    return made;
  }();
  return *read;
}

const std::vector<std::string>& settings_problems() {
  static const auto* const found = [] {
    auto* const problems = new std::vector<std::string>;
    read_settings(trusted_environment(), *problems);
    return problems;
  }();
  return *found;
}

std::string read_boolean(const std::string& text, bool& value) {
  for (const char* const yes : {"1", "yes", "true", "on"}) {
    if (strcasecmp(text.c_str(), yes) == 0) {
      value = true;
      return {};
    }
  }
  for (const char* const no : {"0", "no", "false", "off"}) {
    if (strcasecmp(text.c_str(), no) == 0) {
      value = false;
      return {};
    }
  }
  return "is neither yes nor no (write 1 or 0)";
}

std::string read_integer(const std::string& text, std::int64_t minimum, std::int64_t maximum,
                         std::int64_t& value) {
  std::string_view rest = text;
  const auto number = take_number(rest);
  if (!number || !rest.empty()) return "is not a whole number (write digits only)";
  if (*number < minimum || *number > maximum) {
    return "is out of range (" + std::to_string(minimum) + " to " + std::to_string(maximum) + ")";
  }
  value = *number;
  return {};
}

std::string read_size(const std::string& text, ByteCount minimum, ByteCount maximum,
                      ByteCount& value) {
  std::string_view rest = text;
  const auto number = take_number(rest);
  const auto factor = number ? unit_factor(rest) : std::nullopt;
  if (!factor) return "is not a size (write digits and k, m or g, such as 512k)";
  ByteCount bytes = 0;
  if (__builtin_mul_overflow(*number, *factor, &bytes) || bytes < minimum || bytes > maximum) {
    return "is out of range (" + size_text(minimum) + " to " + size_text(maximum) + ")";
  }
  value = bytes;
  return {};
}

std::string read_stripes(const std::string& text, Stripes& value) {
  const char* const kForm = "is no pair of stripes and their size (write COUNTxSIZE, such as 4x1m)";
  if (text == "none") {
    value = {};
    return {};
  }
  constexpr std::int64_t kMaxStripes = 65535;  // Lustre's count has 16 bits
  constexpr std::int64_t kLargestStripe = 1 << 30;
  const auto times = text.find('x');
  Stripes stripes;
  if (times == std::string::npos) return kForm;
  if (!read_integer(text.substr(0, times), 1, kMaxStripes, stripes.count).empty()) return kForm;
  const std::string problem =
      read_size(text.substr(times + 1), kPage, kLargestStripe, stripes.size);
  if (!problem.empty()) return problem;
  if (stripes.size % kPage != 0) return "has stripes that are not whole pages (write 4k or more)";
  value = stripes;
  return {};
}

std::string read_names(const std::string& text, std::vector<std::string>& value) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; text != "none" && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) return "has an empty name (write names with commas between them)";
    names.push_back(lower_case(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  value = std::move(names);
  return {};
}

std::string read_text(const std::string& text, std::string& value) {
  value = text;
  return {};
}

std::string not_among(std::span<const char* const> names) {
  std::string text = "is not known (write ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text + ")";
}

}  // namespace headrace
