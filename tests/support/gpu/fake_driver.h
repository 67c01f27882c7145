#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/driver.h"

namespace headrace::device::test {

/// A driver whose device's memory the CPU cannot touch. Copies happen as late as they may: when
/// they are waited for. Until then what they go to holds other bytes. A stream that has failed
/// fails from then on. From any thread.
class FakeDriver : public Driver {
 public:
  /// One that is known to the process.
  static FakeDriver& installed();

  const char* name() const override { return "a fake driver"; }
  std::optional<Device> find(const void* address) override;
  Result<std::unique_ptr<Stream>> make_stream(const Device& device) override;

  /// Memory of the device with these bytes.
  std::byte* allocate(std::span<const std::byte> content);
  void free(std::byte* memory);
  std::vector<std::byte> content(std::byte* memory);

  /// Lets the `nth` copy from now on fail: when it is asked for, or when it is waited for.
  void fail(int nth, bool late);
  /// Whether streams have pinned memory, and whether there are any.
  void set_pinned(bool gives) { gives_pinned_ = gives; }
  void set_streams(bool gives) { gives_streams_ = gives; }
  /// What was made before is no longer valid.
  void reset_device();

  int copies() const { return copies_; }
  int queries() const { return queries_; }
  int streams() const { return streams_; }
  /// Bytes of the largest pinned memory that was made since this was last asked.
  ByteCount largest_pinned() { return std::exchange(largest_pinned_, 0); }

 private:
  class FakeStream;
  struct Memory {
    std::size_t reserved = 0;
    std::vector<std::byte> content;
  };

  /// Where the CPU finds it; a host's memory is where it is.
  std::byte* reach(const std::byte* address, ByteCount bytes);
  std::map<std::uintptr_t, Memory>::iterator owner(const void* address);
  void move(const Rows& rows);
  bool is_failing();

  std::mutex mutex_;
  std::map<std::uintptr_t, Memory> memories_;  ///< by the first address
  int copies_ = 0, queries_ = 0, streams_ = 0, generation_ = 0;
  int copies_to_failure_ = 0;
  bool fails_late_ = false;
  bool gives_pinned_ = true;
  bool gives_streams_ = true;
  ByteCount largest_pinned_ = 0;
};

}  // namespace headrace::device::test
