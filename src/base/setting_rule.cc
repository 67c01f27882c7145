#include "base/setting_rule.h"

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

/// Takes values one by one; the last one for a setting counts. An empty one stands for the default.
class SettingAssigner {
 public:
  SettingAssigner(std::span<const SettingRule> rules, Settings& settings,
                  std::vector<std::string>& problems)
      : rules_(rules), settings_(settings), problems_(problems) {}

  /// `shown`: the name as it was written, with the place where it stands.
  void take(const SettingRule* rule, std::string_view name, const std::string& value, Origin origin,
            const std::string& where) {
    if (rule == nullptr) {
      if (++unknown_ <= kMaxUnknown) problems_.push_back(unknown_variable(rules_, name) + where);
      return;
    }
    const bool is_of_file = origin == Origin::site || origin == Origin::user;
    if (is_of_file && rule->not_in_files[0] != '\0') {
      return problems_.push_back(std::string(name) + " is ignored " + rule->not_in_files + where);
    }
    if (rule->apply == nullptr) return;
    if (value.empty()) return restore(*rule);
    const std::string problem = rule->apply(value, settings_);
    // The default is always valid, even if it lies outside the range of other values.
    const bool is_default = value == rule->default_text;
    if (is_default) rule->reset(settings_);
    if (problem.empty() || is_default) {
      return note({rule->name, std::string(name), value, origin});
    }
    problems_.push_back(std::string(name) + "='" + printable(value) + "' " + problem + ", " +
                        (settings_.gives(rule->name)
                             ? "it is ignored"
                             : "the default " + std::string(rule->default_text) + " is used") +
                        where);
  }

 private:
  /// Gives the setting its default, as if nobody below had given a value.
  void restore(const SettingRule& rule) {
    rule.reset(settings_);
    forget(rule.name);
  }

  void note(GivenSetting given) {
    forget(given.name);
    settings_.given.push_back(std::move(given));
  }

  void forget(std::string_view name) {
    const auto found = std::ranges::find(settings_.given, name, &GivenSetting::name);
    if (found != settings_.given.end()) settings_.given.erase(found);
  }

  std::span<const SettingRule> rules_;
  Settings& settings_;
  std::vector<std::string>& problems_;
  std::size_t unknown_ = 0;
};

/// Takes our own variables of the environment, or only their aliases. An empty alias is as if it
/// were not there.
void take_environment(std::span<const SettingRule> rules, const char* const* environment,
                      bool aliases, SettingAssigner& assigner) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = entry.substr(0, equals);
    const SettingRule* const rule = aliases ? find_alias(rules, name) : find_rule(rules, name);
    const std::string_view value = entry.substr(equals + 1);
    if (aliases ? rule == nullptr || value.empty() : !name.starts_with(kPrefix)) continue;
    assigner.take(rule, name, std::string(value), Origin::environment, "");
  }
}

/// Who gave a value that counts, as SettingInForce tells it.
std::string origin_text(const GivenSetting& given) {
  switch (given.origin) {
    case Origin::site: return "site";
    case Origin::user: return "user";
    case Origin::environment: return given.variable == given.name ? "environment" : given.variable;
    case Origin::fallback: break;
  }
  return "default";
}

}  // namespace

Settings apply_rules(std::span<const SettingRule> rules, const char* const* environment,
                     std::span<const SettingLayer> below, std::vector<std::string>& problems) {
  Settings settings;
  SettingAssigner assigner(rules, settings, problems);
  for (const SettingLayer& layer : below) {
    for (const auto& [name, value] : layer.values) {
      assigner.take(find_rule(rules, name), name, value, layer.origin, layer.where);
    }
  }
  for (const bool aliases : {true, false}) take_environment(rules, environment, aliases, assigner);
  return settings;
}

std::vector<SettingInForce> rules_in_force(std::span<const SettingRule> rules,
                                           const Settings& settings) {
  std::vector<SettingInForce> in_force;
  for (const SettingRule& rule : rules) {
    if (rule.apply == nullptr) continue;
    const auto given = std::ranges::find(settings.given, rule.name, &GivenSetting::name);
    const bool is_default = given == settings.given.end();
    in_force.emplace_back(rule.name, is_default ? rule.default_text : given->text,
                          is_default ? "default" : origin_text(*given));
  }
  return in_force;
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
    const std::string_view name = without_blanks(std::string_view(text).substr(begin, end - begin));
    if (name.empty()) return "has an empty name (write names with commas between them)";
    names.push_back(lower_case(name));
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
