#include "abi/flavour/converted.h"

#include <new>
#include <string>

#include "abi/flavour/datatype.h"
#include "view/wide.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

Error no_room(ByteCount bytes) {
  return {ErrorClass::no_memory, 0,
          "a call needs " + std::to_string(bytes) +
              " bytes to convert its data (so much memory is not left), read or write less at a "
              "time"};
}

}  // namespace

/// An error like any other: in a collective call this rank still takes its part.
Result<ConvertedPtr> Converted::make(const Representation& representation,
                                     const handler::TransferRequest& request,
                                     bool outlives_call) try {
  ConvertedPtr made(new Converted(representation, request.direction));
  if (Error error = made->take_up(request, outlives_call)) return error;
  return made;
} catch (const std::bad_alloc&) {
  return Error{ErrorClass::no_memory, 0, {}};  // without a message: it needs no memory
}

Error Converted::take_up(const handler::TransferRequest& request, bool outlives_call) {
  auto type = decode_type(request.datatype);
  if (!type) return type.error();
  auto elements = decode_elements(request.datatype, representation_);
  if (!elements) return elements.error();
  memory_ = {request.datatype, type.value(), elements.value(), request.buffer};

  const view::Amount& one = elements.value()->amount();
  if (request.count < 0) {
    return {ErrorClass::count, 0, "the count is negative, use 0 or more"};
  }
  const view::Wide bytes = view::Wide{request.count} * one.stored;
  if (!view::fits(bytes) || !view::fits(view::Wide{request.count} * one.native)) {
    return {ErrorClass::count, 0, "the count is too large, its bytes do not fit in 62 bits"};
  }
  all_ = one * request.count;
  stored_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(all_.stored)]);
  if (stored_ == nullptr) return no_room(all_.stored);
  counted_ = CountedMemory(MemoryUse::converted, all_.stored);
  if (direction_ == Direction::write) {
    return representation_.to_file(memory_, all_, stored_.get());
  }
  if (outlives_call && representation_.needs_datatype()) {
    const auto held = hold_type(request.datatype);
    if (!held) return held.error();
    held_ = memory_.datatype = held.value();
  }
  return {};
}

Converted::~Converted() {
  release();
}

void Converted::describe(engine::TransferCall& call) const {
  static const view::TypePtr byte = view::make_basic(1);
  call.buffer = stored_.get();
  call.count = all_.stored;
  call.type = byte;
}

engine::Outcome Converted::finish(const engine::Outcome& outcome) {
  engine::Outcome result{0, outcome.error};
  try {
    view::Amount done = memory_.elements->whole_in_stored(outcome.bytes);
    if (direction_ == Direction::read) {
      const view::Amount got = std::exchange(done, {});
      Error error = representation_.from_file(memory_, got, stored_.get(), done);
      if (!result.error) result.error = std::move(error);
    }
    result.bytes = done.native;
  } catch (const std::bad_alloc&) {
    result.error = {ErrorClass::no_memory, 0, {}};
  }
  release();
  return result;
}

void Converted::release() {
  stored_.reset();
  counted_ = {};
  release_type(std::exchange(held_, MPI_DATATYPE_NULL));
}

}  // namespace headrace::HEADRACE_FLAVOUR
