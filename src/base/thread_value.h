#pragma once

#include <utility>

namespace headrace {

/// The one `Value` of the calling thread, made at its first use and freed when the thread ends.
/// Calls may come later than that, from exit handlers and from destructors of other variables: they
/// get a new one, which is never freed. It is not in the thread's own memory, of which a library
/// that is loaded late, as front libraries load this one, gets little: a pointer is. Throws
/// std::bad_alloc.
template <class Value>
Value& thread_value() {
  [[gnu::tls_model("initial-exec")]] thread_local constinit Value* value = nullptr;
  if (value == nullptr) {
    value = new Value();
    struct End {
      ~End() { delete std::exchange(value, nullptr); }
      void begin() {}
    };
    thread_local End end;
    end.begin();
  }
  return *value;
}

}  // namespace headrace
