#include "fabric/messages.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

namespace headrace::fabric {

Result<std::vector<std::byte>> allgather(Messenger& messenger, int tag,
                                         std::span<const int> members, int index,
                                         std::span<const std::byte> mine) {
  const std::size_t bytes = mine.size() * members.size();
  std::vector<std::byte> scratch(bytes);
  std::vector<std::byte> all(bytes);
  if (Error error = allgather(messenger, tag, members, index, mine, scratch, all)) return error;
  return all;
}

Error allgather(Messenger& messenger, int tag, std::span<const int> members, int index,
                std::span<const std::byte> mine, std::span<std::byte> scratch,
                std::span<std::byte> all) {
  const int size = static_cast<int>(members.size());
  const auto member = [members](int i) { return members[static_cast<std::size_t>(i)]; };
  const std::size_t block = mine.size();
  assert(all.size() == block * members.size() && scratch.size() == all.size());
  // Block i of `scratch` belongs to member (index + i) % size.
  std::ranges::copy(mine, scratch.begin());
  for (int have = 1; have < size; have *= 2) {
    const std::size_t bytes = block * static_cast<std::size_t>(std::min(have, size - have));
    const int to = member((index - have + size) % size);
    const int from = member((index + have) % size);
    if (Error error =
            messenger.exchange(tag, to, scratch.first(bytes), from,
                               scratch.subspan(block * static_cast<std::size_t>(have), bytes))) {
      return error;
    }
  }
  for (int i = 0; i < size; ++i) {
    std::memcpy(all.data() + block * static_cast<std::size_t>((index + i) % size),
                scratch.data() + block * static_cast<std::size_t>(i), block);
  }
  return {};
}

namespace {

/// In round k each rank learns the values of 2^k more ranks (the dissemination of Hensgen, Finkel
/// and Manber, IJPP 17(1), 1988). `member(i)`: the rank at place i.
template <class Member>
Result<bool> disseminate(Messenger& messenger, int tag, int size, int index, bool mine,
                         Member member) {
  std::byte known{mine ? std::uint8_t{1} : std::uint8_t{0}};
  for (int distance = 1; distance < size; distance *= 2) {
    const int to = member((index + distance) % size);
    const int from = member((index - distance + size) % size);
    std::byte received{};
    if (Error error =
            messenger.exchange(tag, to, std::span(&known, 1), from, std::span(&received, 1))) {
      return error;
    }
    known &= received;
  }
  return known != std::byte{0};
}

}  // namespace

Result<bool> is_true_everywhere(Messenger& messenger, int tag, bool mine) {
  return disseminate(messenger, tag, messenger.size(), messenger.rank(), mine,
                     [](int rank) { return rank; });
}

Result<bool> is_true_everywhere(Messenger& messenger, int tag, std::span<const int> members,
                                int index, bool mine) {
  return disseminate(messenger, tag, static_cast<int>(members.size()), index, mine,
                     [members](int i) { return members[static_cast<std::size_t>(i)]; });
}

Result<std::vector<std::byte>> allgather(Messenger& messenger, int tag,
                                         std::span<const std::byte> mine) {
  std::vector<int> all(static_cast<std::size_t>(messenger.size()));
  std::iota(all.begin(), all.end(), 0);
  return allgather(messenger, tag, all, messenger.rank(), mine);
}

Error broadcast(Messenger& messenger, int tag, std::span<const int> members, int index,
                std::span<std::byte> block) {
  const int count = static_cast<int>(members.size());
  const auto member = [members](int i) { return members[static_cast<std::size_t>(i)]; };
  int step = 1;
  while (step < count && index % (2 * step) == 0) step *= 2;
  if (index != 0) {
    const int parent = member(index - step);
    if (Error error = messenger.exchange(tag, -1, {}, parent, block)) return error;
  }
  for (step /= 2; step > 0; step /= 2) {
    if (index + step >= count) continue;
    if (Error error = messenger.exchange(tag, member(index + step), block, -1, {})) return error;
  }
  return {};
}

}  // namespace headrace::fabric
