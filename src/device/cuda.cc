#include <string>
#include <utility>

#include "device/driver.h"
#include "device/driver_functions.h"

// NVIDIA's driver (CUDA Driver API 11 and later), by its functions' names: no header of it is
// needed to build, and no library to run.

namespace headrace::device {
namespace {

using Code = int;  // CUresult
constexpr Code kSuccess = 0;
using Context = void*;
using StreamHandle = void*;
using Address = unsigned long long;  // CUdeviceptr

// CUpointer_attribute, CUmemorytype and CUstreamCaptureMode.
constexpr int kAttributeContext = 1;
constexpr int kAttributeMemoryType = 2;
constexpr int kAttributeBufferId = 7;
constexpr int kAttributeIsManaged = 8;
constexpr int kAttributeDeviceOrdinal = 9;
constexpr unsigned kMemoryOfDevice = 2;
constexpr unsigned kMemoryUnified = 4;
constexpr int kCaptureRelaxed = 2;

/// CUDA_MEMCPY2D.
struct Rectangle {
  std::size_t source_x = 0;
  std::size_t source_y = 0;
  unsigned source_type = kMemoryUnified;
  const void* source_host = nullptr;
  Address source = 0;
  void* source_array = nullptr;
  std::size_t source_pitch = 0;
  std::size_t target_x = 0;
  std::size_t target_y = 0;
  unsigned target_type = kMemoryUnified;
  void* target_host = nullptr;
  Address target = 0;
  void* target_array = nullptr;
  std::size_t target_pitch = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

struct Functions {
  Code (*get_attributes)(unsigned, int*, void**, Address) = nullptr;
  Code (*retain_primary)(Context*, int) = nullptr;
  Code (*push_context)(Context) = nullptr;
  Code (*pop_context)(Context*) = nullptr;
  Code (*create_stream)(StreamHandle*, unsigned) = nullptr;
  Code (*destroy_stream)(StreamHandle) = nullptr;
  Code (*synchronize)(StreamHandle) = nullptr;
  Code (*copy)(Address, Address, std::size_t, StreamHandle) = nullptr;
  Code (*copy_rectangle)(const Rectangle*, StreamHandle) = nullptr;
  Code (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  Code (*free_host)(void*) = nullptr;
  Code (*get_text)(Code, const char**) = nullptr;
  Code (*exchange_capture_mode)(int*) = nullptr;  ///< null in old drivers

  bool find(void* library) {
    find_function(library, "cuThreadExchangeStreamCaptureMode", exchange_capture_mode);
    return find_function(library, "cuPointerGetAttributes", get_attributes) &&
           find_function(library, "cuDevicePrimaryCtxRetain", retain_primary) &&
           find_function(library, "cuCtxPushCurrent_v2", push_context) &&
           find_function(library, "cuCtxPopCurrent_v2", pop_context) &&
           find_function(library, "cuStreamCreate", create_stream) &&
           find_function(library, "cuStreamDestroy_v2", destroy_stream) &&
           find_function(library, "cuStreamSynchronize", synchronize) &&
           find_function(library, "cuMemcpyAsync", copy) &&
           find_function(library, "cuMemcpy2DAsync_v2", copy_rectangle) &&
           find_function(library, "cuMemHostAlloc", allocate_host) &&
           find_function(library, "cuMemFreeHost", free_host) &&
           find_function(library, "cuGetErrorString", get_text);
  }

  Error failure(const char* what, Code code) const {
    const char* text = nullptr;
    if (get_text(code, &text) != kSuccess || text == nullptr) text = "unknown error";
    return {ErrorClass::io, EFAULT,
            std::string("CUDA could not ") + what + ": " + text + ", code " + std::to_string(code)};
  }
};

/// Makes a context the current one of this thread, and allows streams to be used while another
/// thread of the program captures one.
class Current {
 public:
  Current(const Functions& functions, std::uintptr_t context) : functions_(functions) {
    if (functions_.exchange_capture_mode != nullptr) {
      exchanged_ = functions_.exchange_capture_mode(&mode_) == kSuccess;
    }
    code_ = functions_.push_context(reinterpret_cast<Context>(context));
  }
  ~Current() {
    Context popped = nullptr;
    if (code_ == kSuccess) functions_.pop_context(&popped);
    if (exchanged_) functions_.exchange_capture_mode(&mode_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  Code code() const { return code_; }

 private:
  const Functions& functions_;
  int mode_ = kCaptureRelaxed;
  bool exchanged_ = false;
  Code code_ = kSuccess;
};

class CudaStream : public Stream {
 public:
  CudaStream(const Functions& functions, std::uintptr_t context)
      : functions_(functions), context_(context) {}
  ~CudaStream() override {
    // After a reset of the device there is nothing left to free.
    if (memory_ != nullptr && !is_valid()) return;
    const Current current(functions_, context_);
    if (current.code() != kSuccess) return;
    if (stream_ != nullptr) functions_.destroy_stream(stream_);
    if (memory_ != nullptr) functions_.free_host(memory_);
  }

  /// Not CU_STREAM_NON_BLOCKING, so that earlier work on the program's default stream comes first.
  Error open() {
    const Current current(functions_, context_);
    Code code = current.code();
    if (code == kSuccess) code = functions_.create_stream(&stream_, 0);
    return code == kSuccess ? Error{} : functions_.failure("make a stream on the device", code);
  }

  Error copy(const Rows& rows) override {
    const Current current(functions_, context_);
    if (current.code() != kSuccess) return failure(current.code());
    if (rows.is_one_stretch()) return copy_stretch({rows.to, rows.from, rows.width * rows.count});
    // CU_DEVICE_ATTRIBUTE_MAX_PITCH is 2^31 - 1 on all devices.
    constexpr std::int64_t kLargestPitch = 0x7fffffff;
    if (!is_rectangle(rows, kLargestPitch)) {
      return copy_each_row(rows, [this](const Rows& row) { return copy_stretch(row); });
    }
    Rectangle rectangle;
    rectangle.source = reinterpret_cast<Address>(rows.from);
    rectangle.source_pitch = static_cast<std::size_t>(rows.from_stride);
    rectangle.target = reinterpret_cast<Address>(rows.to);
    rectangle.target_pitch = static_cast<std::size_t>(rows.to_stride);
    rectangle.width = static_cast<std::size_t>(rows.width);
    rectangle.height = static_cast<std::size_t>(rows.count);
    const Code code = functions_.copy_rectangle(&rectangle, stream_);
    return code == kSuccess ? Error{} : failure(code);
  }

  Error wait() override {
    const Current current(functions_, context_);
    Code code = current.code();
    if (code == kSuccess) code = functions_.synchronize(stream_);
    return code == kSuccess ? Error{} : failure(code);
  }

  std::byte* take_memory(ByteCount bytes) override {
    const Current current(functions_, context_);
    constexpr unsigned kPortable = 1;
    void* memory = nullptr;
    if (current.code() != kSuccess ||
        functions_.allocate_host(&memory, static_cast<std::size_t>(bytes), kPortable) != kSuccess) {
      return nullptr;
    }
    buffer_id_ = id_of(memory);
    if (buffer_id_ == 0) {
      functions_.free_host(memory);
      return nullptr;
    }
    memory_ = memory;
    return static_cast<std::byte*>(memory);
  }

  /// An allocation's number is never given to another one.
  bool is_valid() override { return memory_ != nullptr && id_of(memory_) == buffer_id_; }

 private:
  Error copy_stretch(const Rows& stretch) {
    const Code code = functions_.copy(reinterpret_cast<Address>(stretch.to),
                                      reinterpret_cast<Address>(stretch.from),
                                      static_cast<std::size_t>(stretch.width), stream_);
    return code == kSuccess ? Error{} : failure(code);
  }

  Error failure(Code code) const { return functions_.failure("copy device memory", code); }

  unsigned long long id_of(const void* memory) const {
    unsigned long long id = 0;
    int attribute = kAttributeBufferId;
    void* place = &id;
    const Code code =
        functions_.get_attributes(1, &attribute, &place, reinterpret_cast<Address>(memory));
    return code == kSuccess ? id : 0;
  }

  const Functions& functions_;
  std::uintptr_t context_;
  StreamHandle stream_ = nullptr;
  void* memory_ = nullptr;
  unsigned long long buffer_id_ = 0;
};

class Cuda : public Driver {
 public:
  explicit Cuda(const Functions& functions) : functions_(functions) {}

  const char* name() const override { return "CUDA"; }

  std::optional<Device> find(const void* address) override {
    unsigned type = 0;
    unsigned is_managed = 0;
    Context context = nullptr;
    int ordinal = -1;
    int attributes[] = {kAttributeMemoryType, kAttributeIsManaged, kAttributeContext,
                        kAttributeDeviceOrdinal};
    void* values[] = {&type, &is_managed, &context, &ordinal};
    const Code code =
        functions_.get_attributes(4, attributes, values, reinterpret_cast<Address>(address));
    if (code != kSuccess || type != kMemoryOfDevice || is_managed != 0) return std::nullopt;
    return Device{reinterpret_cast<std::uintptr_t>(context), static_cast<std::uintptr_t>(ordinal)};
  }

  /// Memory of a pool (cuMemAllocAsync), or mapped by hand, has no context. Then the device's
  /// primary context serves, which is kept until the process ends.
  Result<std::unique_ptr<Stream>> make_stream(const Device& device) override {
    auto context = reinterpret_cast<Context>(device.context);
    if (context == nullptr) {
      const Code code = functions_.retain_primary(&context, static_cast<int>(device.number));
      if (code != kSuccess) return functions_.failure("reach the device", code);
    }
    auto stream =
        std::make_unique<CudaStream>(functions_, reinterpret_cast<std::uintptr_t>(context));
    if (Error error = stream->open()) return error;
    return std::unique_ptr<Stream>(std::move(stream));
  }

 private:
  Functions functions_;
};

}  // namespace

std::unique_ptr<Driver> make_cuda(void* library) {
  Functions functions;
  if (!functions.find(library)) return nullptr;
  return std::make_unique<Cuda>(functions);
}

}  // namespace headrace::device
