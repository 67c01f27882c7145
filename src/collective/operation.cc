#include "collective/operation.h"

#include <array>

namespace headrace::collective {
namespace {

/// By the numbers of Operation.
constexpr std::array<std::string_view, kOperations> kNames = {
    "barrier",   "bcast",          "reduce",
    "allreduce", "allgather",      "allgatherv",
    "alltoall",  "reduce_scatter", "reduce_scatter_block",
    "gather",    "gatherv",        "scatter",
    "scatterv",  "alltoallv",      "alltoallw",
};

}  // namespace

std::string_view name_of(Operation operation) {
  return kNames[static_cast<std::size_t>(operation)];
}

std::optional<Operation> operation_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Operation>(i);
  }
  return std::nullopt;
}

}  // namespace headrace::collective
