#include "record/communicator_ids.h"

#include "base/mixed_hash.h"

namespace headrace::record {
namespace {

constexpr std::uint32_t kFirstThread = 0;  // that called MPI
constexpr std::size_t kMostSets = 4096;

/// FNV-1a.
std::uint64_t hash_of(std::span<const std::int32_t> members) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::int32_t member : members) {
    hash = (hash ^ static_cast<std::uint32_t>(member)) * 0x100000001b3u;
  }
  return hash;
}

std::uint64_t id_of(std::uint64_t hash, std::uint64_t before) noexcept {
  return (hash + golden_hash(before)) | 1;
}

}  // namespace

std::uint64_t CommunicatorIds::world(std::span<const std::int32_t> members) noexcept {
  return id_of(hash_of(members), 0);
}

/// Counts from 1, so that a copy of MPI_COMM_WORLD is not taken for it.
std::uint64_t CommunicatorIds::made(std::uint32_t thread, std::span<const std::int32_t> members) {
  if (thread != kFirstThread) return 0;
  const std::uint64_t hash = hash_of(members);
  if (made_.size() >= kMostSets && !made_.contains(hash)) return 0;
  return id_of(hash, ++made_[hash]);
}

}  // namespace headrace::record
