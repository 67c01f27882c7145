#pragma once

#include <cstdint>
#include <vector>

#include "abi/flavour/native.h"
#include "base/memory_account.h"
#include "base/result.h"
#include "base/uncleared_vector.h"

namespace headrace::HEADRACE_FLAVOUR {

/// How a datatype was made: the arguments of its constructor, in their order. A constructor with
/// large counts keeps its counts and displacements in an array of their own; next_count and
/// next_address hide the difference.
class Contents {
 public:
  /// Gets a datatype's contents. A named type has a combiner only.
  static Result<Contents> get(MPI_Datatype datatype);
  Contents(Contents&&) = default;
  ~Contents();  ///< frees the derived types among the arguments

  int combiner() const { return combiner_; }
  bool is_predefined() const;

  int next_integer();
  std::int64_t next_count();
  std::int64_t next_address();
  std::vector<std::int64_t> next_integers(std::int64_t count);
  /// The result has capacity for one more number.
  UnclearedVector<std::int64_t> next_counts(std::int64_t count);
  /// Reads the last arguments: frees the memory of all numbers.
  UnclearedVector<std::int64_t> last_counts(std::int64_t count);
  UnclearedVector<std::int64_t> last_addresses(std::int64_t count);

  const std::vector<MPI_Datatype>& types() const { return types_; }

 private:
  Contents() = default;
  void forget_numbers();

  int combiner_ = 0;
  CountedMemory counted_;
  UnclearedVector<int> integers_;
  UnclearedVector<MPI_Aint> addresses_;
  UnclearedVector<MPI_Count> counts_;
  std::vector<MPI_Datatype> types_;
  std::size_t integers_read_ = 0;
  std::size_t addresses_read_ = 0;
  std::size_t counts_read_ = 0;
};

/// The combiner only; negative if MPI does not know the datatype.
int combiner_of(MPI_Datatype datatype);

/// Whether types with this combiner belong to MPI.
bool is_predefined_combiner(int combiner);

}  // namespace headrace::HEADRACE_FLAVOUR
