#include "abi/flavour/datatype_construct.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "abi/flavour/datatype_contents.h"
#include "view/wide.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// A displacement in bytes; beyond 62 bits if it does not fit in 64, since extents can be larger in
/// a file than in memory.
std::int64_t scaled(std::int64_t displacement, std::int64_t extent) {
  using Limits = std::numeric_limits<std::int64_t>;
  const view::Wide bytes = view::Wide{displacement} * extent;
  return static_cast<std::int64_t>(std::clamp<view::Wide>(bytes, Limits::min(), Limits::max()));
}

UnclearedVector<std::int64_t> scaled(UnclearedVector<std::int64_t> displacements,
                                     std::int64_t extent) {
  for (auto& displacement : displacements) displacement = scaled(displacement, extent);
  return displacements;
}

view::Order order_of(int order) {
  return order == MPI_ORDER_FORTRAN ? view::Order::column_major : view::Order::row_major;
}

view::TypePtr make_subarray(Contents& contents, const view::TypePtr& old) {
  const int dimensions = contents.next_integer();
  const auto sizes = contents.next_counts(dimensions);
  const auto subsizes = contents.next_counts(dimensions);
  const auto starts = contents.next_counts(dimensions);
  return view::make_subarray(sizes, subsizes, starts, order_of(contents.next_integer()), old);
}

view::Distribution distribution_of(std::int64_t distribution) {
  if (distribution == MPI_DISTRIBUTE_BLOCK) return view::Distribution::block;
  if (distribution == MPI_DISTRIBUTE_CYCLIC) return view::Distribution::cyclic;
  return view::Distribution::none;
}

view::TypePtr make_darray(Contents& contents, const view::TypePtr& old) {
  contents.next_integer();  // the number of processes, which is the product of psizes
  const int rank = contents.next_integer();
  const int dimensions = contents.next_integer();
  const auto gsizes = contents.next_counts(dimensions);
  std::vector<view::Distribution> distributions;
  for (const auto value : contents.next_integers(dimensions)) {
    distributions.push_back(distribution_of(value));
  }
  auto arguments = contents.next_integers(dimensions);
  for (auto& argument : arguments) {
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) argument = view::kDefaultDistributionArgument;
  }
  const auto psizes = contents.next_integers(dimensions);
  const auto order = order_of(contents.next_integer());
  return view::make_darray(rank, gsizes, distributions, arguments, psizes, order, old);
}

Result<view::TypePtr> make_struct(Contents& contents, const TypeForm& form) {
  const std::int64_t count = contents.next_count();
  const auto blocklengths = contents.next_counts(count);
  const auto displacements = contents.last_addresses(count);
  std::vector<view::TypePtr> types;
  for (const MPI_Datatype member : contents.types()) {
    auto built = construct_type(member, form);
    if (!built) return built;
    types.push_back(built.value());
  }
  return view::make_struct(blocklengths, displacements, types);
}

Result<view::TypePtr> make_value_index(const Contents& contents, const TypeForm& form) {
  view::TypePtr types[2];
  for (std::size_t i = 0; i < 2; ++i) {
    auto built = construct_type(contents.types().at(i), form);
    if (!built) return built;
    types[i] = built.value();
    if (types[i] == nullptr) return too_large_type();
  }
  const std::int64_t blocklengths[] = {1, 1};
  const std::int64_t displacements[] = {0, form.place_behind(*types[0], *types[1])};
  return view::make_struct(blocklengths, displacements, types);
}

/// The type that a constructor with one old type makes.
Result<view::TypePtr> make_derived(Contents& contents, const view::TypePtr& old) {
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP: return old;
    case MPI_COMBINER_CONTIGUOUS: return view::make_contiguous(contents.next_count(), old);
    case MPI_COMBINER_VECTOR: {
      const auto count = contents.next_count();
      const auto blocklength = contents.next_count();
      return view::make_hvector(count, blocklength, scaled(contents.next_count(), old->extent()),
                                old);
    }
    case MPI_COMBINER_HVECTOR:
    case kHvectorInteger: {
      const auto count = contents.next_count();
      const auto blocklength = contents.next_count();
      return view::make_hvector(count, blocklength, contents.next_address(), old);
    }
    case MPI_COMBINER_INDEXED: {
      const auto count = contents.next_count();
      auto blocklengths = contents.next_counts(count);
      auto displacements = scaled(contents.last_counts(count), old->extent());
      return view::take_hindexed(std::move(blocklengths), std::move(displacements), old);
    }
    case MPI_COMBINER_HINDEXED:
    case kHindexedInteger: {
      const auto count = contents.next_count();
      auto blocklengths = contents.next_counts(count);
      return view::take_hindexed(std::move(blocklengths), contents.last_addresses(count), old);
    }
    case MPI_COMBINER_INDEXED_BLOCK: {
      const auto count = contents.next_count();
      const auto blocklength = contents.next_count();
      return view::take_hindexed_block(blocklength,
                                       scaled(contents.last_counts(count), old->extent()), old);
    }
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const auto count = contents.next_count();
      const auto blocklength = contents.next_count();
      return view::take_hindexed_block(blocklength, contents.last_addresses(count), old);
    }
    case MPI_COMBINER_SUBARRAY: return make_subarray(contents, old);
    case MPI_COMBINER_DARRAY: return make_darray(contents, old);
    case MPI_COMBINER_RESIZED: {
      const auto lower_bound = contents.next_address();
      return view::make_resized(old, lower_bound, contents.next_address());
    }
    default:
      return Error{ErrorClass::type, 0,
                   "a datatype cannot be used for files (unknown combiner " +
                       std::to_string(contents.combiner()) + "), report it with its constructor"};
  }
}

Result<view::TypePtr> make(Contents& contents, const TypeForm& form) {
  const int combiner = contents.combiner();
  if (combiner == MPI_COMBINER_STRUCT || combiner == kStructInteger) {
    return make_struct(contents, form);
  }
  if (combiner == kValueIndex) return make_value_index(contents, form);
  auto old = construct_type(contents.types().at(0), form);
  if (!old) return old;
  return make_derived(contents, old.value());
}

}  // namespace

Result<view::TypePtr> construct_type(MPI_Datatype datatype, const TypeForm& form) {
  auto contents = Contents::get(datatype);
  if (!contents) return contents.error();
  if (contents.value().is_predefined()) return form.predefined(datatype);
  auto made = make(contents.value(), form);
  if (!made) return made;
  return form.accept(datatype, made.value());
}

Error too_large_type() {
  return {ErrorClass::type, 0,
          "a datatype is too large (its size or bounds exceed 2^62 bytes), split it"};
}

}  // namespace headrace::HEADRACE_FLAVOUR
