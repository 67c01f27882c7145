#include "exchange/messages.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace headrace::exchange {

Result<std::vector<std::byte>> allgather(Messenger& messenger, int tag,
                                         std::span<const int> members, int index,
                                         std::span<const std::byte> mine) {
  const int size = static_cast<int>(members.size());
  const auto member = [members](int i) { return members[static_cast<std::size_t>(i)]; };
  const std::size_t block = mine.size();
  // Block i of `rotated` belongs to member (index + i) % size.
  std::vector<std::byte> rotated(block * static_cast<std::size_t>(size));
  std::ranges::copy(mine, rotated.begin());
  for (int have = 1; have < size; have *= 2) {
    const std::size_t bytes = block * static_cast<std::size_t>(std::min(have, size - have));
    const std::span<std::byte> all(rotated);
    const int to = member((index - have + size) % size);
    const int from = member((index + have) % size);
    if (Error error =
            messenger.exchange(tag, to, all.first(bytes), from,
                               all.subspan(block * static_cast<std::size_t>(have), bytes))) {
      return error;
    }
  }
  std::vector<std::byte> in_order(rotated.size());
  for (int i = 0; i < size; ++i) {
    std::memcpy(in_order.data() + block * static_cast<std::size_t>((index + i) % size),
                rotated.data() + block * static_cast<std::size_t>(i), block);
  }
  return in_order;
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

}  // namespace headrace::exchange
