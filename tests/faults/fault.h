#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"

namespace headrace::faults {

/// What can fail: calls to a store (above or below its loop over system calls), memory, shared
/// memory and threads.
enum class Operation {
  open,
  read,
  write,
  size,
  resize,
  allocate,
  sync,
  lock,
  close,
  remove,
  memory,
  share,
  thread,
};
inline constexpr int kOperations = 13;

/// How it fails.
enum class Kind {
  shortened,  ///< moves a part; of a read above the loop: another process has cut the file
  eintr,
  eagain,
  eio,
  enospc,
  edquot,
  efbig,
  estale,
  eacces,
  slow,
  no_memory,
};
inline constexpr int kKinds = 11;

/// Where faults of a store strike.
enum class Layer {
  store,   ///< above storage::Store, on the simulation's disk
  system,  ///< at the system calls of the POSIX store, on real files
};

enum class Scope {
  once,
  lasting,   ///< from then on, for all ranks
  one_rank,  ///< from then on, for the rank that was struck first
};

struct Fault {
  Operation operation = Operation::write;
  Kind kind = Kind::eio;
  Scope scope = Scope::once;
  std::int64_t nth = 0;  ///< of the operations of this kind, the first that is struck
  int moved_share = 0;   ///< of 256 parts of the bytes, those that are moved before
};

/// A fault that has struck.
struct Struck {
  Operation operation = Operation::write;
  Kind kind = Kind::eio;
  int rank = -1;  ///< -1: a helper thread, for whichever rank
};

/// Why this cannot happen, or null where it can.
const char* why_not(Layer layer, Operation operation, Kind kind);

int errno_of(Kind kind);  ///< 0 where it is not an error by itself
const char* name_of(Operation operation);
const char* name_of(Kind kind);
const char* name_of(Scope scope);
std::string to_text(const std::vector<Fault>& faults);

}  // namespace headrace::faults
