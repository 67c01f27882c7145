#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "abi/flavour/collective_calls.h"
#include "abi/flavour/collective_communicator.h"
#include "abi/flavour/collective_types.h"
#include "base/result.h"
#include "collective/ranks.h"

namespace headrace::HEADRACE_FLAVOUR::collective_calls {

/// One call of the program's of an operation that we may carry out.
class Request {
 public:
  /// Counts the call, and may prepare the communicator; not if the library carries out all calls of
  /// the operation: ranks that do not tell of these never see them.
  Request(collective::Operation operation, MPI_Comm comm) noexcept;

  /// False where the library is to carry the call out, and the other ranks know as well.
  bool is_open() const { return ranks_ != nullptr; }

  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }

  /// Of a call that is not open: whether it has failed, as this rank cannot count it. The ranks
  /// would prepare the communicator at different calls, and wait for each other for ever.
  bool has_failed(int& code) const {
    return communicator_ == nullptr && CollectiveCommunicator::has_lacked() && raise_lack(code);
  }

  /// The call is left to the library, by its operation and what is known of its data: tells those
  /// of the node, and the user. Returns false.
  bool pass(const char* reason) noexcept;

  /// Memory lacks on this rank alone. The call is left to the library if all others learn of that,
  /// else it fails: they have carried it out, or wait for this rank. Returns whether it has failed.
  bool lack_memory(int& code);

  /// Whether we carry out calls of this size, which is set; else the call is passed. To be asked
  /// before the data is looked at, so that the library's calls are as fast as without us.
  bool takes_size();
  /// Whether we carry out a reduction by this operation on elements of this type; else the call is
  /// passed.
  bool takes_reduction(MPI_Op op, const CollectiveType& type);
  /// What it computes with.
  void set_operands(MPI_Datatype type, MPI_Op op, const CollectiveType& facts);

  /// What is done; blocks, root and bytes must be set before run(). Afterwards the bytes of a
  /// broadcast are those that came.
  collective::Call call;

  /// Carries the call out, or passes. `send` and `receive` hold data without gaps, in the host's
  /// memory; with `parcels` they are null.
  bool run(const void* send, void* receive, int& code, collective::Parcels* parcels = nullptr);

 private:
  /// Tells of the call, if anybody wants to know.
  void note(const collective::Chosen& chosen, const collective::Ranks* prepared) noexcept;
  bool finish(collective::Ranks::Outcome outcome, const Error& error, int& code);
  /// Memory lacks. Returns true.
  bool raise_lack(int& code) const;

  record::DecisionCost* cost_ = nullptr;  ///< null where none is taken
  std::int64_t begin_ = 0;                ///< ticks
  bool has_size_ = false;                 ///< whether the data's is known
  MPI_Comm comm_;
  CollectiveCommunicator* communicator_ = nullptr;
  collective::Ranks* ranks_ = nullptr;
  collective::Reduction reduction_;
  struct Operands {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op{};
    std::size_t element = 1;
  } operands_;

  static void reduce_local(const void* context, const std::byte* from, std::byte* into,
                           std::size_t bytes);
};

/// The wrappers' functions end here.
template <class Body>
bool attempted(Request& request, int& code, Body body) {
  if (!request.is_open()) return request.has_failed(code);
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return request.is_open() && request.lack_memory(code);
  }
}

/// Why the library is to move data with these facts, null if we may: it may be wrong, and then the
/// library says so, or makes of it what it does.
const char* obstacle_of(const Data& data, const CollectiveType& facts);

/// Whether only the library can read and write data there as bytes that follow each other: it has
/// gaps, or lies in the memory of a device.
bool has_to_be_packed(const void* address, const CollectiveType& facts);

/// Brings bytes that follow each other on to where data lies that has to be packed: as many
/// elements as they are, of which the last may lack a part. The type has `facts`.
void unpack_bytes(std::span<const std::byte> bytes, const Data& data, const CollectiveType& facts,
                  MPI_Comm comm);

/// Data of a call as bytes that follow each other in the host's memory: where it lies, or a copy.
/// Kept by the thread for its next call.
class Packed {
 public:
  /// Copies what is to be sent where it has to be packed. The type has `facts`.
  static const void* to_send(const Data& data, const CollectiveType& facts, MPI_Comm comm);
  /// Memory for what is received: that of the data, or of `bytes` beside it.
  Packed(const Data& data, const CollectiveType& facts, std::size_t bytes);

  void* memory() { return memory_; }
  bool is_copy() const { return is_copy_; }
  /// Brings `count` elements from `offset` bytes of the copy on to `address`.
  bool unpack(std::size_t offset, std::size_t bytes, void* address, std::int64_t count,
              MPI_Datatype type, MPI_Comm comm) const;

 private:
  void* memory_;
  bool is_copy_;
};

}  // namespace headrace::HEADRACE_FLAVOUR::collective_calls
