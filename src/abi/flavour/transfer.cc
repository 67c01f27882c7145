// Reading and writing: blocking, nonblocking, split in two.
#include <algorithm>
#include <utility>

#include "abi/flavour/converted.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/end_of_job.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/request.h"
#include "view/copy.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

/// Whether a call has ended when its procedure returns.
enum class Duration { ends_with_call, outlives_call };

/// A call of the file engine, made from one rank's arguments, and what is wrong with them.
struct Translated {
  file::TransferCall call;
  ConvertedPtr converted;  ///< the data, if the view's representation converts it
  Error problem;
};

/// Whether a call's data is converted.
bool is_converted(const OpenFile& file, Direction direction) {
  return file.representation != nullptr && file.representation->converts(direction);
}

/// Sets the data of `made` from one rank's arguments. The engine checks their values.
Error describe(const OpenFile& file, const TransferRequest& request, Duration duration,
               Translated& made) {
  if (is_converted(file, request.direction)) {
    const Representation* const representation = file.representation;
    const bool outlives_call = duration == Duration::outlives_call;
    made.call.in_parts = Converted::goes_in_parts(*representation, outlives_call);
    const Converted::Size size{file.file->part_size(), file::unit_of(file.file->current_view())};
    auto converted = Converted::make(*representation, request, outlives_call, size);
    if (!converted) return converted.error();
    made.converted = std::move(converted.value());
    return made.converted->describe(made.call);
  }
  auto type = decode_type(request.datatype);
  if (!type) return type.error();
  made.call.count = request.count;
  made.call.type = type.value();
  return {};
}

/// If a rank's arguments are wrong, it makes a call that the engine refuses, so that it takes part
/// without data if the others need it.
Translated translate(const OpenFile& file, const TransferRequest& request, Duration duration) {
  Translated made;
  file::TransferCall& call = made.call;
  call.direction = request.direction;
  call.collective = request.collective;
  call.shared = request.shared;
  call.offset = request.offset;
  call.buffer = request.buffer;
  made.problem = attempt([&] { return describe(file, request, duration, made); });
  if (made.problem) {
    call.refused = made.problem.error_class;
    call.type = byte_type();
    call.parts = nullptr;
  }
  return made;
}

void set_status(MPI_Status* status, ByteCount bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  native.Status_set_elements_x(status, MPI_BYTE, bytes);
  native.Status_set_cancelled(status, 0);
}

/// A call's outcome in bytes of the program's memory.
file::Outcome in_memory(const ConvertedPtr& converted, file::Outcome outcome) {
  return converted == nullptr ? std::move(outcome) : converted->finish(std::move(outcome));
}

/// Executes the most frequent kind of call, see file::File::transfer_stretch(); nothing for others.
std::optional<file::Outcome> transfer_stretch(const OpenFile& file,
                                              const TransferRequest& request) {
  if (request.shared || request.count < 0 || is_converted(file, request.direction)) {
    return std::nullopt;
  }
  const ContiguousForm* const form = find_contiguous_form(request.datatype);
  if (form == nullptr) return std::nullopt;
  file::StretchCall call{request.direction, request.collective, request.offset,
                         view::memory_at(request.buffer, form->first), 0};
  if (__builtin_mul_overflow(request.count, form->size, &call.bytes)) return std::nullopt;
  return file.file->transfer_stretch(call);
}

}  // namespace

Error transfer(OpenFile& file, const TransferRequest& request, MPI_Status* status) {
  if (std::optional<file::Outcome> outcome = transfer_stretch(file, request)) {
    set_status(status, outcome->bytes);
    end_job_if_asked(file, outcome->error);
    return std::move(outcome->error);
  }
  Translated made = translate(file, request, Duration::ends_with_call);
  file::Outcome outcome = in_memory(made.converted, file.file->transfer(made.call));
  set_status(status, outcome.bytes);
  end_job_if_asked(file, outcome.error);
  return made.problem ? std::move(made.problem) : std::move(outcome.error);
}

/// Makes the request before the call: without a request nobody could ask for a call that goes on.
Error start(OpenFile& file, const TransferRequest& request, MPI_Request* handle) {
  Translated made = translate(file, request, Duration::outlives_call);
  if (handle != nullptr) *handle = MPI_REQUEST_NULL;
  if (Error error = require(handle, "request")) made.problem = std::move(error);
  RequestPtr own;
  if (!made.problem) {
    made.problem = attempt([&]() -> Error {
      const auto request_of_call = std::make_shared<Request>(file.link, made.converted);
      if (Error error = add_request(request_of_call)) return error;
      own = request_of_call;
      return {};
    });
  }
  made.call.refused = made.problem.error_class;
  auto operation = file.file->start(made.call);
  if (!made.problem && operation) {
    own->stand_for(operation.value());
    *handle = own->handle();
    return {};
  }
  if (own != nullptr) withdraw_request(*own);
  return made.problem ? std::move(made.problem) : operation.error();
}

Error begin(OpenFile& file, const TransferRequest& request) {
  Translated made = translate(file, request, Duration::outlives_call);
  Error error = file.file->begin(made.call);
  if (made.problem) return std::move(made.problem);
  if (!error) {
    file.split = {{request.direction, request.shared, request.offset.has_value()},
                  std::move(made.converted)};
  }
  return error;
}

Error end(OpenFile& file, const SplitEnd& call, MPI_Status* status) {
  file::Outcome outcome = file.file->end(call.direction, call.shared, call.has_offset);
  // If the ending procedure did not match, it was refused and the call goes on.
  if (file.split.converted != nullptr && file.split.ended_by == call) {
    outcome = in_memory(std::exchange(file.split.converted, nullptr), std::move(outcome));
  }
  set_status(status, outcome.bytes);
  end_job_if_asked(file, outcome.error);
  return std::move(outcome.error);
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
