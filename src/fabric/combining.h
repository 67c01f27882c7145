#pragma once

#include "base/result.h"
#include "fabric/posted_value.h"

namespace headrace::fabric {

/// Ranks that combine what each of them gives.
class Combining {
 public:
  Combining() = default;
  virtual ~Combining() = default;
  Combining(const Combining&) = delete;
  Combining& operator=(const Combining&) = delete;

  /// Collective: `value` becomes what all ranks' values combine to, on all ranks. Nobody returns
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

/// Collective: this rank's error, or that memory lacks if another rank has one.
/// `is_true_everywhere(bool)` is collective, and gives a Result<bool>.
template <class IsTrueEverywhere>
Error agree_on_memory(const Error& mine, IsTrueEverywhere is_true_everywhere) {
  const Result<bool> all = is_true_everywhere(!mine);
  if (!all) return all.error();
  return mine || all.value() ? mine : out_of_memory();
}

}  // namespace headrace::fabric
