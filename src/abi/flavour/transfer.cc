// Reading and writing: blocking, nonblocking, split in two.
#include <algorithm>
#include <utility>

#include "abi/flavour/converted.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/request.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

/// Whether a call has ended when its procedure returns.
enum class Duration { ends_with_call, outlives_call };

/// A call on the engine, made from one rank's arguments, and what is wrong with them.
struct Translated {
  engine::TransferCall call;
  ConvertedPtr converted;  ///< what it reads or writes, where the view's representation needs it
  Error problem;
};

/// Gives `made` the data of one rank's arguments. The engine checks their values.
Error describe(const OpenFile& file, const TransferRequest& request, Duration duration,
               Translated& made) {
  const Representation* const representation = file.representation;
  if (representation != nullptr && representation->converts(request.direction)) [[unlikely]] {
    auto converted = Converted::make(*representation, request, duration == Duration::outlives_call);
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

/// A rank with a problem has a call that the engine refuses, so that it takes part with nothing
/// where the others count on it.
Translated translate(const OpenFile& file, const TransferRequest& request, Duration duration) {
  Translated made;
  engine::TransferCall& call = made.call;
  call.direction = request.direction;
  call.collective = request.collective;
  call.shared = request.shared;
  call.offset = request.offset;
  call.buffer = request.buffer;
  made.problem = describe(file, request, duration, made);
  if (made.problem) {
    call.refused = made.problem.error_class;
    call.type = view::make_basic(1);
  }
  return made;
}

void set_status(MPI_Status* status, ByteCount bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  native.Status_set_elements_x(status, MPI_BYTE, bytes);
  native.Status_set_cancelled(status, 0);
}

/// What a call did, in bytes of the program's memory.
engine::Outcome in_memory(const ConvertedPtr& converted, engine::Outcome outcome) {
  if (converted == nullptr) return outcome;
  converted->take(outcome);
  return converted->finish();
}

/// A blocking call whose data is converted, so that no buffer as large as the call is needed. Calls
/// in atomic mode must not be cut, nor those whose place another rank may follow.
bool goes_in_parts(const OpenFile& file, const TransferRequest& request) {
  return file.representation != nullptr && file.representation->converts(request.direction) &&
         !request.shared && !file.file->atomicity();
}

Converted::Parts parts_of(const engine::File& file) {
  return {file.part_size(), std::max<ByteCount>(1, file.current_view().etype->size())};
}

/// A call in parts: what is left of it, and what went wrong.
struct InParts {
  engine::File& file;
  engine::TransferCall whole;
  Converted* converted;  ///< null where there is none
  engine::Place place;
  ByteCount moved = 0;
  Error problem;

  bool has_more() const { return converted != nullptr && !problem && converted->has_more(); }
  void go_on();
};

/// The engine's call for the next part; of no data where nothing is left for this rank to do. A
/// rank with a problem has one that the engine refuses.
void InParts::go_on() {
  engine::TransferCall call = whole;
  call.count = 0;
  call.refused = problem.error_class;
  const bool moves = has_more();
  if (moves) {
    call.offset = place.begin + converted->before() / place.etype;
    problem = converted->describe(call);
    call.refused = problem.error_class;
  }
  engine::Outcome outcome = file.transfer(call);
  if (moves && !problem) {
    moved += outcome.bytes;
    converted->take(outcome);
  } else if (!problem) {
    problem = std::move(outcome.error);
  }
}

engine::TransferCall bytes_of(const TransferRequest& request, ByteCount bytes) {
  engine::TransferCall call;
  call.direction = request.direction;
  call.collective = request.collective;
  call.offset = request.offset;
  call.buffer = request.buffer;
  call.count = bytes;
  call.type = view::make_basic(1);
  return call;
}

/// All ranks make as many calls as the one with most parts.
Error transfer_in_parts(OpenFile& file, const TransferRequest& request, MPI_Status* status) {
  engine::File& engine = *file.file;
  auto made = Converted::make(*file.representation, request, parts_of(engine));
  Converted* const converted = made ? made.value().get() : nullptr;
  const ByteCount bytes = made ? converted->bytes() : 0;
  InParts parts{engine, bytes_of(request, bytes), converted, {}, 0, made ? Error{} : made.error()};
  std::int64_t calls = converted == nullptr ? 1 : converted->num_parts();
  if (request.collective) {
    const Result<std::int64_t> most = engine.largest(calls);
    if (!most) return most.error();
    calls = most.value();
  }
  bool has_place = false;
  if (!parts.problem) {
    const Result<engine::Place> place = engine.take_place(parts.whole);
    has_place = static_cast<bool>(place);
    if (place) parts.place = place.value();
    if (!place) parts.problem = place.error();
  }
  // Where the others do not count on this rank it ends with its data.
  for (std::int64_t i = 0; i < calls; ++i) {
    if (i > 0 && !request.collective && !parts.has_more()) break;
    parts.go_on();
  }
  if (has_place) engine.leave_place(parts.whole, parts.place, bytes - parts.moved);
  const engine::Outcome outcome = converted == nullptr ? engine::Outcome{} : converted->finish();
  set_status(status, outcome.bytes);
  return parts.problem ? parts.problem : outcome.error;
}

}  // namespace

Error transfer(OpenFile& file, const TransferRequest& request, MPI_Status* status) {
  if (goes_in_parts(file, request)) [[unlikely]]
    return transfer_in_parts(file, request, status);
  Translated made = translate(file, request, Duration::ends_with_call);
  engine::Outcome outcome = in_memory(made.converted, file.file->transfer(made.call));
  set_status(status, outcome.bytes);
  return made.problem ? std::move(made.problem) : std::move(outcome.error);
}

/// The request comes before the call: what goes on without one nobody could ask for.
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
  engine::Outcome outcome = file.file->end(call.direction, call.shared, call.has_offset);
  // An end of another kind was refused, and the call goes on.
  if (file.split.converted != nullptr && file.split.ended_by == call) {
    outcome = in_memory(std::exchange(file.split.converted, nullptr), std::move(outcome));
  }
  set_status(status, outcome.bytes);
  return std::move(outcome.error);
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
