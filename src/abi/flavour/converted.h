#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "abi/flavour/handler.h"
#include "abi/flavour/representation.h"
#include "base/memory_account.h"
#include "device/image.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// One read or write on a file whose view has a data representation: converts the program's data to
/// the file's form in a buffer of its own, a part at a time, as the file engine asks for parts.
///
/// A conversion by functions of the program must not run on a helper thread: the functions may call
/// MPI, which helper threads must not. Such calls are converted as a whole: a write before the
/// engine gets it, a read when it is complete.
class Converted : public file::Parts {
 public:
  /// How much of a call's data is converted at a time: at most `most` bytes of the file, in whole
  /// etypes of `etype` bytes if the data can be cut there.
  struct Size {
    ByteCount most = 0;
    ByteCount etype = 1;
  };

  /// Whether a call is converted in parts. `outlives_call`: it goes on after its procedure returns.
  static bool goes_in_parts(const Representation& representation, bool outlives_call) {
    return !outlives_call || !representation.needs_datatype();
  }

  /// Errors: those of the datatype, a value that does not fit, and no memory for the buffer.
  static Result<std::shared_ptr<Converted>> make(const Representation& representation,
                                                 const handler::TransferRequest& request,
                                                 bool outlives_call, const Size& size);
  ~Converted() override;
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;

  /// Sets the data of the engine's call, which this must outlive. Errors: those of the conversion.
  Error describe(file::TransferCall& call);

  Result<std::int64_t> open() override;
  Result<std::span<std::byte>> next() override;
  void take(const file::Outcome& outcome) override;
  void close() override;

  /// Takes the outcome of the engine's call and returns it in bytes of memory, in whole elements.
  /// Call once, on a thread of the program. Releases all that is held.
  file::Outcome finish(file::Outcome outcome);

 private:
  Converted(const Representation& representation, Direction direction, bool is_whole)
      : representation_(representation), direction_(direction), is_whole_(is_whole) {}
  Error take_up(const handler::TransferRequest& request, const Size& size);
  Error take_image(std::int64_t count);
  void store_image();
  void count_parts();
  Error make_room();
  Error try_all();
  view::Amount end_of_part(const view::Amount& begin) const;

  const Representation& representation_;
  Direction direction_;
  bool is_whole_;
  Size size_;
  TypedBuffer memory_;
  MPI_Datatype held_ = MPI_DATATYPE_NULL;  ///< see hold_type
  std::unique_ptr<device::Image>
      image_;  ///< holds the data of `memory_` if that lies in a device's memory
  view::Amount all_;
  std::int64_t num_parts_ = 1;
  ByteCount largest_part_ = 0;  ///< in bytes of the file
  Representation::Part part_;
  view::Amount done_;  ///< done by all parts so far
  Error failed_;
  std::unique_ptr<std::byte[]> stored_;
  CountedMemory counted_;
};

using ConvertedPtr = std::shared_ptr<Converted>;

}  // namespace headrace::HEADRACE_FLAVOUR
