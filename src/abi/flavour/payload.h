#pragma once

#include <cstdint>
#include <type_traits>

#include "abi/flavour/native.h"
#include "abi/flavour/recorded_communicator.h"
#include "abi/words.h"

/// The bytes of a call, in the words of spec/mpi.toml. To be asked after the call has succeeded:
/// then its arguments are right, and asking MPI about them raises no error in the program.
namespace headrace::HEADRACE_FLAVOUR::recording {

template <class T>
T from_word(abi::Word word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(word);
  } else {
    return static_cast<T>(word);
  }
}

/// Of `count` elements. Nothing has size 0 where count is 0: then the datatype may be null.
inline std::int64_t bytes(std::int64_t count, MPI_Datatype datatype) {
  MPI_Count size = 0;
  if (count == 0 || native.Type_size_x(datatype, &size) != MPI_SUCCESS || size < 0) return 0;
  return count * static_cast<std::int64_t>(size);
}

/// Of the first `length` counts.
template <class Count>
std::int64_t sum(const Count* counts, std::int64_t length, MPI_Datatype datatype) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < length; ++i) total += counts[i];
  return bytes(total, datatype);
}

template <class Count>
std::int64_t sum(const Count* counts, std::int64_t length, const MPI_Datatype* datatypes) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < length; ++i) total += bytes(counts[i], datatypes[i]);
  return total;
}

/// Whether this rank is the one that scatters.
inline bool is_root(int root, MPI_Comm communicator) {
  const RecordedCommunicator& own = recorded(communicator);
  return own.is_inter() ? root == MPI_ROOT : root == own.rank();
}

/// Whether this rank sends in a gather: of an intercommunicator's root group nobody does.
inline bool is_sender(int root) {
  return root != MPI_ROOT && root != MPI_PROC_NULL;
}

inline std::int64_t rank_count(MPI_Comm communicator) {
  return recorded(communicator).size();
}

/// Ranks to which an all-to-all or a scatter sends.
inline std::int64_t receivers(MPI_Comm communicator) {
  return recorded(communicator).receivers();
}

inline int rank_in(MPI_Comm communicator) {
  return recorded(communicator).rank();
}

/// To which a neighborhood collective sends.
inline std::int64_t neighbors(MPI_Comm communicator) {
  return recorded(communicator).neighbors();
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
