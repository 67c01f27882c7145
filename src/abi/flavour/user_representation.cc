#include "abi/flavour/user_representation.h"

#include <algorithm>
#include <limits>

#include "abi/flavour/error.h"
#include "abi/flavour/predefined_type.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

using Convention = Registration::Convention;

/// Fortran's INTEGER; not every mpi.h has MPI_Fint.
using FortranInteger = int;

// Fortran's conventions, which mpi_f08 shares: a buffer is its address in both.
using FortranConversion = void(void* memory, FortranInteger* datatype, FortranInteger* count,
                               void* stored, MPI_Offset* position, MPI_Aint* state,
                               FortranInteger* error);
using FortranExtent = void(FortranInteger* datatype, MPI_Aint* extent, MPI_Aint* state,
                           FortranInteger* error);

/// The most bytes that a datum may have in a file.
constexpr MPI_Aint kLargestExtent = MPI_Aint{1} << 30;

/// Fortran's handle of a datatype. Called where Registration::Convention::fortran exists.
FortranInteger fortran_handle(MPI_Datatype datatype) {
#ifdef HEADRACE_FLAVOUR_MPICH
  return datatype;
#else
  return native.Type_toint(datatype);
#endif
}

class UserRepresentation : public Representation {
 public:
  UserRepresentation(std::string name, const Registration& functions)
      : name_(std::move(name)), functions_(functions) {}

  Result<view::ElementsPtr> elements_of(MPI_Datatype predefined) const override;
  bool converts(Direction direction) const override { return function(direction) != nullptr; }
  bool needs_datatype() const override { return true; }

  bool can_try(const view::Elements&) const override { return false; }

  Error to_file(const TypedBuffer& memory, const Part& part, std::byte* stored) const override {
    view::Amount done;
    return convert(Direction::write, memory, part, stored, done);
  }
  Error from_file(const TypedBuffer& memory, const Part& part, std::byte* stored,
                  view::Amount& done) const override {
    return convert(Direction::read, memory, part, stored, done);
  }

 private:
  void* function(Direction direction) const {
    return direction == Direction::read ? functions_.read : functions_.write;
  }
  // Call the program's functions and return their codes. A function that throws counts as failed:
  // no exception may pass here, since the other ranks of a collective call wait for this one.
  int call_extent(MPI_Datatype datatype, MPI_Aint& extent) const;
  int call(Direction direction, const TypedBuffer& memory, std::int64_t items, std::byte* stored,
           std::int64_t position) const;
  Error convert(Direction direction, const TypedBuffer& memory, const Part& part, std::byte* stored,
                view::Amount& done) const;
  Error failure(const std::string& which, int code) const;

  std::string name_;
  Registration functions_;
};

/// The error for a function of the program that failed with `code`.
Error UserRepresentation::failure(const std::string& which, int code) const {
  return {ErrorClass::conversion, 0,
          "the " + which + " function of the data representation '" + name_ +
              "' has failed (it returned " + std::to_string(code) + "), see what it reports"};
}

int UserRepresentation::call_extent(MPI_Datatype datatype, MPI_Aint& extent) const try {
  if (functions_.convention != Convention::fortran) {
    auto* const own = reinterpret_cast<MPI_Datarep_extent_function*>(functions_.extent);
    return own(datatype, &extent, functions_.state);
  }
  FortranInteger handle = fortran_handle(datatype);
  auto state = reinterpret_cast<MPI_Aint>(functions_.state);
  FortranInteger error = MPI_SUCCESS;
  reinterpret_cast<FortranExtent*>(functions_.extent)(&handle, &extent, &state, &error);
  return error;
} catch (...) {
  return MPI_ERR_CONVERSION;
}

/// Entries in the type map of a predefined type: two in a pair of a value and an index.
Result<int> entries_of(MPI_Datatype predefined) {
  const auto found = find_predefined(predefined);
  if (!found) return found.error();
  return found.value() == nullptr ? 1 : found.value()->count;
}

Result<view::ElementsPtr> UserRepresentation::elements_of(MPI_Datatype predefined) const {
  MPI_Count size = 0;
  MPI_Aint extent = 0;
  if (native.Type_size_x(predefined, &size) != MPI_SUCCESS) {
    return native_failure("measure a datatype");
  }
  if (size == 0) return view::join_elements({}, {});
  const int code = call_extent(predefined, extent);
  if (code != MPI_SUCCESS) return failure("extent", code);
  if (extent < 1 || extent > kLargestExtent) {
    return Error{ErrorClass::conversion, 0,
                 "the extent function of the data representation '" + name_ + "' gave " +
                     std::to_string(extent) + " (no size of a datum), let it give 1 byte or more"};
  }
  const auto entries = entries_of(predefined);
  if (!entries) return entries.error();
  return view::make_elements({view::Kind::bytes, 1, entries.value(), size, extent});
}

int UserRepresentation::call(Direction direction, const TypedBuffer& memory, std::int64_t items,
                             std::byte* stored, std::int64_t position) const try {
  void* const own = function(direction);
  if (functions_.convention == Convention::c_large) {
    return reinterpret_cast<MPI_Datarep_conversion_function_c*>(own)(
        memory.buffer, memory.datatype, items, stored, position, functions_.state);
  }
  if (functions_.convention == Convention::c) {
    return reinterpret_cast<MPI_Datarep_conversion_function*>(own)(memory.buffer, memory.datatype,
                                                                   static_cast<int>(items), stored,
                                                                   position, functions_.state);
  }
  FortranInteger datatype = fortran_handle(memory.datatype);
  auto count = static_cast<FortranInteger>(items);
  MPI_Offset place = position;
  auto state = reinterpret_cast<MPI_Aint>(functions_.state);
  FortranInteger error = MPI_SUCCESS;
  reinterpret_cast<FortranConversion*>(own)(memory.buffer, &datatype, &count, stored, &place,
                                            &state, &error);
  return error;
} catch (...) {
  return MPI_ERR_CONVERSION;
}

/// Converts by as many calls as the type of the function's count requires.
Error UserRepresentation::convert(Direction direction, const TypedBuffer& memory, const Part& part,
                                  std::byte* stored, view::Amount& done) const {
  const std::int64_t most = functions_.convention == Convention::c_large
                                ? std::numeric_limits<std::int64_t>::max()
                                : std::numeric_limits<int>::max();
  done = part.begin;
  while (done.items < part.end.items) {
    const std::int64_t end = done.items + std::min(most, part.end.items - done.items);
    const view::Amount next = memory.elements->whole_in_items(end);
    const int code = call(direction, memory, next.items - done.items,
                          stored + (done.stored - part.begin.stored), done.items);
    if (code != MPI_SUCCESS) {
      return failure(direction == Direction::read ? "read" : "write", code);
    }
    done = next;
  }
  return {};
}

}  // namespace

std::unique_ptr<const Representation> make_user_representation(const std::string& name,
                                                               const Registration& registration) {
  return std::make_unique<const UserRepresentation>(name, registration);
}

}  // namespace headrace::HEADRACE_FLAVOUR
