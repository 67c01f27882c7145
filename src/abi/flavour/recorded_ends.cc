#include "abi/flavour/recorded_ends.h"

#include <optional>

#include "abi/flavour/payload.h"
#include "abi/flavour/recorded_call.h"
#include "abi/flavour/recorded_request.h"
#include "abi/flavour/recorded_waits.h"
#include "abi/flavour/recorder_end.h"
#include "abi/own_functions.h"

namespace headrace::HEADRACE_FLAVOUR::ends {
namespace {

using abi::Entry;
using abi::Word;
using recording::Call;
using recording::from_word;

/// What is done before a handle ends: it may be another one's at once.
template <auto forget>
struct Before {
  template <class Handle>
  explicit Before(Handle handle) noexcept {
    forget(handle);
  }
};

void note_cancelled(MPI_Request) noexcept {
  recording::has_cancelled.store(true, std::memory_order_relaxed);
  recording::stop_following_messages();
}

/// A procedure that ends what the handle stands for. Whoever calls it, and whether or not the call
/// is recorded, an End made of the handle lives from before the library's call to after it.
template <class Handle, class End>
Word end_handle(Entry entry, void* next, const std::uintptr_t* return_slot, Word pointer) {
  Call call(entry, return_slot);
  std::optional<End> end;
  if (pointer != 0) end.emplace(*from_word<const Handle*>(pointer));
  const Word code = abi::call_words(next, pointer);
  if (call.is_recorded()) call.end(code);
  return code;
}

}  // namespace

/// Counted before it, without its time: the record is made in it.
Word Finalize(void* next, const std::uintptr_t* return_slot) {
  recording::begin_last_call(Entry::Finalize, return_slot);
  const Word code = abi::call_words(next);
  recording::call_has_returned();
  recording::finish_record();
  return code;
}

Word Abort(void* next, const std::uintptr_t* return_slot, Word communicator, Word code) {
  recording::begin_last_call(Entry::Abort, return_slot);
  recording::note_abort();
  return abi::call_words(next, communicator, code);
}

Word Comm_free(void* next, const std::uintptr_t* return_slot, Word communicator) {
  return end_handle<MPI_Comm, recording::Forgetting>(Entry::Comm_free, next, return_slot,
                                                     communicator);
}

Word Comm_disconnect(void* next, const std::uintptr_t* return_slot, Word communicator) {
  return end_handle<MPI_Comm, recording::Forgetting>(Entry::Comm_disconnect, next, return_slot,
                                                     communicator);
}

Word File_open(void* next, const std::uintptr_t* return_slot, Word communicator, Word name,
               Word mode, Word info, Word file) {
  Call call(Entry::File_open, return_slot);
  const Word code = abi::call_words(next, communicator, name, mode, info, file);
  if (!call.is_recorded() || !call.end(code, from_word<MPI_Comm>(communicator))) return code;
  call.has_opened(*from_word<const MPI_File*>(file), from_word<const char*>(name));
  return code;
}

Word File_close(void* next, const std::uintptr_t* return_slot, Word file) {
  Call call(Entry::File_close, return_slot);
  if (file != 0) {
    call.on_file(*from_word<const MPI_File*>(file));
    recording::note_closed(*from_word<const MPI_File*>(file));
  }
  const Word code = abi::call_words(next, file);
  if (call.is_recorded()) call.end(code);
  return code;
}

Word Start(void* next, const std::uintptr_t* return_slot, Word request) {
  Call call(Entry::Start, return_slot);
  const Word code = abi::call_words(next, request);
  if (!call.is_recorded() || !call.end(code)) return code;
  recording::count_start(*from_word<const MPI_Request*>(request), call);
  return code;
}

Word Startall(void* next, const std::uintptr_t* return_slot, Word count, Word requests) {
  Call call(Entry::Startall, return_slot);
  const Word code = abi::call_words(next, count, requests);
  if (!call.is_recorded() || !call.end(code)) return code;
  const auto* const started = from_word<const MPI_Request*>(requests);
  for (int i = 0; i < from_word<int>(count); ++i) recording::count_start(started[i], call);
  return code;
}

Word Cancel(void* next, const std::uintptr_t* return_slot, Word request) {
  return end_handle<MPI_Request, Before<&note_cancelled>>(Entry::Cancel, next, return_slot,
                                                          request);
}

Word Request_free(void* next, const std::uintptr_t* return_slot, Word request) {
  return end_handle<MPI_Request, Before<&recording::untrack>>(Entry::Request_free, next,
                                                              return_slot, request);
}

/// Levels as the MPI standard has them (Profiling Interface, Miscellaneous Control of Profiling).
/// Others are other tools'.
void Pcontrol(int level) {
  constexpr int kFlush = 2;
  if (level == abi::kOff || level == abi::kOn) {
    abi::record_state(level);
  } else if (level == kFlush) {
    abi::flush();
  }
}

}  // namespace headrace::HEADRACE_FLAVOUR::ends
