#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "faults/fault.h"

namespace headrace::faults {

/// How often each operation was struck by each fault, and each call while it went on. Lives in
/// memory that is zeroed when new and may be shared between processes.
class Coverage {
 public:
  static constexpr int kMaxCalls = 48;

  void add(int call, const Struck& struck);
  /// A call in which one rank's arguments were wrong.
  void add_invalid(int call) { invalid_[static_cast<std::size_t>(call)] += 1; }

  /// Both tables in Markdown. Cells that cannot be reached say why, by a note below.
  std::string table() const;
  /// Cells that can be reached and were not.
  std::vector<std::string> missing() const;
  std::int64_t total() const;

 private:
  using Row = std::array<std::atomic<std::int64_t>, kKinds>;

  std::array<Row, kOperations> operations_;
  std::array<Row, kMaxCalls> calls_;
  std::array<std::atomic<std::int64_t>, kMaxCalls> invalid_;
};

}  // namespace headrace::faults
