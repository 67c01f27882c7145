#pragma once

#include <cstdint>
#include <random>

#include "steps/type_map.h"

namespace headrace::steps {

/// Makes random types, nested up to a depth. With `ascending` set they suit a file view that is
/// written: bytes at ascending offsets >= 0, also when repeated.
class TypeGenerator {
 public:
  explicit TypeGenerator(std::uint64_t seed, bool ascending = false)
      : random_(seed), ascending_(ascending) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  /// A type of at most kMaxBytes bytes.
  TypeTree make(int depth) { return make_with_map(depth).tree; }

  static constexpr std::int64_t kMaxBytes = 600;

 private:
  struct Made {
    TypeTree tree;
    TypeMap map;
  };
  Made make_with_map(int depth);
  TypeTree try_make(int depth);
  TypeTree random_basic();
  std::int64_t count() { return number(0, 9) == 0 ? 0 : number(1, 4); }
  TypeTree vector(const Made& old);
  TypeTree blocks(const Made& old);
  TypeTree blocks_of_one_length(const Made& old);
  TypeTree structure(int depth);
  TypeTree any_resized(const Made& old);
  TypeTree subarray(const Made& old);
  TypeTree darray(const Made& old);
  /// Places of blocks of the given extents: often regular, sometimes overlapping.
  Numbers displacements(const Numbers& block_extents);

  std::mt19937_64 random_;
  bool ascending_;
};

}  // namespace headrace::steps
