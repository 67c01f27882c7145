#include "abi/flavour/request.h"

#include <cassert>
#include <cstdint>
#include <shared_mutex>
#include <unordered_map>

#include "abi/flavour.h"
#include "abi/flavour/converted.h"
#include "abi/flavour/end_of_job.h"
#include "abi/flavour/error.h"

namespace headrace::HEADRACE_FLAVOUR {

class RequestRegistry {
 public:
  static RequestRegistry& get() {
    static auto& only = *new RequestRegistry;  // never destroyed: calls arrive during exit too
    return only;
  }

  bool has_any() const { return size_.load(std::memory_order_acquire) != 0; }

  Error add(RequestPtr request) {
    Request& own = *request;
    // Without the lock: the library calls `forget` while it holds a lock that this call takes.
    if (native.Grequest_start(&Request::fill_status, &Request::forget, &Request::cancel, &own,
                              &own.handle_) != MPI_SUCCESS) {
      return native_failure("make a request");
    }
    Error failed = attempt([&]() -> Error {
      const std::unique_lock lock(mutex_);
      requests_[handle_key(own.handle_)] = std::move(request);
      size_ = requests_.size();
      return {};
    });
    if (failed) withdraw(own);
    return failed;
  }

  void withdraw(const Request& request) {
    MPI_Request handle = request.handle_;
    native.Grequest_complete(handle);
    native.Request_free(&handle);  // calls `forget`
  }

  void remove(const Request& request) {
    RequestPtr last;  // released without the lock
    const std::unique_lock lock(mutex_);
    const auto found = requests_.find(handle_key(request.handle_));
    if (found == requests_.end()) return;
    last = std::move(found->second);
    requests_.erase(found);
    size_ = requests_.size();
  }

  RequestPtr find(MPI_Request handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = requests_.find(handle_key(handle));
    return found == requests_.end() ? nullptr : found->second;
  }

  /// Takes no memory, since the caller could not report a failure.
  void give_up(RequestPtr request) {
    const std::unique_lock lock(mutex_);
    request->given_up_before_ = std::move(given_up_);
    given_up_ = std::move(request);
    has_given_up_ = true;
  }

  void free_done() {
    if (!has_given_up_.load(std::memory_order_acquire)) return;
    while (const RequestPtr request = take_given_up()) {
      request->complete();
      if (Error error = request->take_error()) request->file_->keep(std::move(error));
      MPI_Request handle = request->handle_;
      native.Request_free(&handle);
    }
  }

  void finish() {
    while (const RequestPtr request = find_unfinished()) request->wait();
    free_done();
  }

 private:
  /// Handles are integers in one ABI and pointers in the others.

  /// Removes one that is done from the list and returns it; null if there is none.
  RequestPtr take_given_up() {
    const std::unique_lock lock(mutex_);
    RequestPtr taken;
    for (RequestPtr* place = &given_up_; *place && !taken;) {
      if ((*place)->is_done()) {
        taken = std::move(*place);
        *place = std::move(taken->given_up_before_);
      } else {
        place = &(*place)->given_up_before_;
      }
    }
    has_given_up_ = given_up_ != nullptr;
    return taken;
  }

  RequestPtr find_unfinished() const {
    const std::shared_lock lock(mutex_);
    for (const auto& [key, request] : requests_) {
      if (!request->is_done()) return request;
    }
    return nullptr;
  }

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, RequestPtr> requests_;
  std::atomic<std::size_t> size_ = 0;  ///< of `requests_`
  RequestPtr given_up_;                ///< among `requests_`, the last; each holds the one before
  std::atomic<bool> has_given_up_ = false;
};

void Request::complete() {
  std::call_once(completed_, [this] {
    assert(operation_ != nullptr);  // stand_for() comes first
    file::Outcome outcome = operation_->wait();
    if (converted_ != nullptr) outcome = converted_->finish(std::move(outcome));
    bytes_ = outcome.bytes;
    if (!cancelled_) error_ = std::move(outcome.error);
    if (const OpenFile* const open = find_file(file()); open != nullptr) {
      end_job_if_asked(*open, error_);
    }
    native.Grequest_complete(handle_);
  });
}

Request::~Request() {
  if (error_) file_->keep(std::move(error_));
}

Error Request::take_error() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, {});
}

int Request::fill_status(void* request, MPI_Status* status) {
  const Request& own = *static_cast<Request*>(request);
  native.Status_set_elements_x(status, MPI_BYTE, own.bytes_);
  native.Status_set_cancelled(status, own.cancelled_ ? 1 : 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int Request::forget(void* request) {
  RequestRegistry::get().remove(*static_cast<Request*>(request));
  return MPI_SUCCESS;
}

int Request::cancel(void* request, int) {
  Request& own = *static_cast<Request*>(request);
  if (own.operation_->cancel()) own.cancelled_ = true;
  return MPI_SUCCESS;
}

Error add_request(RequestPtr request) {
  abi::switch_on(abi::FeatureId::completion);
  free_done_requests();
  return RequestRegistry::get().add(std::move(request));
}

void withdraw_request(const Request& request) {
  RequestRegistry::get().withdraw(request);
}

bool has_requests() {
  return RequestRegistry::get().has_any();
}

RequestPtr find_request(MPI_Request handle) {
  return RequestRegistry::get().find(handle);
}

void free_later(RequestPtr request) {
  RequestRegistry::get().give_up(std::move(request));
  free_done_requests();
}

void free_done_requests() {
  RequestRegistry::get().free_done();
}

void finish_requests() {
  RequestRegistry::get().finish();
}

}  // namespace headrace::HEADRACE_FLAVOUR
