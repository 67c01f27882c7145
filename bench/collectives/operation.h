#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/functions.h"
#include "common/world.h"

namespace headrace::bench::collectives {

/// The names of all operations that the layer can carry out, as HEADRACE_COLL_OFF takes them.
std::vector<std::string> operation_names();

/// One of these operations, on blocks of one size, with the memory of its calls.
/// Data are doubles that hold whole numbers, so that sums are exact in any order; each call has
/// other ones.
class Cell {
 public:
  /// `bytes`: of a rank's block (bcast, allreduce: of all the data), a multiple of 8. Collective;
  /// throws AgreedFailure where a rank has not the memory. See obstacle() in fitting.h.
  Cell(const World& world, std::string_view operation, std::int64_t bytes);

  /// How many blocks the largest buffer of any rank has.
  static std::int64_t most_blocks(std::string_view operation, int ranks);
  /// Bytes of this rank's buffers.
  static std::int64_t memory_of(const World& world, std::string_view operation, std::int64_t bytes);

  /// Makes what is sent in call `number`.
  void fill(std::int64_t number);
  /// Whether a rank makes more than others, which then would wait for it inside their calls.
  bool is_filled_unevenly() const { return scatters(kind_); }
  void call(const Functions& functions);
  /// Elements of the result that are not what call `number` must give on this rank.
  std::int64_t wrong(std::int64_t number) const;

  const World& world() const { return world_; }
  /// Elements of a block, and for each rank: of its block, and before it.
  int count() const { return static_cast<int>(count_); }
  const int* counts() const { return counts_.data(); }
  const int* places() const { return places_.data(); }
  /// The same in bytes.
  const int* offsets() const { return offsets_.data(); }
  const MPI_Datatype* types() const { return types_.data(); }
  const double* send() const { return send_.data(); }
  /// Also what is sent in a broadcast.
  double* receive() { return receive_.data(); }

 private:
  enum class Kind {
    barrier,
    bcast,
    reduce,
    allreduce,
    allgather,
    allgatherv,
    alltoall,
    reduce_scatter,
    reduce_scatter_block,
    gather,
    gatherv,
    scatter,
    scatterv,
    alltoallv,
    alltoallw
  };
  friend std::vector<std::string> operation_names();

  static Kind kind_of(std::string_view operation);
  static bool gathers(Kind kind) { return kind == Kind::gather || kind == Kind::gatherv; }
  static bool scatters(Kind kind) { return kind == Kind::scatter || kind == Kind::scatterv; }
  static bool is_all_to_all(Kind kind);
  /// Whether a rank sends a block for each rank, and gets one of each.
  static bool gives_all(Kind kind, bool is_root);
  static bool gets_all(Kind kind, bool is_root);
  bool reduces() const;
  double expected(std::int64_t number, std::size_t place) const;

  const World& world_;
  Kind kind_;
  std::size_t count_;  ///< elements of a block
  std::vector<double> send_;
  std::vector<double> receive_;
  std::vector<int> counts_;  ///< v-forms
  std::vector<int> places_;
  std::vector<int> offsets_;  ///< places in bytes
  std::vector<MPI_Datatype> types_;
};

}  // namespace headrace::bench::collectives
