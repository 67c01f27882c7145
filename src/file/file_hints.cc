#include "file/file_hints.h"

#include <utility>

#include "base/message.h"
#include "base/spelling.h"

namespace headrace::file {
namespace {

/// Of the hints of one place at most so many are named that cannot be used.
constexpr std::size_t kMostLines = 20;

/// Hints are by `origin` that it gave or that have another value since.
void note_origin(const std::string& origin, const Hints& before, const Hints& good,
                 HintsInUse& next) {
  for (const auto& [name, value] : hints_of(next.values)) {
    const auto found = before.find(name);
    if (found != before.end() && found->second == value) continue;
    next.origins[name] = origin;
    next.asked.erase(name);
  }
  for (const auto& [name, value] : good) {
    next.origins[name] = origin;
    next.asked[name] = value;
  }
}

void take_settings_of(const HintSource& source, HintsInUse& next) {
  const bool is_file = source.settings != Origin::environment;
  for (const auto& [hint, variable] : take_settings(source.settings, next.values)) {
    next.asked.erase(hint);
    next.origins[hint] = is_file ? variable + " of " + source.shown : variable;
  }
}

/// Without those that the program gave with the same value before.
Hints without_repeated(Hints hints, const Hints& before) {
  std::erase_if(hints, [&](const auto& hint) {
    const auto found = before.find(hint.first);
    return found != before.end() && found->second == hint.second;
  });
  return hints;
}

std::string place_of(const HintSource& source, const PatternHints& pattern) {
  if (pattern.pattern.empty()) return source.shown;
  return source.shown + ", pattern '" + printable(pattern.pattern) + "'";
}

}  // namespace

void FileHints::start(std::string_view given_name, const std::string& full_name,
                      const Hints& program) {
  const HintSources& sources = hint_sources();
  if (reports_) {
    for (const std::string& problem : sources.problems) print_message_once(problem);
  }
  std::vector<std::pair<const HintSource*, const PatternHints*>> over_program;
  for (const HintSource& source : sources.list) {
    const PatternHints* const pattern = find_pattern(source, given_name, full_name);
    take(source, pattern);
    if (pattern != nullptr && source.counts_over_program) {
      over_program.emplace_back(&source, pattern);
    }
  }
  set(with(program));
  if (over_program.empty()) return;
  for (const auto& [source, pattern] : over_program) {
    set(with(pattern->hints, place_of(*source, *pattern)));
  }
  overridden_ = program;
}

void FileHints::take(const HintSource& source, const PatternHints* pattern) {
  if (source.settings != Origin::fallback) {
    HintsInUse next = in_use_;
    take_settings_of(source, next);
    set(std::move(next));
  }
  for (const PatternHints& one : source.hints) {
    if (one.pattern.empty()) set(with(one.hints, place_of(source, one)));
  }
  if (pattern != nullptr) set(with(pattern->hints, place_of(source, *pattern)));
}

HintsInUse FileHints::with(const Hints& hints, const std::string& origin) const {
  HintsInUse next;
  {
    const std::lock_guard lock(mutex_);
    next = in_use_;
  }
  std::vector<std::string> problems;
  const Hints before = hints_of(next.values);
  const bool is_program = origin == kProgram;
  Hints good =
      apply_hints(is_program ? without_repeated(hints, overridden_) : hints, next.values, problems);
  note_origin(origin, before, good, next);
  for (auto& [name, value] : good) next.given[name] = std::move(value);
  if (!reports_) return next;
  const std::string place = is_program ? "" : origin + ": ";
  if (problems.size() > kMostLines) {
    const std::size_t more = problems.size() - kMostLines;
    problems.resize(kMostLines);
    problems.push_back("and " + std::to_string(more) + " hints more have no effect");
  }
  for (const std::string& problem : problems) print_message_once(place + problem);
  return next;
}

void FileHints::set(HintsInUse next) {
  const std::lock_guard lock(mutex_);
  in_use_ = std::move(next);
  const HintValues& values = in_use_.values;
  sieve_size_.store(values.sieves_reads ? values.sieve_size : 0, std::memory_order_relaxed);
}

void FileHints::note_corrections(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) {
    if (reports_) print_message_once(line);
    all += (all.empty() ? "" : "; ") + line;
  }
  const std::lock_guard lock(mutex_);
  corrections_ = std::move(all);
}

Hints FileHints::shown() const {
  const std::lock_guard lock(mutex_);
  Hints hints = in_use_.given;
  for (auto& [name, value] : hints_of(in_use_.values)) hints[name] = std::move(value);
  if (!corrections_.empty()) hints["headrace_corrections"] = corrections_;
  return hints;
}

Hints FileHints::origins() const {
  const std::lock_guard lock(mutex_);
  return in_use_.origins;
}

Hints FileHints::asked() const {
  const std::lock_guard lock(mutex_);
  Hints asked = hints_of(in_use_.values);
  for (const auto& [name, text] : in_use_.asked) asked[name] = text;
  return asked;
}

}  // namespace headrace::file
