#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "file/hints.h"

namespace headrace::file {

/// The hints in effect for an open file, and what became of those that were given. Safe from
/// several threads.
class FileHints {
 public:
  /// `reports`: whether this rank tells the user of hints that are not in effect; one rank does.
  explicit FileHints(bool reports) : reports_(reports) { set({default_hint_values(), {}}); }

  /// Takes the hints of the hint file and the settings, then the program's. Throws std::bad_alloc.
  void start(const Hints& given);
  /// The hints in effect, overridden by `hints`. `source` names where `hints` come from; empty for
  /// the program's.
  HintsInUse with(const Hints& hints, const std::string& source = {}) const;
  void set(HintsInUse next);
  /// For calls that change hints: they are collective, and only one runs at a time.
  const HintValues& values() const { return in_use_.values; }
  /// Takes no lock.
  ByteCount sieve_size() const { return sieve_size_.load(std::memory_order_relaxed); }

  /// Notes lines on hints that are not in effect as this rank gave them, for the user (once) and
  /// for shown(). Throws std::bad_alloc.
  void note_corrections(const std::vector<std::string>& lines);
  /// All hints in effect with their values, and headrace_corrections.
  Hints shown() const;

 private:
  const bool reports_;
  std::atomic<ByteCount> sieve_size_ = 0;

  mutable std::mutex mutex_;  ///< guards what follows
  HintsInUse in_use_;
  std::string corrections_;
};

}  // namespace headrace::file
