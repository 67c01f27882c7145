#include "abi/flavour/collective_types.h"

#include <algorithm>
#include <array>
#include <new>

#include "abi/flavour/predefined_type.h"
#include "base/thread_value.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// Which predefined types an operation takes.
enum class Domain { none, ordered, arithmetic, logical, bitwise, pairs };

Domain domain_of(MPI_Op operation) {
  if (operation == MPI_SUM || operation == MPI_PROD) return Domain::arithmetic;
  if (operation == MPI_MAX || operation == MPI_MIN) return Domain::ordered;
  if (operation == MPI_LAND || operation == MPI_LOR || operation == MPI_LXOR) {
    return Domain::logical;
  }
  if (operation == MPI_BAND || operation == MPI_BOR || operation == MPI_BXOR) {
    return Domain::bitwise;
  }
  if (operation == MPI_MAXLOC || operation == MPI_MINLOC) return Domain::pairs;
  return Domain::none;
}

bool is_integer(view::Kind kind) {
  return kind == view::Kind::signed_integer || kind == view::Kind::unsigned_integer;
}

/// Of the widths that every library computes with.
bool is_real(const abi::PredefinedDatum& datum) {
  return datum.kind == view::Kind::long_double ||
         (datum.kind == view::Kind::floating && (datum.value_size == 4 || datum.value_size == 8));
}

bool takes(Domain domain, const abi::PredefinedType& type) {
  const abi::PredefinedDatum& datum = type.data[0];
  // An integer here, but no library computes with it.
  if (type.name == "MPI_WCHAR") return false;
  if (type.count == 2) return domain == Domain::pairs && datum.values == 1;
  const bool computes = is_integer(datum.kind) || is_real(datum);
  switch (domain) {
    case Domain::arithmetic: return computes;
    case Domain::ordered: return computes && datum.values == 1;
    case Domain::logical:
      return is_integer(datum.kind) || datum.kind == view::Kind::boolean ||
             datum.kind == view::Kind::logical;
    case Domain::bitwise: return is_integer(datum.kind) || type.name == "MPI_BYTE";
    case Domain::pairs:
    case Domain::none: break;
  }
  return false;
}

CollectiveType ask(MPI_Datatype datatype, bool is_named) {
  CollectiveType type;
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  if (native.Type_size_x(datatype, &size) != MPI_SUCCESS ||
      native.Type_get_extent_x(datatype, &lower, &extent) != MPI_SUCCESS || size < 0) {
    return type;
  }
  type.size = static_cast<std::int64_t>(size);
  type.extent = static_cast<std::int64_t>(extent);
  if (!is_named) return type;
  type.is_dense = size == extent && lower == 0;
  const auto found = find_predefined(datatype);
  if (found) type.predefined = found.value();
  return type;
}

/// Named types last as long as MPI, so what is known of them stays true.
struct Known {
  std::uintptr_t key = 0;
  CollectiveType type;
};
constexpr std::size_t kKnown = 64;
using KnownTypes = std::array<Known, kKnown>;

/// Where a type is kept, or null if there is no memory for that.
Known* place_for(std::uintptr_t key) {
  try {
    return &thread_value<KnownTypes>()[(key ^ key >> 6 ^ key >> 12) % kKnown];
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

CollectiveType collective_type(MPI_Datatype datatype) {
  if (datatype == MPI_DATATYPE_NULL) return {};
  const std::uintptr_t key = handle_key(datatype);
  Known* const own = place_for(key);
  if (own != nullptr && own->key == key) return own->type;
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  if (native.Type_get_envelope(datatype, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) {
    return {};
  }
  const bool is_named = combiner == MPI_COMBINER_NAMED;
  const CollectiveType type = ask(datatype, is_named);
  if (own != nullptr && is_named && type.size >= 0) *own = {key, type};
  return type;
}

bool may_reduce(MPI_Op operation, const CollectiveType& type) {
  if (type.predefined == nullptr || !type.is_dense) return false;
  return takes(domain_of(operation), *type.predefined);
}

}  // namespace headrace::HEADRACE_FLAVOUR
