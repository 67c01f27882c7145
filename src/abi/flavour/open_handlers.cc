// Opening, closing, deleting.
#include <bit>

#include "abi/flavour.h"
#include "abi/flavour/communicator_team.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/end_of_job.h"
#include "abi/flavour/error.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/hint.h"
#include "abi/flavour/identity.h"
#include "abi/flavour/request.h"
#include "file/prefixed_name.h"
#include "posix/descriptor_buffers.h"
#include "storage/store.h"

namespace headrace::HEADRACE_FLAVOUR::handler {
namespace {

file::AccessMode mode_of(int amode) {
  const auto has = [&](int bit) { return (amode & bit) != 0; };
  file::AccessMode mode;
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

/// What a rank needs to open a file. It takes memory, which only this rank may lack.
struct Opening {
  SessionHold session;
  MPI_File handle = MPI_FILE_NULL;
  OpenFile* file = nullptr;  ///< registered under `handle` from the beginning
  file::Hints hints{};
};

Error make_ready(MPI_Comm communicator, int amode, MPI_Info info, Opening& opening) {
  opening.handle = open_identity();
  if (opening.handle == MPI_FILE_NULL) return native_failure("make a file handle");
  auto file = std::make_unique<OpenFile>();
  file->session = opening.session;
  file->amode = amode;
  file->etype = MPI_BYTE;
  file->filetype = MPI_BYTE;
  if (native.Comm_group(communicator, &file->group) != MPI_SUCCESS) {
    return native_failure("find the ranks of a communicator");
  }
  opening.hints = hints_of(info);
  file->memory_kinds = memory_kinds_of(communicator);
  opening.file = &add_file(opening.handle, std::move(file));
  return check_amode(amode);
}

/// A rank that cannot go on takes part in the collective open, so that all ranks fail.
Error open_file(MPI_Comm communicator, const std::shared_ptr<exchange::FileTeam>& team,
                std::string_view path, int amode, MPI_Info info, const SessionHold& session,
                MPI_File* fh) {
  Opening opening{.session = session};
  const Error refused = attempt([&] { return make_ready(communicator, amode, info, opening); });
  Error failed = attempt([&]() -> Error {
    auto opened = file::File::open(team, storage::posix_file_system(), path, mode_of(amode),
                                   opening.hints, refused);
    if (!opened) return opened.error();
    opening.file->file = std::move(opened.value());
    return {};
  });
  if (!failed) {
    *fh = opening.handle;
    return {};
  }
  if (opening.file != nullptr) take_file(opening.handle);
  if (opening.handle != MPI_FILE_NULL) close_identity(opening.handle, session);
  return failed;
}

}  // namespace

Error open(MPI_Comm communicator, const char* file_name, int amode, MPI_Info info, MPI_File* fh,
           bool& is_ours) {
  // The library reports these.
  if (fh == nullptr || file_name == nullptr || communicator == MPI_COMM_NULL) return {};
  const auto path = file::path_of(file_name);
  if (!path) return {};
  // The program may have it open itself, with a buffer. The path is the name's end, so it has the
  // name's zero: nothing here may take memory, or a rank without would not come to the others.
  posix::buffers::release_named(AT_FDCWD, path->data(), O_RDWR);
  if (has_ended()) return {};
  // Even after a failure, which the program's error handler may clear.
  is_ours = true;
  *fh = MPI_FILE_NULL;  // for the same reason: the Fortran bindings convert this value
  const auto session = hold_session();
  if (!session) return session.error();
  const auto team = file_team_of(communicator);
  if (!team) return team.error();
  is_ours = team.value() != nullptr;
  if (!is_ours) return {};

  abi::catch_unexported();
  return open_file(communicator, team.value(), *path, amode, info, session.value(), fh);
}

Error close(MPI_File fh) {
  const auto file = take_file(fh);
  Error error = file->file->close();
  file->link->handle = MPI_FILE_NULL;
  // This is the last call that can report errors of requests that the program gave up.
  free_done_requests();
  Error lost = file->link->take();
  if (!error) error = std::move(lost);
  end_job_if_asked(*file, error);
  return error;
}

Error remove(const char* file_name, bool& is_ours) {
  if (file_name == nullptr) return {};
  const auto path = file::path_of(file_name);
  if (!path) return {};
  is_ours = true;
  return storage::remove_file(std::string(*path));
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
