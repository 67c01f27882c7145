#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/functions.h"
#include "collectives/operation.h"

namespace headrace::bench::collectives {

/// An operation should not be slower than the same done by other ones (Traeff, Gropp, Thakur,
/// "Self-consistent MPI performance guidelines", IEEE TPDS 21(5), 2010).
struct Guideline {
  std::string_view operation;
  std::string_view emulation;  ///< "gather + bcast"
};

/// A cell's operation, done by others, on the buffers of the cell. What has to be copied besides is
/// part of it.
class Emulation {
 public:
  /// One of the guidelines, for the operation of the cell. Collective; throws AgreedFailure where a
  /// rank has not the memory.
  Emulation(Cell& cell, const Guideline& guideline);

  void call(const Functions& functions) { (this->*call_)(functions); }

  static std::vector<Guideline> guidelines();
  /// How many blocks an emulation needs besides the cell's buffers, at most; 0 if there is none.
  static std::int64_t room_of(const Guideline& guideline, int ranks);

 private:
  using Call = void (Emulation::*)(const Functions&);
  /// What an emulation needs besides the cell's buffers.
  enum class Room {
    none,
    one_block,  ///< shares of one, and one share
    all_blocks
  };
  struct Row {
    Guideline guideline;
    Room room;
    Call call;
  };
  static std::span<const Row> rows();
  static const Row* row_of(const Guideline& guideline);

  void barrier_by_allreduce(const Functions& f);
  void bcast_by_scatter(const Functions& f);
  void bcast_by_allgatherv(const Functions& f);
  void allreduce_by_reduce(const Functions& f);
  void allreduce_by_reduce_scatter_block(const Functions& f);
  void allreduce_by_reduce_scatter(const Functions& f);
  void allgather_by_gather(const Functions& f);
  void allgather_by_alltoall(const Functions& f);
  void allgather_by_allreduce(const Functions& f);
  void allgather_by_allgatherv(const Functions& f);
  void allgatherv_by_gatherv(const Functions& f);
  void alltoall_by_alltoallv(const Functions& f);
  void alltoallv_by_alltoallw(const Functions& f);
  void reduce_scatter_block_by_reduce(const Functions& f);
  void reduce_scatter_block_by_reduce_scatter(const Functions& f);
  void reduce_scatter_by_reduce(const Functions& f);
  void part_of_allreduce(const Functions& f);
  void gather_by_allgather(const Functions& f);
  void gather_by_gatherv(const Functions& f);
  void gather_by_reduce(const Functions& f);
  void gatherv_by_allgatherv(const Functions& f);
  void part_of_bcast(const Functions& f);
  void scatter_by_scatterv(const Functions& f);
  void reduce_by_allreduce(const Functions& f);
  void reduce_by_reduce_scatter_block(const Functions& f);
  void reduce_by_reduce_scatter(const Functions& f);

  const double* with_whole_shares(const double* data);
  double* for_whole_shares(double* data);
  void take_whole_shares(double* data);
  void put_own_block();
  double* at_root(double* data) { return rank_ == 0 ? data : first_.data(); }

  Cell& cell_;
  Call call_ = nullptr;
  MPI_Comm comm_;
  int rank_;
  int ranks_;
  int count_;                ///< elements of a block
  int share_;                ///< of a block, when each rank has one; the last may be smaller
  std::vector<int> shares_;  ///< elements of each rank's
  std::vector<int> share_places_;
  std::vector<int> of_root_;  ///< the block is the root's, the others have none
  std::vector<int> zeros_;
  std::vector<double> first_;   ///< one block or all blocks, zero at first
  std::vector<double> second_;  ///< a share
};

}  // namespace headrace::bench::collectives
