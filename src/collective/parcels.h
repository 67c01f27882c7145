#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "fabric/messenger.h"

namespace headrace::collective {

/// What a rank gives each other one, and gets from it, in a call of which it knows its own sizes
/// only: a parcel each, in the program's datatypes. Both ranks of a parcel should know the same
/// size.
class Parcels {
 public:
  virtual ~Parcels() = default;

  /// 0 where nothing is moved.
  virtual std::size_t bytes_to(int rank) = 0;
  virtual std::size_t bytes_from(int rank) = 0;

  /// Copies a small parcel, without gaps.
  virtual void pack(int rank, std::byte* to) = 0;
  /// The first `bytes` of what comes from a rank, at least one.
  virtual void unpack(int rank, const std::byte* from, std::size_t bytes) = 0;

  /// A parcel where it lies, for a message; or a copy where what comes from the rank lies there,
  /// too, so that it has to be asked for before that is received.
  struct Outgoing {
    fabric::TypedData data;
    std::unique_ptr<std::byte[]> copy;
    Error failure{};  ///< why it could not be copied; then nothing is sent
  };
  virtual Outgoing to(int rank) = 0;
  virtual fabric::TypedData from(int rank) = 0;
};

}  // namespace headrace::collective
