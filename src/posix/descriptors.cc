#include "posix/descriptors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <new>

#include "base/kept_errno.h"
#include "posix/counted_name.h"
#include "record/clock.h"
#include "record/heat_map.h"
#include "record/recorder.h"

namespace headrace::posix {
namespace {

using record::AccessLayer;

constexpr std::uint32_t kDescriptors = 1 << 16;  ///< numbers that are followed
constexpr std::uint32_t kOpenings = kDescriptors + 1;
/// A descriptor is looked at again after so many ticks: about a millisecond.
constexpr std::int64_t kCheckTicks = std::int64_t{1} << 21;

constexpr std::string_view kOthers = "(other files)";  ///< of record::AccessTable

struct Tables {
  std::array<std::atomic<std::uint32_t>, kDescriptors> openings;  ///< their numbers and 1; 0: none
  std::array<Opening, kOpenings> all;  ///< the first is for those without room
  std::atomic<std::uint32_t> end;      ///< above all descriptors that were followed
  Opening of_child;                    ///< for calls of a child in this memory: no file
};

Tables* tables = nullptr;

/// There are as many as descriptors. That of the descriptor's own number is free, but where it was
/// copied to others (dup) and closed.
std::uint32_t take_opening(int descriptor) noexcept {
  for (std::uint32_t i = 0; i < kOpenings - 1; ++i) {
    const std::uint32_t number = 1 + (static_cast<std::uint32_t>(descriptor) + i) % (kOpenings - 1);
    std::uint32_t free = 0;
    if (tables->all[number].descriptors.compare_exchange_strong(free, 1)) return number;
  }
  return 0;
}

void release(std::uint32_t entry) noexcept {
  if (entry <= 1) return;
  tables->all[entry - 1].fold();
  tables->all[entry - 1].descriptors.fetch_sub(1);
}

void lead(int descriptor, std::uint32_t number) noexcept {
  const auto place = static_cast<std::uint32_t>(descriptor);
  release(tables->openings[place].exchange(number + 1));
  std::uint32_t end = tables->end.load(std::memory_order_relaxed);
  while (end <= place && !tables->end.compare_exchange_weak(end, place + 1)) {
  }
}

bool is_followed(int descriptor) noexcept {
  return descriptor >= 0 && static_cast<std::uint32_t>(descriptor) < kDescriptors;
}

bool can_be_file(const struct stat& status) {
  return S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
}

void set_file(Opening& opening, const struct stat& status) noexcept {
  opening.device.store(status.st_dev, std::memory_order_relaxed);
  opening.inode.store(status.st_ino, std::memory_order_relaxed);
  opening.is_file.store(can_be_file(status), std::memory_order_relaxed);
}

void set_item(Opening& opening, AccessLayer layer, const record::AccessTable::Found& found) {
  opening.name.store(found.name.data(), std::memory_order_relaxed);
  opening.name_size.store(static_cast<std::uint32_t>(found.name.size()), std::memory_order_relaxed);
  opening.items[static_cast<int>(layer)].store(found.item, std::memory_order_relaxed);
}

/// A fresh one's.
void clear(Opening& opening) noexcept {
  opening.is_file.store(true, std::memory_order_relaxed);
  opening.is_append.store(false, std::memory_order_relaxed);
  opening.is_moved.store(false, std::memory_order_relaxed);
  opening.name_size.store(0, std::memory_order_relaxed);
  for (auto& item : opening.items) item.store(nullptr, std::memory_order_relaxed);
  opening.position.store(0, std::memory_order_relaxed);
  opening.stream_position.store(-1, std::memory_order_relaxed);
  opening.checked.store(record::ticks(), std::memory_order_relaxed);
  opening.device.store(0, std::memory_order_relaxed);
  opening.inode.store(0, std::memory_order_relaxed);
  for (auto& one : opening.pending) one.store(0, std::memory_order_relaxed);
}

void note_block(record::AccessItem* item, const struct stat& status) noexcept {
  if (item == nullptr) return;
  std::atomic_ref(item->counts.block).store(status.st_blksize, std::memory_order_relaxed);
}

/// Finds out what a descriptor leads to that nobody has seen opened.
[[gnu::noinline]] Opening& adopt(int descriptor) noexcept {
  const KeptErrno kept;
  struct stat status{};
  if (!is_in_own_process()) return tables->of_child;
  if (::fstat(descriptor, &status) != 0) return tables->all[0];
  const std::uint32_t number = take_opening(descriptor);
  if (number == 0) return tables->all[0];
  Opening& opening = tables->all[number];
  clear(opening);
  set_file(opening, status);
  if (opening.is_file) {
    const auto found = find_linked_file(AccessLayer::posix, descriptor);
    set_item(opening, AccessLayer::posix, found);
    note_block(found.item, status);
    opening.is_moved.store(true);
    const int flags = ::fcntl(descriptor, F_GETFL);
    opening.is_append.store(flags >= 0 && (flags & O_APPEND) != 0);
  }
  lead(descriptor, number);
  return opening;
}

/// Whether a descriptor still leads there.
[[gnu::noinline]] bool is_still(Opening& opening, int descriptor, std::int64_t now) noexcept {
  const KeptErrno kept;
  opening.checked.store(now, std::memory_order_relaxed);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return true;
  const std::uint64_t inode = opening.inode.load(std::memory_order_relaxed);
  return inode == status.st_ino && opening.device.load(std::memory_order_relaxed) == status.st_dev;
}

/// A file that has no name lies in the directory that the program gave.
record::AccessTable::Found find_opened(AccessLayer layer, int directory, std::string_view name,
                                       int flags) noexcept {
  const bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  return find_file(layer, directory, name, is_unnamed ? "/(unnamed file)" : "");
}

pid_t own_process = 0;
std::atomic<bool> may_have_child_in_this_memory = false;

/// Memory that children do not get; other memory, which they do, if the kernel is too old.
std::atomic<int>* make_mark() {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, size, MADV_WIPEONFORK) != 0) expect_child_in_this_memory();
  own_process = ::getpid();
  return new (page) std::atomic<int>(1);
}

}  // namespace

std::atomic<int>* own_process_mark = nullptr;
std::atomic<bool> is_counting = false;

void Opening::fold() noexcept {
  record::AccessItem* const item = items[static_cast<int>(AccessLayer::stdio)].load();
  for (int direction = 0; direction < 2; ++direction) {
    if (pending[direction].load(std::memory_order_relaxed) == 0) continue;
    const std::uint64_t moved = pending[direction].exchange(0);
    const auto bytes = static_cast<std::int64_t>(moved & (kPendingCall - 1));
    if (stream_position.load(std::memory_order_relaxed) >= 0) stream_position.fetch_add(bytes);
    if (item == nullptr) continue;
    record::DirectionCounts& own = direction == 0 ? item->counts.reads : item->counts.writes;
    std::atomic_ref(own.bins[0]).fetch_add(static_cast<std::int64_t>(moved / kPendingCall));
    std::atomic_ref(own.bytes).fetch_add(bytes);
    record::add_heat(record::HeatLayer::own, direction != 0, bytes, 0, record::ticks());
  }
}

void fold_all() noexcept {
  if (tables == nullptr || !is_in_own_process()) return;
  const std::uint32_t end = tables->end.load();
  for (std::uint32_t i = 0; i < end; ++i) {
    if (const std::uint32_t entry = tables->openings[i].load(); entry > 1) {
      tables->all[entry - 1].fold();
    }
  }
}

record::AccessCounts* Opening::counts(AccessLayer layer) noexcept {
  if (!is_file.load(std::memory_order_relaxed)) return nullptr;
  record::AccessItem* item = items[static_cast<int>(layer)].load(std::memory_order_relaxed);
  if (item == nullptr) {
    const std::uint32_t size = name_size.load(std::memory_order_relaxed);
    const std::string_view same(size == 0 ? "" : name.load(std::memory_order_relaxed), size);
    const auto found = record::access_table()->find_or_add(layer, {same});
    item = found.item;
    items[static_cast<int>(layer)].store(item, std::memory_order_relaxed);
  }
  return &item->counts;
}

bool prepare_own_mark() {
  if (own_process_mark == nullptr) own_process_mark = make_mark();
  return own_process_mark != nullptr;
}

bool prepare_descriptors() {
  if (tables != nullptr) return true;
  if (!prepare_own_mark()) return false;
  void* const memory = ::mmap(nullptr, sizeof(Tables), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  tables = static_cast<Tables*>(memory);
  tables->all[0].descriptors = 1;
  tables->all[0].stands_for_many = true;
  record::before_end.store(&fold_all);
  tables->of_child.is_file = false;
  clear(tables->all[0]);
  tables->all[0].name = kOthers.data();
  tables->all[0].name_size = kOthers.size();
  is_counting = true;
  return true;
}

void expect_child_in_this_memory() noexcept {
  may_have_child_in_this_memory.store(true, std::memory_order_relaxed);
}

bool is_in_own_process() noexcept {
  return ::getpid() == own_process;
}

bool is_taken_for_own_process() noexcept {
  return !may_have_child_in_this_memory.load(std::memory_order_relaxed) || is_in_own_process();
}

Opening* note_open(int descriptor, AccessLayer layer, int directory, std::string_view name,
                   int flags) noexcept {
  if (!is_taken_for_own_process()) return nullptr;
  const KeptErrno kept;
  forget(descriptor, layer);
  if ((flags & O_PATH) != 0 || is_device_name(name)) return nullptr;
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return nullptr;
  const std::uint32_t number = is_followed(descriptor) ? take_opening(descriptor) : 0;
  if (number == 0) return can_be_file(status) ? &tables->all[0] : nullptr;
  Opening& opening = tables->all[number];
  clear(opening);
  set_file(opening, status);
  if (opening.is_file) {
    const auto found = find_opened(layer, directory, name, flags);
    set_item(opening, layer, found);
    note_block(found.item, status);
    opening.is_append.store((flags & O_APPEND) != 0, std::memory_order_relaxed);
    if (opening.is_append) opening.position.store(status.st_size, std::memory_order_relaxed);
  }
  lead(descriptor, number);
  return opening.is_file ? &opening : nullptr;
}

Opening* known_opening(int descriptor) noexcept {
  if (!is_followed(descriptor)) return nullptr;
  const std::uint32_t entry =
      tables->openings[static_cast<std::uint32_t>(descriptor)].load(std::memory_order_acquire);
  return entry <= 1 ? nullptr : &tables->all[entry - 1];
}

record::AccessCounts* forget(int descriptor, AccessLayer layer) noexcept {
  if (!is_followed(descriptor)) return nullptr;
  auto& place = tables->openings[static_cast<std::uint32_t>(descriptor)];
  if (place.load(std::memory_order_relaxed) == 0 || !is_taken_for_own_process()) return nullptr;
  const std::uint32_t entry = place.exchange(0);
  if (entry == 0) return nullptr;
  Opening& opening = tables->all[entry - 1];
  record::AccessItem* const item = opening.items[static_cast<int>(layer)];
  release(entry);
  return item == nullptr || !opening.is_file ? nullptr : &item->counts;
}

void forget_range(unsigned first, unsigned last) noexcept {
  const std::uint32_t end = tables->end.load();
  for (std::uint32_t number = first; number < end && number <= last; ++number) {
    forget(static_cast<int>(number), AccessLayer::posix);
  }
}

void share(int descriptor, int copy) noexcept {
  if (!is_followed(copy) || descriptor == copy || !is_in_own_process()) return;
  std::uint32_t entry = 0;
  if (is_followed(descriptor)) entry = tables->openings[static_cast<std::uint32_t>(descriptor)];
  if (entry > 1) tables->all[entry - 1].descriptors.fetch_add(1);
  if (entry == 0) {
    release(tables->openings[static_cast<std::uint32_t>(copy)].exchange(0));
  } else {
    lead(copy, entry - 1);
  }
}

Opening& opening_of(int descriptor, std::int64_t now) noexcept {
  if (!is_followed(descriptor)) return tables->all[0];
  auto& place = tables->openings[static_cast<std::uint32_t>(descriptor)];
  const std::uint32_t entry = place.load(std::memory_order_acquire);
  if (entry == 0) return adopt(descriptor);
  Opening& opening = tables->all[entry - 1];
  if (now - opening.checked.load(std::memory_order_relaxed) > kCheckTicks) [[unlikely]] {
    if (!is_still(opening, descriptor, now)) return adopt(descriptor);
  }
  return opening;
}

}  // namespace headrace::posix
