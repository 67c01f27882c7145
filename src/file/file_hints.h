#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "file/hint_sources.h"
#include "file/hints.h"

namespace headrace::file {

/// The hints in effect for an open file, and what became of those that were given. Safe from
/// several threads.
class FileHints {
 public:
  /// `reports`: whether this rank tells the user of hints that are not in effect; one rank does.
  explicit FileHints(bool reports) : reports_(reports) { set({default_hint_values(), {}, {}, {}}); }

  /// Takes the hints of all places, then the program's. `given_name`: the file's, as the program
  /// gave it. Throws std::bad_alloc.
  void start(std::string_view given_name, const std::string& full_name, const Hints& program);
  /// The hints in effect, overridden by `hints`, which `origin` gives.
  HintsInUse with(const Hints& hints, const std::string& origin = kProgram) const;
  void set(HintsInUse next);
  /// For calls that change hints: they are collective, and only one runs at a time.
  const HintValues& values() const { return in_use_.values; }
  /// 0: nothing is read with what lies between it. Takes no lock.
  ByteCount sieve_size() const { return sieve_size_.load(std::memory_order_relaxed); }

  /// Notes lines on hints that are not in effect as this rank gave them, for the user (once) and
  /// for shown(). Throws std::bad_alloc.
  void note_corrections(const std::vector<std::string>& lines);
  /// All hints in effect with their values, and headrace_corrections.
  Hints shown() const;
  /// Who gave them.
  Hints origins() const;
  /// What they asked for, as they wrote it where they wrote a hint.
  Hints asked() const;

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
