#include "abi/flavour/datatype.h"
#include "abi/flavour/handler.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

/// Fills `call` from one rank's arguments. The engine checks their values.
Error describe(const TransferRequest& request, engine::TransferCall& call) {
  auto type = decode_type(request.datatype);
  if (!type) return type.error();
  call.offset = request.offset;
  call.buffer = request.buffer;
  call.count = request.count;
  call.type = type.value();
  return {};
}

void set_status(MPI_Status* status, ByteCount bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  native.Status_set_elements_x(status, MPI_BYTE, bytes);
  native.Status_set_cancelled(status, 0);
}

}  // namespace

Error transfer(OpenFile& file, const TransferRequest& request, MPI_Status* status) {
  engine::TransferCall call;
  call.direction = request.direction;
  call.collective = request.collective;
  const Error problem = describe(request, call);
  if (problem && !request.collective) return problem;
  if (problem) {
    // The others count on this rank: it takes part with nothing.
    auto byte = decode_type(MPI_BYTE);
    if (!byte) return byte.error();
    call.type = byte.value();
    call.count = 0;
    if (request.offset) call.offset = 0;
  }
  engine::Outcome outcome = file.file->transfer(call);
  set_status(status, outcome.bytes);
  return problem ? problem : std::move(outcome.error);
}

Error unsupported(const char* procedure, const char* reason) {
  return {ErrorClass::unsupported_operation, 0,
          std::string(procedure) + " is not available with Headrace (" + reason +
              "), run this program with HEADRACE_DISABLE=1"};
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
