#include "abi/flavour/communicator_messenger.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "abi/flavour/backoff.h"
#include "abi/flavour/error.h"
#include "abi/flavour/job.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

std::atomic<bool> stopped = false;

class RequestMessage final : public fabric::Message {
 public:
  ~RequestMessage() override {
    if (request_ != MPI_REQUEST_NULL && !stopped) native.Request_free(&request_);
  }

  Result<bool> is_done() override {
    if (request_ == MPI_REQUEST_NULL) return true;  // else its status would be lost
    int done = 0;
    // A failure in MPI_Testall would come before MPI_COMM_SELF's handler, which ends the job.
    const int code = native.Test(&request_, &done, &status_);
    if (code == MPI_SUCCESS) return done != 0;
    return failure_of(code);
  }

  std::size_t received() const override {
    int bytes = 0;
    native.Get_count(&status_, MPI_BYTE, &bytes);
    return static_cast<std::size_t>(std::max(bytes, 0));
  }

  /// Cancels a receive whose message has not begun to come. Not every library can cancel sends, but
  /// sends to a rank that still receives will end.
  bool end() override {
    if (request_ == MPI_REQUEST_NULL) return true;
    if (receives_) native.Cancel(&request_);
    Backoff backoff;
    int done = 0;
    for (int turn = 0; turn < kMaxTurns && done == 0; ++turn) {
      if (native.Testall(1, &request_, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) break;
      if (done == 0) backoff.wait();
    }
    return request_ == MPI_REQUEST_NULL;
  }

  MPI_Request* to_send() {
    receives_ = false;
    return &request_;
  }
  MPI_Request* to_receive() {
    receives_ = true;
    return &request_;
  }

 private:
  static Error failure_of(int code) {
    int error_class = MPI_ERR_OTHER;
    native.Error_class(code, &error_class);
    if (error_class != MPI_ERR_TRUNCATE) return native_failure("complete a message");
    return {ErrorClass::truncated, 0,
            "a message is larger than its receiver expects (the counts or datatypes of a call "
            "differ between ranks), let all give the same size"};
  }

  static constexpr int kMaxTurns = 300;

  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Status status_{};
  bool receives_ = false;
};

class CommunicatorMessenger final : public fabric::Messenger {
 public:
  ~CommunicatorMessenger() override {
    if (communicator_ != MPI_COMM_NULL && !stopped) native.Comm_free(&communicator_);
  }

  /// Takes a communicator that nobody else uses.
  void take(MPI_Comm hidden) {
    communicator_ = hidden;
    native.Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    native.Comm_rank(communicator_, &rank_);
    native.Comm_size(communicator_, &size_);
    int* bound = nullptr;
    int found = 0;
    // With sessions only, less is known.
    if (!is_initialized()) return;
    native.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
    if (found) largest_tag_ = *bound;
    int provided = MPI_THREAD_SINGLE;
    serves_any_thread_ =
        native.Query_thread(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE;
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int largest_tag() const override { return largest_tag_; }
  bool serves_any_thread() const override { return serves_any_thread_; }

  Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    // Sends empty messages, too, since the peer waits for one. A message of more bytes than the
    // largest int goes in parts, the same on both sides.
    bool sending = to >= 0;
    bool receiving = from >= 0;
    while (sending || receiving) {
      const auto out = outgoing.first(sending ? std::min(outgoing.size(), kLargestPart) : 0);
      const auto in = incoming.first(receiving ? std::min(incoming.size(), kLargestPart) : 0);
      const Error error = exchange_part(tag, sending ? to : -1, out, receiving ? from : -1, in);
      if (error) return error;
      outgoing = outgoing.subspan(out.size());
      incoming = incoming.subspan(in.size());
      sending = sending && !outgoing.empty();
      receiving = receiving && !incoming.empty();
    }
    return {};
  }

  std::unique_ptr<fabric::Message> make_message() override {
    return std::make_unique<RequestMessage>();
  }

  Error start_send(fabric::Message& message, int tag, int to,
                   std::span<const std::byte> outgoing) override {
    if (native.Issend(outgoing.data(), static_cast<int>(outgoing.size()), MPI_BYTE, to, tag,
                      communicator_, of_mpi(message).to_send()) != MPI_SUCCESS) {
      return native_failure("send a message");
    }
    return {};
  }

  Error start_buffered_send(fabric::Message& message, int tag, int to,
                            std::span<const std::byte> outgoing) override {
    if (native.Isend(outgoing.data(), static_cast<int>(outgoing.size()), MPI_BYTE, to, tag,
                     communicator_, of_mpi(message).to_send()) != MPI_SUCCESS) {
      return native_failure("send a message");
    }
    return {};
  }

  Error start_receive(fabric::Message& message, int tag, int from,
                      std::span<std::byte> incoming) override {
    if (native.Irecv(incoming.data(), static_cast<int>(incoming.size()), MPI_BYTE, from, tag,
                     communicator_, of_mpi(message).to_receive()) != MPI_SUCCESS) {
      return native_failure("receive a message");
    }
    return {};
  }

  Error start_typed_send(fabric::Message& message, int tag, int to,
                         const fabric::TypedData& outgoing) override {
    const MPI_Datatype type = type_of(outgoing);
    MPI_Request* const request = of_mpi(message).to_send();
    const int code = is_wide(outgoing)
                         ? native.Isend_c(outgoing.address, outgoing.count, type, to, tag,
                                          communicator_, request)
                         : native.Isend(outgoing.address, static_cast<int>(outgoing.count), type,
                                        to, tag, communicator_, request);
    return code == MPI_SUCCESS ? Error() : native_failure("send a message");
  }

  Error start_typed_receive(fabric::Message& message, int tag, int from,
                            const fabric::TypedData& incoming) override {
    const MPI_Datatype type = type_of(incoming);
    MPI_Request* const request = of_mpi(message).to_receive();
    void* const address = const_cast<void*>(incoming.address);
    const int code = is_wide(incoming) ? native.Irecv_c(address, incoming.count, type, from, tag,
                                                        communicator_, request)
                                       : native.Irecv(address, static_cast<int>(incoming.count),
                                                      type, from, tag, communicator_, request);
    return code == MPI_SUCCESS ? Error() : native_failure("receive a message");
  }

  Result<std::optional<fabric::Arrival>> find(int tag, int from) override {
    int found = 0;
    int size = 0;
    MPI_Status status;
    if (native.Iprobe(from < 0 ? MPI_ANY_SOURCE : from, tag, communicator_, &found, &status) !=
            MPI_SUCCESS ||
        (found != 0 && native.Get_count(&status, MPI_BYTE, &size) != MPI_SUCCESS)) {
      return native_failure("look for a message");
    }
    if (found == 0) return std::optional<fabric::Arrival>();
    return std::optional(fabric::Arrival{status.MPI_SOURCE, static_cast<std::size_t>(size)});
  }

  void progress() override {
    int found = 0;
    native.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &found, MPI_STATUS_IGNORE);
  }

 private:
  static constexpr std::size_t kLargestPart = std::size_t{1} << 30;

  /// Only procedures with large counts give more than an int holds: then the library has these.
  static bool is_wide(const fabric::TypedData& data) {
    return data.count > std::numeric_limits<int>::max();
  }
  static MPI_Datatype type_of(const fabric::TypedData& data) {
    return data.type == nullptr ? MPI_BYTE : *static_cast<const MPI_Datatype*>(data.type);
  }

  static RequestMessage& of_mpi(fabric::Message& message) {
    return static_cast<RequestMessage&>(message);
  }

  /// After a failure: ends the receive, since its memory belongs to the caller. A send only reads
  /// memory, and is left to the library.
  static Error give_up(MPI_Request& receive, MPI_Request& send, const char* what) {
    Error failed = native_failure(what);
    if (receive != MPI_REQUEST_NULL) native.Cancel(&receive);
    Backoff backoff;
    int done = 0;
    while (receive != MPI_REQUEST_NULL && done == 0 &&
           native.Testall(1, &receive, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS) {
      backoff.wait();
    }
    if (send != MPI_REQUEST_NULL) native.Request_free(&send);
    return failed;
  }

  Error exchange_part(int tag, int to, std::span<const std::byte> outgoing, int from,
                      std::span<std::byte> incoming) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (from >= 0 && native.Irecv(incoming.data(), static_cast<int>(incoming.size()), MPI_BYTE,
                                  from, tag, communicator_, &requests[0]) != MPI_SUCCESS) {
      return native_failure("receive a message");
    }
    if (to >= 0 && native.Isend(outgoing.data(), static_cast<int>(outgoing.size()), MPI_BYTE, to,
                                tag, communicator_, &requests[1]) != MPI_SUCCESS) {
      return give_up(requests[0], requests[1], "send a message");
    }
    Backoff backoff;
    for (int done = 0;;) {
      if (native.Testall(2, requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
        return give_up(requests[0], requests[1], "complete a message");
      }
      if (done) return {};
      backoff.wait();
    }
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int largest_tag_ = 32767;  // the least that MPI guarantees
  bool serves_any_thread_ = false;
};

class SoloMessenger final : public fabric::Messenger {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int largest_tag() const override {
    return 32767;
  }  ///< the least that MPI guarantees of MPI_TAG_UB
  bool serves_any_thread() const override { return true; }

  Error exchange(int, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    if (to == 0 && from == 0 && !outgoing.empty()) {
      std::memcpy(incoming.data(), outgoing.data(), std::min(incoming.size(), outgoing.size()));
    }
    return {};
  }

  // There is nobody to send to.
  std::unique_ptr<fabric::Message> make_message() override {
    return std::make_unique<RequestMessage>();
  }
  Error start_send(fabric::Message&, int, int, std::span<const std::byte>) override {
    return {ErrorClass::other, 0, "there is nobody to send to"};
  }
  Error start_receive(fabric::Message&, int, int, std::span<std::byte>) override {
    return {ErrorClass::other, 0, "there is nobody to receive from"};
  }
  Result<std::optional<fabric::Arrival>> find(int, int) override {
    return std::optional<fabric::Arrival>();
  }

  void progress() override {}
};

}  // namespace

// Uses MPI_Comm_split and not MPI_Comm_dup, since it copies none of the program's attributes. Ranks
// that cannot go on split off, and all others see that by the size.
Result<std::unique_ptr<fabric::Messenger>> make_messenger(MPI_Comm communicator,
                                                          const Error& failed) {
  std::unique_ptr<CommunicatorMessenger> made;
  Error lacking = attempt([&]() -> Error {
    made = std::make_unique<CommunicatorMessenger>();
    return failed;
  });
  int rank = 0;
  int size = 0;
  int size_of_equals = 0;
  MPI_Comm hidden = MPI_COMM_NULL;
  native.Comm_rank(communicator, &rank);
  native.Comm_size(communicator, &size);
  if (native.Comm_split(communicator, lacking ? 1 : 0, rank, &hidden) != MPI_SUCCESS) {
    return native_failure("make a communicator");
  }
  native.Comm_size(hidden, &size_of_equals);
  if (!lacking && size_of_equals == size) {
    made->take(hidden);
    return std::unique_ptr<fabric::Messenger>(std::move(made));
  }
  native.Comm_free(&hidden);
  return lacking ? std::move(lacking) : out_of_memory();
}

std::unique_ptr<fabric::Messenger> make_solo_messenger() {
  return std::make_unique<SoloMessenger>();
}

void stop_messengers() {
  stopped = true;
}

}  // namespace headrace::HEADRACE_FLAVOUR
