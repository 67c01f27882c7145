#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "abi/flavour/file_handle.h"
#include "abi/flavour/native.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// A nonblocking call as MPI sees it: a generalised request of the library, so that the program's
/// handle is an ordinary one. Helper threads never touch it: the library is told that it is
/// complete when a thread of the program asks (see completion.h).
class Request {
 public:
  /// `converted`: what it reads or writes, null where data goes as it is.
  Request(std::shared_ptr<FileLink> file, std::shared_ptr<Converted> converted)
      : file_(std::move(file)), converted_(std::move(converted)) {}
  /// What went wrong and nobody took is kept for the file's next sync, or its end.
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// What it stands for. Before the program has its handle.
  void stand_for(std::shared_ptr<file::Operation> operation) { operation_ = std::move(operation); }
  MPI_Request handle() const { return handle_; }

  bool is_done() const { return operation_->is_done(); }

  /// Waits until it is done; lets MPI progress meanwhile.
  void wait() { operation_->wait(); }

  /// Tells the library that it is complete, once. Waits where it is not done.
  void complete();

  /// What went wrong, the first time it is asked for. Only after complete().
  Error take_error();

  /// Where its error is raised: through the file's handle, MPI_FILE_NULL once it was closed.
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

/// Makes the library's request for `request`, under which it is found until it is freed.
Error add_request(RequestPtr request);
/// For a request whose call could not be begun.
void withdraw_request(const Request& request);

/// Whether there may be any. Cheap.
bool has_requests();

/// Null for handles that are not ours. Safe from several threads.
RequestPtr find_request(MPI_Request handle);

/// For a request whose handle the program gave up: it is freed when it is done. What then goes
/// wrong is kept for the file's next sync, or its end.
void free_later(RequestPtr request);

/// Frees the given-up requests that are done.
void free_done_requests();

/// Waits for all requests, and frees the given-up ones. For MPI_Finalize.
void finish_requests();

}  // namespace headrace::HEADRACE_FLAVOUR
