#include <string>
#include <utility>

#include "device/driver.h"
#include "device/driver_functions.h"

// AMD's runtime (HIP 5 and later), by its functions' names.

namespace headrace::device {
namespace {

using Code = int;  // hipError_t
constexpr Code kSuccess = 0;
using StreamHandle = void*;
constexpr int kCopyDefault = 4;  // hipMemcpyDefault: the addresses tell the direction

constexpr int kAttributeBufferId = 7;  // hipPointer_attribute

/// hipPointerAttribute_t. The numbers of `type` differ between HIP 5 and 6, so it is not looked at.
struct Attributes {
  int type = 0;
  int device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  int is_managed = 0;
  unsigned allocation_flags = 0;
  std::byte reserved[64] = {};  ///< for fields of later versions
};

struct Functions {
  Code (*get_attributes)(Attributes*, const void*) = nullptr;
  Code (*get_attribute)(void*, int, void*) = nullptr;
  Code (*peek_error)() = nullptr;
  Code (*take_error)() = nullptr;
  Code (*get_device)(int*) = nullptr;
  Code (*set_device)(int) = nullptr;
  Code (*create_stream)(StreamHandle*) = nullptr;
  Code (*destroy_stream)(StreamHandle) = nullptr;
  Code (*query_stream)(StreamHandle) = nullptr;
  Code (*synchronize)(StreamHandle) = nullptr;
  Code (*copy)(void*, const void*, std::size_t, int, StreamHandle) = nullptr;
  Code (*copy_rectangle)(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                         int, StreamHandle) = nullptr;
  Code (*allocate)(void**, std::size_t) = nullptr;
  Code (*free)(void*) = nullptr;
  Code (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  Code (*free_host)(void*) = nullptr;
  const char* (*get_text)(Code) = nullptr;

  bool find(void* library) {
    return find_function(library, "hipPointerGetAttributes", get_attributes) &&
           find_function(library, "hipPointerGetAttribute", get_attribute) &&
           find_function(library, "hipPeekAtLastError", peek_error) &&
           find_function(library, "hipGetLastError", take_error) &&
           find_function(library, "hipGetDevice", get_device) &&
           find_function(library, "hipSetDevice", set_device) &&
           find_function(library, "hipStreamCreate", create_stream) &&
           find_function(library, "hipStreamDestroy", destroy_stream) &&
           find_function(library, "hipStreamQuery", query_stream) &&
           find_function(library, "hipStreamSynchronize", synchronize) &&
           find_function(library, "hipMemcpyAsync", copy) &&
           find_function(library, "hipMemcpy2DAsync", copy_rectangle) &&
           find_function(library, "hipMalloc", allocate) &&
           find_function(library, "hipFree", free) &&
           find_function(library, "hipHostMalloc", allocate_host) &&
           find_function(library, "hipHostFree", free_host) &&
           find_function(library, "hipGetErrorString", get_text);
  }

  Error failure(const char* what, Code code) const {
    const char* const text = get_text(code);
    return {ErrorClass::io, EFAULT,
            std::string("HIP could not ") + what + ": " +
                (text != nullptr ? text : "unknown error") + ", code " + std::to_string(code)};
  }
};

/// HIP keeps each thread's last error for the program: hides ours from it.
class OwnErrors {
 public:
  explicit OwnErrors(const Functions& functions)
      : functions_(functions), had_error_(functions.peek_error() != kSuccess) {}
  ~OwnErrors() {
    if (!had_error_) static_cast<void>(functions_.take_error());
  }
  OwnErrors(const OwnErrors&) = delete;
  OwnErrors& operator=(const OwnErrors&) = delete;

 private:
  const Functions& functions_;
  bool had_error_;
};

/// What HIP knows about an address, if anything.
std::optional<Attributes> attributes_of(const Functions& functions, const void* address) {
  const OwnErrors own(functions);
  Attributes attributes;
  if (functions.get_attributes(&attributes, address) != kSuccess) return std::nullopt;
  return attributes;
}

/// The number of the allocation at an address, which no other allocation ever gets; 0 if HIP knows
/// none there. Some versions write four bytes, others may write eight.
std::uint64_t buffer_id_of(const Functions& functions, void* address) {
  const OwnErrors own(functions);
  std::uint64_t id = 0;
  return functions.get_attribute(&id, kAttributeBufferId, address) == kSuccess ? id : 0;
}

/// An allocation of our own, as long as a reset of its device has not taken it away.
class OwnMemory {
 public:
  /// Whether HIP can tell it from others.
  bool set(const Functions& functions, void* address) {
    id_ = buffer_id_of(functions, address);
    if (id_ != 0) address_ = address;
    return id_ != 0;
  }
  bool was_set() const { return address_ != nullptr; }
  bool is_there(const Functions& functions) const {
    return was_set() && buffer_id_of(functions, address_) == id_;
  }
  void* address() const { return address_; }

 private:
  void* address_ = nullptr;
  std::uint64_t id_ = 0;
};

/// Makes a device the current one of this thread.
class Current {
 public:
  Current(const Functions& functions, int device) : own_(functions), functions_(functions) {
    code_ = functions_.get_device(&before_);
    if (code_ == kSuccess && before_ != device) {
      code_ = functions_.set_device(device);
      is_changed_ = code_ == kSuccess;
    }
  }
  ~Current() {
    if (is_changed_) static_cast<void>(functions_.set_device(before_));
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  Code code() const { return code_; }

 private:
  OwnErrors own_;
  const Functions& functions_;
  int before_ = 0;
  bool is_changed_ = false;
  Code code_ = kSuccess;
};

class HipStream : public Stream {
 public:
  HipStream(const Functions& functions, int device) : functions_(functions), device_(device) {}
  ~HipStream() override {
    // After a reset of the device there is nothing left to free.
    const Current current(functions_, device_);
    if (current.code() != kSuccess) return;
    const bool has_stream = !mark_.was_set() || mark_.is_there(functions_);
    if (stream_ != nullptr && has_stream) static_cast<void>(functions_.destroy_stream(stream_));
    if (memory_.is_there(functions_)) static_cast<void>(functions_.free_host(memory_.address()));
    if (mark_.is_there(functions_)) static_cast<void>(functions_.free(mark_.address()));
  }

  /// Not hipStreamNonBlocking, so that earlier work on the program's default stream comes first.
  Error open() {
    const Current current(functions_, device_);
    Code code = current.code();
    if (code == kSuccess) code = functions_.create_stream(&stream_);
    if (code != kSuccess) return functions_.failure("make a stream on the device", code);
    void* mark = nullptr;
    if (functions_.allocate(&mark, 1) == kSuccess && !mark_.set(functions_, mark)) {
      static_cast<void>(functions_.free(mark));
    }
    return {};
  }

  Error copy(const Rows& rows) override {
    const Current current(functions_, device_);
    if (current.code() != kSuccess) return failure(current.code());
    if (rows.is_one_stretch()) return copy_stretch({rows.to, rows.from, rows.width * rows.count});
    constexpr std::int64_t kLargestPitch = 0x7fffffff;
    if (!is_rectangle(rows, kLargestPitch)) {
      return copy_each_row(rows, [this](const Rows& row) { return copy_stretch(row); });
    }
    const Code code = functions_.copy_rectangle(
        rows.to, static_cast<std::size_t>(rows.to_stride), rows.from,
        static_cast<std::size_t>(rows.from_stride), static_cast<std::size_t>(rows.width),
        static_cast<std::size_t>(rows.count), kCopyDefault, stream_);
    return code == kSuccess ? Error{} : failure(code);
  }

  Error wait() override {
    const Current current(functions_, device_);
    Code code = current.code();
    if (code == kSuccess) code = functions_.synchronize(stream_);
    return code == kSuccess ? Error{} : failure(code);
  }

  std::byte* take_memory(ByteCount bytes) override {
    const Current current(functions_, device_);
    void* memory = nullptr;
    if (current.code() != kSuccess ||
        functions_.allocate_host(&memory, static_cast<std::size_t>(bytes), 0) != kSuccess) {
      return nullptr;
    }
    if (!memory_.set(functions_, memory)) {
      static_cast<void>(functions_.free_host(memory));
      return nullptr;
    }
    return static_cast<std::byte*>(memory);
  }

  /// With several devices, a reset leaves pinned memory alone.
  bool is_valid() override {
    const Current current(functions_, device_);
    if (current.code() != kSuccess) return false;
    if (!mark_.is_there(functions_) || !memory_.is_there(functions_)) return false;
    constexpr Code kNotReady = 600;
    const Code code = functions_.query_stream(stream_);
    return code == kSuccess || code == kNotReady;
  }

 private:
  Error copy_stretch(const Rows& stretch) {
    const Code code = functions_.copy(
        stretch.to, stretch.from, static_cast<std::size_t>(stretch.width), kCopyDefault, stream_);
    return code == kSuccess ? Error{} : failure(code);
  }
  Error failure(Code code) const { return functions_.failure("copy device memory", code); }

  const Functions& functions_;
  int device_;
  StreamHandle stream_ = nullptr;
  /// In the device's memory: it goes away together with the device's streams, whose handles may be
  /// reused.
  OwnMemory mark_;
  OwnMemory memory_;  ///< in host memory
};

class Hip : public Driver {
 public:
  explicit Hip(const Functions& functions) : functions_(functions) {}

  const char* name() const override { return "HIP"; }

  /// Host memory that HIP knows has a host address; memory that it does not know has no device.
  std::optional<Device> find(const void* address) override {
    const std::optional<Attributes> found = attributes_of(functions_, address);
    if (!found || found->device_pointer == nullptr) return std::nullopt;
    if (found->host_pointer != nullptr || found->is_managed != 0) return std::nullopt;
    return Device{0, static_cast<std::uintptr_t>(found->device)};
  }

  Result<std::unique_ptr<Stream>> make_stream(const Device& device) override {
    auto stream = std::make_unique<HipStream>(functions_, static_cast<int>(device.number));
    if (Error error = stream->open()) return error;
    return std::unique_ptr<Stream>(std::move(stream));
  }

 private:
  Functions functions_;
};

}  // namespace

std::unique_ptr<Driver> make_hip(void* library) {
  Functions functions;
  if (!functions.find(library)) return nullptr;
  return std::make_unique<Hip>(functions);
}

}  // namespace headrace::device
