#pragma once

#include <cstddef>
#include <memory>

#include "abi/flavour/handler.h"
#include "abi/flavour/representation.h"
#include "base/memory_account.h"
#include "engine/file.h"

namespace headrace::HEADRACE_FLAVOUR {

/// One read or write on a file whose view has a data representation: the program's data in the
/// file's form, in a buffer of its own. What is written is converted when this is made, what was
/// read when it is finished; both happen on threads of the program.
class Converted {
 public:
  /// Errors: those of the datatype, of the conversion, and a buffer for which no memory is left.
  /// `outlives_call`: the call goes on when this returns, and the program may free its datatype.
  static Result<std::shared_ptr<Converted>> make(const Representation& representation,
                                                 const handler::TransferRequest& request,
                                                 bool outlives_call);
  ~Converted();
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;

  /// Gives the engine's call its data: bytes of the file.
  void describe(engine::TransferCall& call) const;

  /// What the engine did, in bytes of memory: whole elements. Once; lets go of all that is held.
  engine::Outcome finish(const engine::Outcome& outcome);

 private:
  Converted(const Representation& representation, Direction direction)
      : representation_(representation), direction_(direction) {}
  Error take_up(const handler::TransferRequest& request, bool outlives_call);
  void release();

  const Representation& representation_;
  Direction direction_;
  TypedBuffer memory_;
  MPI_Datatype held_ = MPI_DATATYPE_NULL;  ///< see hold_type
  view::Amount all_;
  std::unique_ptr<std::byte[]> stored_;
  CountedMemory counted_;
};

using ConvertedPtr = std::shared_ptr<Converted>;

}  // namespace headrace::HEADRACE_FLAVOUR
