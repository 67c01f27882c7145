#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>

#include "exchange/channel.h"
#include "file/agreement.h"

namespace headrace::file {

/// The shared pointer of a file, in etypes of its view. Each view's lies in another cell than that
/// of the view before, so that a new one is ready before the ranks agree on the view.
class SharedPosition {
 public:
  /// `path` must outlive it.
  SharedPosition(exchange::Channel& channel, const std::string& path)
      : channel_(channel), path_(path) {}

  /// Moves it by `etypes`; where it was. Waits for no rank.
  Result<std::int64_t> take(std::int64_t etypes) { return channel_.advance_pointer(cell_, etypes); }
  /// Collective: moves it by what all ranks ask for together; where this rank's part begins, the
  /// ranks taking their parts in rank order.
  Result<std::int64_t> take_ordered(std::int64_t etypes);

  /// The first rank's call; that of others does nothing.
  void set(std::int64_t position) { set_cell(cell_, position); }
  /// Puts the next view's to the beginning, before the ranks agree on it: none uses it yet.
  void clear_next() { set_cell(1 - cell_, 0); }
  void use_next() { cell_ = 1 - cell_; }

  /// Collective: what the first rank found by `find`, on all ranks. `verb`: as Undertaking's.
  template <class Find>
  Result<std::int64_t> found_by_first(const char* verb, Find find);

 private:
  void set_cell(int cell, std::int64_t position) {
    if (channel_.rank() == 0) channel_.set_pointer(cell, position);
  }

  exchange::Channel& channel_;
  const std::string& path_;
  std::atomic<int> cell_ = 0;
};

template <class Find>
Result<std::int64_t> SharedPosition::found_by_first(const char* verb, Find find) {
  constexpr exchange::Combine ways[] = {exchange::Combine::max, exchange::Combine::max};
  exchange::Values values{0, std::numeric_limits<std::int64_t>::min()};
  Error failed;
  if (channel_.rank() == 0) {
    failed = attempt([&]() -> Error {
      const Result<std::int64_t> found = find();
      if (!found) return found.error();
      values[1] = found.value();
      return {};
    });
    values[0] = code_of(failed);
  }
  if (Error error = channel_.combine(values, ways)) return error;
  if (Error error = own_or_others(failed, values[0], {verb, path_})) return error;
  return values[1];
}

}  // namespace headrace::file
