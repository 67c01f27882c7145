#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "abi/flavour/attribute.h"
#include "abi/flavour/ending_communicator.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A Value for each communicator of the program, made from its handle when it is asked for first;
/// an attribute of it.
template <class Value>
class KeptWithCommunicator {
 public:
  /// Once, when MPI runs. False where MPI refuses.
  static bool start() {
    if (keyval() == MPI_KEYVAL_INVALID) return false;
    is_running_.store(true, std::memory_order_release);
    return true;
  }
  /// Before MPI ends: from now on there are none.
  static void stop() { is_running_.store(false, std::memory_order_release); }
  static bool is_running() { return is_running_.load(std::memory_order_acquire); }

  /// Null where memory lacks, and where nothing is kept: before start() and after stop(), by
  /// sessions alone, while the communicator ends, and where there is no such communicator.
  static Value* find(MPI_Comm communicator) noexcept {
    if (!is_running() || communicator == MPI_COMM_NULL) return nullptr;
    if (EndingCommunicator::is(communicator)) [[unlikely]]
      return nullptr;
    const std::uintptr_t key = handle_key(communicator);
    const std::uint64_t now = generation_.load(std::memory_order_acquire);
    if (last_.key == key && last_.generation == now) return last_.value;
    try {
      Value* const found = attribute_of(communicator);
      if (found != nullptr) last_ = {key, now, found};
      return found;
    } catch (const std::bad_alloc&) {
      lacks_ = true;
      return nullptr;
    }
  }

  /// Behind a find() of this thread that gave null: whether that was for want of memory, and so on
  /// this rank alone. Asks MPI nothing, which may call error handlers.
  static bool has_lacked() noexcept { return std::exchange(lacks_, false); }

 private:
  /// What a thread found last.
  struct Found {
    std::uintptr_t key = 0;
    std::uint64_t generation = 0;
    Value* value = nullptr;
  };

  static int forget(MPI_Comm, int, void* value, void*) {
    generation_.fetch_add(1, std::memory_order_release);
    delete static_cast<Value*>(value);
    return MPI_SUCCESS;
  }

  /// MPI_KEYVAL_INVALID by sessions alone, and where MPI refuses.
  static int keyval() {
    static auto& own = *new Keyval([](int* made) {
      return native.Comm_create_keyval(&do_not_copy<MPI_Comm>, &forget, made, nullptr);
    });
    return is_initialized() ? own.get() : MPI_KEYVAL_INVALID;
  }

  static Value* attribute_of(MPI_Comm communicator) {
    const int own = keyval();
    Value* kept = nullptr;
    int found = 0;
    if (own == MPI_KEYVAL_INVALID ||
        native.Comm_get_attr(communicator, own, &kept, &found) != MPI_SUCCESS) {
      return nullptr;
    }
    if (found != 0) return kept;
    auto made = std::make_unique<Value>(communicator);
    lacks_ = native.Comm_set_attr(communicator, own, made.get()) != MPI_SUCCESS;
    if (lacks_) return nullptr;
    return made.release();  // now owned by the attribute
  }

  static inline std::atomic<bool> is_running_ = false;
  /// Changes when a communicator ends, whose handle another one may get.
  static inline constinit std::atomic<std::uint64_t> generation_ = 1;
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit Found last_;
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit bool lacks_ = false;
};

}  // namespace headrace::HEADRACE_FLAVOUR
