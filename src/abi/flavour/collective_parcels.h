#pragma once

#include <cstdint>
#include <forward_list>

#include "abi/flavour/collective_calls.h"
#include "abi/flavour/collective_types.h"
#include "collective/parcels.h"

namespace headrace::HEADRACE_FLAVOUR::collective_calls {

/// One of the buffers of a call: data for, or from, each other rank, as the arguments have it.
struct Side {
  static constexpr int kAll = -1;
  static constexpr int kNobody = -2;

  const void* address = nullptr;
  int with = kAll;         ///< the only rank with which something is exchanged
  int without = kNobody;   ///< one whose data stays where it is
  std::int64_t count = 0;  ///< of each rank, where there are no counts
  Numbers counts = Numbers::none();
  Numbers displacements = Numbers::none();
  const MPI_Datatype* types = nullptr;  ///< of each rank, or one
  bool has_types = false;               ///< one for each rank; displacements are then in bytes
  CollectiveType facts;                 ///< of the one

  /// False where a count or a type is none: MPI is to say so.
  bool is_sound(int ranks) const;
  std::int64_t count_of(int rank) const;
  std::size_t bytes_of(int rank) const;
  CollectiveType facts_of(int rank) const {
    return has_types ? collective_type(types[rank]) : facts;
  }
  const MPI_Datatype& type_of(int rank) const { return types[has_types ? rank : 0]; }
  const std::byte* address_of(int rank) const;
  fabric::TypedData data_of(int rank) const;
};

/// The parcels of one call of the program's.
class CallParcels final : public collective::Parcels {
 public:
  /// `is_in_place`: what is sent lies where something comes from the same rank.
  CallParcels(const Side& send, const Side& receive, bool is_in_place, MPI_Comm comm)
      : send_(send), receive_(receive), is_in_place_(is_in_place), comm_(comm) {}
  ~CallParcels() override;

  std::size_t bytes_to(int rank) override { return send_.bytes_of(rank); }
  std::size_t bytes_from(int rank) override { return receive_.bytes_of(rank); }
  void pack(int rank, std::byte* to) override { static_cast<void>(copy(rank, to)); }
  void unpack(int rank, const std::byte* from, std::size_t bytes) override;
  Outgoing to(int rank) override;
  fabric::TypedData from(int rank) override { return receive_.data_of(rank); }

 private:
  /// A small parcel is copied in any case.
  Error copy(int rank, std::byte* to) const;

  Side send_;
  Side receive_;
  bool is_in_place_;
  MPI_Comm comm_;
  std::forward_list<MPI_Datatype> own_types_;  ///< of copies that are very large
};

}  // namespace headrace::HEADRACE_FLAVOUR::collective_calls
