#include "abi/flavour/collective_parcels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include "abi/flavour/collective_request.h"
#include "abi/flavour/error.h"
#include "abi/flavour/quiet_self.h"

namespace headrace::HEADRACE_FLAVOUR::collective_calls {
namespace {

/// What MPI_Pack is given at a time.
constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 30;

/// So many bytes as one element, which may be more than an int counts.
MPI_Datatype type_of_bytes(std::int64_t bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (bytes <= kMostAtOnce) {
    native.Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type);
  } else {
    MPI_Datatype block = MPI_DATATYPE_NULL;
    native.Type_contiguous(static_cast<int>(kMostAtOnce), MPI_BYTE, &block);
    const int counts[] = {static_cast<int>(bytes / kMostAtOnce),
                          static_cast<int>(bytes % kMostAtOnce)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes - bytes % kMostAtOnce)};
    const MPI_Datatype types[] = {block, MPI_BYTE};
    native.Type_create_struct(2, counts, places, types, &type);
    native.Type_free(&block);
  }
  native.Type_commit(&type);
  return type;
}

/// Copies an element of more bytes than MPI_Pack counts: as a message of this rank to itself.
Error copy_by_message(const std::byte* from, MPI_Datatype type, std::byte* to, MPI_Datatype bytes) {
  static std::mutex mutex;  // else threads could get each other's
  const std::lock_guard lock(mutex);
  const MPI_Comm self = quiet_self();
  const bool is_copied =
      self != MPI_COMM_NULL && native.Sendrecv(from, 1, type, 0, 0, to, 1, bytes, 0, 0, self,
                                               MPI_STATUS_IGNORE) == MPI_SUCCESS;
  return is_copied ? Error() : native_failure("copy an element of more than 2 GiB");
}

Error pack_large(const std::byte* from, std::int64_t count, const CollectiveType& facts,
                 MPI_Datatype type, std::byte* to) {
  MPI_Datatype bytes = type_of_bytes(facts.size);
  Error failed;
  for (std::int64_t i = 0; i < count && !failed; ++i) {
    failed = copy_by_message(from + i * facts.extent, type, to + i * facts.size, bytes);
  }
  native.Type_free(&bytes);
  return failed;
}

/// Copies elements one behind the other, without gaps.
Error pack_all(const std::byte* from, std::int64_t count, const CollectiveType& facts,
               MPI_Datatype type, std::byte* to, MPI_Comm comm) {
  // Only what is sent in place can be as large.
  if (facts.size > std::numeric_limits<int>::max()) {
    return pack_large(from, count, facts, type, to);
  }
  const std::int64_t most = std::max<std::int64_t>(1, kMostAtOnce / facts.size);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t part = std::min(most, count - done);
    int position = 0;
    native.Pack(from + done * facts.extent, static_cast<int>(part), type, to + done * facts.size,
                static_cast<int>(part * facts.size), &position, comm);
  }
  return {};
}

}  // namespace

bool Side::is_sound(int ranks) const {
  const int first = with == kAll ? 0 : with;
  const int end = with == kAll ? ranks : with + 1;
  for (int rank = std::max(first, 0); rank < end; ++rank) {
    const std::int64_t own = count_of(rank);
    if (own == 0) continue;
    const std::int64_t size = facts_of(rank).size;
    if (own < 0 || size < 0 ||
        (size > 0 && own > std::numeric_limits<std::int64_t>::max() / size)) {
      return false;
    }
  }
  return true;
}

std::int64_t Side::count_of(int rank) const {
  if (rank == without || (with != kAll && rank != with)) return 0;
  return counts ? counts[rank] : count;
}

std::size_t Side::bytes_of(int rank) const {
  const std::int64_t own = count_of(rank);
  return own == 0 ? 0 : static_cast<std::size_t>(own * facts_of(rank).size);
}

const std::byte* Side::address_of(int rank) const {
  const auto* const begin = static_cast<const std::byte*>(address);
  if (displacements) return begin + displacements[rank] * (has_types ? 1 : facts.extent);
  return with == kAll ? begin + rank * count * facts.extent : begin;
}

fabric::TypedData Side::data_of(int rank) const {
  return {address_of(rank), count_of(rank), &type_of(rank)};
}

CallParcels::~CallParcels() {
  for (MPI_Datatype& type : own_types_) native.Type_free(&type);
}

Error CallParcels::copy(int rank, std::byte* to) const {
  const CollectiveType facts = send_.facts_of(rank);
  const std::byte* const from = send_.address_of(rank);
  if (has_to_be_packed(from, facts)) {
    return pack_all(from, send_.count_of(rank), facts, send_.type_of(rank), to, comm_);
  }
  std::memcpy(to, from, send_.bytes_of(rank));
  return {};
}

void CallParcels::unpack(int rank, const std::byte* from, std::size_t bytes) {
  auto* const to = const_cast<std::byte*>(receive_.address_of(rank));
  const CollectiveType facts = receive_.facts_of(rank);
  if (!has_to_be_packed(to, facts)) {
    std::memcpy(to, from, bytes);
  } else {
    unpack_bytes({from, bytes}, {to, receive_.count_of(rank), receive_.type_of(rank)}, facts,
                 comm_);
  }
}

CallParcels::Outgoing CallParcels::to(int rank) {
  if (!is_in_place_) return {send_.data_of(rank), nullptr};
  const std::size_t bytes = send_.bytes_of(rank);
  Outgoing outgoing;
  outgoing.copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  outgoing.failure = copy(rank, outgoing.copy.get());
  outgoing.data = {outgoing.copy.get(), static_cast<std::int64_t>(bytes), nullptr};
  if (bytes > std::numeric_limits<int>::max()) {
    // More than the library may be able to count: in the program's elements it can.
    MPI_Datatype& type = own_types_.emplace_front(MPI_DATATYPE_NULL);
    type = type_of_bytes(send_.facts_of(rank).size);
    outgoing.data = {outgoing.copy.get(), send_.count_of(rank), &type};
  }
  return outgoing;
}

}  // namespace headrace::HEADRACE_FLAVOUR::collective_calls
