#include "profile/sample_ring.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/kept_errno.h"
#include "record/stack_walk.h"

namespace headrace::profile {
namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::uintptr_t kPage = 4096;

/// Words of a stack. No memcpy: a sanitizer's would look at what lies between variables.
HEADRACE_READS_STACK void copy_words(std::byte* to, std::uintptr_t begin, std::size_t bytes) {
  const auto* const from = reinterpret_cast<const volatile std::uintptr_t*>(begin);
  auto* const words = reinterpret_cast<std::uintptr_t*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(std::uintptr_t); ++i) words[i] = from[i];
}

/// The same where a part may be unmapped: the kernel copies, and tells. Returns how many bytes it
/// has copied; where it may not (seccomp), those of the first page, which is the stack in use.
std::size_t copy_mapped(std::byte* to, std::uintptr_t begin, std::size_t bytes) {
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(begin), bytes};
  const KeptErrno kept;
  const ssize_t copied = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
  const auto in_page = std::min(bytes, static_cast<std::size_t>(kPage - begin % kPage));
  if (copied >= static_cast<ssize_t>(in_page)) {
    return static_cast<std::size_t>(copied) / sizeof(std::uintptr_t) * sizeof(std::uintptr_t);
  }
  copy_words(to, begin, in_page);
  return in_page;
}

}  // namespace

bool SampleRing::add(const RawSample& sample, std::uintptr_t begin, std::uintptr_t end, bool may_go,
                     const PythonSample* python) noexcept {
  begin &= ~(sizeof(std::uintptr_t) - 1);
  end &= ~(sizeof(std::uintptr_t) - 1);
  const std::size_t bytes = end > begin ? end - begin : 0;
  const std::size_t count = python != nullptr ? python->count : 0;
  const std::size_t python_bytes = count * sizeof(PythonFrame);
  const std::uint64_t size =
      (sizeof(Entry) + python_bytes + bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::uint64_t written = written_.load(std::memory_order_relaxed);
  const std::uint64_t read = read_.load(std::memory_order_acquire);
  const std::uint64_t to_end = kCapacity - written % kCapacity;
  const std::uint64_t padding = size > to_end ? to_end : 0;
  if (size + padding > kCapacity - (written - read)) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  if (padding != 0) {
    // The rest may be too short for a whole entry.
    const std::uint64_t front[2] = {padding, kPadding};
    std::memcpy(place(written), front, sizeof front);
    written += padding;
  }
  const bool is_whole = python != nullptr && python->is_whole;
  auto* const entry = new (place(written))
      Entry{size, bytes, begin, sample, static_cast<std::uint32_t>(count), is_whole ? 1U : 0U};
  auto* const behind = reinterpret_cast<std::byte*>(entry + 1);
  if (count != 0) std::memcpy(behind, python->frames.data(), python_bytes);
  std::byte* const stack = behind + python_bytes;
  if (may_go) {
    entry->stack_size = copy_mapped(stack, begin, bytes);
  } else {
    copy_words(stack, begin, bytes);
  }
  written_.store(written + size, std::memory_order_release);
  return written + size - read > kCapacity / 2;
}

const RawSample* SampleRing::first(StackCopy& stack, PythonSample& python) noexcept {
  std::uint64_t read = read_.load(std::memory_order_relaxed);
  for (;;) {
    if (read == written_.load(std::memory_order_acquire)) return nullptr;
    const auto* const entry = reinterpret_cast<const Entry*>(place(read));
    if (entry->stack_size != kPadding) {
      const auto* const behind = reinterpret_cast<const std::byte*>(entry + 1);
      const std::size_t python_bytes = entry->python_count * sizeof(PythonFrame);
      python.count = entry->python_count;
      python.is_whole = entry->is_python_whole != 0;
      std::memcpy(python.frames.data(), behind, python_bytes);
      stack = {entry->stack_begin, {behind + python_bytes, entry->stack_size}};
      return &entry->sample;
    }
    read += entry->size;
    read_.store(read, std::memory_order_release);
  }
}

void SampleRing::drop() noexcept {
  const std::uint64_t read = read_.load(std::memory_order_relaxed);
  read_.store(read + reinterpret_cast<const Entry*>(place(read))->size, std::memory_order_release);
}

void SampleRing::clear() noexcept {
  written_ = 0;
  read_ = 0;
  lost_ = 0;
}

}  // namespace headrace::profile
