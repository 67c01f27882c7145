#include "abi/flavour/error_handler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

namespace headrace::HEADRACE_FLAVOUR {

#ifdef HEADRACE_FLAVOUR_OPENMPI

int create_error_handler(decltype(&PMPI_File_create_errhandler) next,
                         MPI_File_errhandler_function* function, MPI_Errhandler* handler) {
  return next(function, handler);
}

/// Open MPI refuses MPI_File_call_errhandler on MPI_FILE_NULL, so this calls what its own
/// procedures call. These return the error whatever the handler does.
int call_error_handler(MPI_File fh, int code) {
  if (fh != MPI_FILE_NULL) {
    native.File_call_errhandler(fh, code);
    return code;
  }
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (native.File_get_errhandler(MPI_FILE_NULL, &handler) != MPI_SUCCESS) return code;
  invoke_error_handler(handler, MPI_FILE_NULL, kFileObject, code, "MPI_File_call_errhandler");
  native.Errhandler_free(&handler);
  return code;
}

#else

namespace {

using Function = MPI_File_errhandler_function;

/// A call of call_error_handler on this thread.
struct Raised {
  bool is_waiting = false;  ///< waiting for the handler to be called with `code`
  int code = MPI_SUCCESS;
  int left = MPI_SUCCESS;  ///< the code that the handler has left
};

[[gnu::tls_model("initial-exec")]] thread_local constinit Raised raised;

/// A function of the program from which handlers were made. It is never removed, since handlers
/// live as long as their files.
struct Watched {
  std::atomic<Function*> function = nullptr;
  std::atomic<bool> is_returned = true;  ///< whether what it leaves is returned

  /// Functions of any language: C++ passes a reference to its file, and Fortran integers of its own
  /// size, which only the function reads.
  [[gnu::noinline]] void call(MPI_File* fh, int* code) const {
    // The function may raise errors itself, whose handlers leave other codes.
    const bool is_raised = std::exchange(raised.is_waiting, false) && *code == raised.code;
    function.load(std::memory_order_acquire)(fh, code, 0);  // as MPICH does: a third argument
    if (is_raised && is_returned.load(std::memory_order_relaxed)) raised.left = *code;
  }
};

/// A handler's function is not told which handler it is, so each of the program's functions needs
/// one of ours. Functions beyond this number are not watched: the error is returned unchanged.
constexpr std::size_t kMaxWatched = 256;
constinit std::array<Watched, kMaxWatched> watched{};

template <std::size_t number>
void stand_in(MPI_File* fh, int* code, ...) {
  watched[number].call(fh, code);
}

template <std::size_t... numbers>
constexpr std::array<Function*, kMaxWatched> all_stand_ins(std::index_sequence<numbers...>) {
  return {&stand_in<numbers>...};
}
constexpr std::array<Function*, kMaxWatched> stand_ins =
    all_stand_ins(std::make_index_sequence<kMaxWatched>());

/// The place of `function` among the watched, or kMaxWatched.
std::size_t place_of(Function* function) {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  for (std::size_t place = 0; place < kMaxWatched; ++place) {
    Function* const known = watched[place].function.load(std::memory_order_relaxed);
    if (known == function) return place;
    if (known != nullptr) continue;
    watched[place].function.store(function, std::memory_order_release);
    return place;
  }
  return kMaxWatched;
}

/// The handler that this thread made last: the bindings of another language may adopt it next.
struct Made {
  MPI_Errhandler handler{};
  std::size_t place = kMaxWatched;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Made made;

}  // namespace

int create_error_handler(decltype(&PMPI_File_create_errhandler) next, Function* function,
                         MPI_Errhandler* handler) {
  abi::catch_unexported();
  // A tool may hand on what it got from us.
  const bool is_known =
      function == nullptr || std::ranges::find(stand_ins, function) != stand_ins.end();
  const std::size_t place = is_known ? kMaxWatched : place_of(function);
  const int code = next(place == kMaxWatched ? function : stand_ins[place], handler);
  if (code == MPI_SUCCESS && place != kMaxWatched) made = {*handler, place};
  return code;
}

int call_error_handler(MPI_File fh, int code) {
  // Handlers may throw.
  struct Scope {
    const Raised outer;
    ~Scope() { raised = outer; }
  } const scope{std::exchange(raised, {true, code, code})};
  native.File_call_errhandler(fh, code);
  return raised.left;
}

#endif

#ifdef HEADRACE_FLAVOUR_MPICH

namespace {

/// Called by Intel MPI's Fortran bindings with integers of 8 bytes when they have made `handler`.
/// Its function gets a copy of the code only.
void mark_ilp64(MPI_Errhandler handler) {
  if (made.place != kMaxWatched && made.handler == handler) watched[made.place].is_returned = false;
  native_extensions.mark_ilp64(handler);
}

}  // namespace

std::span<const abi::Extension> error_handler_extensions() {
  static const abi::Extension all[] = {
      {"MPII_Errhandler_set_fc_ilp64", reinterpret_cast<void*>(&mark_ilp64)}};
  return all;
}

#else

std::span<const abi::Extension> error_handler_extensions() {
  return {};
}

#endif

}  // namespace headrace::HEADRACE_FLAVOUR
