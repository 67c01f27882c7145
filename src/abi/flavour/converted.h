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

/// One read or write on a file whose view has a data representation: the program's data in the
/// file's form, in a buffer of its own, a part at a time, as the engine asks for them.
///
/// A conversion by functions of the program must not go on by itself: they may call MPI, which a
/// helper thread must not. Such calls are converted whole: what is written before the engine gets
/// them, what was read when they are complete.
class Converted : public file::Parts {
 public:
  /// How much of a call's data is converted at a time: in bytes of the file, and in whole etypes of
  /// so many bytes, where the data can be cut so.
  struct Size {
    ByteCount most = 0;
    ByteCount etype = 1;
  };

  /// Whether a call is converted in parts; `outlives_call`: it goes on when its procedure returns.
  static bool goes_in_parts(const Representation& representation, bool outlives_call) {
    return !outlives_call || !representation.needs_datatype();
  }

  /// Errors: those of the datatype, of a value that does not fit, and a buffer for which no memory
  /// is left.
  static Result<std::shared_ptr<Converted>> make(const Representation& representation,
                                                 const handler::TransferRequest& request,
                                                 bool outlives_call, const Size& size);
  ~Converted() override;
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;

  /// Gives the engine's call, which this outlasts, its data. Error: of the conversion.
  Error describe(file::TransferCall& call);

  Result<std::int64_t> open() override;
  Result<std::span<std::byte>> next() override;
  void take(const file::Outcome& outcome) override;
  void close() override;

  /// What became of the engine's call, in bytes of memory: whole elements. Once, on a thread of the
  /// program; lets go of all that is held.
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
  std::unique_ptr<device::Image> image_;   ///< what `memory_` is, of data in a device's memory
  view::Amount all_;
  std::int64_t num_parts_ = 1;
  ByteCount largest_part_ = 0;  ///< in bytes of the file
  Representation::Part part_;
  view::Amount done_;  ///< by all parts
  Error failed_;
  std::unique_ptr<std::byte[]> stored_;
  CountedMemory counted_;
};

using ConvertedPtr = std::shared_ptr<Converted>;

}  // namespace headrace::HEADRACE_FLAVOUR
