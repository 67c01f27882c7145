#include "abi/flavour/datatype_size.h"

#include <mutex>

namespace headrace::HEADRACE_FLAVOUR::recording {
namespace {

bool is_predefined(MPI_Datatype datatype) noexcept {
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = MPI_COMBINER_DUP;
  return native.Type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner) ==
             MPI_SUCCESS &&
         combiner == MPI_COMBINER_NAMED;
}

/// Others that fall on a place which is taken are asked for each time.
void keep(std::uintptr_t key, std::int64_t size, KnownSize& place) noexcept {
  static constinit std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (place.key.load(std::memory_order_relaxed) != 0) return;
  place.size = size;
  place.key.store(key, std::memory_order_release);
}

}  // namespace

constinit std::array<KnownSize, 64> known_sizes{};

std::int64_t find_size(MPI_Datatype datatype, KnownSize& place) noexcept {
  MPI_Count size = 0;
  if (datatype == MPI_DATATYPE_NULL || native.Type_size_x(datatype, &size) != MPI_SUCCESS ||
      size < 0) {
    return 0;
  }
  const auto found = static_cast<std::int64_t>(size);
  if (place.key.load(std::memory_order_relaxed) == 0 && is_predefined(datatype)) {
    keep(handle_key(datatype), found, place);
  }
  return found;
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
