#include "posix/stream_buffers.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/kept_errno.h"
#include "base/no_cancellation.h"
#include "base/plain_message.h"
#include "posix/buffer_decisions.h"
#include "posix/buffer_slot.h"
#include "posix/buffer_use.h"
#include "posix/counted_name.h"
#include "posix/descriptor_buffer.h"
#include "posix/descriptor_buffers.h"
#include "posix/descriptors.h"
#include "posix/name_end.h"
#include "posix/stand_ins.h"
#include "storage/file_layout.h"

namespace headrace::posix::streams {
namespace {

struct Entry {
  std::atomic<std::FILE*> stream = nullptr;
  Memory memory;
  NameEnd name;                           ///< of its file
  std::atomic<bool> notes_write = false;  ///< the first one, since other nodes may reach the file
  std::atomic<bool> is_ready = false;     ///< these are its
  bool is_place_ours = false;             ///< the stream has its place from here
  bool is_told = false;                   ///< that bytes may be lost
  std::atomic<int> visitors = 0;          ///< that look at a stream which others may close

  /// Whether a stream still has this buffer: it may have been closed past the stand-ins, and be no
  /// stream any more.
  bool is_of(const std::FILE* one) const noexcept {
    return is_ready && __atomic_load_n(&one->_IO_buf_base, __ATOMIC_RELAXED) ==
                           reinterpret_cast<const char*>(memory.begin);
  }
};

/// As many as descriptors with buffers.
std::array<Entry, buffers::kBufferSlots> entries;

/// While it lives, another thread that is about to close the entry's stream waits.
class Visit {
 public:
  explicit Visit(Entry& entry) noexcept : entry_(entry) { entry_.visitors += 1; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { entry_.visitors -= 1; }

  /// Null if there is none.
  std::FILE* stream() const noexcept {
    std::FILE* const there = entry_.stream.load();
    return there != nullptr && entry_.is_of(there) ? there : nullptr;
  }

 private:
  Entry& entry_;
};

constexpr int kTries = 1000;
constexpr unsigned kNap = 100;  ///< us

/// Not for ever: a handler may have jumped out of a visit.
void wait_for_visitors(const Entry& one) noexcept {
  for (int i = 0; i < kTries && one.visitors.load() > 0; ++i) ::usleep(kNap);
}

/// A stream's file.
struct StreamFacts {
  Obstacle obstacle;
  bool may_be_shared = false;  ///< other nodes may reach it
};

StreamFacts facts_of(int descriptor) {
  struct stat status{};
  struct statfs about{};
  if (::fstat(descriptor, &status) != 0 || ::fstatfs(descriptor, &about) != 0) {
    return {{"it is not a regular file", "", true}};
  }
  const int flags = ::fcntl(descriptor, F_GETFL);
  const auto magic = static_cast<long>(about.f_type);
  return {obstacle_of({flags & ~(O_SYNC | O_DIRECT), status.st_mode, magic, Sharing::none}),
          storage::may_be_shared(magic, status.st_dev)};
}

/// Null if none is left.
Entry* take_entry(std::FILE* stream) {
  for (Entry& one : entries) {
    std::FILE* none = nullptr;
    if (one.stream.compare_exchange_strong(none, stream)) return &one;
  }
  return nullptr;
}

/// What was in the way, if anything.
Obstacle give_buffer(std::FILE* stream, ByteCount size, std::string_view name, bool notes_write) {
  Entry* const entry = take_entry(stream);
  if (entry == nullptr) return buffers::kNoSlot;
  entry->memory = {take_buffer_memory(size), size};
  entry->name.set(name);
  entry->notes_write = notes_write;
  entry->is_place_ours = false;
  entry->is_told = false;
  entry->is_ready = true;
  if (entry->memory.begin != nullptr &&
      std::setvbuf(stream, reinterpret_cast<char*>(entry->memory.begin), _IOFBF,
                   static_cast<std::size_t>(size)) == 0) {
    return {};
  }
  give_back(forget(stream));
  return buffers::kNoMemory;
}

/// Bytes that are not in their file.
struct Unsaved {
  std::ptrdiff_t bytes = 0;
  const char* why = "";
};

constexpr const char* kNoPlace = "where it belongs in the file is not known";
constexpr const char* kAppends = "it is open for appending";

/// Writes the bytes that a stream has not written, if their place is known. The C library may have
/// been interrupted just behind its write, with its pointers as before: then the kernel's position
/// is not what it remembers.
Unsaved save(std::FILE* stream) {
  const char* const begin = stream->_IO_write_base;
  const std::ptrdiff_t bytes = stream->_IO_write_ptr - begin;
  const int descriptor = ::fileno_unlocked(stream);
  if (begin == nullptr || bytes <= 0 || descriptor < 0) return {};
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) return {bytes, std::strerror(errno)};
  // There pwrite() appends, and the stream would do so once more.
  if ((flags & O_APPEND) != 0) return {bytes, kAppends};
  const off64_t now = ::lseek64(descriptor, 0, SEEK_CUR);
  if (now < 0 || now != stream->_offset) return {bytes, kNoPlace};
  const off64_t back = stream->_IO_read_end == begin ? 0 : begin - stream->_IO_read_end;
  std::int64_t done = 0;
  const int error =
      write_range(descriptor, reinterpret_cast<const std::byte*>(begin), bytes, now + back, done);
  return {bytes - done, error == 0 ? "" : std::strerror(error)};
}

Unsaved flush(std::FILE* stream) {
  const std::ptrdiff_t bytes = stream->_IO_write_ptr - stream->_IO_write_base;
  return ::fflush_unlocked(stream) == 0 ? Unsaved{} : Unsaved{bytes, std::strerror(errno)};
}

void tell_unsaved(Entry& one, const char* why) {
  if (std::exchange(one.is_told, true)) return;
  print_plain_message({"what the stream of '", one.name.text(), "' has buffered may be lost (", why,
                       "), close it before the program ends and check what fclose returns"});
}

bool only_reads(const std::FILE* stream) {
  constexpr int kNoWrites = 0x8;  // _IO_NO_WRITES of glibc
  return (__atomic_load_n(&stream->_flags, __ATOMIC_RELAXED) & kNoWrites) != 0;
}

/// Calls save_one(stream), which returns what is Unsaved, for each stream, with its lock.
template <class Save>
void save_each(Save save_one) noexcept {
  // A child has a copy of what its parent will write, or its parent's, with other descriptors.
  if (!buffers::are_wanted() || !buffers::is_in_own_process()) return;
  const KeptErrno kept;
  const NoCancellation uncancelled;
  int tries = 0;  // for all of them
  for (Entry& one : entries) {
    if (one.stream.load() == nullptr) continue;
    const Visit visit(one);
    std::FILE* const stream = visit.stream();
    if (stream == nullptr || only_reads(stream)) continue;
    // Another thread may be within a call; it may also wait for this one.
    bool is_locked = ::ftrylockfile(stream) == 0;
    for (; !is_locked && tries < kTries; ++tries) {
      ::usleep(kNap);
      is_locked = ::ftrylockfile(stream) == 0;
    }
    if (!is_locked) {
      tell_unsaved(one, "another thread is using it");
      continue;
    }
    const Unsaved left = save_one(stream);
    ::funlockfile(stream);
    if (left.bytes > 0) {
      tell_unsaved(one, left.why);
    } else {
      one.is_told = false;
    }
  }
}

/// Tells a stream where the kernel is, if it does not know that. It then keeps that up to date by
/// itself; other threads may be within its calls.
void tell_place(Entry& entry, std::FILE* stream) {
  const int flags = ::fcntl(::fileno_unlocked(stream), F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || ::ftrylockfile(stream) != 0) return;
  if (stream->_offset < 0) {
    stream->_offset = ::lseek64(::fileno_unlocked(stream), 0, SEEK_CUR);
    entry.is_place_ours = true;
  }
  ::funlockfile(stream);
}

/// Calls action(entry, stream) for the entry of `stream`, or all (null).
template <class Do>
void for_entries_of(std::FILE* stream, Do action) {
  const KeptErrno kept;
  for (Entry& one : entries) {
    std::FILE* const there = one.stream.load(std::memory_order_relaxed);
    if (there == nullptr || (stream != nullptr && there != stream)) continue;
    const Visit visit(one);
    if (std::FILE* const now = visit.stream(); now == there) action(one, there);
  }
}

}  // namespace

void offer(std::FILE* stream, const char* name) noexcept {
  if (stream == nullptr || name == nullptr) return;
  if (stream == stdin || stream == stdout || stream == stderr) return;
  const KeptErrno kept;
  const BufferRequest request = buffers::requested_buffer(AT_FDCWD, name);
  if (request.shape.size == 0) return;
  const FullName full(AT_FDCWD, name);
  const std::string_view shown = full.text_or(name);
  const StreamFacts facts = facts_of(::fileno_unlocked(stream));
  Obstacle obstacle = facts.obstacle;
  if (!obstacle) obstacle = give_buffer(stream, request.shape.size, shown, facts.may_be_shared);
  if (obstacle) return buffers::note_obstacle(obstacle, shown, request.is_verbose);
  remember_place(stream);
  buffers::note_start({request.shape.size}, shown, request.is_verbose);
}

void offer_again(std::FILE* stream) noexcept {
  if (stream == nullptr) return;
  const KeptErrno kept;
  const LinkedName name(::fileno_unlocked(stream));
  if (name.text().starts_with('/')) offer(stream, name.text().data());
}

void note_written(std::FILE* stream) noexcept {
  constexpr int kWrites = 0x800;  // _IO_CURRENTLY_PUTTING of glibc: since it was last positioned
  for_entries_of(stream, [](Entry& one, const std::FILE* there) {
    const int flags = __atomic_load_n(&there->_flags, __ATOMIC_RELAXED);
    if ((flags & kWrites) == 0 || one.stream.load() != there) return;
    if (one.notes_write.exchange(false)) buffers::note_written(one.name.text());
  });
}

Memory forget(std::FILE* stream) noexcept {
  note_written(stream);
  for (Entry& one : entries) {
    if (one.stream.load(std::memory_order_relaxed) != stream) continue;
    const Memory memory = one.memory;
    one.is_ready = false;
    wait_for_visitors(one);
    one.memory = {};
    one.stream = nullptr;
    return memory;
  }
  return {};
}

void give_back(const Memory& memory) noexcept {
  give_buffer_memory(memory.begin, memory.bytes);
}

void remember_place(std::FILE* stream) noexcept {
  for_entries_of(stream, [](Entry& one, std::FILE* there) { tell_place(one, there); });
}

void forget_place(std::FILE* stream) noexcept {
  for_entries_of(stream, [](Entry& one, std::FILE* there) {
    if (!one.is_place_ours) return;
    ::flockfile(there);
    one.is_place_ours = false;
    there->_offset = -1;
    ::funlockfile(there);
  });
}

void save_all() noexcept {
  save_each(&save);
}

void flush_all() noexcept {
  save_each(&flush);
}

}  // namespace headrace::posix::streams
