#pragma once

#include "base/result.h"
#include "fabric/posted_value.h"

namespace headrace::fabric {

/// An interface: ranks that combine their values.
class Combining {
 public:
  Combining() = default;
  virtual ~Combining() = default;
  Combining(const Combining&) = delete;
  Combining& operator=(const Combining&) = delete;

  /// Collective: sets `value` on all ranks to the combination of all ranks' values. No rank returns
  /// before all have called.
  template <Combinable T>
  Error combine(T& value) {
    PostedValue posted = PostedValue::of(value);
    Error failed = combine_posted(posted, &combine_as<T>);
    value = posted.as<T>();
    return failed;
  }
  virtual Error combine_posted(PostedValue& value, CombinePosted way) = 0;
};

/// Collective: returns this rank's error; or out_of_memory() if another rank has an error.
/// `is_true_everywhere(bool)` is collective, too, and returns a Result<bool>.
template <class IsTrueEverywhere>
Error agree_on_memory(const Error& mine, IsTrueEverywhere is_true_everywhere) {
  const Result<bool> all = is_true_everywhere(!mine);
  if (!all) return all.error();
  return mine || all.value() ? mine : out_of_memory();
}

}  // namespace headrace::fabric
