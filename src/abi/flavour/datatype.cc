#include "abi/flavour/datatype.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "abi/flavour/attribute.h"
#include "abi/flavour/committed.h"
#include "abi/flavour/datatype_contents.h"
#include "abi/flavour/error.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// The attribute that holds a datatype's decoded form, a TypePtr on the heap.
int decoded_keyval = MPI_KEYVAL_INVALID;

/// Decoded predefined types, which have no end of life that an attribute could follow.
struct PredefinedTypes {
  std::shared_mutex mutex;
  std::unordered_map<std::uintptr_t, view::TypePtr> types;
};

PredefinedTypes& predefined_types() {
  static auto& types = *new PredefinedTypes;
  return types;
}

/// Handles are integers in one ABI and pointers in the others.
std::uintptr_t key_of(MPI_Datatype datatype) {
  return (std::uintptr_t)datatype;
}

Result<view::TypePtr> build(MPI_Datatype datatype);

/// A pair such as MPI_DOUBLE_INT: a value, then an int at its natural alignment.
view::TypePtr make_pair_type(ByteCount size) {
  constexpr ByteCount kIntSize = sizeof(int);
  const ByteCount value_size = size - kIntSize;
  const std::int64_t blocklengths[] = {1, 1};
  const std::int64_t displacements[] = {0, (value_size + kIntSize - 1) / kIntSize * kIntSize};
  const view::TypePtr types[] = {view::make_basic(value_size), view::make_basic(kIntSize)};
  return view::make_struct(blocklengths, displacements, types);
}

view::TypePtr make_value_index(const view::TypePtr& value, const view::TypePtr& index) {
  const ByteCount alignment = std::max<ByteCount>(index->size(), 1);
  const std::int64_t blocklengths[] = {1, 1};
  const std::int64_t displacements[] = {0,
                                        (value->extent() + alignment - 1) / alignment * alignment};
  const view::TypePtr types[] = {value, index};
  return view::make_struct(blocklengths, displacements, types);
}

std::vector<std::int64_t> multiplied(std::vector<std::int64_t> values, std::int64_t factor) {
  for (auto& value : values) value *= factor;
  return values;
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

Result<view::TypePtr> make_struct(Contents& contents) {
  const std::int64_t count = contents.next_count();
  const auto blocklengths = contents.next_counts(count);
  const auto displacements = contents.next_addresses(count);
  std::vector<view::TypePtr> types;
  for (const MPI_Datatype member : contents.types()) {
    auto built = build(member);
    if (!built) return built;
    types.push_back(built.value());
  }
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
      return view::make_hvector(count, blocklength, contents.next_count() * old->extent(), old);
    }
    case MPI_COMBINER_HVECTOR:
    case kHvectorInteger: {
      const auto count = contents.next_count();
      const auto blocklength = contents.next_count();
      return view::make_hvector(count, blocklength, contents.next_address(), old);
    }
    case MPI_COMBINER_INDEXED: {
      const auto count = contents.next_count();
      const auto blocklengths = contents.next_counts(count);
      const auto displacements = multiplied(contents.next_counts(count), old->extent());
      return view::make_hindexed(blocklengths, displacements, old);
    }
    case MPI_COMBINER_HINDEXED:
    case kHindexedInteger: {
      const auto count = contents.next_count();
      const auto blocklengths = contents.next_counts(count);
      return view::make_hindexed(blocklengths, contents.next_addresses(count), old);
    }
    case MPI_COMBINER_INDEXED_BLOCK: {
      const auto count = contents.next_count();
      const auto blocklength = contents.next_count();
      return view::make_hindexed_block(blocklength,
                                       multiplied(contents.next_counts(count), old->extent()), old);
    }
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const auto count = contents.next_count();
      const auto blocklength = contents.next_count();
      return view::make_hindexed_block(blocklength, contents.next_addresses(count), old);
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

/// Gives `type` the library's own bounds where they differ (alignment padding of structs, the
/// removed MPI_LB and MPI_UB) and checks its size.
Result<view::TypePtr> adopt_bounds(MPI_Datatype datatype, view::TypePtr type) {
  const Error too_large{ErrorClass::type, 0,
                        "a datatype is too large (its size or bounds exceed 2^62 bytes), split it"};
  if (type == nullptr) return too_large;
  MPI_Count size = 0;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  if (native.Type_size_x(datatype, &size) != MPI_SUCCESS ||
      native.Type_get_extent_x(datatype, &lower_bound, &extent) != MPI_SUCCESS) {
    return native_failure("measure a datatype");
  }
  if (size != type->size()) {
    return Error{ErrorClass::type, 0,
                 "a datatype cannot be used for files (MPI says " + std::to_string(size) +
                     " bytes, its constructor " + std::to_string(type->size()) +
                     "), report it with its constructor"};
  }
  if (lower_bound == type->lower_bound() && extent == type->extent()) return type;
  type = view::make_resized(type, lower_bound, extent);
  if (type == nullptr) return too_large;
  return type;
}

Result<view::TypePtr> build_predefined(MPI_Datatype datatype) {
  MPI_Count size = 0;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  if (native.Type_size_x(datatype, &size) != MPI_SUCCESS ||
      native.Type_get_extent_x(datatype, &lower_bound, &extent) != MPI_SUCCESS) {
    return native_failure("measure a datatype");
  }
  const bool has_gap = extent > size && size > static_cast<MPI_Count>(sizeof(int));
  return adopt_bounds(datatype, has_gap ? make_pair_type(size) : view::make_basic(size));
}

Result<view::TypePtr> build(MPI_Datatype datatype) {
  auto contents = Contents::get(datatype);
  if (!contents) return contents.error();
  Contents& own = contents.value();
  if (own.is_predefined()) return build_predefined(datatype);

  Result<view::TypePtr> made = view::TypePtr();
  if (own.combiner() == MPI_COMBINER_STRUCT || own.combiner() == kStructInteger) {
    made = make_struct(own);
  } else {
    auto old = build(own.types().at(0));
    if (!old) return old;
    if (own.combiner() == kValueIndex) {
      auto index = build(own.types().at(1));
      if (!index) return index;
      made = make_value_index(old.value(), index.value());
    } else {
      made = make_derived(own, old.value());
    }
  }
  if (!made) return made;
  return adopt_bounds(datatype, made.value());
}

/// Ends of datatypes that had a decoded form. Until the next, what a thread remembers holds: a
/// handle cannot come to mean another type before.
std::atomic<std::uint64_t> ended_types = 0;

int forget_decoded(MPI_Datatype datatype, int keyval, void* value, void* state) {
  ++ended_types;
  return delete_value<MPI_Datatype, view::TypePtr>(datatype, keyval, value, state);
}

/// The decoded form kept with the datatype, or null. Of types that MPI would refuse there is none.
const view::TypePtr* look_up_decoded(MPI_Datatype datatype) {
  auto& predefined = predefined_types();
  {
    const std::shared_lock lock(predefined.mutex);
    const auto found = predefined.types.find(key_of(datatype));
    // Entries of the map never move or go.
    if (found != predefined.types.end()) return &found->second;
  }
  if (!is_committed(datatype)) return nullptr;
  view::TypePtr* decoded = nullptr;
  int found = 0;
  if (native.Type_get_attr(datatype, decoded_keyval, &decoded, &found) != MPI_SUCCESS || !found) {
    return nullptr;
  }
  return decoded;
}

/// As look_up_decoded. Most calls of a thread use the type of the call before, which it remembers.
view::TypePtr find_decoded(MPI_Datatype datatype) {
  thread_local std::uint64_t seen_ends = 0;
  thread_local std::uintptr_t last_key = 0;
  thread_local const view::TypePtr* last = nullptr;
  const std::uint64_t ends = ended_types.load(std::memory_order_acquire);
  if (last == nullptr || last_key != key_of(datatype) || seen_ends != ends) {
    last = look_up_decoded(datatype);
    last_key = key_of(datatype);
    seen_ends = ends;
  }
  return last == nullptr ? nullptr : *last;
}

Error keep_decoded(MPI_Datatype datatype, const view::TypePtr& type) {
  if (is_predefined(datatype)) {
    auto& predefined = predefined_types();
    const std::unique_lock lock(predefined.mutex);
    predefined.types.emplace(key_of(datatype), type);
    return {};
  }
  auto kept = std::make_unique<view::TypePtr>(type);
  if (native.Type_set_attr(datatype, decoded_keyval, kept.get()) != MPI_SUCCESS) {
    return native_failure("keep a decoded datatype");
  }
  kept.release();  // now owned by the attribute, see start_datatypes
  return {};
}

/// An error like any other: in a collective call this rank still takes its part.
Error too_large_to_examine() {
  return {ErrorClass::no_memory, 0,
          "a datatype is too large to be examined (no memory is left), use a regular one"};
}

}  // namespace

Result<view::TypePtr> decode_type(MPI_Datatype datatype) try {
  if (datatype == MPI_DATATYPE_NULL) {
    return Error{ErrorClass::type, 0, "the datatype is MPI_DATATYPE_NULL, give a committed one"};
  }
  if (auto decoded = find_decoded(datatype)) return decoded;
  static std::mutex& mutex = *new std::mutex;  // two threads must not both keep their result
  const std::lock_guard lock(mutex);
  if (auto decoded = find_decoded(datatype)) return decoded;
  if (!is_committed(datatype)) {
    return Error{ErrorClass::type, 0,
                 "the datatype cannot be used (it is not committed or not valid), call "
                 "MPI_Type_commit first"};
  }
  auto built = build(datatype);
  if (!built) return built;
  if (Error error = keep_decoded(datatype, built.value())) return error;
  return built;
} catch (const std::bad_alloc&) {
  return too_large_to_examine();
}

Result<view::TypePtr> decode_uncommitted_type(MPI_Datatype datatype) try {
  if (datatype == MPI_DATATYPE_NULL || is_committed(datatype)) return decode_type(datatype);
  return build(datatype);
} catch (const std::bad_alloc&) {
  return too_large_to_examine();
}

bool is_predefined(MPI_Datatype datatype) {
  return is_predefined_combiner(combiner_of(datatype));
}

Result<MPI_Datatype> hold_type(MPI_Datatype datatype) {
  if (is_predefined(datatype)) return datatype;
  MPI_Datatype held = MPI_DATATYPE_NULL;
  if (native.Type_dup(datatype, &held) != MPI_SUCCESS) return native_failure("keep a datatype");
  return held;
}

void release_type(MPI_Datatype datatype) {
  if (datatype != MPI_DATATYPE_NULL && !is_predefined(datatype)) native.Type_free(&datatype);
}

bool start_datatypes() {
  return native.Type_create_keyval(&do_not_copy<MPI_Datatype>, &forget_decoded, &decoded_keyval,
                                   nullptr) == MPI_SUCCESS;
}

}  // namespace headrace::HEADRACE_FLAVOUR
