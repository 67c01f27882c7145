#pragma once

#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>

#include "abi/flavour/file_handle.h"
#include "abi/flavour/native.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A nonblocking call as MPI sees it: a generalised request of the library, so that the program's
/// handle is an ordinary one. Helper threads never touch it: a thread of the program that asks
/// tells the library that it is complete (see completion.h).
class Request {
 public:
  /// `converted`: the data, if it is converted; else null.
  Request(std::shared_ptr<FileLink> file, std::shared_ptr<Converted> converted)
      : file_(std::move(file)), converted_(std::move(converted)) {}
  /// Keeps an error that nobody took for the file's next sync or close.
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Sets the operation (not null). Call before the program has the handle.
  void stand_for(std::shared_ptr<file::Operation> operation) {
    assert(operation != nullptr);
    operation_ = std::move(operation);
  }
  MPI_Request handle() const { return handle_; }

  bool is_done() const { return operation_->is_done(); }

  /// Waits until the operation is done, and lets MPI progress meanwhile.
  void wait() { operation_->wait(); }

  /// Waits until the operation is done, and tells the library once that the request is complete.
  void complete();

  /// Takes the request's error, if any; a second call returns none. Call after complete().
  Error take_error();

  /// The handle through which its error is raised: the file's, or MPI_FILE_NULL if that is closed.
  MPI_File file() const { return file_->handle.load(); }

 private:
  friend class RequestRegistry;

  static int fill_status(void* request, MPI_Status* status);
  static int forget(void* request);
  static int cancel(void* request, int is_complete);

  std::shared_ptr<file::Operation> operation_;
  std::shared_ptr<FileLink> file_;
  std::shared_ptr<Converted> converted_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
  std::once_flag completed_;
  std::atomic<bool> cancelled_ = false;
  ByteCount bytes_ = 0;
  std::mutex mutex_;  ///< guards error_
  Error error_;
  std::shared_ptr<Request> given_up_before_;  ///< guarded by the registry
};

using RequestPtr = std::shared_ptr<Request>;

/// Makes the library's request for `request`. find_request() finds it until it is freed.
Error add_request(RequestPtr request);
/// Removes a request whose call could not be begun.
void withdraw_request(const Request& request);

/// Whether there may be any requests. Cheap.
bool has_requests();

/// The request behind a handle; null if it is not ours. Safe from several threads.
RequestPtr find_request(MPI_Request handle);

/// Called if the program frees the handle early: the request is freed when it is done. Its error is
/// kept for the file's next sync or close.
void free_later(RequestPtr request);

/// Frees the given-up requests that are done.
void free_done_requests();

/// Waits for all requests, and frees the given-up ones. Called at MPI_Finalize.
void finish_requests();

}  // namespace headrace::HEADRACE_FLAVOUR
