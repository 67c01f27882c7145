#pragma once

#include <cstdint>
#include <optional>

#include "abi/flavour/file_handle.h"
#include "abi/flavour/native.h"

/// What MPI's procedures do on our files: they check MPI's arguments, translate them, and call the
/// file engine. Each has the procedure's parameters with the file instead of the handle, and
/// returns an error instead of a code. The generated wrappers (generated/file_wrappers.cc) call
/// them.
namespace headrace::HEADRACE_FLAVOUR::handler {

/// The arguments of a read or write, whatever its name.
struct TransferRequest {
  Direction direction;
  bool collective;
  bool shared;  ///< uses the shared pointer; a collective call goes in rank order
  std::optional<std::int64_t> offset;  ///< explicit, in etypes; none: a pointer
  void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
};

Error transfer(OpenFile& file, const TransferRequest& request, MPI_Status* status);

/// A nonblocking call.
Error start(OpenFile& file, const TransferRequest& request, MPI_Request* handle);

/// A split collective call's two halves.
Error begin(OpenFile& file, const TransferRequest& request);
Error end(OpenFile& file, const SplitEnd& call, MPI_Status* status);

// Size and consistency.
Error get_size(OpenFile& file, MPI_Offset* size);
Error set_size(OpenFile& file, MPI_Offset size);
Error preallocate(OpenFile& file, MPI_Offset size);
Error sync(OpenFile& file);
Error get_atomicity(OpenFile& file, int* flag);
Error set_atomicity(OpenFile& file, int flag);

// What a file is.
Error get_amode(OpenFile& file, int* amode);
Error get_group(OpenFile& file, MPI_Group* group);
Error get_info(OpenFile& file, MPI_Info* info);
Error set_info(OpenFile& file, MPI_Info info);

// Views and positions.
Error get_view(OpenFile& file, MPI_Offset* displacement, MPI_Datatype* etype,
               MPI_Datatype* filetype, char* datarep);
Error set_view(OpenFile& file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
               const char* datarep, MPI_Info info);
Error type_extent(const OpenFile& file, MPI_Datatype datatype, std::int64_t& extent);
Error seek(OpenFile& file, MPI_Offset offset, int whence);
Error get_position(OpenFile& file, MPI_Offset* offset);
Error seek_shared(OpenFile& file, MPI_Offset offset, int whence);
Error get_position_shared(OpenFile& file, MPI_Offset* offset);
Error get_byte_offset(OpenFile& file, MPI_Offset offset, MPI_Offset* displacement);

/// The error for a null pointer given as argument `name`, or none.
Error require(const void* pointer, const char* name);

/// Integer: MPI_Aint or MPI_Count.
template <class Integer>
Error get_type_extent(OpenFile& file, MPI_Datatype datatype, Integer* extent) {
  if (Error error = require(extent, "extent")) return error;
  std::int64_t found = 0;
  if (Error error = type_extent(file, datatype, found)) return error;
  *extent = static_cast<Integer>(found);
  return {};
}

/// Collective, with the same outcome on all ranks: opens the file; or, if the library must open it,
/// leaves `*fh` alone and `is_ours` false.
Error open(MPI_Comm communicator, const char* file_name, int amode, MPI_Info info, MPI_File* fh,
           bool& is_ours);

/// Closes a file of ours, but not the native handle.
Error close(MPI_File fh);

/// MPI_File_delete; `is_ours` as in open().
Error remove(const char* file_name, bool& is_ours);

}  // namespace headrace::HEADRACE_FLAVOUR::handler
