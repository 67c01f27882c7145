#include "abi/flavour/completion.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "abi/flavour/backoff.h"
#include "abi/flavour/error.h"
#include "abi/flavour/request.h"

namespace headrace::HEADRACE_FLAVOUR::completion {
namespace {

/// Whether the exception that passes through this thread was thrown by the program's error handler.
thread_local bool program_throws = false;

/// Calls the program's error handler, which may throw.
int raise_to_program(MPI_File file, const Error& error) {
  struct ThrowDetector {
    bool has_returned = false;
    ~ThrowDetector() {
      if (!has_returned) program_throws = true;
    }
  } detector;
  const int code = raise(file, error);
  detector.has_returned = true;
  return code;
}

/// Runs `complete` at the boundary: no exception of ours passes it.
template <class Complete>
int guarded(Complete complete) {
  // Resets what an exception other than std::exception has left.
  program_throws = false;
  try {
    return complete();
  } catch (const std::bad_alloc&) {
    if (std::exchange(program_throws, false)) throw;
    return MPI_ERR_NO_MEM;
  } catch (const std::exception&) {
    if (std::exchange(program_throws, false)) throw;
    return MPI_ERR_OTHER;
  }
}

/// Raises the error of a request of ours that the library has completed with `code`, and returns
/// what the program gets.
int finish_own(int code, Request& own) {
  if (code != MPI_SUCCESS) return code;
  const Error error = own.take_error();
  return error ? raise_to_program(own.file(), error) : code;
}

/// The requests of an array that are ours, by their place.
class Batch {
 public:
  Batch(int count, const MPI_Request* requests) : requests_(requests) {
    if (!has_requests() || requests == nullptr) return;
    for (int i = 0; i < count; ++i) {
      RequestPtr found = find_request(requests[i]);
      if (found == nullptr) continue;
      if (own_.empty()) own_.resize(static_cast<std::size_t>(count));
      own_[static_cast<std::size_t>(i)] = std::move(found);
    }
  }

  bool is_empty() const { return own_.empty(); }

  void complete_all() const {
    for (const RequestPtr& request : own_) {
      if (request != nullptr) request->complete();
    }
  }

  /// Returns whether any is done.
  bool complete_done() const {
    bool any = false;
    for (const RequestPtr& request : own_) {
      if (request == nullptr || !request->is_done()) continue;
      request->complete();
      any = true;
    }
    return any;
  }

  /// After the library completed the request at `index`, or none (MPI_UNDEFINED).
  int tell_one(int code, int index) const {
    const Request* const own = at(index);
    return own == nullptr ? code : finish_own(code, *own_[static_cast<std::size_t>(index)]);
  }

  /// After the library completed `count` requests: `indices` are theirs, in the order of the
  /// statuses; null where they are the first.
  int tell_several(int code, std::size_t count, const int* indices, MPI_Status* statuses) const;

  /// As tell_several, for all requests of the array.
  int tell_all(int code, MPI_Status* statuses) const {
    return tell_several(code, own_.size(), nullptr, statuses);
  }

 private:
  const Request* at(int index) const {
    const bool is_inside = index >= 0 && static_cast<std::size_t>(index) < own_.size();
    return is_inside ? own_[static_cast<std::size_t>(index)].get() : nullptr;
  }

  const MPI_Request* requests_;
  std::vector<RequestPtr> own_;  ///< null for the others'; empty where none is ours
};

/// If any request failed, the statuses' MPI_ERROR is set: by the library if one of its own failed,
/// here if only ours did.
int Batch::tell_several(int code, std::size_t count, const int* indices,
                        MPI_Status* statuses) const {
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return code;
  const bool has_statuses = statuses != MPI_STATUSES_IGNORE;
  for (std::size_t i = 0; i < count; ++i) {
    const int index = indices == nullptr ? static_cast<int>(i) : indices[i];
    // After an error of its own, the library may have left other requests for a later call.
    if (at(index) == nullptr || requests_[index] != MPI_REQUEST_NULL) continue;
    Request& own = *own_[static_cast<std::size_t>(index)];
    const Error error = own.take_error();
    const int own_code = error ? raise_to_program(own.file(), error) : MPI_SUCCESS;
    if (own_code == MPI_SUCCESS) continue;  // the handler may have cleared the error
    if (code == MPI_SUCCESS && has_statuses) {
      for (std::size_t j = 0; j < count; ++j) statuses[j].MPI_ERROR = MPI_SUCCESS;
    }
    code = MPI_ERR_IN_STATUS;
    if (has_statuses) statuses[i].MPI_ERROR = own_code;
  }
  return code;
}

/// Handles the result of Testsome and Waitsome.
int tell_some(const Batch& batch, int code, int done_count, const int* indices,
              MPI_Status* statuses) {
  const auto count = static_cast<std::size_t>(done_count == MPI_UNDEFINED ? 0 : done_count);
  return batch.tell_several(code, count, indices, statuses);
}

}  // namespace

int Wait(decltype(&PMPI_Wait) next, MPI_Request* request, MPI_Status* status) {
  if (!has_requests() || request == nullptr) return next(request, status);
  return guarded([&] {
    const RequestPtr own = find_request(*request);
    if (own == nullptr) return next(request, status);
    own->complete();
    return finish_own(next(request, status), *own);
  });
}

int Waitany(decltype(&PMPI_Waitany) next, int count, MPI_Request* requests, int* index,
            MPI_Status* status) {
  return guarded([&] {
    const Batch batch(count, requests);
    if (batch.is_empty()) return next(count, requests, index, status);
    for (Backoff backoff;; backoff.wait()) {
      // If one of ours is done, the library's Waitany does not wait. Otherwise one of the library's
      // may be done first.
      int flag = 1;
      const int code = batch.complete_done()
                           ? next(count, requests, index, status)
                           : native.Testany(count, requests, index, &flag, status);
      if (code != MPI_SUCCESS || flag) return batch.tell_one(code, *index);
    }
  });
}

int Waitall(decltype(&PMPI_Waitall) next, int count, MPI_Request* requests, MPI_Status* statuses) {
  return guarded([&] {
    const Batch batch(count, requests);
    if (batch.is_empty()) return next(count, requests, statuses);
    batch.complete_all();
    return batch.tell_all(next(count, requests, statuses), statuses);
  });
}

int Waitsome(decltype(&PMPI_Waitsome) next, int count, MPI_Request* requests, int* done_count,
             int* indices, MPI_Status* statuses) {
  return guarded([&] {
    const Batch batch(count, requests);
    if (batch.is_empty()) return next(count, requests, done_count, indices, statuses);
    for (Backoff backoff;; backoff.wait()) {
      const int code = batch.complete_done()
                           ? next(count, requests, done_count, indices, statuses)
                           : native.Testsome(count, requests, done_count, indices, statuses);
      if (code == MPI_SUCCESS && *done_count == 0) continue;
      return tell_some(batch, code, *done_count, indices, statuses);
    }
  });
}

int Test(decltype(&PMPI_Test) next, MPI_Request* request, int* flag, MPI_Status* status) {
  if (!has_requests() || request == nullptr) return next(request, flag, status);
  return guarded([&] {
    const RequestPtr own = find_request(*request);
    const bool is_done = own != nullptr && own->is_done();
    if (is_done) own->complete();
    const int code = next(request, flag, status);
    return is_done ? finish_own(code, *own) : code;
  });
}

int Testany(decltype(&PMPI_Testany) next, int count, MPI_Request* requests, int* index, int* flag,
            MPI_Status* status) {
  return guarded([&] {
    const Batch batch(count, requests);
    batch.complete_done();
    const int code = next(count, requests, index, flag, status);
    return batch.is_empty() || !*flag ? code : batch.tell_one(code, *index);
  });
}

int Testall(decltype(&PMPI_Testall) next, int count, MPI_Request* requests, int* flag,
            MPI_Status* statuses) {
  return guarded([&] {
    const Batch batch(count, requests);
    batch.complete_done();
    const int code = next(count, requests, flag, statuses);
    return batch.is_empty() || !*flag ? code : batch.tell_all(code, statuses);
  });
}

int Testsome(decltype(&PMPI_Testsome) next, int count, MPI_Request* requests, int* done_count,
             int* indices, MPI_Status* statuses) {
  return guarded([&] {
    const Batch batch(count, requests);
    batch.complete_done();
    const int code = next(count, requests, done_count, indices, statuses);
    return batch.is_empty() ? code : tell_some(batch, code, *done_count, indices, statuses);
  });
}

/// The library's request lives until the operation is done, since that uses the buffer.
int Request_free(decltype(&PMPI_Request_free) next, MPI_Request* request) {
  if (!has_requests() || request == nullptr) return next(request);
  return guarded([&]() -> int {
    RequestPtr own = find_request(*request);
    if (own == nullptr) return next(request);
    *request = MPI_REQUEST_NULL;
    free_later(std::move(own));
    return MPI_SUCCESS;
  });
}

int Request_get_status(decltype(&PMPI_Request_get_status) next, MPI_Request request, int* flag,
                       MPI_Status* status) {
  return guarded([&] {
    Batch(1, &request).complete_done();
    return next(request, flag, status);
  });
}

int Request_get_status_any(decltype(&PMPI_Request_get_status_any) next, int count,
                           const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  return guarded([&] {
    Batch(count, requests).complete_done();
    return next(count, requests, index, flag, status);
  });
}

int Request_get_status_all(decltype(&PMPI_Request_get_status_all) next, int count,
                           const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  return guarded([&] {
    Batch(count, requests).complete_done();
    return next(count, requests, flag, statuses);
  });
}

int Request_get_status_some(decltype(&PMPI_Request_get_status_some) next, int count,
                            const MPI_Request* requests, int* done_count, int* indices,
                            MPI_Status* statuses) {
  return guarded([&] {
    Batch(count, requests).complete_done();
    return next(count, requests, done_count, indices, statuses);
  });
}

}  // namespace headrace::HEADRACE_FLAVOUR::completion
