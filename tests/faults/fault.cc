#include "faults/fault.h"

#include <cerrno>
#include <iterator>

namespace headrace::faults {
namespace {

constexpr const char* kOperationNames[] = {"open",     "read",  "write", "size",  "resize",
                                           "allocate", "sync",  "lock",  "close", "remove",
                                           "memory",   "share", "thread"};
static_assert(std::size(kOperationNames) == kOperations);

constexpr const char* kKindNames[] = {"short", "EINTR",  "EAGAIN", "EIO",  "ENOSPC",   "EDQUOT",
                                      "EFBIG", "ESTALE", "EACCES", "slow", "no memory"};
static_assert(std::size(kKindNames) == kKinds);

constexpr int kErrnos[] = {0, EINTR, EAGAIN, EIO, ENOSPC, EDQUOT, EFBIG, ESTALE, EACCES, 0, ENOMEM};
static_assert(std::size(kErrnos) == kKinds);

bool moves_bytes(Operation operation) {
  return operation == Operation::read || operation == Operation::write;
}

/// May make a file larger, or write back what did.
bool takes_space(Operation operation) {
  switch (operation) {
    case Operation::open:  // it may create
    case Operation::write:
    case Operation::resize:
    case Operation::allocate:
    case Operation::sync:
    case Operation::close: return true;
    default: return false;
  }
}

const char* why_not_below_the_loop(Operation operation, Kind kind) {
  switch (kind) {
    case Kind::shortened: return moves_bytes(operation) ? nullptr : "moves no bytes";
    case Kind::eintr:
      return operation == Operation::size || operation == Operation::remove
                 ? "the system call is not interrupted"
                 : nullptr;
    case Kind::eagain:
      return moves_bytes(operation) ? nullptr : "given by calls that move bytes only";
    case Kind::enospc:
    case Kind::edquot: return takes_space(operation) ? nullptr : "takes no space";
    case Kind::efbig:
      return operation == Operation::write || operation == Operation::resize ||
                     operation == Operation::allocate
                 ? nullptr
                 : "makes no file larger";
    default: return nullptr;
  }
}

}  // namespace

const char* why_not(Layer layer, Operation operation, Kind kind) {
  switch (operation) {
    case Operation::memory:
    case Operation::share: return kind == Kind::no_memory ? nullptr : "fails for lack of memory";
    case Operation::thread: return kind == Kind::eagain ? nullptr : "fails by EAGAIN";
    default: break;
  }
  if (kind == Kind::no_memory) return "the store's memory is row \"memory\"";
  if (layer == Layer::store) {
    if (kind == Kind::eintr) return "the store's loop goes on";
    if (kind == Kind::shortened && operation == Operation::write) return "the store's loop goes on";
  }
  return why_not_below_the_loop(operation, kind);
}

int errno_of(Kind kind) {
  return kErrnos[static_cast<int>(kind)];
}

const char* name_of(Operation operation) {
  return kOperationNames[static_cast<int>(operation)];
}

const char* name_of(Kind kind) {
  return kKindNames[static_cast<int>(kind)];
}

const char* name_of(Scope scope) {
  return scope == Scope::once ? "once" : scope == Scope::lasting ? "lasting" : "one rank";
}

std::string to_text(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += "; ";
    text += std::string(name_of(fault.kind)) + " at " + name_of(fault.operation) + " " +
            std::to_string(fault.nth) + ", " + name_of(fault.scope) + ", after " +
            std::to_string(fault.moved_share) + "/256 of the bytes";
  }
  return text;
}

}  // namespace headrace::faults
