#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "file/hint_sources.h"
#include "file/hints.h"

namespace headrace::file {

/// The hints that count for an open file, and what became of those that were given. Safe from
/// several threads.
class FileHints {
 public:
  /// `reports`: whether this rank reports the user of hints that do not count; one does.
  explicit FileHints(bool reports) : reports_(reports) { set({default_hint_values(), {}, {}}); }

  /// Takes those of all places, then the program's. `given_name`: the file's, as the program gave
  /// it. Throws where memory lacks.
  void start(std::string_view given_name, const std::string& full_name, const Hints& program);
  /// Those in use with `hints`, which `origin` gives, over them.
  HintsInUse with(const Hints& hints, const std::string& origin = kProgram) const;
  void set(HintsInUse next);
  /// For calls that change them, which are collective and come one at a time.
  const HintValues& values() const { return in_use_.values; }
  /// 0: nothing is read with what lies between it. Takes no lock.
  ByteCount sieve_size() const { return sieve_size_.load(std::memory_order_relaxed); }

  /// Lines on hints that count for no rank, or not as this one gave them: told once to the user,
  /// and by shown(). Throws where memory lacks.
  void note_corrections(const std::vector<std::string>& lines);
  /// With their values, and headrace_corrections.
  Hints shown() const;
  /// Who gave them.
  Hints origins() const;

 private:
  void take(const HintSource& source, const PatternHints* pattern);

  const bool reports_;
  /// The program's at the open, where the variable's count over them. Views are often set with the
  /// same once more, which changes nothing.
  Hints overridden_;
  std::atomic<ByteCount> sieve_size_ = 0;

  mutable std::mutex mutex_;  ///< guards what follows
  HintsInUse in_use_;
  std::string corrections_;
};

}  // namespace headrace::file
