// Opening, closing, deleting.
#include <bit>

#include "abi/file_name.h"
#include "abi/flavour.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/error.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/hint.h"
#include "abi/flavour/identity.h"
#include "abi/flavour/request.h"
#include "abi/flavour/team.h"
#include "storage/store.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

engine::AccessMode mode_of(int amode) {
  const auto has = [&](int bit) { return (amode & bit) != 0; };
  engine::AccessMode mode;
  mode.read = has(MPI_MODE_RDONLY) || has(MPI_MODE_RDWR);
  mode.write = has(MPI_MODE_WRONLY) || has(MPI_MODE_RDWR);
  mode.create = has(MPI_MODE_CREATE);
  mode.exclusive = has(MPI_MODE_EXCL);
  mode.append = has(MPI_MODE_APPEND);
  mode.sequential = has(MPI_MODE_SEQUENTIAL);
  mode.delete_on_close = has(MPI_MODE_DELETE_ON_CLOSE);
  mode.unique_open = has(MPI_MODE_UNIQUE_OPEN);
  return mode;
}

/// The combinations that MPI 4.1, section 14.2.1, forbids.
Error check_amode(int amode) {
  const auto accesses =
      static_cast<unsigned>(amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR));
  if (std::popcount(accesses) != 1) {
    return {ErrorClass::amode, 0,
            "the access mode is ambiguous (exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and "
            "MPI_MODE_RDWR must be in it), give one"};
  }
  if ((amode & MPI_MODE_RDONLY) != 0 && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
    return {ErrorClass::amode, 0,
            "the access mode contradicts itself (MPI_MODE_CREATE and MPI_MODE_EXCL do not go with "
            "MPI_MODE_RDONLY), open the file for writing"};
  }
  if ((amode & MPI_MODE_RDWR) != 0 && (amode & MPI_MODE_SEQUENTIAL) != 0) {
    return {ErrorClass::amode, 0,
            "the access mode contradicts itself (MPI_MODE_SEQUENTIAL does not go with "
            "MPI_MODE_RDWR), open the file for reading or for writing"};
  }
  return {};
}

Error open_file(MPI_Comm communicator, const std::shared_ptr<exchange::Team>& team,
                const std::string& path, int amode, MPI_Info info, MPI_File* fh) {
  MPI_File handle = open_identity();
  auto file = std::make_unique<OpenFile>();
  file->amode = amode;
  file->etype = MPI_BYTE;
  file->filetype = MPI_BYTE;
  const bool has_group = native.Comm_group(communicator, &file->group) == MPI_SUCCESS;
  // A rank that cannot go on takes part in the collective open, so that all ranks fail.
  const bool is_ready = handle != MPI_FILE_NULL && has_group;
  const Error refused = is_ready ? check_amode(amode) : native_failure("make a file handle");
  auto opened = engine::File::open(team, storage::posix_file_system(), path, mode_of(amode),
                                   hints_of(info), refused);
  if (!opened) {
    if (handle != MPI_FILE_NULL) close_identity(handle);
    return opened.error();
  }
  file->file = std::move(opened.value());
  add_file(handle, std::move(file));
  *fh = handle;
  return {};
}

}  // namespace

Error open(MPI_Comm communicator, const char* file_name, int amode, MPI_Info info, MPI_File* fh,
           bool& is_ours) {
  // The library reports these.
  if (fh == nullptr || file_name == nullptr || communicator == MPI_COMM_NULL) return {};
  const auto path = abi::path_of(file_name);
  if (!path) return {};
  const auto team = team_of(communicator);
  if (!team) return team.error();
  if (team.value() == nullptr) return {};

  is_ours = true;
  *fh = MPI_FILE_NULL;  // also after a failure: the Fortran bindings convert what they find there
  abi::catch_unexported();
  return open_file(communicator, team.value(), *path, amode, info, fh);
}

Error close(MPI_File fh) {
  const auto file = take_file(fh);
  Error error = file->file->close();
  file->link->handle = MPI_FILE_NULL;
  // Of requests that the program gave up this is the last call that can tell.
  free_done_requests();
  Error lost = file->link->take();
  return error ? std::move(error) : std::move(lost);
}

Error remove(const char* file_name, bool& is_ours) {
  if (file_name == nullptr) return {};
  const auto path = abi::path_of(file_name);
  if (!path) return {};
  is_ours = true;
  return storage::posix_file_system().remove(*path);
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
