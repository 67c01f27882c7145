#include "fabric/node_sharing.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/settings.h"
#include "fabric/messages.h"

namespace headrace::fabric {
namespace {

struct Shared {
  std::unique_ptr<SharedMemory> memory;
  std::string failure;
};

constexpr const char* kNoMemory = "out of memory";  // so short that std::string allocates none

void set_text(std::string& text, const char* to) {
  if (attempt([&]() -> Error {
        text = to;
        return {};
      })) {
    text = kNoMemory;
  }
}

bool is_allowed(SharedMemoryKind kind) {
  switch (settings().shared_memory) {
    case SharedMemorySetting::automatic: return true;
    case SharedMemorySetting::memfd: return kind == SharedMemoryKind::memfd;
    case SharedMemorySetting::posix: return kind == SharedMemoryKind::posix;
    case SharedMemorySetting::none: break;
  }
  return false;
}

/// Stores in `mine` the memory that `make` returns, or why there is none.
template <class Make>
void try_to_keep(Shared& mine, Make make) {
  Error failed = attempt([&]() -> Error {
    Result<std::unique_ptr<SharedMemory>> made = make();
    if (!made) return made.error();
    mine.memory = std::move(made.value());
    return {};
  });
  if (failed) mine.failure = failed.message.empty() ? kNoMemory : std::move(failed.message);
}

/// Whether more than the `committed` bytes can be had: /dev/shm may be so small that a second file
/// would find no memory.
bool has_room(SharedMemory& memory, SharedMemoryKind kind, std::size_t committed) {
  constexpr std::size_t kLeastRoom = std::size_t{512} << 10;
  return kind == SharedMemoryKind::memfd || memory.has_room(committed, kLeastRoom);
}

/// The first rank's part: makes memory of one kind, if the settings allow it.
Shared make_shared(SharedMemoryKind kind, std::size_t size, std::size_t committed) {
  Shared mine;
  if (!is_allowed(kind)) {
    set_text(mine.failure, "switched off by HEADRACE_SHARED_MEMORY");
    return mine;
  }
  try_to_keep(mine, [&]() -> Result<std::unique_ptr<SharedMemory>> {
    auto made = SharedMemory::make(kind, size);
    if (made && !(made.value()->commit(0, committed) && has_room(*made.value(), kind, committed))) {
      return system_failure(ENOSPC, "cannot get shared memory");
    }
    return made;
  });
  return mine;
}

/// Collective over the node's ranks (`index` is this one's place): whether none has failed.
Result<bool> have_all(Messenger& messenger, int tag, const std::vector<int>& ranks, int index,
                      const Shared& mine) {
  std::byte failed{mine.memory && mine.failure.empty() ? std::uint8_t{0} : std::uint8_t{1}};
  const auto any = [](std::span<std::byte> into, std::span<const std::byte> from) {
    into[0] |= from[0];
  };
  if (Error error = reduce_to_all(messenger, tag, ranks, index, std::span(&failed, 1), any)) {
    return error;
  }
  return failed == std::byte{0};
}

/// Collective over the node's ranks: the first makes memory of one kind if its settings allow it,
/// the others open it. All ranks get the memory or none does.
Result<Shared> share(Messenger& messenger, int tag, const std::vector<int>& ranks,
                     SharedMemoryKind kind, std::size_t size, std::size_t committed) {
  const int index = static_cast<int>(std::ranges::find(ranks, messenger.rank()) - ranks.begin());
  const bool leads = index == 0;
  Shared mine;
  SharedMemoryTicket ticket;
  if (leads) mine = make_shared(kind, size, committed);
  if (mine.memory && mine.failure.empty()) ticket = mine.memory->ticket();
  // A ticket without a process means that the first rank made no memory.
  if (Error error =
          broadcast(messenger, tag, ranks, index, std::as_writable_bytes(std::span(&ticket, 1)))) {
    return error;
  }
  if (!leads && ticket.process != 0) {
    try_to_keep(mine, [&] { return SharedMemory::open(ticket); });
  }
  const Result<bool> all = have_all(messenger, tag, ranks, index, mine);
  if (!all) return all.error();
  if (mine.memory) mine.memory->unlink();
  if (!all.value()) {
    mine.memory.reset();
    if (mine.failure.empty()) {
      set_text(mine.failure, "another rank of the node cannot share memory");
    }
  }
  return mine;
}

}  // namespace

Result<NodeSharing> share_memory(Messenger& messenger, int tag, const std::vector<int>& ranks,
                                 std::size_t size, std::size_t committed) {
  NodeSharing found;
  Result<Shared> first = share(messenger, tag, ranks, SharedMemoryKind::memfd, size, committed);
  if (!first) return first.error();
  if (first.value().memory) {
    found.memory = std::move(first.value().memory);
    found.how = "memfd";
    return found;
  }
  Result<Shared> second = share(messenger, tag, ranks, SharedMemoryKind::posix, size, committed);
  if (!second) return second.error();
  found.memory = std::move(second.value().memory);
  // Without memory for the text, it stays empty.
  static_cast<void>(attempt([&]() -> Error {
    found.how = found.memory ? "posix, no memfd: " + first.value().failure
                             : "none, no memfd: " + first.value().failure +
                                   "; no posix: " + second.value().failure;
    return {};
  }));
  return found;
}

}  // namespace headrace::fabric
