// Datatypes and views of the fuzzer's programs as MPI's own.
#pragma once

#include <mpi.h>

#include <memory>

#include "fuzz/program.h"

namespace headrace::fuzz {

/// A committed datatype that is freed with the last copy of this.
class MpiType {
 public:
  MpiType() = default;
  /// `large`: by the constructors with large counts, where this MPI has them.
  MpiType(const TypeTree& tree, bool large);
  /// The same moved by an address: for MPI_BOTTOM.
  MpiType at(MPI_Aint address) const;

  MPI_Datatype handle() const { return handle_ ? *handle_ : MPI_DATATYPE_NULL; }

 private:
  explicit MpiType(MPI_Datatype made);
  std::shared_ptr<MPI_Datatype> handle_;
};

}  // namespace headrace::fuzz
