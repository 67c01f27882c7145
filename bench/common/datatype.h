#pragma once

#include <mpi.h>

#include <utility>

namespace headrace::bench {

/// An MPI datatype. What it owns is freed at the end of its life, which must come before
/// MPI_Finalize.
class Datatype {
 public:
  Datatype() = default;
  ~Datatype() {
    if (owned_) MPI_Type_free(&type_);
  }
  Datatype(Datatype&& other) noexcept { swap(other); }
  Datatype& operator=(Datatype&& other) noexcept {
    swap(other);
    return *this;
  }

  /// A type that MPI defines, which is not freed.
  static Datatype predefined(MPI_Datatype type) { return {type, false}; }

  /// A type just made: commits it and owns it.
  static Datatype commit(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return {type, true};
  }

  MPI_Datatype get() const { return type_; }
  bool is_null() const { return type_ == MPI_DATATYPE_NULL; }

 private:
  Datatype(MPI_Datatype type, bool owned) : type_(type), owned_(owned) {}
  void swap(Datatype& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(owned_, other.owned_);
  }

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool owned_ = false;
};

}  // namespace headrace::bench
