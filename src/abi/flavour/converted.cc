#include "abi/flavour/converted.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

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

/// Returns an error instead of throwing: in a collective call this rank must still take part.
Result<ConvertedPtr> Converted::make(const Representation& representation,
                                     const handler::TransferRequest& request, bool outlives_call,
                                     const Size& size) try {
  const bool is_whole = !goes_in_parts(representation, outlives_call);
  ConvertedPtr made(new Converted(representation, request.direction, is_whole));
  constexpr Size kAll{std::numeric_limits<ByteCount>::max(), 1};
  if (Error error = made->take_up(request, is_whole ? kAll : size)) return error;
  if (is_whole && request.direction == Direction::read) {
    const auto held = hold_type(request.datatype);
    if (!held) return held.error();
    made->held_ = made->memory_.datatype = held.value();
  }
  // Errors that this procedure can report must not appear later.
  if (is_whole || outlives_call || made->num_parts_ > 1) {
    if (Error error = made->try_all()) return error;
  }
  return made;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Error Converted::take_up(const handler::TransferRequest& request, const Size& size) {
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
  size_ = {std::max(size.most, size.etype), size.etype};
  part_.end = end_of_part({});
  count_parts();
  return all_.native > 0 ? take_image(request.count) : Error{};
}

/// The CPU converts, so data that it cannot touch is copied to host memory as a whole.
Error Converted::take_image(std::int64_t count) {
  auto* const buffer = static_cast<std::byte*>(memory_.buffer);
  const std::optional<device::Place> place = device::find_data(buffer, memory_.type);
  if (!place) return {};
  auto image = device::Image::make(*place, buffer, memory_.type, count, size_.most);
  if (!image) return image.error();
  image_ = std::move(image.value());
  memory_.buffer = image_->buffer();
  if (direction_ == Direction::read) return {};
  const Error failure = image_->load();
  return failure ? device::explain("cannot convert data in a device's memory", failure) : Error{};
}

/// Copies what was read to the device.
void Converted::store_image() {
  const Error failure = attempt([this] { return image_->store(done_.native); });
  if (!failure) return;
  done_ = {};
  if (failed_) return;
  failed_ =
      attempt([&] { return device::explain("cannot bring converted data to a device", failure); });
}

/// The end of a part in whole elements and whole etypes; the end of all data if no such end lies
/// within a part.
view::Amount Converted::end_of_part(const view::Amount& begin) const {
  if (all_.stored - begin.stored <= size_.most) return all_;
  view::Amount end;
  for (ByteCount most = begin.stored + size_.most;; most = end.stored) {
    most -= most % size_.etype;
    if (most <= begin.stored) return all_;
    end = memory_.elements->whole_in_stored(most);
    if (end.stored == most) return end;
  }
}

/// Walks over all parts once; a gigabyte of regular data has a thousand.
void Converted::count_parts() {
  num_parts_ = 1;
  largest_part_ = part_.end.stored;
  for (view::Amount begin = part_.end; begin.stored < all_.stored;) {
    const view::Amount end = end_of_part(begin);
    largest_part_ = std::max(largest_part_, end.stored - begin.stored);
    ++num_parts_;
    begin = end;
  }
}

Error Converted::make_room() {
  if (stored_ != nullptr) return {};
  stored_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(largest_part_)]);
  if (stored_ == nullptr) return no_room(largest_part_);
  const MemoryUse use = is_whole_ ? MemoryUse::converted_whole : MemoryUse::converted;
  counted_ = CountedMemory(use, largest_part_);
  return {};
}

/// Converts all data once before writing, so that nothing is written if a value does not fit.
Error Converted::try_all() {
  if (direction_ == Direction::read || !representation_.can_try(*memory_.elements)) return {};
  if (Error error = make_room()) return error;
  for (Representation::Part part = part_; part.begin.stored < all_.stored;) {
    if (Error error = representation_.to_file(memory_, part, stored_.get())) return error;
    part = {part.end, end_of_part(part.end)};
  }
  close();
  return {};
}

Converted::~Converted() {
  close();
  release_type(std::exchange(held_, MPI_DATATYPE_NULL));
}

Error Converted::describe(file::TransferCall& call) {
  call.type = byte_type();
  call.buffer = nullptr;
  call.count = all_.stored;
  if (!is_whole_) {
    call.parts = this;
    return {};
  }
  if (Error error = make_room()) return error;
  const Result<std::span<std::byte>> all = next();
  if (!all) return all.error();
  call.buffer = stored_.get();
  return {};
}

Result<std::int64_t> Converted::open() {
  if (Error error = make_room()) return error;
  return num_parts_;
}

Result<std::span<std::byte>> Converted::next() {
  assert(stored_ != nullptr);  // open() comes first
  const ByteCount bytes = part_.end.stored - part_.begin.stored;
  if (direction_ == Direction::write && bytes > 0) {
    if (Error error = representation_.to_file(memory_, part_, stored_.get())) return error;
  }
  return std::span(stored_.get(), static_cast<std::size_t>(bytes));
}

void Converted::take(const file::Outcome& outcome) try {
  if (!failed_) failed_ = outcome.error;
  view::Amount got = memory_.elements->whole_in_stored(part_.begin.stored + outcome.bytes);
  if (direction_ == Direction::read) {
    const Representation::Part read{part_.begin, got};
    got = part_.begin;
    Error error = representation_.from_file(memory_, read, stored_.get(), got);
    if (!failed_) failed_ = std::move(error);
  }
  done_ = got;
  // If values do not fit when read, reports them and still reads the others.
  const bool goes_on = !outcome.error && done_ == part_.end;
  part_.begin = goes_on ? part_.end : all_;
  part_.end = goes_on ? end_of_part(part_.begin) : all_;
} catch (const std::bad_alloc&) {
  if (!failed_) failed_ = out_of_memory();
  part_ = {all_, all_};
}

void Converted::close() {
  stored_.reset();
  counted_ = {};
}

file::Outcome Converted::finish(file::Outcome outcome) {
  if (is_whole_) take(outcome);
  close();
  if (image_ != nullptr && direction_ == Direction::read) store_image();
  image_.reset();
  release_type(std::exchange(held_, MPI_DATATYPE_NULL));
  return {done_.native, failed_ ? std::move(failed_) : std::move(outcome.error)};
}

}  // namespace headrace::HEADRACE_FLAVOUR
