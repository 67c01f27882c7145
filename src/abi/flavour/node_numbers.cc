#include "abi/flavour/node_numbers.h"

#include <cstdint>
#include <string>
#include <unordered_map>

#include "abi/flavour/communicator_team.h"
#include "base/result.h"
#include "topo/node.h"

namespace headrace::HEADRACE_FLAVOUR {

std::uint64_t node_key() {
  std::string name = topo::network_identity();
  if (name.empty()) name = topo::node_identity();
  std::uint64_t key = 14695981039346656037U;  // FNV-1a
  for (char one : name) key = (key ^ static_cast<unsigned char>(one)) * 1099511628211U;
  return key;
}

bool may_be_reordered(MPI_Comm communicator) {
  int is_inter = 0;
  if (communicator == MPI_COMM_NULL ||
      native.Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS || is_inter != 0) {
    return false;
  }
  const Result<bool> inside = lies_in_world(communicator);
  return inside && inside.value();
}

std::optional<std::vector<int>> node_of_each_rank(MPI_Comm communicator) {
  int size = 0;
  native.Comm_size(communicator, &size);
  std::uint64_t key = 0;
  std::vector<std::uint64_t> keys;
  std::vector<int> nodes;
  std::unordered_map<std::uint64_t, int> numbers;
  const Error failed = attempt([&]() -> Error {
    key = node_key();
    keys.resize(std::size_t(size));
    nodes.reserve(std::size_t(size));
    numbers.reserve(std::size_t(size));
    return {};
  });
  if (!is_true_of_all(communicator, !failed)) return std::nullopt;
  if (native.Allgather(&key, sizeof key, MPI_BYTE, keys.data(), sizeof key, MPI_BYTE,
                       communicator) != MPI_SUCCESS) {
    return std::nullopt;
  }
  const Error lacking = attempt([&]() -> Error {
    for (const std::uint64_t one : keys) {
      nodes.push_back(numbers.emplace(one, static_cast<int>(numbers.size())).first->second);
    }
    return {};
  });
  if (!is_true_of_all(communicator, !lacking)) return std::nullopt;
  return nodes;
}

bool is_true_of_all(MPI_Comm communicator, bool mine) {
  int all = 0;
  const int one = mine ? 1 : 0;
  return native.Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, communicator) == MPI_SUCCESS && all == 1;
}

}  // namespace headrace::HEADRACE_FLAVOUR
