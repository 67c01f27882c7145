#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/held_descriptor.h"
#include "base/result.h"

namespace headrace::fabric {

/// What another process needs to map memory that this one made. Sent between ranks as bytes.
struct SharedMemoryTicket {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;
  std::uint64_t size = 0;  ///< of the memory, in bytes
  std::uint64_t secret[2] = {0,
                             0};  ///< also the memory's first bytes: proof that it is the right one
  char name[48] = {};             ///< for shm_open, empty where the descriptor serves
};

enum class SharedMemoryKind { memfd, posix };

/// Memory shared by the processes of a node, mapped once and unmapped at the end. It is an
/// anonymous memfd that others open through /proc, or, where that is not allowed, a POSIX object
/// with a random name. The name goes away with unlink(), so a job leaves nothing behind however it
/// ends.
class SharedMemory {
 public:
  /// Makes `size` bytes (not yet backed by memory, see commit()). The first `kSecretBytes` are
  /// taken.
  static Result<std::unique_ptr<SharedMemory>> make(SharedMemoryKind kind, std::size_t size);
  static Result<std::unique_ptr<SharedMemory>> open(const SharedMemoryTicket& ticket);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  static constexpr std::size_t kSecretBytes = 64;

  const SharedMemoryTicket& ticket() const { return ticket_; }
  std::byte* base() const { return base_; }
  std::size_t size() const { return size_; }

  /// Backs [offset, offset + len) with memory, so that touching it cannot end the program by
  /// SIGBUS. False if there is no memory, or if the program closed the descriptor. The maker calls
  /// this; the others may touch the range afterwards.
  bool commit(std::size_t offset, std::size_t len);
  /// Maps a committed range into this process at once, which is cheaper than a fault for each page.
  /// If another process did so before (`has_pages`), the kernel maps several pages at a time, in a
  /// third of the time; a wrong `has_pages` only takes longer. May do nothing.
  static void populate(std::byte* begin, std::size_t len, bool has_pages);
  /// Gives the memory of a range back to the system. Its content is lost.
  void release(std::size_t offset, std::size_t len);
  /// Whether a range, which may lie beyond the end, could be committed now. Gives back what it
  /// tries.
  bool has_room(std::size_t offset, std::size_t len);
  /// Call when all have opened the memory: removes its name.
  void unlink();

 private:
  SharedMemory() = default;
  Error map(std::size_t size);

  SharedMemoryTicket ticket_;
  HeldDescriptor descriptor_;
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace headrace::fabric
