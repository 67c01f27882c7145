#include "abi/flavour/collective_calls.h"

#include <limits>
#include <vector>

#include "abi/flavour/collective_request.h"
#include "base/thread_value.h"

namespace headrace::HEADRACE_FLAVOUR::collective_calls {
namespace {

using collective::Operation;

constexpr const char* kUnknownType = "the datatype is not known";
constexpr const char* kTooLarge = "it is too large";
constexpr const char* kNoRoot = "there is no such root";

/// What an int can count, of the bytes of all ranks and of elements.
constexpr std::int64_t kMost = std::numeric_limits<int>::max();

/// Without a division, which would take as long as all else that a small call costs here.
bool may_count(std::int64_t count, std::int64_t size) {
  std::int64_t bytes = 0;
  return count >= 0 && count <= kMost && !__builtin_mul_overflow(count, size, &bytes) &&
         bytes <= kMost;
}

/// Of all ranks' blocks, in bytes: those of v-forms.
struct BlockTable {
  std::vector<std::size_t> sizes;
  std::vector<std::ptrdiff_t> offsets;
};

/// Fills the table; false where the numbers are none that we carry out. Without displacements
/// blocks follow each other.
bool set_blocks(Request& request, const Numbers& counts, const Numbers& displacements,
                std::int64_t size, std::int64_t extent) {
  const auto ranks = static_cast<std::size_t>(request.size());
  auto& table = thread_value<BlockTable>();
  table.sizes.resize(ranks);
  table.offsets.resize(ranks);
  std::int64_t total = 0;
  for (int rank = 0; rank < request.size(); ++rank) {
    const std::int64_t count = counts[rank];
    if (!may_count(count, size) || total > kMost - count * size) return false;
    const auto i = static_cast<std::size_t>(rank);
    table.sizes[i] = static_cast<std::size_t>(count * size);
    table.offsets[i] =
        static_cast<std::ptrdiff_t>(displacements ? displacements[rank] * extent : total);
    total += count * size;
  }
  request.call.bytes = static_cast<std::size_t>(total);
  request.call.blocks.sizes = table.sizes;
  request.call.blocks.offsets = table.offsets;
  return true;
}

/// A block of `count` elements for each rank. False if that is more than can be counted.
bool set_blocks_alike(Request& request, std::int64_t count, std::int64_t size) {
  if (!may_count(count, size) || !may_count(count * request.size(), size)) return false;
  const auto bytes = static_cast<std::size_t>(count * size);
  request.call.bytes = bytes;
  request.call.blocks.size = bytes;
  request.call.blocks.distance = bytes;
  return true;
}

const std::byte* at(const void* address, std::int64_t offset) {
  return static_cast<const std::byte*>(address) + offset;
}
std::byte* at(void* address, std::int64_t offset) {
  return static_cast<std::byte*>(address) + offset;
}

/// An address to judge the buffer of blocks by: its own, or, as with MPI_BOTTOM the displacements
/// are addresses, that of a block that is not empty: null if any is.
const void* block_at(const void* address, const Numbers& counts, const Numbers& displacements,
                     std::int64_t extent, int ranks) {
  const void* block = address;
  for (int rank = 0; address == nullptr && rank < ranks; ++rank) {
    if (counts[rank] == 0) continue;
    block = at(address, displacements[rank] * extent);
    if (block == nullptr) break;
  }
  return block;
}

/// Passes, and returns true, if only the library can tell what becomes of such data.
bool has_obstacle(Request& request, const Data& data, const CollectiveType& type) {
  const char* const obstacle = obstacle_of(data, type);
  if (obstacle != nullptr) request.pass(obstacle);
  return obstacle != nullptr;
}

/// What this rank gives, as bytes that follow each other: from `send`, or from where the result
/// goes (MPI_IN_PLACE). Passes, and returns false, if the others expect another number of `bytes`.
bool take_own(Request& request, const Data& send, const Data& in_receive, std::size_t bytes,
              MPI_Comm comm, const void*& taken) {
  const Data& own = send.address == MPI_IN_PLACE ? in_receive : send;
  const CollectiveType type = collective_type(own.type);
  if (has_obstacle(request, own, type)) return false;
  if (!may_count(own.count, type.size)) return request.pass(kTooLarge);
  if (static_cast<std::size_t>(own.count * type.size) != bytes) {
    return request.pass("what is sent is not as large as what is received");
  }
  taken = Packed::to_send(own, type, comm);
  return true;
}

/// A reduction of `count` elements of each rank; `receive` is this rank's part of the result, at no
/// address where it gets none.
bool reduce_data(Request& request, const void* send, std::int64_t count, const Data& receive,
                 const CollectiveType& type, MPI_Comm comm, int& code) {
  const Data own{send == MPI_IN_PLACE ? receive.address : send, count, receive.type};
  if (has_obstacle(request, own, type) || has_obstacle(request, receive, type)) return false;
  const void* const given = Packed::to_send(own, type, comm);
  const auto bytes = static_cast<std::size_t>(receive.count * type.size);
  Packed packed(receive, type, bytes);
  if (!request.run(given, packed.memory(), code)) return false;
  if (packed.is_copy() && code == MPI_SUCCESS) {
    packed.unpack(0, bytes, const_cast<void*>(receive.address), receive.count, receive.type, comm);
  }
  return true;
}

}  // namespace

bool barrier(MPI_Comm comm, int& code) {
  Request request(Operation::barrier, comm);
  return attempted(request, code, [&] { return request.run(nullptr, nullptr, code); });
}

bool bcast(const Data& data, int root, MPI_Comm comm, int& code) {
  Request request(Operation::bcast, comm);
  return attempted(request, code, [&] {
    if (root < 0 || root >= request.size()) return request.pass(kNoRoot);
    request.call.root = root;  // first: whoever lacks memory goes by what the root does
    const CollectiveType type = collective_type(data.type);
    if (has_obstacle(request, data, type)) return false;
    if (!may_count(data.count, type.size)) return request.pass(kTooLarge);
    request.call.bytes = static_cast<std::size_t>(data.count * type.size);
    if (!request.takes_size()) return false;
    if (request.rank() == root) {
      return request.run(Packed::to_send(data, type, comm), nullptr, code);
    }
    Packed packed(data, type, request.call.bytes);
    if (!request.run(nullptr, packed.memory(), code)) return false;
    const std::size_t received = request.call.bytes;
    if (packed.is_copy() && code == MPI_SUCCESS && received > 0) {
      unpack_bytes({static_cast<const std::byte*>(packed.memory()), received}, data, type, comm);
    }
    return true;
  });
}

bool reduce(const void* send, const Data& receive, MPI_Op op, int root, MPI_Comm comm, int& code) {
  Request request(Operation::reduce, comm);
  return attempted(request, code, [&] {
    const CollectiveType type = collective_type(receive.type);
    if (!request.takes_reduction(op, type)) return false;
    if (!may_count(receive.count, type.size)) return request.pass(kTooLarge);
    if (root < 0 || root >= request.size()) return request.pass(kNoRoot);
    request.call.bytes = static_cast<std::size_t>(receive.count * type.size);
    request.call.root = root;
    if (!request.takes_size()) return false;
    request.set_operands(receive.type, op, type);
    if (request.rank() == root) {
      return reduce_data(request, send, receive.count, receive, type, comm, code);
    }
    // Nobody may look at the receive buffer.
    return reduce_data(request, send, receive.count, {nullptr, 0, receive.type}, type, comm, code);
  });
}

bool allreduce(const void* send, const Data& receive, MPI_Op op, MPI_Comm comm, int& code) {
  Request request(Operation::allreduce, comm);
  return attempted(request, code, [&] {
    const CollectiveType type = collective_type(receive.type);
    if (!request.takes_reduction(op, type)) return false;
    if (!may_count(receive.count, type.size)) return request.pass(kTooLarge);
    request.call.bytes = static_cast<std::size_t>(receive.count * type.size);
    if (!request.takes_size()) return false;
    request.set_operands(receive.type, op, type);
    return reduce_data(request, send, receive.count, receive, type, comm, code);
  });
}

bool allgather(const Data& send, const Data& receive, MPI_Comm comm, int& code) {
  Request request(Operation::allgather, comm);
  return attempted(request, code, [&] {
    const CollectiveType type = collective_type(receive.type);
    if (has_obstacle(request, receive, type)) return false;
    const std::int64_t ranks = request.size();
    if (!set_blocks_alike(request, receive.count, type.size)) return request.pass(kTooLarge);
    if (!request.takes_size()) return false;
    const Data in_place{at(receive.address, request.rank() * receive.count * type.extent),
                        receive.count, receive.type};
    const std::size_t all = request.call.bytes * static_cast<std::size_t>(ranks);
    const void* own = nullptr;
    if (!take_own(request, send, in_place, request.call.bytes, comm, own)) return false;
    Packed packed(receive, type, all);
    if (!request.run(own, packed.memory(), code)) return false;
    if (packed.is_copy() && code == MPI_SUCCESS) {
      packed.unpack(0, all, const_cast<void*>(receive.address), receive.count * ranks, receive.type,
                    comm);
    }
    return true;
  });
}

bool allgatherv(const Data& send, const Data& receive, Numbers counts, Numbers displacements,
                MPI_Comm comm, int& code) {
  Request request(Operation::allgatherv, comm);
  return attempted(request, code, [&] {
    const CollectiveType type = collective_type(receive.type);
    if (type.size < 0 || !counts || !displacements) return request.pass(kUnknownType);
    if (!set_blocks(request, counts, displacements, type.size, type.extent)) {
      return request.pass(kTooLarge);
    }
    if (!request.takes_size()) return false;
    // A copy is brought to its places from blocks that follow each other.
    if (has_to_be_packed(receive.address, type)) {
      const Numbers none(static_cast<const int*>(nullptr));
      set_blocks(request, counts, none, type.size, type.extent);
    }
    const auto place = [&](int rank) {
      return at(const_cast<void*>(receive.address), displacements[rank] * type.extent);
    };
    const Data in_place{place(request.rank()), counts[request.rank()], receive.type};
    const auto& table = thread_value<BlockTable>();
    const std::size_t bytes = table.sizes[static_cast<std::size_t>(request.rank())];
    const void* own = nullptr;
    const Data any{block_at(receive.address, counts, displacements, type.extent, request.size()),
                   request.call.bytes > 0 ? 1 : 0, receive.type};
    if (has_obstacle(request, any, type)) return false;
    if (!take_own(request, send, in_place, bytes, comm, own)) return false;
    Packed packed(receive, type, request.call.bytes);
    if (!request.run(own, packed.memory(), code)) return false;
    for (int rank = 0; packed.is_copy() && code == MPI_SUCCESS && rank < request.size(); ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      packed.unpack(static_cast<std::size_t>(table.offsets[i]), table.sizes[i], place(rank),
                    counts[rank], receive.type, comm);
    }
    return true;
  });
}

bool alltoall(const Data& send, const Data& receive, MPI_Comm comm, int& code) {
  Request request(Operation::alltoall, comm);
  return attempted(request, code, [&] {
    const CollectiveType type = collective_type(receive.type);
    if (has_obstacle(request, receive, type)) return false;
    const std::int64_t ranks = request.size();
    if (!set_blocks_alike(request, receive.count, type.size)) return request.pass(kTooLarge);
    if (!request.takes_size()) return false;
    const bool stays = send.address == MPI_IN_PLACE;
    if (!stays && !may_count(send.count, ranks)) return request.pass(kTooLarge);
    const std::size_t all = request.call.bytes * static_cast<std::size_t>(ranks);
    const Data in_place{receive.address, receive.count * ranks, receive.type};
    const Data to_all{send.address, stays ? 0 : send.count * ranks, send.type};
    const void* given = nullptr;
    if (!take_own(request, to_all, in_place, all, comm, given)) return false;
    Packed packed(receive, type, all);
    if (!request.run(given, packed.memory(), code)) return false;
    if (packed.is_copy() && code == MPI_SUCCESS) {
      packed.unpack(0, all, const_cast<void*>(receive.address), receive.count * ranks, receive.type,
                    comm);
    }
    return true;
  });
}

bool reduce_scatter(const void* send, const Data& receive, Numbers counts, MPI_Op op, MPI_Comm comm,
                    int& code) {
  Request request(Operation::reduce_scatter, comm);
  return attempted(request, code, [&] {
    const CollectiveType type = collective_type(receive.type);
    if (!request.takes_reduction(op, type)) return false;
    const Numbers none(static_cast<const int*>(nullptr));
    if (!counts || !set_blocks(request, counts, none, type.size, type.extent)) {
      return request.pass(kTooLarge);
    }
    if (!request.takes_size()) return false;
    request.set_operands(receive.type, op, type);
    const Data own{receive.address, counts[request.rank()], receive.type};
    const auto all = static_cast<std::int64_t>(request.call.bytes) / type.size;
    return reduce_data(request, send, all, own, type, comm, code);
  });
}

bool reduce_scatter_block(const void* send, const Data& receive, MPI_Op op, MPI_Comm comm,
                          int& code) {
  Request request(Operation::reduce_scatter_block, comm);
  return attempted(request, code, [&] {
    const CollectiveType type = collective_type(receive.type);
    if (!request.takes_reduction(op, type)) return false;
    if (!set_blocks_alike(request, receive.count, type.size)) return request.pass(kTooLarge);
    if (!request.takes_size()) return false;
    request.set_operands(receive.type, op, type);
    return reduce_data(request, send, receive.count * request.size(), receive, type, comm, code);
  });
}

}  // namespace headrace::HEADRACE_FLAVOUR::collective_calls
