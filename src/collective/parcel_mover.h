#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collective/node_message.h"
#include "collective/parcels.h"
#include "collective/shape.h"
#include "collective/transport.h"
#include "fabric/messenger.h"

namespace headrace::collective {

/// Moves single parcels of one call. A program's receiver may expect another size than what it is
/// sent: then it gets what there is and has room, as from the library.
class ParcelMover {
 public:
  /// `parcels` may be null where none is moved.
  ParcelMover(Parcels* parcels, Transport& transport) : parcels_(parcels), transport_(transport) {}
  ParcelMover(const ParcelMover&) = delete;
  ParcelMover& operator=(const ParcelMover&) = delete;
  ~ParcelMover() {
    // After a failure messages may still come, so their memory has to stay.
    for (Large& large : too_large_) static_cast<void>(large.memory.release());
  }

  Parcels& parcels() { return *parcels_; }

  /// Begin a message with the whole parcel.
  Error send(int rank) { return transport_.send_parcel(rank, parcels_->to(rank)); }
  /// `sent`: its size, if that is known. What is larger than expected never goes to the program's
  /// memory: Open MPI 5.0 writes all of a large message there, whatever it was told to receive.
  Error receive(int rank, std::optional<std::size_t> sent) {
    if (!sent || *sent <= parcels_->bytes_from(rank) || *sent > fabric::kLargestMessage) {
      return transport_.receive_parcel(rank, parcels_->from(rank));
    }
    auto memory = std::make_unique_for_overwrite<std::byte[]>(*sent);
    Large& large = too_large_.emplace_back(rank, *sent, std::move(memory));
    return transport_.receive(rank, {large.memory.get(), *sent});
  }

  /// Takes a small parcel of `bytes` that a rank has given.
  void take(int rank, const std::byte* from, std::size_t bytes) {
    const std::size_t expected = parcels_->bytes_from(rank);
    if (bytes > expected) note_truncation();
    if (const std::size_t taken = std::min(bytes, expected); taken > 0) {
      parcels_->unpack(rank, from, taken);
    }
  }

  /// Writes the message with what a node's ranks are sent.
  void lay_out(const Shape& shape, int node, NodeMessage& message) {
    std::size_t offset = NodeMessage::header(message.ranks());
    for (int i = 0; i < message.ranks(); ++i) {
      const int rank = shape.rank_at(shape.begin_of(node) + i);
      message.tell(i, parcels_->bytes_to(rank));
      const std::size_t bytes = message.small_bytes(i);
      if (bytes > 0) parcels_->pack(rank, message.memory() + offset);
      offset += bytes;
    }
  }

  void note_truncation() { failure_ = truncation(); }
  /// All messages have come. Why something could not be moved as it was sent.
  Error finish() {
    for (const Large& large : too_large_) {
      take(large.rank, large.memory.get(), large.bytes);
    }
    too_large_.clear();
    return std::exchange(failure_, Error());
  }

 private:
  struct Large {
    int rank;
    std::size_t bytes;
    std::unique_ptr<std::byte[]> memory;
  };

  Parcels* parcels_;
  Transport& transport_;
  std::vector<Large> too_large_;
  Error failure_;
};

}  // namespace headrace::collective
