#include "file/call_check.h"

#include <algorithm>

#include "view/wide.h"

namespace headrace::file {
namespace {

constexpr const char* kNoWholeEtypes =
    "the data does not consist of whole etypes of the view, change the count or the view";

bool fits(const View& view, std::int64_t position, ByteCount bytes) {
  using view::Wide;
  const view::Type& type = *view.filetype;
  if (type.size() == 0) return true;
  const Wide end = static_cast<Wide>(position) * unit_of(view) + bytes;
  const Wide tiles = end / type.size() + 1;
  const Wide extent = type.extent() < 0 ? -static_cast<Wide>(type.extent()) : type.extent();
  return end <= view::kLargest &&
         view.displacement + tiles * extent + type.true_upper_bound() <= view::kLargest;
}

/// With a negative extent, each repetition of the filetype lies in front of the one before.
bool lies_before_file(const View& view, std::int64_t position, ByteCount bytes) {
  using view::Wide;
  const view::Type& type = *view.filetype;
  if (bytes == 0 || type.size() == 0 || type.extent() >= 0) return false;
  const Wide end = static_cast<Wide>(position) * unit_of(view) + bytes;
  const Wide last_tile = std::max<Wide>(0, end - 1) / type.size();
  return view.displacement + last_tile * type.extent() + type.true_lower_bound() < 0;
}

Error check(const View& view) {
  if (view.displacement < 0) {
    return {ErrorClass::argument, 0,
            "the displacement is " + std::to_string(view.displacement) +
                " (it must not be negative, and MPI_DISPLACEMENT_CURRENT needs "
                "MPI_MODE_SEQUENTIAL), give bytes from the beginning of the file"};
  }
  if (view.filetype->size() % unit_of(view) != 0) {
    return {ErrorClass::argument, 0,
            "the filetype has " + std::to_string(view.filetype->size()) +
                " bytes (no whole number of etypes of " + std::to_string(unit_of(view)) +
                "), build it from the etype"};
  }
  if (view.filetype->size() > 0 && view.displacement + view.filetype->true_lower_bound() < 0) {
    return {ErrorClass::argument, 0,
            "the view begins before the file (its filetype has negative displacements), move it"};
  }
  return {};
}

}  // namespace

Error check_view(const Result<View>& view, const AccessMode& mode) {
  if (!view) return view.error();
  if (view.value().from_shared_pointer == mode.sequential) return check(view.value());
  return {ErrorClass::argument, 0,
          "the displacement does not match the access mode (MPI_MODE_SEQUENTIAL requires "
          "MPI_DISPLACEMENT_CURRENT, and other modes forbid it), pass the one that matches"};
}

Error check_fits(const View& view, std::int64_t position, ByteCount bytes) {
  if (lies_before_file(view, position, bytes)) {
    return {ErrorClass::argument, 0,
            "the data would lie before the file (the view's filetype has a negative extent), give "
            "it a positive one"};
  }
  if (fits(view, position, bytes)) return {};
  return {ErrorClass::argument, 0,
          "the offset is too large (its place in the file does not fit in 62 bits), use a smaller "
          "one"};
}

Error check_call(const TransferCall& call, const std::string& path, const AccessMode& mode,
                 ByteCount unit, bool is_splitting) {
  if (call.refused != ErrorClass::success) return {call.refused, 0, {}};
  const bool writes = call.direction == Direction::write;
  if (writes && !mode.write) {
    return {
        ErrorClass::read_only, 0,
        "cannot write to '" + path + "' (it was opened with MPI_MODE_RDONLY), open it for writing"};
  }
  if (!writes && !mode.read) {
    return {ErrorClass::access, 0,
            "cannot read from '" + path +
                "' (it was opened with MPI_MODE_WRONLY), open it for reading"};
  }
  if (mode.sequential && !call.shared) return only_in_sequence(path);
  if (call.count < 0) {
    return {ErrorClass::count, 0, "the count is negative, use 0 or more"};
  }
  if (call.offset && *call.offset < 0) {
    return {ErrorClass::argument, 0, "the offset is negative, use 0 or more"};
  }
  ByteCount bytes = 0;
  if (__builtin_mul_overflow(call.count, call.type->size(), &bytes)) {
    return {ErrorClass::count, 0, "the count is too large, its bytes do not fit in 63 bits"};
  }
  if (unit > 1 && bytes % unit != 0) return {ErrorClass::argument, 0, kNoWholeEtypes};
  if (call.collective && is_splitting) {
    return {ErrorClass::io, 0,
            "a split collective call is active on '" + path +
                "' (no other collective access may go on beside it), end it first"};
  }
  return {};
}

Error check_place(const TransferCall& call, const std::string& path, const View& view,
                  ByteCount unit, std::int64_t position, ByteCount bytes) {
  if (unit_of(view) != unit && call.shared) {
    return {ErrorClass::io, 0,
            "the view of '" + path +
                "' changed during a call with the shared pointer (another thread set it), make one "
                "call after the other"};
  }
  if (bytes % unit_of(view) != 0) return {ErrorClass::argument, 0, kNoWholeEtypes};
  return check_fits(view, position, bytes);
}

Error only_in_sequence(const std::string& path) {
  return {ErrorClass::unsupported_operation, 0,
          "'" + path +
              "' can only be accessed in sequence (it was opened with MPI_MODE_SEQUENTIAL), use "
              "shared or ordered access"};
}

}  // namespace headrace::file
