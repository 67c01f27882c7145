#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

namespace headrace::fabric {

/// Bytes that a rank can post at a time: with the round's number they fill two cache lines.
inline constexpr std::size_t kMaxPosted = 120;

/// A type that a rank can post: a struct of plain numbers, without padding.
template <class T>
concept Postable = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
                   sizeof(T) <= kMaxPosted && alignof(T) <= alignof(std::int64_t);

/// A postable type whose values can be combined: `a.combine(b)` puts the combination of both into
/// `a`. The order of the ranks must not matter.
template <class T>
concept Combinable = Postable<T> && requires(T& into, const T& from) { into.combine(from); };

/// A value as it lies in shared memory and in messages, padded with zeros.
struct alignas(std::int64_t) PostedValue {
  std::array<std::byte, kMaxPosted> bytes;

  template <Postable T>
  static PostedValue of(const T& value) {
    PostedValue posted;
    posted.set(value);
    return posted;
  }
  template <Postable T>
  void set(const T& value) {
    std::memcpy(bytes.data(), &value, sizeof value);
    std::memset(bytes.data() + sizeof value, 0, bytes.size() - sizeof value);
  }
  /// The value that was given to of() or set().
  template <Postable T>
  const T& as() const {
    assert(is_of_size(sizeof(T)));
    return *std::launder(reinterpret_cast<const T*>(bytes.data()));
  }
  template <Postable T>
  T& as() {
    assert(is_of_size(sizeof(T)));
    return *std::launder(reinterpret_cast<T*>(bytes.data()));
  }

 private:
  /// False if a larger type was set, unless its last numbers are 0.
  bool is_of_size(std::size_t size) const {
    return std::all_of(bytes.begin() + size, bytes.end(),
                       [](std::byte one) { return one == std::byte{}; });
  }
};

/// Puts the combination of both into `into`.
using CombinePosted = void (*)(PostedValue& into, const PostedValue& from);
template <Combinable T>
void combine_as(PostedValue& into, const PostedValue& from) {
  into.as<T>().combine(from.as<T>());
}

// For combine() functions.

inline void keep_least(std::int64_t& into, std::int64_t from) {
  into = std::min(into, from);
}
inline void keep_greatest(std::int64_t& into, std::int64_t from) {
  into = std::max(into, from);
}
/// Adds, but not beyond the largest number.
inline void add(std::int64_t& into, std::int64_t from) {
  if (__builtin_add_overflow(into, from, &into)) into = std::numeric_limits<std::int64_t>::max();
}

/// The least and the greatest of the ranks' numbers.
struct Extremes {
  std::int64_t least = 0;
  std::int64_t greatest = 0;

  static Extremes of(std::int64_t value) { return {value, value}; }
  bool are_same() const { return least == greatest; }
  void combine(const Extremes& other) {
    keep_least(least, other.least);
    keep_greatest(greatest, other.greatest);
  }
};

}  // namespace headrace::fabric
