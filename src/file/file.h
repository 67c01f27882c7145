#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"
#include "exchange/file_team.h"
#include "file/hints.h"
#include "storage/store.h"
#include "view/type.h"

namespace headrace::file {

/// MPI's access mode without its numbers.
struct AccessMode {
  bool read = false;
  bool write = false;
  bool create = false;
  bool exclusive = false;
  bool append = false;
  bool sequential = false;
  bool delete_on_close = false;
  bool unique_open = false;
};

/// A view: etype units for offsets, filetype for what is visible. `datarep` is MPI's name.
struct View {
  FileOffset displacement = 0;
  view::TypePtr etype;
  view::TypePtr filetype;
  std::string datarep = "native";
  bool from_shared_pointer = false;  ///< MPI_DISPLACEMENT_CURRENT instead of `displacement`
};

/// Bytes of an etype; 1 for an etype of size 0, which moves nothing.
inline ByteCount unit_of(const View& view) {
  return std::max<ByteCount>(1, view.etype->size());
}

/// What a call did: bytes moved from the start of the request, and what stopped it.
struct Outcome {
  ByteCount bytes = 0;
  Error error;
};

/// The data of a call that is converted a part at a time, since memory holds it in another
/// representation. One thread at a time uses it; the thread may be one that must not call MPI.
class Parts {
 public:
  virtual ~Parts() = default;
  /// Takes the memory of a part and returns how many parts there are, at least 1.
  virtual Result<std::int64_t> open() = 0;
  /// The next part as bytes of the file: what to write, or where to put what is read. All parts but
  /// the last have whole etypes. Empty if nothing is left.
  virtual Result<std::span<std::byte>> next() = 0;
  /// Tells what became of the part. Call next() for the next one only if all of it was moved.
  virtual void take(const Outcome& outcome) = 0;
  /// Gives the memory back.
  virtual void close() = 0;
};

/// One read or write call.
struct TransferCall {
  Direction direction = Direction::write;
  bool collective = false;
  std::optional<std::int64_t> offset;  ///< in etypes of the view; absent: a pointer
  void* buffer = nullptr;
  std::int64_t count = 0;  ///< elements of `type`
  view::TypePtr type;
  bool shared = false;  ///< uses the shared pointer; a collective call then goes in rank order
  /// The class of an error that the caller has found: the call moves nothing, but takes part if
  /// collective.
  ErrorClass refused = ErrorClass::success;
  /// `parts` gives the data instead of `buffer`, and `type` has one byte. All ranks of a collective
  /// call must agree on this; a rank without data may have no `parts`. `parts` must outlive the
  /// call.
  bool in_parts = false;
  Parts* parts = nullptr;
};

/// One read or write call whose data is one stretch of memory.
struct StretchCall {
  Direction direction = Direction::write;
  bool collective = false;
  std::optional<std::int64_t> offset;  ///< in etypes of the view; absent: the individual pointer
  std::byte* memory = nullptr;
  ByteCount bytes = 0;  ///< 0 or more
};

/// A call that goes on while the program computes. The program must leave its buffer alone until it
/// is done. Safe from several threads.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool is_done() const = 0;  ///< never waits
  /// Waits until it is done, and lets the MPI library progress meanwhile. The caller must report
  /// the outcome to the program; if nobody waits, the file's next sync or close reports a failed
  /// write.
  virtual const Outcome& wait() = 0;
  /// True if it had not begun: then it never will, and is done with nothing moved.
  virtual bool cancel() = 0;
};

enum class Whence { set, current, end };

/// The file pointers: the individual one and the shared one, in etypes of the view. A file opened
/// with MPI_MODE_SEQUENTIAL has the shared pointer only, and no call may seek it.
class Positions {
 public:
  virtual ~Positions() = default;

  virtual Error seek(std::int64_t offset, Whence whence) = 0;
  virtual Result<std::int64_t> individual() const = 0;
  virtual Result<FileOffset> byte_offset(std::int64_t offset) const = 0;

  /// Collective: seeks the shared pointer. All ranks must give the same arguments.
  virtual Error seek_shared(std::int64_t offset, Whence whence) = 0;
  virtual Result<std::int64_t> shared() = 0;  ///< waits for no rank
};

/// An open file on one rank. "Collective": all ranks of the team must call it in the same order. A
/// collective call returns an error on every rank that could not do what was asked.
class File {
 public:
  /// Collective: opens `path`. All ranks get a file, or all get an error, even if their modes
  /// differ. A rank that has found its arguments wrong passes the error as `refused`.
  static Result<std::unique_ptr<File>> open(std::shared_ptr<exchange::FileTeam> team,
                                            storage::FileSystem& file_system, std::string_view path,
                                            AccessMode mode, const Hints& hints,
                                            const Error& refused = {});
  virtual ~File() = default;

  virtual Error close() = 0;  ///< collective
  /// Collective if nodes may write for each other, otherwise waits for nobody.
  virtual Error sync() = 0;
  virtual Result<ByteCount> size() = 0;
  virtual Error resize(ByteCount size) = 0;    ///< collective
  virtual Error allocate(ByteCount size) = 0;  ///< collective

  /// Collective: sets the view and resets both pointers to 0. A rank that could not make its view
  /// passes the error: then all ranks get an error and keep the views they have. Hints may differ
  /// between ranks.
  virtual Error set_view(Result<View> view, const Hints& hints = {}) = 0;
  virtual View current_view() const = 0;
  /// Collective: sets hints; ignores unknown ones. A rank that could not read its hints passes the
  /// error as `refused`: then all ranks get an error and keep the hints they have.
  virtual Error set_hints(const Hints& hints, const Error& refused = {}) = 0;
  virtual Hints hints() const = 0;  ///< all hints in use, with their values

  virtual Positions& positions() = 0;

  /// Collective, with the same value on all ranks. In atomic mode, each call reads or writes its
  /// data as if alone, even if calls of other ranks of this file conflict with it.
  virtual Error set_atomicity(bool atomic) = 0;
  virtual bool atomicity() const = 0;

  virtual Outcome transfer(const TransferCall& call) = 0;
  /// Executes a call whose data is also one stretch of the file and in which ranks do not meet.
  /// Otherwise returns nothing and does nothing: transfer() executes or refuses any call.
  virtual std::optional<Outcome> transfer_stretch(const StretchCall& call) = 0;
  /// Bytes of a call in parts that may be in memory at a time, within the node's budget.
  virtual ByteCount part_size() const = 0;

  /// Begins a call and returns at once; the pointer moves by the requested amount. The call ends
  /// without any further call by this rank; a collective call, once all ranks have begun it.
  /// Returns errors of the arguments at once; if the call is collective, still takes part in it.
  virtual Result<std::shared_ptr<Operation>> start(const TransferCall& call) = 0;

  /// Split collective calls, at most one at a time. `end` must get the direction and the
  /// positioning that `begin` got. It returns the outcome of the call.
  virtual Error begin(const TransferCall& call) = 0;
  virtual Outcome end(Direction direction, bool shared, bool has_offset) = 0;
};

/// Writes what buffers of open files hold back, since the program may end now. Tells what is lost.
void settle_files() noexcept;

/// Waits for all started calls, and ends the threads that execute them and the one that serves
/// shared pointers. Does not let the MPI library progress: call it when all ranks have come as far.
/// May be called again; calls that are started later get new threads.
void stop_background();

}  // namespace headrace::file
