#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "abi/flavour/native.h"

/// The collective operations that we may carry out. `next` is the function behind us, which carries
/// out those that are left to the library.
namespace headrace::HEADRACE_FLAVOUR::collective_calls {

/// `count` elements of a datatype at an address.
struct Data {
  const void* address = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// An array of counts or displacements, of ints or of wider numbers.
class Numbers {
 public:
  template <class Number>
  explicit Numbers(const Number* numbers) : numbers_(numbers), is_wide_(sizeof(Number) > 4) {}

  static Numbers none() { return Numbers(static_cast<const int*>(nullptr)); }

  explicit operator bool() const { return numbers_ != nullptr; }
  std::int64_t operator[](int i) const { return is_wide_ ? at<std::int64_t>(i) : at<int>(i); }

 private:
  template <class Number>
  std::int64_t at(int i) const {
    Number number = 0;
    std::memcpy(&number, static_cast<const std::byte*>(numbers_) + sizeof number * i,
                sizeof number);
    return number;
  }

  const void* numbers_;
  bool is_wide_;
};

/// Data for each rank: of one datatype, or of one for each rank, with displacements in bytes.
struct Blocks {
  const void* address = nullptr;
  Numbers counts;
  Numbers displacements;
  const MPI_Datatype* types = nullptr;
};

// Whether the call was carried out; `code` is then what it returns. Addresses may be MPI_IN_PLACE.
bool barrier(MPI_Comm comm, int& code);
bool bcast(const Data& data, int root, MPI_Comm comm, int& code);
bool reduce(const void* send, const Data& receive, MPI_Op op, int root, MPI_Comm comm, int& code);
bool allreduce(const void* send, const Data& receive, MPI_Op op, MPI_Comm comm, int& code);
bool allgather(const Data& send, const Data& receive, MPI_Comm comm, int& code);
bool allgatherv(const Data& send, const Data& receive, Numbers counts, Numbers displacements,
                MPI_Comm comm, int& code);
bool alltoall(const Data& send, const Data& receive, MPI_Comm comm, int& code);
bool reduce_scatter(const void* send, const Data& receive, Numbers counts, MPI_Op op, MPI_Comm comm,
                    int& code);
bool reduce_scatter_block(const void* send, const Data& receive, MPI_Op op, MPI_Comm comm,
                          int& code);
bool gather(const Data& send, const Data& receive, int root, MPI_Comm comm, int& code);
bool gatherv(const Data& send, const Blocks& receive, int root, MPI_Comm comm, int& code);
bool scatter(const Data& send, const Data& receive, int root, MPI_Comm comm, int& code);
bool scatterv(const Blocks& send, const Data& receive, int root, MPI_Comm comm, int& code);
bool alltoallv(const Blocks& send, const Blocks& receive, MPI_Comm comm, int& code);
bool alltoallw(const Blocks& send, const Blocks& receive, MPI_Comm comm, int& code);

template <class Next>
int Barrier(Next next, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  return barrier(comm, code) ? code : next(comm);
}

template <class Next, class Count>
int Bcast(Next next, void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (bcast({buffer, count, type}, root, comm, code)) return code;
  return next(buffer, count, type, root, comm);
}

template <class Next, class Count>
int Reduce(Next next, const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,
           int root, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (reduce(send, {receive, count, type}, op, root, comm, code)) return code;
  return next(send, receive, count, type, op, root, comm);
}

template <class Next, class Count>
int Allreduce(Next next, const void* send, void* receive, Count count, MPI_Datatype type, MPI_Op op,
              MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (allreduce(send, {receive, count, type}, op, comm, code)) return code;
  return next(send, receive, count, type, op, comm);
}

template <class Next, class Count>
int Allgather(Next next, const void* send, Count send_count, MPI_Datatype send_type, void* receive,
              Count count, MPI_Datatype type, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (allgather({send, send_count, send_type}, {receive, count, type}, comm, code)) return code;
  return next(send, send_count, send_type, receive, count, type, comm);
}

template <class Next, class Count, class Displacement>
int Allgatherv(Next next, const void* send, Count send_count, MPI_Datatype send_type, void* receive,
               const Count* counts, const Displacement* displacements, MPI_Datatype type,
               MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (allgatherv({send, send_count, send_type}, {receive, 0, type}, Numbers(counts),
                 Numbers(displacements), comm, code)) {
    return code;
  }
  return next(send, send_count, send_type, receive, counts, displacements, type, comm);
}

template <class Next, class Count>
int Alltoall(Next next, const void* send, Count send_count, MPI_Datatype send_type, void* receive,
             Count count, MPI_Datatype type, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (alltoall({send, send_count, send_type}, {receive, count, type}, comm, code)) return code;
  return next(send, send_count, send_type, receive, count, type, comm);
}

template <class Next, class Count>
int Reduce_scatter(Next next, const void* send, void* receive, const Count* counts,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (reduce_scatter(send, {receive, 0, type}, Numbers(counts), op, comm, code)) return code;
  return next(send, receive, counts, type, op, comm);
}

template <class Next, class Count>
int Reduce_scatter_block(Next next, const void* send, void* receive, Count count, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (reduce_scatter_block(send, {receive, count, type}, op, comm, code)) return code;
  return next(send, receive, count, type, op, comm);
}

template <class Next, class Count>
int Gather(Next next, const void* send, Count send_count, MPI_Datatype send_type, void* receive,
           Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (gather({send, send_count, send_type}, {receive, count, type}, root, comm, code)) return code;
  return next(send, send_count, send_type, receive, count, type, root, comm);
}

template <class Next, class Count, class Displacement>
int Gatherv(Next next, const void* send, Count send_count, MPI_Datatype send_type, void* receive,
            const Count* counts, const Displacement* displacements, MPI_Datatype type, int root,
            MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (gatherv({send, send_count, send_type},
              {receive, Numbers(counts), Numbers(displacements), &type}, root, comm, code)) {
    return code;
  }
  return next(send, send_count, send_type, receive, counts, displacements, type, root, comm);
}

template <class Next, class Count>
int Scatter(Next next, const void* send, Count send_count, MPI_Datatype send_type, void* receive,
            Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (scatter({send, send_count, send_type}, {receive, count, type}, root, comm, code)) return code;
  return next(send, send_count, send_type, receive, count, type, root, comm);
}

template <class Next, class Count, class Displacement>
int Scatterv(Next next, const void* send, const Count* counts, const Displacement* displacements,
             MPI_Datatype send_type, void* receive, Count count, MPI_Datatype type, int root,
             MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (scatterv({send, Numbers(counts), Numbers(displacements), &send_type}, {receive, count, type},
               root, comm, code)) {
    return code;
  }
  return next(send, counts, displacements, send_type, receive, count, type, root, comm);
}

template <class Next, class Count, class Displacement>
int Alltoallv(Next next, const void* send, const Count* send_counts,
              const Displacement* send_displacements, MPI_Datatype send_type, void* receive,
              const Count* counts, const Displacement* displacements, MPI_Datatype type,
              MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (alltoallv({send, Numbers(send_counts), Numbers(send_displacements), &send_type},
                {receive, Numbers(counts), Numbers(displacements), &type}, comm, code)) {
    return code;
  }
  return next(send, send_counts, send_displacements, send_type, receive, counts, displacements,
              type, comm);
}

template <class Next, class Count, class Displacement>
int Alltoallw(Next next, const void* send, const Count* send_counts,
              const Displacement* send_displacements, const MPI_Datatype* send_types, void* receive,
              const Count* counts, const Displacement* displacements, const MPI_Datatype* types,
              MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (alltoallw({send, Numbers(send_counts), Numbers(send_displacements), send_types},
                {receive, Numbers(counts), Numbers(displacements), types}, comm, code)) {
    return code;
  }
  return next(send, send_counts, send_displacements, send_types, receive, counts, displacements,
              types, comm);
}

}  // namespace headrace::HEADRACE_FLAVOUR::collective_calls
