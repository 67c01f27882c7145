#include "support/gpu/fake_driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "device/detection.h"

namespace headrace::device::test {
namespace {

constexpr std::byte kNotYet{0xDB};

Error failure() {
  return {ErrorClass::other, 0, "the fake driver could not copy"};
}

}  // namespace

class FakeDriver::FakeStream : public Stream {
 public:
  explicit FakeStream(FakeDriver& driver) : driver_(driver), generation_(driver.generation_) {}

  Error copy(const Rows& rows) override {
    const std::lock_guard lock(driver_.mutex_);
    ++driver_.copies_;
    const bool fails = driver_.is_failing();
    if (has_failed_ || (fails && !driver_.fails_late_)) {
      has_failed_ = true;
      return failure();
    }
    fails_when_waited_for_ |= fails;
    for (std::int64_t i = 0; i < rows.count; ++i) {
      std::byte* const to = driver_.reach(rows.to + i * rows.to_stride, rows.width);
      std::memset(to, static_cast<int>(kNotYet), static_cast<std::size_t>(rows.width));
    }
    begun_.push_back(rows);
    return {};
  }

  Error wait() override {
    const std::lock_guard lock(driver_.mutex_);
    const std::vector<Rows> begun = std::exchange(begun_, {});
    has_failed_ |= fails_when_waited_for_;
    if (has_failed_) return failure();
    for (const Rows& rows : begun) driver_.move(rows);
    return {};
  }

  std::byte* take_memory(ByteCount bytes) override {
    if (!driver_.gives_pinned_) return nullptr;
    driver_.largest_pinned_ = std::max(driver_.largest_pinned_, bytes);
    pinned_.resize(static_cast<std::size_t>(bytes));
    return pinned_.data();
  }

  bool is_valid() override { return generation_ == driver_.generation_; }

 private:
  FakeDriver& driver_;
  int generation_;
  std::vector<Rows> begun_;
  bool fails_when_waited_for_ = false;
  bool has_failed_ = false;
  std::vector<std::byte> pinned_;
};

FakeDriver& FakeDriver::installed() {
  static FakeDriver* const driver = [] {
    auto made = std::make_unique<FakeDriver>();
    FakeDriver* const kept = made.get();
    add_driver(std::move(made));
    return kept;
  }();
  return *driver;
}

std::optional<Device> FakeDriver::find(const void* address) {
  const std::lock_guard lock(mutex_);
  ++queries_;
  if (owner(address) == memories_.end()) return std::nullopt;
  return Device{.context = 7, .number = 1};
}

Result<std::unique_ptr<Stream>> FakeDriver::make_stream(const Device&) {
  if (!gives_streams_) return Error{ErrorClass::other, 0, "the fake driver has no stream"};
  ++streams_;
  return std::unique_ptr<Stream>(std::make_unique<FakeStream>(*this));
}

std::byte* FakeDriver::allocate(std::span<const std::byte> content) {
  const std::size_t len = content.size() + 1;
  void* const address =
      ::mmap(nullptr, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) std::abort();
  const std::lock_guard lock(mutex_);
  memories_[reinterpret_cast<std::uintptr_t>(address)] = {len, {content.begin(), content.end()}};
  return static_cast<std::byte*>(address);
}

void FakeDriver::free(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = owner(memory);
  ::munmap(memory, found->second.reserved);
  memories_.erase(found);
}

std::vector<std::byte> FakeDriver::content(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  return owner(memory)->second.content;
}

void FakeDriver::fail(int nth, bool late) {
  const std::lock_guard lock(mutex_);
  copies_to_failure_ = nth;
  fails_late_ = late;
}

void FakeDriver::reset_device() {
  const std::lock_guard lock(mutex_);
  ++generation_;
}

std::map<std::uintptr_t, FakeDriver::Memory>::iterator FakeDriver::owner(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto next = memories_.upper_bound(at);
  if (next == memories_.begin()) return memories_.end();
  --next;
  return at < next->first + next->second.reserved ? next : memories_.end();
}

/// Ends the process at an access behind an allocation, as a device does.
std::byte* FakeDriver::reach(const std::byte* address, ByteCount bytes) {
  const auto found = owner(address);
  if (found == memories_.end()) return const_cast<std::byte*>(address);
  const std::size_t at = reinterpret_cast<std::uintptr_t>(address) - found->first;
  if (at + static_cast<std::size_t>(bytes) > found->second.content.size()) std::abort();
  return found->second.content.data() + at;
}

void FakeDriver::move(const Rows& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::memcpy(reach(rows.to + i * rows.to_stride, rows.width),
                reach(rows.from + i * rows.from_stride, rows.width),
                static_cast<std::size_t>(rows.width));
  }
}

bool FakeDriver::is_failing() {
  return copies_to_failure_ > 0 && --copies_to_failure_ == 0;
}

}  // namespace headrace::device::test
