#include "collectives/emulation.h"

#include <algorithm>
#include <cstring>

#include "common/failure.h"

namespace headrace::bench::collectives {
namespace {

// MPI_DOUBLE is no constant everywhere.
MPI_Datatype type() {
  return MPI_DOUBLE;
}

void copy(double* to, const double* from, int count) {
  if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
}

}  // namespace

std::span<const Emulation::Row> Emulation::rows() {
  using E = Emulation;
  using enum Room;
  static const Row kRows[] = {
      {{"barrier", "allreduce of 8 B"}, one_block, &E::barrier_by_allreduce},
      {{"bcast", "scatter + allgather"}, one_block, &E::bcast_by_scatter},
      {{"bcast", "allgatherv"}, none, &E::bcast_by_allgatherv},
      {{"allreduce", "reduce + bcast"}, none, &E::allreduce_by_reduce},
      {{"allreduce", "reduce_scatter_block + allgather"},
       one_block,
       &E::allreduce_by_reduce_scatter_block},
      {{"allreduce", "reduce_scatter + allgatherv"}, one_block, &E::allreduce_by_reduce_scatter},
      {{"allgather", "gather + bcast"}, none, &E::allgather_by_gather},
      {{"allgather", "alltoall"}, all_blocks, &E::allgather_by_alltoall},
      {{"allgather", "allreduce"}, all_blocks, &E::allgather_by_allreduce},
      {{"allgather", "allgatherv"}, none, &E::allgather_by_allgatherv},
      {{"allgatherv", "gatherv + bcast"}, none, &E::allgatherv_by_gatherv},
      {{"alltoall", "alltoallv"}, none, &E::alltoall_by_alltoallv},
      {{"alltoallv", "alltoallw"}, none, &E::alltoallv_by_alltoallw},
      {{"reduce_scatter_block", "reduce + scatter"},
       all_blocks,
       &E::reduce_scatter_block_by_reduce},
      {{"reduce_scatter_block", "reduce_scatter"},
       none,
       &E::reduce_scatter_block_by_reduce_scatter},
      {{"reduce_scatter_block", "allreduce"}, all_blocks, &E::part_of_allreduce},
      {{"reduce_scatter", "reduce + scatterv"}, all_blocks, &E::reduce_scatter_by_reduce},
      {{"reduce_scatter", "allreduce"}, all_blocks, &E::part_of_allreduce},
      {{"gather", "allgather"}, all_blocks, &E::gather_by_allgather},
      {{"gather", "gatherv"}, none, &E::gather_by_gatherv},
      {{"gather", "reduce"}, all_blocks, &E::gather_by_reduce},
      {{"gatherv", "allgatherv"}, all_blocks, &E::gatherv_by_allgatherv},
      {{"scatter", "bcast"}, all_blocks, &E::part_of_bcast},
      {{"scatter", "scatterv"}, none, &E::scatter_by_scatterv},
      {{"scatterv", "bcast"}, all_blocks, &E::part_of_bcast},
      {{"reduce", "allreduce"}, none, &E::reduce_by_allreduce},
      {{"reduce", "reduce_scatter_block + gather"}, one_block, &E::reduce_by_reduce_scatter_block},
      {{"reduce", "reduce_scatter + gatherv"}, one_block, &E::reduce_by_reduce_scatter},
  };
  return kRows;
}

std::vector<Guideline> Emulation::guidelines() {
  std::vector<Guideline> all;
  for (const Row& row : rows()) all.push_back(row.guideline);
  return all;
}

/// Null if there is none.
const Emulation::Row* Emulation::row_of(const Guideline& guideline) {
  const auto found = std::ranges::find_if(rows(), [&](const Row& one) {
    return one.guideline.operation == guideline.operation &&
           one.guideline.emulation == guideline.emulation;
  });
  return found == rows().end() ? nullptr : &*found;
}

std::int64_t Emulation::room_of(const Guideline& guideline, int ranks) {
  const Row* const row = row_of(guideline);
  if (row == nullptr || row->room == Room::none) return 0;
  return row->room == Room::all_blocks ? ranks : 2;
}

Emulation::Emulation(Cell& cell, const Guideline& guideline)
    : cell_(cell),
      comm_(cell.world().communicator),
      rank_(cell.world().rank),
      ranks_(cell.world().size),
      count_(cell.count()),
      share_((count_ + ranks_ - 1) / ranks_) {
  const Row* const row = row_of(guideline);
  call_ = row->call;
  const auto ranks = static_cast<std::size_t>(ranks_);
  const bool has_block = row->room == Room::one_block;
  const bool has_all = row->room == Room::all_blocks;
  const auto of_shares = static_cast<std::size_t>(std::max(share_, 1));
  agree_on_memory(comm_, "the buffers", [&] {
    shares_.resize(ranks);
    share_places_.resize(ranks);
    of_root_.resize(ranks);
    zeros_.resize(ranks);
    if (has_all) first_.resize(ranks * static_cast<std::size_t>(count_));
    if (has_block) first_.resize(ranks * of_shares);
    if (has_block) second_.resize(of_shares);
  });
  of_root_[0] = count_;
  for (int i = 0; i < ranks_; ++i) {
    const auto place = static_cast<std::size_t>(i);
    share_places_[place] = std::min(i * share_, count_);
    shares_[place] = std::min(share_, count_ - share_places_[place]);
  }
}

/// A block that is cut into shares of one size: it itself, or a copy with some elements more.
const double* Emulation::with_whole_shares(const double* data) {
  if (share_ * ranks_ == count_) return data;
  copy(first_.data(), data, count_);
  return first_.data();
}

/// Where all shares go before they are taken: the block itself, if they fill it.
double* Emulation::for_whole_shares(double* data) {
  return share_ * ranks_ == count_ ? data : first_.data();
}

void Emulation::take_whole_shares(double* data) {
  if (share_ * ranks_ != count_) copy(data, first_.data(), count_);
}

/// The other ranks' are zero.
void Emulation::put_own_block() {
  copy(first_.data() + cell_.places()[rank_], cell_.send(), count_);
}

void Emulation::barrier_by_allreduce(const Functions& f) {
  f.allreduce(first_.data(), second_.data(), 1, type(), MPI_SUM, comm_);
}

void Emulation::bcast_by_scatter(const Functions& f) {
  double* const data = cell_.receive();
  const double* const given = rank_ == 0 ? with_whole_shares(data) : nullptr;
  f.scatter(given, share_, type(), second_.data(), share_, type(), 0, comm_);
  double* const all = for_whole_shares(data);
  f.allgather(second_.data(), share_, type(), all, share_, type(), comm_);
  take_whole_shares(data);
}

void Emulation::bcast_by_allgatherv(const Functions& f) {
  f.allgatherv(MPI_IN_PLACE, 0, type(), cell_.receive(), of_root_.data(), zeros_.data(), type(),
               comm_);
}

void Emulation::allreduce_by_reduce(const Functions& f) {
  f.reduce(cell_.send(), cell_.receive(), count_, type(), MPI_SUM, 0, comm_);
  f.bcast(cell_.receive(), count_, type(), 0, comm_);
}

void Emulation::allreduce_by_reduce_scatter_block(const Functions& f) {
  const double* const given = with_whole_shares(cell_.send());
  f.reduce_scatter_block(given, second_.data(), share_, type(), MPI_SUM, comm_);
  double* const all = for_whole_shares(cell_.receive());
  f.allgather(second_.data(), share_, type(), all, share_, type(), comm_);
  take_whole_shares(cell_.receive());
}

void Emulation::allreduce_by_reduce_scatter(const Functions& f) {
  f.reduce_scatter(cell_.send(), second_.data(), shares_.data(), type(), MPI_SUM, comm_);
  const int own = shares_[static_cast<std::size_t>(rank_)];
  f.allgatherv(second_.data(), own, type(), cell_.receive(), shares_.data(), share_places_.data(),
               type(), comm_);
}

void Emulation::allgather_by_gather(const Functions& f) {
  f.gather(cell_.send(), count_, type(), cell_.receive(), count_, type(), 0, comm_);
  f.bcast(cell_.receive(), count_ * ranks_, type(), 0, comm_);
}

void Emulation::allgather_by_alltoall(const Functions& f) {
  for (int i = 0; i < ranks_; ++i) copy(first_.data() + cell_.places()[i], cell_.send(), count_);
  f.alltoall(first_.data(), count_, type(), cell_.receive(), count_, type(), comm_);
}

void Emulation::allgather_by_allreduce(const Functions& f) {
  put_own_block();
  f.allreduce(first_.data(), cell_.receive(), count_ * ranks_, type(), MPI_SUM, comm_);
}

void Emulation::allgather_by_allgatherv(const Functions& f) {
  f.allgatherv(cell_.send(), count_, type(), cell_.receive(), cell_.counts(), cell_.places(),
               type(), comm_);
}

void Emulation::allgatherv_by_gatherv(const Functions& f) {
  f.gatherv(cell_.send(), count_, type(), cell_.receive(), cell_.counts(), cell_.places(), type(),
            0, comm_);
  f.bcast(cell_.receive(), count_ * ranks_, type(), 0, comm_);
}

void Emulation::alltoall_by_alltoallv(const Functions& f) {
  f.alltoallv(cell_.send(), cell_.counts(), cell_.places(), type(), cell_.receive(), cell_.counts(),
              cell_.places(), type(), comm_);
}

void Emulation::alltoallv_by_alltoallw(const Functions& f) {
  f.alltoallw(cell_.send(), cell_.counts(), cell_.offsets(), cell_.types(), cell_.receive(),
              cell_.counts(), cell_.offsets(), cell_.types(), comm_);
}

void Emulation::reduce_scatter_block_by_reduce(const Functions& f) {
  f.reduce(cell_.send(), first_.data(), count_ * ranks_, type(), MPI_SUM, 0, comm_);
  f.scatter(first_.data(), count_, type(), cell_.receive(), count_, type(), 0, comm_);
}

void Emulation::reduce_scatter_block_by_reduce_scatter(const Functions& f) {
  f.reduce_scatter(cell_.send(), cell_.receive(), cell_.counts(), type(), MPI_SUM, comm_);
}

void Emulation::reduce_scatter_by_reduce(const Functions& f) {
  f.reduce(cell_.send(), first_.data(), count_ * ranks_, type(), MPI_SUM, 0, comm_);
  f.scatterv(first_.data(), cell_.counts(), cell_.places(), type(), cell_.receive(), count_, type(),
             0, comm_);
}

void Emulation::part_of_allreduce(const Functions& f) {
  f.allreduce(cell_.send(), first_.data(), count_ * ranks_, type(), MPI_SUM, comm_);
  copy(cell_.receive(), first_.data() + cell_.places()[rank_], count_);
}

void Emulation::gather_by_allgather(const Functions& f) {
  f.allgather(cell_.send(), count_, type(), at_root(cell_.receive()), count_, type(), comm_);
}

void Emulation::gather_by_gatherv(const Functions& f) {
  f.gatherv(cell_.send(), count_, type(), cell_.receive(), cell_.counts(), cell_.places(), type(),
            0, comm_);
}

void Emulation::gather_by_reduce(const Functions& f) {
  put_own_block();
  f.reduce(first_.data(), cell_.receive(), count_ * ranks_, type(), MPI_SUM, 0, comm_);
}

void Emulation::gatherv_by_allgatherv(const Functions& f) {
  f.allgatherv(cell_.send(), count_, type(), at_root(cell_.receive()), cell_.counts(),
               cell_.places(), type(), comm_);
}

void Emulation::part_of_bcast(const Functions& f) {
  // The root's is only read.
  double* const all = at_root(const_cast<double*>(cell_.send()));
  f.bcast(all, count_ * ranks_, type(), 0, comm_);
  copy(cell_.receive(), all + cell_.places()[rank_], count_);
}

void Emulation::scatter_by_scatterv(const Functions& f) {
  f.scatterv(cell_.send(), cell_.counts(), cell_.places(), type(), cell_.receive(), count_, type(),
             0, comm_);
}

void Emulation::reduce_by_allreduce(const Functions& f) {
  f.allreduce(cell_.send(), cell_.receive(), count_, type(), MPI_SUM, comm_);
}

void Emulation::reduce_by_reduce_scatter_block(const Functions& f) {
  const double* const given = with_whole_shares(cell_.send());
  f.reduce_scatter_block(given, second_.data(), share_, type(), MPI_SUM, comm_);
  double* const all = for_whole_shares(cell_.receive());
  f.gather(second_.data(), share_, type(), all, share_, type(), 0, comm_);
  if (rank_ == 0) take_whole_shares(cell_.receive());
}

void Emulation::reduce_by_reduce_scatter(const Functions& f) {
  f.reduce_scatter(cell_.send(), second_.data(), shares_.data(), type(), MPI_SUM, comm_);
  const int own = shares_[static_cast<std::size_t>(rank_)];
  f.gatherv(second_.data(), own, type(), cell_.receive(), shares_.data(), share_places_.data(),
            type(), 0, comm_);
}

}  // namespace headrace::bench::collectives
