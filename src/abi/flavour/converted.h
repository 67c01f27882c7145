#pragma once

#include <cstddef>
#include <memory>

#include "abi/flavour/handler.h"
#include "abi/flavour/representation.h"
#include "base/memory_account.h"
#include "engine/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// One read or write on a file whose view has a data representation: the program's data in the
/// file's form, in a buffer of its own, a part at a time. What is written is converted when a part
/// is described, what was read when it is finished; both happen on threads of the program.
class Converted {
 public:
  /// How much of a call's data is converted at a time: in bytes of the file, and in whole etypes of
  /// so many bytes, where the data can be cut so. The default is all of it.
  struct Parts {
    ByteCount most = 0;
    ByteCount etype = 1;
  };

  /// Errors: those of the datatype, of the conversion, and a buffer for which no memory is left.
  /// `outlives_call`: the call goes on when this returns, and the program may free its datatype.
  static Result<std::shared_ptr<Converted>> make(const Representation& representation,
                                                 const handler::TransferRequest& request,
                                                 bool outlives_call);
  /// The same for a call that is made in parts. Where a value does not fit, that is found here.
  static Result<std::shared_ptr<Converted>> make(const Representation& representation,
                                                 const handler::TransferRequest& request,
                                                 const Parts& parts);
  ~Converted();
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;

  /// Of the file, of the whole call.
  ByteCount bytes() const { return all_.stored; }
  /// 1 at least.
  std::int64_t num_parts() const { return num_parts_; }
  /// Bytes of the file that came before the part.
  ByteCount before() const { return part_.begin.stored; }
  bool has_more() const { return part_.begin.stored < all_.stored; }

  /// Gives the engine's call the data of the part: bytes of the file. Error: of the conversion.
  Error describe(engine::TransferCall& call);
  /// What the engine did of the part. The next part comes then, where all of it was done.
  void take(const engine::Outcome& outcome);

  /// What became of all parts, in bytes of memory: whole elements. Once; lets go of all that is
  /// held.
  engine::Outcome finish();

 private:
  Converted(const Representation& representation, Direction direction)
      : representation_(representation), direction_(direction) {}
  Error take_up(const handler::TransferRequest& request, const Parts& parts);
  void count_parts();
  Error make_room();
  Error try_all();
  view::Amount end_of_part(const view::Amount& begin) const;
  void release();

  const Representation& representation_;
  Direction direction_;
  Parts parts_;
  TypedBuffer memory_;
  MPI_Datatype held_ = MPI_DATATYPE_NULL;  ///< see hold_type
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
