#include "profile/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/kept_errno.h"
#include "profile/dwarf_reader.h"

namespace headrace::profile {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kBesideStack = 256;  // of a record
constexpr std::size_t kLeastRing = std::size_t{64} << 10;
constexpr std::size_t kMostRing = std::size_t{512} << 10;
constexpr std::int64_t kWished = 100'000'000;  // ns

#if defined(__x86_64__)
// What the kernel calls each of DWARF's registers (arch/x86/include/uapi/asm/perf_regs.h).
constexpr std::array<std::uint8_t, kRegisters> kKernel = {0,  3,  2,  1,  4,  5,  6,  7, 16,
                                                          17, 18, 19, 20, 21, 22, 23, 8};
#else
constexpr std::array<std::uint8_t, kRegisters> kKernel = {};
#endif

constexpr std::uint64_t mask_of_registers() {
  std::uint64_t mask = 0;
  for (const std::uint8_t bit : kKernel) mask |= std::uint64_t{1} << bit;
  return mask;
}

/// Where a register is among those that the kernel writes, which go by their bits.
constexpr std::size_t place_of(std::uint8_t bit) {
  return static_cast<std::size_t>(
      std::popcount(mask_of_registers() & ((std::uint64_t{1} << bit) - 1)));
}

std::size_t record_size(std::size_t stack_size) {
  return stack_size + kBesideStack;
}

}  // namespace

std::size_t PerfRing::ring_size(std::int64_t period, std::size_t stack_size) noexcept {
  const auto records = static_cast<std::size_t>(kWished / period + 1);
  return std::bit_ceil(std::clamp(records * record_size(stack_size), kLeastRing, kMostRing));
}

std::int64_t PerfRing::lasts(std::int64_t period, std::size_t stack_size) noexcept {
  const std::size_t records = ring_size(period, stack_size) / record_size(stack_size);
  return static_cast<std::int64_t>(std::max<std::size_t>(records, 1)) * period;
}

bool PerfRing::open(pid_t thread, std::int64_t period, std::size_t stack_size) noexcept {
  if (!knows_frames() || joined_.most() == 0) return false;
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_TASK_CLOCK;
  wanted.sample_period = static_cast<std::uint64_t>(period);
  wanted.sample_type =
      PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  wanted.sample_regs_user = mask_of_registers();
  wanted.sample_stack_user = static_cast<std::uint32_t>(stack_size / 8 * 8);
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  wanted.use_clockid = 1;
  wanted.clockid = CLOCK_MONOTONIC;
  const long opened = ::syscall(SYS_perf_event_open, &wanted, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (opened < 0) return false;
  size_ = ring_size(period, stack_size);
  mapped_ = size_ + kPage;
  void* const memory =
      ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(opened), 0);
  {
    // The mapping keeps the event.
    const KeptErrno kept;
    ::close(static_cast<int>(opened));
  }
  if (memory == MAP_FAILED) return false;
  page_ = memory;
  ring_ = static_cast<std::byte*>(memory) + kPage;
  lost_ = 0;
  pending_ = 0;
  return true;
}

void PerfRing::close() noexcept {
  if (page_ != nullptr) ::munmap(page_, mapped_);
  page_ = nullptr;
}

std::span<const std::byte> PerfRing::record_at(std::uint64_t place, std::size_t size) noexcept {
  const std::size_t begin = place % size_;
  if (begin + size <= size_) return {ring_ + begin, size};
  const std::size_t first = size_ - begin;
  std::memcpy(&joined_[0], ring_ + begin, first);
  std::memcpy(&joined_[first], ring_, size - first);
  return {&joined_[0], size};
}

bool PerfRing::read(std::span<const std::byte> record, PerfSample& sample) noexcept {
  DwarfReader reader(record.data(), record.data() + record.size());
  reader.skip(sizeof(perf_event_header));
  sample.when = static_cast<std::int64_t>(reader.number<std::uint64_t>());
  sample.time = static_cast<std::int64_t>(reader.number<std::uint64_t>());
  if (reader.number<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return false;
  std::array<std::uint64_t, kRegisters> told{};
  for (std::uint64_t& one : told) one = reader.number<std::uint64_t>();
  for (std::size_t i = 0; i < kRegisters; ++i) sample.registers[i] = told[place_of(kKernel[i])];
  const auto size = reader.number<std::uint64_t>();
  const std::byte* const stack = reader.at();
  reader.skip(size);
  const std::uint64_t copied = size == 0 ? 0 : reader.number<std::uint64_t>();
  if (reader.has_failed()) return false;
  sample.stack = {sample.registers[kStackPointer],
                  {stack, static_cast<std::size_t>(std::min(copied, size))}};
  return true;
}

bool PerfRing::next(PerfSample& sample) noexcept {
  if (page_ == nullptr) return false;
  auto& page = *static_cast<perf_event_mmap_page*>(page_);
  std::atomic_ref<__u64> head(page.data_head);
  std::atomic_ref<__u64> tail(page.data_tail);
  // The record that was given last is free from now on.
  std::uint64_t at = tail.load(std::memory_order_relaxed) + pending_;
  pending_ = 0;
  tail.store(at, std::memory_order_release);
  while (at < head.load(std::memory_order_acquire)) {
    perf_event_header header{};
    const auto front = record_at(at, sizeof header);
    std::memcpy(&header, front.data(), sizeof header);
    if (header.size < sizeof header) return false;
    const auto record = record_at(at, header.size);
    pending_ = header.size;
    if (header.type == PERF_RECORD_SAMPLE && read(record, sample)) return true;
    if (header.type == PERF_RECORD_LOST && record.size() >= sizeof header + 16) {
      std::uint64_t lost = 0;
      std::memcpy(&lost, record.data() + sizeof header + 8, sizeof lost);
      lost_ += static_cast<std::int64_t>(lost);
    }
    at += pending_;
    pending_ = 0;
    tail.store(at, std::memory_order_release);
  }
  return false;
}

}  // namespace headrace::profile
