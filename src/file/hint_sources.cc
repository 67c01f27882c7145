#include "file/hint_sources.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/name_pattern.h"
#include "base/process_environment.h"
#include "base/spelling.h"
#include "base/unmatched_patterns.h"
#include "file/hint_file.h"
#include "file/hint_patterns.h"
#include "file/hint_table.h"

namespace headrace::file {
namespace {

constexpr const char* kOwnVariable = "HEADRACE_HINTS";
constexpr const char* kCraysVariable = "MPICH_MPIIO_HINTS";
constexpr const char* kOwnFile = "HEADRACE_HINTS_FILE";
constexpr const char* kRomiosFile = "ROMIO_HINTS";

struct Matched {
  std::mutex mutex;
  bool has_files = false;
  std::set<const PatternHints*> patterns;
};

Matched& matched() {
  static auto& instance = *new Matched;  // never destroyed: usable during exit
  return instance;
}

bool is_named(const VariableRule& rule, std::string_view name) {
  if (!rule.name.ends_with('*')) return rule.name == name;
  return name.starts_with(rule.name.substr(0, rule.name.size() - 1));
}

bool is_setting(std::string_view name) {
  return std::ranges::find(setting_aliases, name) != std::end(setting_aliases);
}

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  lines.insert(lines.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
}

HintSource source_of(const SettingsFile& file, const char* whose, Origin origin) {
  return {std::string(whose) + " '" + printable(file.path) + "'", origin, file.hints, false};
}

HintSource file_source(const Settings& settings, const std::string& path,
                       std::vector<std::string>& problems) {
  HintFile file = read_hint_file(path, path != Settings().hints_file);
  append(problems, std::move(file.problems));
  // Those of `headrace run --settings` have been given to this process.
  const auto lost = std::ranges::find_if_not(
      file.settings, [&](const std::string& name) { return settings.gives(name); });
  if (lost != file.settings.end()) {
    problems.push_back(printable(*lost) + " in '" + printable(path) +
                       "' is ignored (settings are read when MPI starts, a file of hints later), "
                       "give the file to headrace run --settings, or as HEADRACE_USER");
  }
  return {"'" + printable(path) + "'", Origin::fallback, std::move(file.hints), true};
}

/// Variables that ask for several things are several sources, so that each is known by its name.
std::vector<HintSource> foreign_sources(ForeignVariables& found) {
  std::vector<HintSource> sources;
  std::size_t i = 0;
  for (const auto& [name, value] : found.hints) {
    sources.push_back({found.names[i++], Origin::fallback, {{"", {{name, value}}}}, false});
  }
  return sources;
}

/// The value of a variable; "" if it is not set.
std::string value_in(const char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return std::string(entry.substr(name.size() + 1));
    }
  }
  return {};
}

HintSource variable_source(const char* name, const std::string& text,
                           std::vector<std::string>& problems) {
  ParsedPatterns parsed = parse_hint_patterns(text);
  for (const std::string& problem : parsed.problems) {
    problems.push_back(std::string(name) + ": " + problem);
  }
  return {name, Origin::fallback, std::move(parsed.hints), true};
}

/// Both variables count. Cray's is an alias of ours, so the settings have the text of one alone.
/// Cray's counts over the program, as it does in Cray's MPI, unless somebody says otherwise.
void add_variables(const Settings& settings, const char* const* environment, HintSources& sources) {
  const bool is_crays = settings.variable_of(kOwnVariable) == kCraysVariable;
  HintSource own = variable_source(kOwnVariable, is_crays ? "" : settings.hints, sources.problems);
  own.settings = Origin::environment;
  own.counts_over_program = settings.hints_override;
  sources.list.push_back(std::move(own));
  const std::string crays = is_crays                       ? settings.hints
                            : settings.gives(kOwnVariable) ? value_in(environment, kCraysVariable)
                                                           : "";
  if (crays.empty()) return;
  HintSource other = variable_source(kCraysVariable, crays, sources.problems);
  other.counts_over_program = settings.hints_override || !settings.gives("HEADRACE_HINTS_OVERRIDE");
  sources.list.push_back(std::move(other));
}

/// ROMIO's variable names a file that our variable names, too.
void tell_hidden_file(const Settings& settings, const char* const* environment,
                      std::vector<std::string>& idle) {
  if (settings.variable_of(kOwnFile) != kOwnFile || !settings.gives(kOwnFile)) return;
  const std::string hidden = value_in(environment, kRomiosFile);
  if (hidden.empty() || hidden == settings.hints_file) return;
  idle.push_back(std::string(kRomiosFile) + " has no effect (" + kOwnFile + " names the file)");
}

}  // namespace

ForeignVariables read_foreign_variables(const char* const* environment) {
  std::map<std::string, std::pair<std::string, std::string>> wanted;  // variable and value
  ForeignVariables found;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, equals);
    const auto* const rule = std::ranges::find_if(
        variable_table, [&](const VariableRule& one) { return is_named(one, name); });
    if (rule == std::end(variable_table) || is_setting(name)) continue;
    std::string value(entry.substr(std::min(equals + 1, entry.size())));
    const bool asks = !rule->hint.empty() && (rule->value.empty() || rule->value == value);
    if (!asks) {
      const std::string_view why =
          rule->reason.empty() ? "this value asks for nothing here" : rule->reason;
      found.idle.push_back(printable(name) + " has no effect (" + std::string(why) + ")");
    } else if (!value.empty() && !value.starts_with('-')) {  // -1 is Open MPI's default
      std::string meaning = rule->meaning.empty() ? value : std::string(rule->meaning);
      wanted[std::string(rule->hint)] = {std::string(name), std::move(meaning)};
    }
  }
  std::ranges::sort(found.idle);
  for (auto& [hint, given] : wanted) {
    found.names.push_back(std::move(given.first));
    found.hints[hint] = std::move(given.second);
  }
  return found;
}

HintSources make_hint_sources(const Settings& settings, const SettingsFile& site,
                              const SettingsFile& user, const char* const* environment) {
  HintSources sources;
  sources.list.push_back(source_of(site, "the site's", Origin::site));
  sources.list.push_back(source_of(user, "the user's", Origin::user));
  sources.list.push_back(file_source(settings, settings.hints_file, sources.problems));
  if (!settings.run_hints.empty()) {
    sources.list.push_back(file_source(settings, settings.run_hints, sources.problems));
  }
  ForeignVariables foreign = read_foreign_variables(environment);
  for (HintSource& source : foreign_sources(foreign)) sources.list.push_back(std::move(source));
  sources.idle = std::move(foreign.idle);
  tell_hidden_file(settings, environment, sources.idle);
  add_variables(settings, environment, sources);
  return sources;
}

const HintSources& hint_sources() {
  // Never destroyed: usable during exit.
  static const auto* const read =
      new HintSources(make_hint_sources(settings(), site_file(), user_file(),
                                        has_raised_privileges() ? nullptr : process_environment()));
  return *read;
}

const PatternHints* find_pattern(const HintSource& source, std::string_view given_name,
                                 const std::string& full_name) {
  const std::lock_guard lock(matched().mutex);
  matched().has_files = true;
  for (const PatternHints& one : source.hints) {
    if (one.pattern.empty()) continue;  // for all files
    if (!matches(one.pattern, given_name) && !matches(one.pattern, full_name)) continue;
    matched().patterns.insert(&one);
    return &one;
  }
  return nullptr;
}

std::vector<std::string> unmatched_patterns() {
  const std::lock_guard lock(matched().mutex);
  std::vector<std::string> lines;
  if (!matched().has_files) return lines;
  for (const HintSource& source : hint_sources().list) {
    if (!source.names_unmatched) continue;
    UnmatchedPatterns unmatched(source.shown);
    for (const PatternHints& one : source.hints) {
      if (!one.pattern.empty() && !matched().patterns.contains(&one)) unmatched.add(one.pattern);
    }
    if (std::string line = unmatched.line(); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace headrace::file
