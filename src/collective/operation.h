#pragma once

#include <optional>
#include <string_view>

namespace headrace::collective {

/// The collective operations that have schedules.
enum class Operation {
  barrier,
  bcast,
  allreduce,
  allgather,
  allgatherv,
  alltoall,
  reduce_scatter,
  reduce_scatter_block,
};
inline constexpr int kOperations = 8;

/// As users write it: the procedure's name without MPI_, in small letters.
std::string_view name_of(Operation operation);
std::optional<Operation> operation_named(std::string_view name);

/// Whether it computes with the ranks' data.
constexpr bool reduces(Operation operation) {
  return operation == Operation::allreduce || operation == Operation::reduce_scatter ||
         operation == Operation::reduce_scatter_block;
}

}  // namespace headrace::collective
