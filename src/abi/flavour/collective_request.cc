#include "abi/flavour/collective_request.h"

#include <algorithm>
#include <limits>
#include <new>

#include "abi/flavour/collective_use.h"
#include "abi/flavour/committed.h"
#include "abi/flavour/error.h"
#include "abi/flavour/glue.h"
#include "base/settings.h"
#include "base/thread_value.h"
#include "device/detection.h"
#include "record/clock.h"

namespace headrace::HEADRACE_FLAVOUR::collective_calls {
namespace {

constexpr std::size_t kMostKept = std::size_t{16} << 20;

/// Memory of this thread for copies. It stays, unless it is large.
std::byte* copy_memory(std::vector<std::byte>& memory, std::size_t bytes) {
  if (memory.size() < bytes) {
    memory.clear();
    memory.resize(bytes);
  } else if (memory.size() > kMostKept && bytes <= kMostKept) {
    memory = std::vector<std::byte>(bytes);
  }
  return memory.data();
}

struct Copies {
  std::vector<std::byte> send;
  std::vector<std::byte> receive;
};

}  // namespace

Request::Request(collective::Operation operation, MPI_Comm comm) noexcept : comm_(comm) {
  call.operation = operation;
  communicator_ = CollectiveCommunicator::find(comm);
  if (communicator_ == nullptr) return;
  if (const char* const reason = why_never(operation)) {
    note({.reason = reason, .has_size = false}, nullptr);
    return;
  }
  ranks_ = communicator_->enter();
  if (ranks_ != nullptr && !ranks_->carries(operation)) {
    // The library's calls are to be as fast as without us, so no argument is looked at.
    note({.reason = ranks_->why_left(operation), .has_size = false}, nullptr);
    ranks_ = nullptr;
    return;
  }
  if (collective::ChoiceLog::is_recorded()) begin_ = record::ticks();
  if (ranks_ == nullptr) {
    note({.reason = communicator_->reason(),
          .has_size = false,
          .is_lasting = communicator_->is_left_out()},
         nullptr);
  }
}

void Request::note(const collective::Chosen& chosen, const collective::Ranks* prepared) noexcept {
  collective::ChoiceLog& log = communicator_->log();
  if (log.is_on()) [[unlikely]]
    cost_ = log.note(call, chosen, prepared);
}

bool Request::pass(const char* reason) noexcept {
  ranks_->pass(call.operation);
  note({.reason = reason, .has_size = has_size_}, ranks_);
  ranks_ = nullptr;
  return false;
}

bool Request::lack_memory(int& code) {
  const bool is_left = ranks_->lack_memory(call);
  note({.reason = "memory lacks", .has_size = has_size_}, ranks_);
  ranks_ = nullptr;
  return !is_left && raise_lack(code);
}

bool Request::raise_lack(int& code) const {
  code = MPI_ERR_NO_MEM;
  native.Comm_call_errhandler(comm_, code);
  return true;
}

bool Request::takes_size() {
  has_size_ = true;
  return ranks_->takes_size(call) || pass(ranks_->why_left(call.operation));
}

bool Request::takes_reduction(MPI_Op op, const CollectiveType& type) {
  return may_reduce(op, type) || pass("the operation or the datatype is none of MPI's own");
}

void Request::set_operands(MPI_Datatype type, MPI_Op op, const CollectiveType& facts) {
  operands_ = {type, op, static_cast<std::size_t>(facts.size)};
  call.element = operands_.element;
  reduction_ = {&reduce_local, &operands_};
}

void Request::reduce_local(const void* context, const std::byte* from, std::byte* into,
                           std::size_t bytes) {
  const auto& own = *static_cast<const Operands*>(context);
  native.Reduce_local(from, into, static_cast<int>(bytes / own.element), own.type, own.op);
}

bool Request::run(const void* send, void* receive, int& code, collective::Parcels* parcels) {
  has_size_ = true;
  const collective::Ranks::Prepared& prepared = ranks_->prepare(call);
  if (prepared.algorithm == nullptr) return pass(prepared.obstacle);
  note({.algorithm = prepared.algorithm, .use = prepared.use}, ranks_);
  collective::Ranks* const ranks = std::exchange(ranks_, nullptr);
  auto outcome = collective::Ranks::Outcome::failed;
  const Error error = caught([&]() -> Error {
    collective::Ranks::Ending ending;
    const collective::Buffers buffers{static_cast<const std::byte*>(send),
                                      static_cast<std::byte*>(receive), nullptr, parcels};
    outcome = ranks->run(call, buffers, reduction_, ending);
    if (ending.received) call.bytes = *ending.received;
    return std::move(ending.error);
  });
  return finish(outcome, error, code);
}

bool Request::finish(collective::Ranks::Outcome outcome, const Error& error, int& code) {
  if (outcome == collective::Ranks::Outcome::differs) {
    if (cost_ != nullptr) record::add(cost_->calls, -1);
    note({.reason = "another rank left it to the library", .is_lasting = false}, nullptr);
    return false;
  }
  if (cost_ != nullptr && begin_ != 0) record::add(cost_->ticks, record::ticks() - begin_);
  code = MPI_SUCCESS;
  if (outcome == collective::Ranks::Outcome::failed) {
    code = code_of(error);
    native.Comm_call_errhandler(communicator_->handle(), code);
  }
  return true;
}

const char* obstacle_of(const Data& data, const CollectiveType& facts) {
  if (facts.size < 0) return "the datatype is not known";
  if (data.count < 0) return "a count is negative";
  if (data.count == 0 || facts.size == 0) return nullptr;
  if (data.address == MPI_IN_PLACE) return "MPI_IN_PLACE is given for another buffer";
  // Other datatypes may have addresses in them (MPI_BOTTOM).
  if (facts.is_dense) return data.address == nullptr ? "there is no buffer" : nullptr;
  return is_committed(data.type) ? nullptr : "the datatype is not committed";
}

// Processes that have a device's driver when a communicator is prepared are left to the library. A
// driver that comes later must not change who carries a call out: only this rank knows of it.
bool has_to_be_packed(const void* address, const CollectiveType& facts) {
  return !facts.is_dense || (address != nullptr && device::find(address).has_value());
}

void unpack_bytes(std::span<const std::byte> bytes, const Data& data, const CollectiveType& facts,
                  MPI_Comm comm) {
  const auto size = static_cast<std::size_t>(facts.size);
  const std::size_t elements = bytes.size() / size;
  const std::size_t whole = elements * size;
  auto* const address = static_cast<std::byte*>(const_cast<void*>(data.address));
  int position = 0;
  native.Unpack(bytes.data(), static_cast<int>(whole), &position, address,
                static_cast<int>(elements), data.type, comm);
  if (whole == bytes.size()) return;
  // The rest of the last element stays as it is.
  std::byte* const last = address + static_cast<std::ptrdiff_t>(elements) * facts.extent;
  std::vector<std::byte> element(size);
  position = 0;
  native.Pack(last, 1, data.type, element.data(), static_cast<int>(size), &position, comm);
  std::ranges::copy(bytes.subspan(whole), element.begin());
  position = 0;
  native.Unpack(element.data(), static_cast<int>(size), &position, last, 1, data.type, comm);
}

const void* Packed::to_send(const Data& data, const CollectiveType& facts, MPI_Comm comm) {
  const std::int64_t bytes = data.count * facts.size;
  if (bytes == 0 || !has_to_be_packed(data.address, facts)) return data.address;
  std::byte* const copy = copy_memory(thread_value<Copies>().send, static_cast<std::size_t>(bytes));
  int position = 0;
  native.Pack(data.address, static_cast<int>(data.count), data.type, copy, static_cast<int>(bytes),
              &position, comm);
  return copy;
}

Packed::Packed(const Data& data, const CollectiveType& facts, std::size_t bytes)
    : memory_(const_cast<void*>(data.address)),
      is_copy_(bytes > 0 && has_to_be_packed(data.address, facts)) {
  if (is_copy_) memory_ = copy_memory(thread_value<Copies>().receive, bytes);
}

bool Packed::unpack(std::size_t offset, std::size_t bytes, void* address, std::int64_t count,
                    MPI_Datatype type, MPI_Comm comm) const {
  int position = 0;
  return native.Unpack(static_cast<const std::byte*>(memory_) + offset, static_cast<int>(bytes),
                       &position, address, static_cast<int>(count), type, comm) == MPI_SUCCESS;
}

}  // namespace headrace::HEADRACE_FLAVOUR::collective_calls
