#include "posix/descriptor_buffers.h"

#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/blocked_signals.h"
#include "base/kept_errno.h"
#include "base/no_cancellation.h"
#include "posix/buffer_choice.h"
#include "posix/buffer_decisions.h"
#include "posix/buffer_use.h"
#include "posix/counted_name.h"
#include "posix/mapped_files.h"
#include "posix/stand_ins.h"
#include "posix/stream_buffers.h"
#include "record/clock.h"
#include "storage/file_layout.h"

namespace headrace::posix::buffers {
namespace {

/// A handler that has interrupted a call has closed its descriptor, maybe to open another file by
/// its number. What the call has left in the buffer since goes where it would go without one.
std::int64_t write_elsewhere(Use& use, bool is_at_offset, std::int64_t result) noexcept {
  const int descriptor = use.buffer().descriptor();
  const std::int64_t left = use.buffer().held();
  int error = 0;
  const auto write_it = [&](const std::byte* data, std::int64_t bytes, off64_t at) -> std::int64_t {
    const NoCancellation uncancelled;
    const off64_t* const offset = is_at_offset ? &at : nullptr;
    const auto size = static_cast<std::size_t>(bytes);
    const auto buffered = write(descriptor, data, size, offset);
    const ssize_t done = buffered       ? *buffered
                         : is_at_offset ? real.pwrite64(descriptor, data, size, at)
                                        : real.write(descriptor, data, size);
    if (done < 0) error = errno;
    return std::max<std::int64_t>(done, 0);
  };
  const std::int64_t done = result - left + use.buffer().held_blocks().hand_over(write_it);
  return done > 0 ? done : -error;
}

/// One call. `direct` is for handlers that have interrupted another. Nothing if there is no buffer,
/// or none any more: then `was_lost` tells whether the number may have another by now.
template <class Do, class Direct>
std::optional<std::int64_t> call_once(int descriptor, bool is_at_offset, bool tells, Do action,
                                      Direct direct, bool& was_lost) noexcept {
  const int kept = errno;
  Use use(descriptor);
  if (!use) return std::nullopt;
  std::int64_t result = 0;
  if (use.is_on()) {
    result = use.interrupts() ? direct(use.buffer()) : action(use.buffer());
    if (tells && result > 0 && use.was_ended()) result = write_elsewhere(use, is_at_offset, result);
    if (tells && result > 0 && use.slot().notes_write.exchange(false)) {
      const NoCancellation uncancelled;
      note_written(use.slot().name.text());
    }
    errno = kept;
    was_lost = result == -EBADF && use.is_lost();
    if (was_lost) return std::nullopt;
  } else {
    was_lost = use.is_gone();
    result = tells ? -use.take_unreported_error() : 0;
    if (result == 0) return std::nullopt;
  }
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

/// A handler may have opened another file meanwhile, by the same number, that has a buffer.
template <class Do, class Direct>
std::optional<std::int64_t> call(int descriptor, bool is_at_offset, bool tells, Do action,
                                 Direct direct) noexcept {
  while (true) {
    bool was_lost = false;
    const auto result = call_once(descriptor, is_at_offset, tells, action, direct, was_lost);
    if (result || !was_lost) return result;
  }
}

/// Calls of other exit handlers, and of destructors, come later: they find no buffers.
void release_at_end() noexcept {
  stop("the program ends");
  tell_unreported();
  streams::flush_all();
}

OpenFacts facts_of(int descriptor, int flags, const struct stat& status, HeldDescriptor& claim) {
  OpenFacts facts{flags, status.st_mode, 0, Sharing::none};
  struct statfs about{};
  if (S_ISREG(status.st_mode) && ::fstatfs(descriptor, &about) == 0) {
    facts.file_system = static_cast<long>(about.f_type);
  }
  if (obstacle_of(facts)) return facts;
  const FileIdentity file{status.st_dev, status.st_ino};
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  facts.sharing = was_mapped(file) ? Sharing::mapped : find_in_process(descriptor, file, writes);
  if (facts.sharing == Sharing::none) facts.sharing = find_in_node(file, writes ? &claim : nullptr);
  return facts;
}

/// False: the descriptor gets no buffer.
bool fill_slot(BufferSlot& slot, int descriptor, int flags, const BufferRequest& request) noexcept {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return false;
  const FileIdentity file{status.st_dev, status.st_ino};
  // Before this thread looks for other descriptors of the file: who opens one after that finds the
  // slot, waits for its lock, and releases it.
  slot.set_file(file);
  slot.is_on = true;
  const OpenFacts facts = facts_of(descriptor, flags, status, slot.claim);
  slot.is_verbose = request.is_verbose;
  if (const Obstacle obstacle = obstacle_of(facts)) {
    note_obstacle(obstacle, slot.name.text(), slot.is_verbose);
    return false;
  }
  slot.unreported_error = 0;
  slot.checked = record::ticks();
  const bool may_write = (flags & O_ACCMODE) != O_RDONLY;
  BufferShape shape = request.shape;
  // Files there may be read past the page cache, and what the kernel reads ahead would be read
  // twice.
  if (facts.file_system == FUSE_SUPER_MAGIC) shape.prefetch = 0;
  const bool is_shared = storage::may_be_shared(facts.file_system, status.st_dev);
  slot.notes_write = is_shared;
  slot.buffer.start(descriptor, file, may_write, shape);
  slot.buffer.owed.start(is_shared);
  note_start(shape, slot.name.text(), slot.is_verbose);
  return true;
}

/// A file that is opened once more, by open(2)'s `flags`; `opened`: by this descriptor, or -1.
void release_file(const FileIdentity& file, int opened, int flags) noexcept {
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0;
  for_each_slot([&](const BufferSlot& slot) { return slot.is_of(file); },
                [&](Use& use) {
                  if (use.buffer().descriptor() == opened) return;
                  if (!writes && !use.buffer().may_write()) return;
                  use.release("the program opens it once more");
                });
}

}  // namespace

std::atomic<std::uint8_t>* numbers = nullptr;
std::atomic<int> count = 0;

bool start(FindBufferRequest find_request) noexcept {
  if (tables != nullptr) return true;
  if (!prepare_own_mark()) return false;
  static_cast<void>(storage::may_be_shared(0, 0));  // which must not read settings in a handler
  void* const memory = ::mmap(nullptr, sizeof(Tables), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  tables = new (memory) Tables{};
  tables->find_request = find_request;
  numbers = tables->numbers.data();
  ::pthread_atfork([] { release_all("the program forks"); }, nullptr, nullptr);
  std::atexit(&release_at_end);
  ::at_quick_exit(&release_at_end);
  return true;
}

BufferRequest requested_buffer(int directory, const char* name) noexcept {
  if (!is_in_own_process() || name == nullptr || is_device_name(name)) return {};
  const FindBufferRequest find_request = tables->find_request;
  if (find_request == nullptr) return {};
  const KeptErrno kept;
  const FullName full(directory, name);
  return find_request(name, full.text());
}

void offer(int descriptor, int directory, const char* name, int flags) noexcept {
  if (tables == nullptr || static_cast<unsigned>(descriptor) >= kDescriptors) return;
  const KeptErrno kept;
  const NoCancellation uncancelled;  // with a lock held, below
  // Closed unseen, and opened anew.
  if (has(descriptor)) static_cast<void>(end(descriptor));
  const BufferRequest request = requested_buffer(directory, name);
  if (request.shape.size == 0) return;
  // A handler that jumped out of this for good would leave the slot locked, and half filled.
  const BlockedSignals blocked;
  BufferSlot* const slot = take_slot();
  {
    const FullName full(directory, name);
    const std::string_view shown = full.text_or(name);
    if (slot == nullptr) return note_obstacle(kNoSlot, shown, request.is_verbose);
    slot->name.set(shown);
  }
  count.fetch_add(1);
  if (fill_slot(*slot, descriptor, flags, request)) {
    numbers[descriptor].store(static_cast<std::uint8_t>(slot - tables->slots.data() + 1));
  } else {
    slot->clear();
    count.fetch_sub(1);
  }
  slot->buffer.lock.give_back();
}

std::optional<ssize_t> read(int descriptor, void* into, size_t bytes,
                            const off64_t* offset) noexcept {
  auto* const place = static_cast<std::byte*>(into);
  return call(
      descriptor, offset != nullptr, false,
      [=](DescriptorBuffer& buffer) { return buffer.read(offset, place, bytes); },
      [=](DescriptorBuffer& buffer) { return buffer.read_from_handler(offset, place, bytes); });
}

std::optional<ssize_t> write(int descriptor, const iovec* parts, int parts_count,
                             const off64_t* offset) noexcept {
  const std::span<const iovec> all(parts, static_cast<std::size_t>(parts_count));
  return call(
      descriptor, offset != nullptr, true,
      [=](DescriptorBuffer& buffer) { return buffer.write(offset, all); },
      [=](DescriptorBuffer& buffer) { return buffer.write_from_handler(offset, all); });
}

std::optional<ssize_t> write(int descriptor, const void* from, size_t bytes,
                             const off64_t* offset) noexcept {
  const iovec part{const_cast<void*>(from), bytes};
  return write(descriptor, &part, 1, offset);
}

std::optional<off64_t> seek(int descriptor, off64_t offset, int whence) noexcept {
  const auto move = [=](DescriptorBuffer& buffer) { return buffer.seek(offset, whence); };
  return call(descriptor, false, false, move,
              [=](DescriptorBuffer& buffer) { return buffer.seek_from_handler(offset, whence); });
}

int flush(int descriptor) noexcept {
  const KeptErrno kept;
  Use use(descriptor);
  if (!use) return 0;
  if (!use.is_on()) return use.take_unreported_error();
  const int error = use.write_held();
  return use.is_gone() ? error : use.buffer().owed.told_with(error);
}

void settle(int descriptor) noexcept {
  const KeptErrno kept;
  if (Use use(descriptor); use) use.settle();
}

int settle_to_cut(int descriptor) noexcept {
  const KeptErrno kept;
  Use use(descriptor);
  return use ? use.write_held() : 0;
}

void cut(int descriptor, off64_t size, int failed) noexcept {
  const KeptErrno kept;
  Use use(descriptor);
  if (!use || !use.is_on()) return;
  use.buffer().owed.note(failed);
  if (size < 0 || use.interrupts()) return;
  use.buffer().drop();
  use.buffer().held_blocks().cut(size);
}

void cut_named(const char* name, off64_t size) noexcept {
  if (!any() || name == nullptr) return;
  const KeptErrno kept;
  struct stat status{};
  if (::stat(name, &status) != 0) return;
  const FileIdentity file{status.st_dev, status.st_ino};
  for_each_slot([&](const BufferSlot& slot) { return slot.is_of(file); },
                [&](const Use& use) {
                  if (use.interrupts()) return;
                  use.buffer().drop();
                  use.buffer().held_blocks().cut(size);
                });
}

void release(int descriptor, const char* why) noexcept {
  const KeptErrno kept;
  if (Use use(descriptor); use) use.release(why);
}

int end(int descriptor) noexcept {
  const KeptErrno kept;
  Use use(descriptor);
  return use ? use.end() : 0;
}

void end_range(unsigned first, unsigned last) noexcept {
  for_each_slot([=](Use& use) {
    const auto number = static_cast<unsigned>(use.buffer().descriptor());
    if (number < first || number > last) return;
    const int error = use.end();
    if (error != 0) tell_failed(error);
  });
}

void stop(const char* why) noexcept {
  if (!is_in_own_process()) return;
  tables->find_request = nullptr;
  release_all(why);
}

void unwind_locks_to(std::uintptr_t target) noexcept {
  if (!is_in_own_memory()) return;
  const KeptErrno kept;
  for (BufferSlot& slot : tables->slots) slot.buffer.lock.leave_for(target);
}

void settle_all() noexcept {
  for_each_slot([](Use& use) { use.settle(); });
}

void release_all(const char* why) noexcept {
  for_each_slot([=](Use& use) { use.release(why); });
}

void tell_unreported() noexcept {
  if (!is_in_own_process()) return;
  for_each_slot([](Use& use) {
    BufferSlot& slot = use.slot();
    if (slot.is_on || slot.unreported_error == 0 || std::exchange(slot.is_told, true)) return;
    tell_failed(slot.unreported_error);
  });
  // Those whose lock could not be had.
  for (BufferSlot& slot : tables->slots) {
    const std::int64_t held = slot.is_on ? slot.buffer.held() : 0;
    if (held > 0 && !std::exchange(slot.is_told, true)) slot.tell_busy(held);
  }
}

void settle_for_child(bool gets_descriptors) noexcept {
  for_each_slot([=](Use& use) {
    // Of those that the child is given, the numbers are not known.
    if (gets_descriptors) return use.release("another program is given descriptors");
    const int marks = ::fcntl(use.buffer().descriptor(), F_GETFD);
    if (marks >= 0 && (marks & FD_CLOEXEC) != 0) return use.settle();
    use.release("another program may inherit it");
  });
}

bool settle_same(std::uint64_t device, std::uint64_t inode) noexcept {
  bool found = false;
  const FileIdentity file{device, inode};
  for_each_slot([&](const BufferSlot& slot) { return slot.is_of(file); },
                [&](Use& use) {
                  use.settle();
                  found = true;
                });
  return found;
}

void settle_named(int directory, const char* name, int flags) noexcept {
  if (!any() || name == nullptr) return;
  const KeptErrno kept;
  struct stat status{};
  if (::fstatat(directory, name, &status, flags) == 0) settle_same(status.st_dev, status.st_ino);
}

void release_named(int directory, const char* name, int flags) noexcept {
  if (!any() || name == nullptr) return;
  const KeptErrno kept;
  struct stat status{};
  if (::fstatat(directory, name, &status, 0) != 0) return;
  release_file({status.st_dev, status.st_ino}, -1, flags);
}

void release_others(int descriptor, int flags) noexcept {
  FileIdentity file;
  if (any() && find_identity(descriptor, file) == 0) release_file(file, descriptor, flags);
}

off64_t position_of(int descriptor) noexcept {
  const KeptErrno kept;
  if (Use use(descriptor); use && use.slot().is_on) return use.buffer().position();
  return ::lseek64(descriptor, 0, SEEK_CUR);
}

}  // namespace headrace::posix::buffers
