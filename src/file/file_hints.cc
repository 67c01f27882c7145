#include "file/file_hints.h"

#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "file/hint_file.h"

namespace headrace::file {

void FileHints::start(const Hints& given) {
  const HintFile& file = hint_file();
  if (reports_ && !file.problem.empty()) print_message_once(file.problem);
  if (!file.hints.empty()) {
    HintsInUse next = with(file.hints, "'" + printable(settings().hints_file) + "': ");
    take_settings(next.values);
    set(std::move(next));
  }
  set(with(given));
}

HintsInUse FileHints::with(const Hints& hints, const std::string& source) const {
  HintsInUse next;
  {
    const std::lock_guard lock(mutex_);
    next = in_use_;
  }
  std::vector<std::string> problems;
  for (auto& [name, value] : apply_hints(hints, next.values, problems)) {
    next.given[name] = std::move(value);
  }
  if (!reports_) return next;
  for (const std::string& problem : problems) print_message_once(source + problem);
  return next;
}

void FileHints::set(HintsInUse next) {
  const std::lock_guard lock(mutex_);
  in_use_ = std::move(next);
  sieve_size_.store(in_use_.values.sieve_size, std::memory_order_relaxed);
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

}  // namespace headrace::file
