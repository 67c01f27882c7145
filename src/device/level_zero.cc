#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "device/driver.h"
#include "device/driver_functions.h"

// Intel's driver (oneAPI Level Zero 1.3 and later), by its functions' names.

namespace headrace::device {
namespace {

using Code = int;  // ze_result_t
constexpr Code kSuccess = 0;
using Handle = void*;

// ze_structure_type_t, ze_memory_type_t and ze_command_queue_mode_t.
constexpr int kContextDescription = 0xd;
constexpr int kQueueDescription = 0xe;
constexpr int kHostDescription = 0x16;
constexpr int kAllocationProperties = 0x17;
constexpr int kMemoryOfHost = 1;
constexpr int kMemoryOfDevice = 2;
constexpr int kModeSynchronous = 1;
constexpr int kModeAsynchronous = 2;

struct ContextDescription {
  int type = kContextDescription;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};
struct QueueDescription {
  int type = kQueueDescription;
  const void* next = nullptr;
  std::uint32_t ordinal = 0;
  std::uint32_t index = 0;
  std::uint32_t flags = 0;
  int mode = kModeAsynchronous;
  int priority = 0;
};
struct HostDescription {
  int type = kHostDescription;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};
struct AllocationProperties {
  int type = kAllocationProperties;
  void* next = nullptr;
  int memory_type = 0;
  std::uint64_t id = 0;
  std::uint64_t page_size = 0;
};
/// ze_copy_region_t.
struct Region {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t depth = 0;
};

struct Functions {
  Code (*get_drivers)(std::uint32_t*, Handle*) = nullptr;
  Code (*create_context)(Handle, const ContextDescription*, Handle*) = nullptr;
  Code (*get_properties)(Handle, const void*, AllocationProperties*, Handle*) = nullptr;
  Code (*create_list)(Handle, Handle, const QueueDescription*, Handle*) = nullptr;
  Code (*destroy_list)(Handle) = nullptr;
  Code (*copy)(Handle, void*, const void*, std::size_t, Handle, std::uint32_t, Handle*) = nullptr;
  Code (*copy_region)(Handle, void*, const Region*, std::uint32_t, std::uint32_t, const void*,
                      const Region*, std::uint32_t, std::uint32_t, Handle, std::uint32_t,
                      Handle*) = nullptr;
  Code (*synchronize)(Handle, std::uint64_t) = nullptr;  ///< null before version 1.6
  Code (*allocate_host)(Handle, const HostDescription*, std::size_t, std::size_t, void**) = nullptr;
  Code (*free)(Handle, void*) = nullptr;

  bool find(void* library) {
    find_function(library, "zeCommandListHostSynchronize", synchronize);
    return find_function(library, "zeDriverGet", get_drivers) &&
           find_function(library, "zeContextCreate", create_context) &&
           find_function(library, "zeMemGetAllocProperties", get_properties) &&
           find_function(library, "zeCommandListCreateImmediate", create_list) &&
           find_function(library, "zeCommandListDestroy", destroy_list) &&
           find_function(library, "zeCommandListAppendMemoryCopy", copy) &&
           find_function(library, "zeCommandListAppendMemoryCopyRegion", copy_region) &&
           find_function(library, "zeMemAllocHost", allocate_host) &&
           find_function(library, "zeMemFree", free);
  }
};

Error failure(const char* what, Code code) {
  return {ErrorClass::io, EFAULT,
          std::string("Level Zero could not ") + what + ": code " + std::to_string(code)};
}

class LevelZeroStream : public Stream {
 public:
  LevelZeroStream(const Functions& functions, const Device& device)
      : functions_(functions),
        context_(reinterpret_cast<Handle>(device.context)),
        device_(reinterpret_cast<Handle>(device.number)) {}
  ~LevelZeroStream() override {
    // After a reset of the device there is nothing left to free.
    if (memory_ != nullptr && !is_valid()) return;
    if (list_ != nullptr) functions_.destroy_list(list_);
    if (memory_ != nullptr) functions_.free(context_, memory_);
  }

  Error open() {
    QueueDescription description;
    if (functions_.synchronize == nullptr) description.mode = kModeSynchronous;
    const Code code = functions_.create_list(context_, device_, &description, &list_);
    return code == kSuccess ? Error{} : failure("make a command list for the device", code);
  }

  Error copy(const Rows& rows) override {
    if (rows.is_one_stretch()) return copy_stretch({rows.to, rows.from, rows.width * rows.count});
    constexpr std::int64_t kLargestPitch = std::numeric_limits<std::uint32_t>::max();
    if (!is_rectangle(rows, kLargestPitch)) {
      return copy_each_row(rows, [this](const Rows& row) { return copy_stretch(row); });
    }
    Region region;
    region.width = static_cast<std::uint32_t>(rows.width);
    region.height = static_cast<std::uint32_t>(rows.count);
    region.depth = 1;
    const Code code = functions_.copy_region(
        list_, rows.to, &region, static_cast<std::uint32_t>(rows.to_stride), 0, rows.from, &region,
        static_cast<std::uint32_t>(rows.from_stride), 0, nullptr, 0, nullptr);
    return code == kSuccess ? Error{} : failure("copy device memory", code);
  }

  Error wait() override {
    if (functions_.synchronize == nullptr) return {};
    const Code code = functions_.synchronize(list_, std::numeric_limits<std::uint64_t>::max());
    return code == kSuccess ? Error{} : failure("copy device memory", code);
  }

  std::byte* take_memory(ByteCount bytes) override {
    const HostDescription description;
    void* memory = nullptr;
    constexpr std::size_t kPage = 4096;
    if (functions_.allocate_host(context_, &description, static_cast<std::size_t>(bytes), kPage,
                                 &memory) != kSuccess) {
      return nullptr;
    }
    const std::optional<std::uint64_t> id = id_of(memory);
    if (!id) {
      functions_.free(context_, memory);
      return nullptr;
    }
    memory_ = memory;
    id_ = *id;
    return static_cast<std::byte*>(memory);
  }

  /// The context is our own, which no program ends; but it may reset the device (zesDeviceReset).
  bool is_valid() override { return memory_ != nullptr && id_of(memory_) == id_; }

 private:
  /// The number of an allocation of host memory; none for other memory.
  std::optional<std::uint64_t> id_of(const void* memory) const {
    AllocationProperties properties;
    Handle device = nullptr;
    const Code code = functions_.get_properties(context_, memory, &properties, &device);
    if (code != kSuccess || properties.memory_type != kMemoryOfHost) return std::nullopt;
    return properties.id;
  }

  Error copy_stretch(const Rows& stretch) {
    const Code code = functions_.copy(list_, stretch.to, stretch.from,
                                      static_cast<std::size_t>(stretch.width), nullptr, 0, nullptr);
    return code == kSuccess ? Error{} : failure("copy device memory", code);
  }

  const Functions& functions_;
  Handle context_;
  Handle device_;
  Handle list_ = nullptr;
  void* memory_ = nullptr;
  std::uint64_t id_ = 0;
};

class LevelZero : public Driver {
 public:
  explicit LevelZero(const Functions& functions) : functions_(functions) {}

  const char* name() const override { return "Level Zero"; }

  std::optional<Device> find(const void* address) override {
    for (const Handle context : contexts()) {
      AllocationProperties properties;
      Handle device = nullptr;
      const Code code = functions_.get_properties(context, address, &properties, &device);
      if (code != kSuccess || properties.memory_type != kMemoryOfDevice) continue;
      return Device{reinterpret_cast<std::uintptr_t>(context),
                    reinterpret_cast<std::uintptr_t>(device)};
    }
    return std::nullopt;
  }

  Result<std::unique_ptr<Stream>> make_stream(const Device& device) override {
    auto stream = std::make_unique<LevelZeroStream>(functions_, device);
    if (Error error = stream->open()) return error;
    return std::unique_ptr<Stream>(std::move(stream));
  }

 private:
  /// Contexts of our own, one for each of the system's drivers, once the program has initialised
  /// them. A driver knows its memory, whichever context it was made in.
  std::vector<Handle> contexts() {
    const std::lock_guard lock(mutex_);
    if (!contexts_.empty()) return contexts_;
    std::uint32_t count = 0;
    if (functions_.get_drivers(&count, nullptr) != kSuccess || count == 0) return {};
    std::vector<Handle> drivers(count);
    if (functions_.get_drivers(&count, drivers.data()) != kSuccess) return {};
    drivers.resize(count);
    for (const Handle driver : drivers) {
      const ContextDescription description;
      Handle context = nullptr;
      if (functions_.create_context(driver, &description, &context) == kSuccess) {
        contexts_.push_back(context);
      }
    }
    return contexts_;
  }

  Functions functions_;
  std::mutex mutex_;
  std::vector<Handle> contexts_;
};

}  // namespace

std::unique_ptr<Driver> make_level_zero(void* library) {
  Functions functions;
  if (!functions.find(library)) return nullptr;
  return std::make_unique<LevelZero>(functions);
}

}  // namespace headrace::device
