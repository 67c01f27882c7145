// Reading and writing: blocking, nonblocking, split in two.
#include "abi/flavour/datatype.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/request.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

/// Fills `call` from one rank's arguments. The engine checks their values.
Error describe(const TransferRequest& request, engine::TransferCall& call) {
  auto type = decode_type(request.datatype);
  if (!type) return type.error();
  call.count = request.count;
  call.type = type.value();
  return {};
}

/// A call on the engine, made from one rank's arguments, and what is wrong with them.
struct Translated {
  engine::TransferCall call;
  Error problem;

  /// Where the others do not count on this rank there is nothing to do but to tell the problem.
  bool is_hopeless() const { return problem && !call.collective; }
};

/// In a collective call the others count on this rank, also where it has a problem: it then has a
/// call that the engine refuses, so that this rank takes part with nothing.
Translated translate(const TransferRequest& request) {
  Translated made;
  engine::TransferCall& call = made.call;
  call.direction = request.direction;
  call.collective = request.collective;
  call.shared = request.shared;
  call.offset = request.offset;
  call.buffer = request.buffer;
  made.problem = describe(request, call);
  if (made.problem) {
    call.count = -1;
    call.type = view::make_basic(1);
  }
  return made;
}

void set_status(MPI_Status* status, ByteCount bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  native.Status_set_elements_x(status, MPI_BYTE, bytes);
  native.Status_set_cancelled(status, 0);
}

}  // namespace

Error transfer(OpenFile& file, const TransferRequest& request, MPI_Status* status) {
  Translated made = translate(request);
  if (made.is_hopeless()) return std::move(made.problem);
  engine::Outcome outcome = file.file->transfer(made.call);
  set_status(status, outcome.bytes);
  return made.problem ? std::move(made.problem) : std::move(outcome.error);
}

Error start(OpenFile& file, const TransferRequest& request, MPI_Request* handle) {
  Translated made = translate(request);
  if (handle != nullptr) *handle = MPI_REQUEST_NULL;
  if (Error error = require(handle, "request")) made.problem = std::move(error);
  if (made.problem) made.call.count = -1;
  if (made.is_hopeless()) return std::move(made.problem);
  auto operation = file.file->start(made.call);
  if (made.problem) return std::move(made.problem);
  if (!operation) return operation.error();
  Error error = add_request(std::make_shared<Request>(operation.value(), file.link), handle);
  if (error) operation.value()->wait();  // nobody could ask for it
  return error;
}

Error begin(OpenFile& file, const TransferRequest& request) {
  Translated made = translate(request);
  Error error = file.file->begin(made.call);
  return made.problem ? std::move(made.problem) : std::move(error);
}

Error end(OpenFile& file, const SplitEnd& call, MPI_Status* status) {
  engine::Outcome outcome = file.file->end(call.direction, call.shared, call.has_offset);
  set_status(status, outcome.bytes);
  return std::move(outcome.error);
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
