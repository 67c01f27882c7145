#include "abi/flavour/datatype.h"
#include "abi/flavour/handler.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

Error check_mode(const engine::AccessMode& mode, Direction direction) {
  if (direction == Direction::write && !mode.write) {
    return {ErrorClass::read_only, 0,
            "cannot write (the file was opened with MPI_MODE_RDONLY), open it with "
            "MPI_MODE_WRONLY or MPI_MODE_RDWR"};
  }
  if (direction == Direction::read && !mode.read) {
    return {ErrorClass::access, 0,
            "cannot read (the file was opened with MPI_MODE_WRONLY), open it with "
            "MPI_MODE_RDONLY or MPI_MODE_RDWR"};
  }
  return {};
}

/// Checks the arguments of one rank and fills `call` from them.
Error describe(const OpenFile& file, const TransferRequest& request, engine::TransferCall& call) {
  if (request.count < 0) {
    return {ErrorClass::count, 0,
            "the count is " + std::to_string(request.count) +
                " (it must not be negative), check "
                "for overflow"};
  }
  if (request.offset && *request.offset < 0) {
    return {ErrorClass::argument, 0,
            "the offset is " + std::to_string(*request.offset) +
                " (it must not be negative), check for overflow"};
  }
  auto type = decode_type(request.datatype);
  if (!type) return type.error();
  ByteCount bytes = 0;
  if (__builtin_mul_overflow(request.count, type.value()->size(), &bytes)) {
    return {ErrorClass::count, 0,
            "the count is too large (its bytes exceed 64 bits), split the call"};
  }
  const ByteCount etype_size = file.file->current_view().etype->size();
  if (etype_size > 1 && bytes % etype_size != 0) {
    return {ErrorClass::io, 0,  // MPI names no class; this is ROMIO's
            "the transfer has " + std::to_string(bytes) + " bytes (no whole number of etypes of " +
                std::to_string(etype_size) + "), give whole etypes"};
  }
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
  // All ranks opened with the same mode, so none waits for one that returns here.
  if (Error error = check_mode(file.file->access_mode(), request.direction)) return error;

  engine::TransferCall call;
  call.direction = request.direction;
  call.collective = request.collective;
  const Error problem = describe(file, request, call);
  if (problem && !request.collective) return problem;
  if (problem) {
    // The others count on this rank: it takes part with nothing.
    auto byte = decode_type(MPI_BYTE);
    if (!byte) return byte.error();
    call.type = byte.value();
    call.count = 0;
    if (request.offset) call.offset = 0;
  }
  const engine::Outcome outcome = file.file->transfer(call);
  set_status(status, outcome.bytes);
  return problem ? problem : outcome.error;
}

Error unsupported(const char* procedure, const char* reason) {
  return {ErrorClass::unsupported_operation, 0,
          std::string(procedure) + " is not available with Headrace (" + reason +
              "), run this program with HEADRACE_DISABLE=1"};
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
