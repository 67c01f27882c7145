#pragma once

#include <cstdint>
#include <type_traits>

#include "abi/flavour/datatype_size.h"
#include "abi/flavour/native.h"
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
  return count == 0 ? 0 : count * size_of(datatype);
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

// What says how long the program's arrays are is asked anew at each call: a number that is kept for
// a handle may be that of a communicator before it.

inline int rank_in(MPI_Comm communicator) {
  int rank = 0;
  native.Comm_rank(communicator, &rank);
  return rank;
}

inline std::int64_t rank_count(MPI_Comm communicator) {
  int size = 0;
  native.Comm_size(communicator, &size);
  return size;
}

inline bool is_inter(MPI_Comm communicator) {
  int found = 0;
  native.Comm_test_inter(communicator, &found);
  return found != 0;
}

/// Whether this rank is the one that scatters.
inline bool is_root(int root, MPI_Comm communicator) {
  return is_inter(communicator) ? root == MPI_ROOT : root == rank_in(communicator);
}

/// Whether this rank sends in a gather or reduction: of an intercommunicator's root group nobody
/// does.
inline bool is_sender(int root) {
  return root != MPI_ROOT && root != MPI_PROC_NULL;
}

/// Ranks to which an all-to-all or a scatter sends.
inline std::int64_t receivers(MPI_Comm communicator) {
  if (!is_inter(communicator)) return rank_count(communicator);
  int size = 0;
  native.Comm_remote_size(communicator, &size);
  return size;
}

/// To which a neighborhood collective sends.
inline std::int64_t neighbors(MPI_Comm communicator) {
  int topology = MPI_UNDEFINED;
  if (native.Topo_test(communicator, &topology) != MPI_SUCCESS) return 0;
  int number = 0;
  int sources = 0;
  int is_weighted = 0;
  if (topology == MPI_CART) {
    native.Cartdim_get(communicator, &number);
    number *= 2;
  } else if (topology == MPI_GRAPH) {
    native.Graph_neighbors_count(communicator, rank_in(communicator), &number);
  } else if (topology == MPI_DIST_GRAPH) {
    native.Dist_graph_neighbors_count(communicator, &sources, &number, &is_weighted);
  }
  return number;
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
