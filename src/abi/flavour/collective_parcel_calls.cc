// Operations in which ranks know the sizes of their own data only, or may.
#include <utility>

#include "abi/flavour/collective_calls.h"
#include "abi/flavour/collective_parcels.h"
#include "abi/flavour/collective_request.h"

namespace headrace::HEADRACE_FLAVOUR::collective_calls {
namespace {

using collective::Operation;

/// A buffer of which `with` alone has something; all if kAll, one block behind the other.
Side side_of(const Data& data, int with) {
  Side side;
  side.address = data.address;
  side.with = with;
  side.count = data.count;
  side.types = &data.type;
  // Else its datatype need not be one.
  if (with != Side::kNobody && data.count != 0) side.facts = collective_type(data.type);
  return side;
}

Side side_of(const Blocks& blocks, int with, bool has_types = false) {
  Side side;
  side.address = blocks.address;
  side.with = with;
  side.counts = blocks.counts;
  side.displacements = blocks.displacements;
  side.types = blocks.types;
  side.has_types = has_types;
  if (with != Side::kNobody && !has_types) side.facts = collective_type(*blocks.types);
  return side;
}

bool is_in_place(const void* address) {
  return address == MPI_IN_PLACE;
}

bool run(Request& request, const Side& send, const Side& receive, bool is_in_place, MPI_Comm comm,
         int& code) {
  if (!request.takes_size()) return false;
  if (!send.is_sound(request.size()) || !receive.is_sound(request.size())) {
    return request.pass("a count or a datatype is not known");
  }
  CallParcels parcels(send, receive, is_in_place, comm);
  return request.run(nullptr, nullptr, code, &parcels);
}

/// Sets the root; passes where there is none.
bool set_root(Request& request, int root) {
  if (root < 0 || root >= request.size()) return request.pass("there is no such root");
  request.call.root = root;
  return true;
}

/// `receive` is the root's alone.
template <class Receive>
bool gather_parcels(Request& request, const Data& send, const Receive& receive, MPI_Comm comm,
                    int& code) {
  const int root = request.call.root;
  const bool is_root = request.rank() == root;
  const bool stays = is_root && is_in_place(send.address);
  Side from = side_of(receive, is_root ? Side::kAll : Side::kNobody);
  if (stays) from.without = root;
  return run(request, side_of(send, stays ? Side::kNobody : root), from, false, comm, code);
}

/// `send` is the root's alone.
template <class Send>
bool scatter_parcels(Request& request, const Send& send, const Data& receive, MPI_Comm comm,
                     int& code) {
  const int root = request.call.root;
  const bool is_root = request.rank() == root;
  const bool stays = is_root && is_in_place(receive.address);
  Side to = side_of(send, is_root ? Side::kAll : Side::kNobody);
  if (stays) to.without = root;
  return run(request, to, side_of(receive, stays ? Side::kNobody : root), false, comm, code);
}

/// Of a block that all ranks give or get alike, as it is given here.
bool set_block(Request& request, const Data& own) {
  const std::int64_t size = own.count == 0 ? 0 : collective_type(own.type).size;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (own.count < 0 || size < 0 || (size > 0 && own.count > kMost / size)) {
    return request.pass("a count or a datatype is not known");
  }
  request.call.bytes = static_cast<std::size_t>(own.count * size);
  return true;
}

bool exchange_parcels(Operation operation, const Blocks& send, const Blocks& receive, MPI_Comm comm,
                      int& code) {
  Request request(operation, comm);
  return attempted(request, code, [&] {
    const bool has_types = operation == Operation::alltoallw;
    const bool stays = is_in_place(send.address);
    const Side from = side_of(receive, Side::kAll, has_types);
    const Side to = stays ? from : side_of(send, Side::kAll, has_types);
    return run(request, to, from, stays, comm, code);
  });
}

}  // namespace

bool gather(const Data& send, const Data& receive, int root, MPI_Comm comm, int& code) {
  Request request(Operation::gather, comm);
  return attempted(request, code, [&] {
    const bool stays = request.rank() == root && is_in_place(send.address);
    return set_root(request, root) && set_block(request, stays ? receive : send) &&
           gather_parcels(request, send, receive, comm, code);
  });
}

bool gatherv(const Data& send, const Blocks& receive, int root, MPI_Comm comm, int& code) {
  Request request(Operation::gatherv, comm);
  return attempted(request, code, [&] {
    return set_root(request, root) && gather_parcels(request, send, receive, comm, code);
  });
}

bool scatter(const Data& send, const Data& receive, int root, MPI_Comm comm, int& code) {
  Request request(Operation::scatter, comm);
  return attempted(request, code, [&] {
    const bool stays = request.rank() == root && is_in_place(receive.address);
    return set_root(request, root) && set_block(request, stays ? send : receive) &&
           scatter_parcels(request, send, receive, comm, code);
  });
}

bool scatterv(const Blocks& send, const Data& receive, int root, MPI_Comm comm, int& code) {
  Request request(Operation::scatterv, comm);
  return attempted(request, code, [&] {
    return set_root(request, root) && scatter_parcels(request, send, receive, comm, code);
  });
}

bool alltoallv(const Blocks& send, const Blocks& receive, MPI_Comm comm, int& code) {
  return exchange_parcels(Operation::alltoallv, send, receive, comm, code);
}

bool alltoallw(const Blocks& send, const Blocks& receive, MPI_Comm comm, int& code) {
  return exchange_parcels(Operation::alltoallw, send, receive, comm, code);
}

}  // namespace headrace::HEADRACE_FLAVOUR::collective_calls
