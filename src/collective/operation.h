#pragma once

#include <optional>
#include <string_view>

namespace headrace::collective {

/// The collective operations that have schedules.
enum class Operation {
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
  alltoallw,
};
inline constexpr int kOperations = 15;

/// As users write it: the procedure's name without MPI_, in small letters.
std::string_view name_of(Operation operation);
std::optional<Operation> operation_named(std::string_view name);

/// Whether it computes with the ranks' data.
constexpr bool reduces(Operation operation) {
  return operation == Operation::reduce || operation == Operation::allreduce ||
         operation == Operation::reduce_scatter || operation == Operation::reduce_scatter_block;
}

/// Whether all ranks know alike how much is moved. Else what is done is the same for all sizes.
constexpr bool has_common_size(Operation operation) {
  return operation != Operation::barrier && operation != Operation::gatherv &&
         operation != Operation::scatterv && operation != Operation::alltoallv &&
         operation != Operation::alltoallw;
}

}  // namespace headrace::collective
