#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>

#include "exchange/file_channel.h"
#include "file/agreement.h"

namespace headrace::file {

/// The shared pointer of a file, in etypes of its view. A new view's pointer lies in another cell
/// than the last view's, so that it is ready before the ranks agree on the view.
class SharedPosition {
 public:
  /// `path` must outlive it.
  SharedPosition(exchange::FileChannel& channel, const std::string& path)
      : channel_(channel), path_(path) {}

  /// Moves it by `etypes` and returns where it was. Waits for no rank.
  Result<std::int64_t> take(std::int64_t etypes) { return channel_.advance_pointer(cell_, etypes); }
  /// Collective: moves it by the sum of all ranks' `etypes`, and returns where this rank's part
  /// begins. Parts are in rank order.
  Result<std::int64_t> take_ordered(std::int64_t etypes);

  /// Sets the pointer. Does nothing on other ranks than the first.
  void set(std::int64_t position) { set_cell(cell_, position); }
  /// Sets the next view's pointer to 0, before the ranks agree on the view and use it.
  void clear_next() { set_cell(1 - cell_, 0); }
  void use_next() { cell_ = 1 - cell_; }

  /// Collective: returns on all ranks what the first rank found by `find`. `verb`: see Action.
  template <class Find>
  Result<std::int64_t> found_by_first(const char* verb, Find find);

 private:
  struct FoundByFirst {
    std::int64_t failure = 0;
    std::int64_t found = std::numeric_limits<std::int64_t>::min();

    void combine(const FoundByFirst& other) {
      fabric::keep_greatest(failure, other.failure);
      fabric::keep_greatest(found, other.found);
    }
  };

  void set_cell(int cell, std::int64_t position) {
    if (channel_.nodes().rank() == 0) channel_.set_pointer(cell, position);
  }

  exchange::FileChannel& channel_;
  const std::string& path_;
  std::atomic<int> cell_ = 0;
};

template <class Find>
Result<std::int64_t> SharedPosition::found_by_first(const char* verb, Find find) {
  FoundByFirst all;
  Error failed;
  if (channel_.nodes().rank() == 0) {
    failed = attempt([&]() -> Error {
      const Result<std::int64_t> found = find();
      if (!found) return found.error();
      all.found = found.value();
      return {};
    });
    all.failure = code_of(failed);
  }
  if (Error error = channel_.combine(all)) return error;
  if (Error error = own_or_others(failed, all.failure, {verb, path_})) return error;
  return all.found;
}

}  // namespace headrace::file
