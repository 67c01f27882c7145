#include "abi/flavour/datatype_contents.h"

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "abi/flavour/error.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// Lengths of the arrays that describe a datatype.
struct Envelope {
  int combiner = -1;
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count counts = 0;
  MPI_Count types = 0;
};

bool get_envelope(MPI_Datatype datatype, Envelope& envelope) {
  if (native.Type_get_envelope_c != nullptr && native.Type_get_contents_c != nullptr) {
    return native.Type_get_envelope_c(datatype, &envelope.integers, &envelope.addresses,
                                      &envelope.counts, &envelope.types,
                                      &envelope.combiner) == MPI_SUCCESS;
  }
  int integers = 0;
  int addresses = 0;
  int types = 0;
  if (native.Type_get_envelope(datatype, &integers, &addresses, &types, &envelope.combiner) !=
      MPI_SUCCESS) {
    return false;
  }
  envelope.integers = integers;
  envelope.addresses = addresses;
  envelope.types = types;
  return true;
}

bool addresses_are_integers(int combiner) {
  return combiner == kHvectorInteger || combiner == kHindexedInteger || combiner == kStructInteger;
}

/// Appends the next `count` of `numbers`, of which the first `read` were read.
template <class Number>
void append_next(UnclearedVector<std::int64_t>& values, const UnclearedVector<Number>& numbers,
                 std::size_t& read, std::int64_t count) {
  if (count > std::ssize(numbers) - static_cast<std::int64_t>(read)) {
    throw std::out_of_range("a datatype has fewer numbers than its constructor needs");
  }
  const Number* const next = numbers.data() + read;
  values.insert(values.end(), next, next + count);
  read += static_cast<std::size_t>(count);
}

}  // namespace

int combiner_of(MPI_Datatype datatype) {
  Envelope envelope;
  return get_envelope(datatype, envelope) ? envelope.combiner : -1;
}

bool is_predefined_combiner(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER ||
         combiner == kValueIndex;
}

Result<Contents> Contents::get(MPI_Datatype datatype) {
  Contents contents;
  Envelope envelope;
  if (!get_envelope(datatype, envelope)) return native_failure("examine a datatype");
  contents.combiner_ = envelope.combiner;
  if (contents.combiner_ == MPI_COMBINER_NAMED) return contents;

  contents.integers_.resize(static_cast<std::size_t>(envelope.integers));
  contents.addresses_.resize(static_cast<std::size_t>(envelope.addresses));
  contents.counts_.resize(static_cast<std::size_t>(envelope.counts));
  contents.types_.resize(static_cast<std::size_t>(envelope.types));
  contents.counted_ = CountedMemory(MemoryUse::pieces,
                                    static_cast<ByteCount>(envelope.integers * sizeof(int) +
                                                           envelope.addresses * sizeof(MPI_Aint) +
                                                           envelope.counts * sizeof(MPI_Count) +
                                                           envelope.types * sizeof(MPI_Datatype)));
  int code = MPI_SUCCESS;
  if (native.Type_get_envelope_c != nullptr && native.Type_get_contents_c != nullptr) {
    code = native.Type_get_contents_c(datatype, envelope.integers, envelope.addresses,
                                      envelope.counts, envelope.types, contents.integers_.data(),
                                      contents.addresses_.data(), contents.counts_.data(),
                                      contents.types_.data());
  } else {
    code = native.Type_get_contents(datatype, static_cast<int>(envelope.integers),
                                    static_cast<int>(envelope.addresses),
                                    static_cast<int>(envelope.types), contents.integers_.data(),
                                    contents.addresses_.data(), contents.types_.data());
  }
  if (code != MPI_SUCCESS) {
    contents.types_.clear();
    return native_failure("examine a datatype");
  }
  return contents;
}

Contents::~Contents() {
  for (MPI_Datatype& type : types_) {
    if (!is_predefined_combiner(combiner_of(type))) native.Type_free(&type);
  }
}

bool Contents::is_predefined() const {
  return is_predefined_combiner(combiner_);
}

int Contents::next_integer() {
  return integers_.at(integers_read_++);
}

std::int64_t Contents::next_count() {
  return counts_.empty() ? next_integer() : counts_.at(counts_read_++);
}

std::int64_t Contents::next_address() {
  if (!counts_.empty()) return counts_.at(counts_read_++);
  if (addresses_are_integers(combiner_)) return next_integer();
  return addresses_.at(addresses_read_++);
}

std::vector<std::int64_t> Contents::next_integers(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = next_integer();
  return values;
}

UnclearedVector<std::int64_t> Contents::next_counts(std::int64_t count) {
  UnclearedVector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(count) + 1);
  if (counts_.empty()) {
    append_next(values, integers_, integers_read_, count);
  } else {
    append_next(values, counts_, counts_read_, count);
  }
  return values;
}

UnclearedVector<std::int64_t> Contents::last_counts(std::int64_t count) {
  UnclearedVector<std::int64_t> values = next_counts(count);
  forget_numbers();
  return values;
}

UnclearedVector<std::int64_t> Contents::last_addresses(std::int64_t count) {
  UnclearedVector<std::int64_t> values;
  if constexpr (std::is_same_v<MPI_Aint, std::int64_t>) {
    const bool are_all = counts_.empty() && !addresses_are_integers(combiner_) &&
                         addresses_read_ == 0 && std::ssize(addresses_) == count;
    if (are_all) values = std::move(addresses_);
  }
  if (std::ssize(values) != count) {
    values.resize(static_cast<std::size_t>(count));
    for (auto& value : values) value = next_address();
  }
  forget_numbers();
  return values;
}

void Contents::forget_numbers() {
  integers_ = {};
  addresses_ = {};
  counts_ = {};
  counted_ = {};
}

}  // namespace headrace::HEADRACE_FLAVOUR
