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

/// Bytes of an etype. Those of size 0 move nothing; any unit will do.
inline ByteCount unit_of(const View& view) {
  return std::max<ByteCount>(1, view.etype->size());
}

/// What a call did: bytes moved from the start of the request, and what stopped it.
struct Outcome {
  ByteCount bytes = 0;
  Error error;
};

/// The data of a call that is made a part at a time, since it has another form in memory. One
/// thread at a time uses it, also one that must not call MPI.
class Parts {
 public:
  virtual ~Parts() = default;
  /// Takes the memory of a part. How many parts there are, 1 at least.
  virtual Result<std::int64_t> open() = 0;
  /// Bytes of the file, all but the last part in whole etypes: what is written, or where to read.
  /// Nothing where nothing is left to do.
  virtual Result<std::span<std::byte>> next() = 0;
  /// What became of the part. The next one comes then, where all of it was done.
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
  bool shared = false;  ///< from the shared pointer; a collective call then goes in rank order
  /// What its caller has found wrong: it moves nothing, and a collective one is taken part in.
  ErrorClass refused = ErrorClass::success;
  /// `parts` give the data instead of `buffer`; `type` has one byte. The same on all ranks of a
  /// collective call; one without data may have no `parts`. They outlast the call.
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

/// A call that goes on while the program computes. Its buffer belongs to it until it is done. Safe
/// from several threads.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool is_done() const = 0;  ///< never waits
  /// Waits until it is done; lets the MPI library progress meanwhile. For who tells the program: a
  /// failed write that nobody waited for is told by the file's next sync or close.
  virtual const Outcome& wait() = 0;
  /// True where it had not begun: then it never will, and it is done with nothing moved.
  virtual bool cancel() = 0;
};

enum class Whence { set, current, end };

/// Where the next calls of an open file begin: its individual pointer and its shared pointer, in
/// etypes of the view. A file that was opened with MPI_MODE_SEQUENTIAL has the shared pointer
/// alone, which can only be used.
class Positions {
 public:
  virtual ~Positions() = default;

  virtual Error seek(std::int64_t offset, Whence whence) = 0;
  virtual Result<std::int64_t> individual() const = 0;
  virtual Result<FileOffset> byte_offset(std::int64_t offset) const = 0;

  /// Collective: the shared pointer. All ranks give the same arguments.
  virtual Error seek_shared(std::int64_t offset, Whence whence) = 0;
  virtual Result<std::int64_t> shared() = 0;  ///< waits for no rank
};

/// An open file on one rank. "Collective" means that all ranks of the team call it in the same
/// order. Errors of a collective call are returned on every rank that could not do what it asked
/// for.
class File {
 public:
  /// Collective. All ranks get a file, or all get an error, also where their modes differ. A rank
  /// whose arguments are wrong passes what is wrong with them as `refused`.
  static Result<std::unique_ptr<File>> open(std::shared_ptr<exchange::FileTeam> team,
                                            storage::FileSystem& file_system, std::string_view path,
                                            AccessMode mode, const Hints& hints,
                                            const Error& refused = {});
  virtual ~File() = default;

  virtual Error close() = 0;  ///< collective
  /// Collective where nodes may write for each other, else waits for nobody.
  virtual Error sync() = 0;
  virtual Result<ByteCount> size() = 0;
  virtual Error resize(ByteCount size) = 0;    ///< collective
  virtual Error allocate(ByteCount size) = 0;  ///< collective

  /// Collective; resets the pointer to 0. A rank that could not make its view passes the error:
  /// then all ranks get one and keep the views they have. Hints may differ between ranks.
  virtual Error set_view(Result<View> view, const Hints& hints = {}) = 0;
  virtual View current_view() const = 0;
  /// Collective; unknown hints are ignored. A rank that has none passes why as `refused`: then all
  /// ranks get an error and keep the hints they have.
  virtual Error set_hints(const Hints& hints, const Error& refused = {}) = 0;
  virtual Hints hints() const = 0;  ///< all hints in use, with their values

  virtual Positions& positions() = 0;

  /// Collective, with the same value on all ranks. In atomic mode each call's data is read or
  /// written as if alone, whichever ranks of this file conflict with it.
  virtual Error set_atomicity(bool atomic) = 0;
  virtual bool atomicity() const = 0;

  virtual Outcome transfer(const TransferCall& call) = 0;
  /// Does a call whose data is one stretch of the file too, where no other rank has a part in it.
  /// Does nothing otherwise: transfer() does or refuses such a call, and this one as well.
  virtual std::optional<Outcome> transfer_stretch(const StretchCall& call) = 0;
  /// How much of a call in parts may be in memory at a time, within the node's budget.
  virtual ByteCount part_size() const = 0;

  /// Begins a call and returns at once; the pointer moves by what is asked for. It ends without any
  /// further call of this or, where all ranks have begun it, any other rank. An error of the
  /// arguments is returned at once; a collective call is taken part in all the same.
  virtual Result<std::shared_ptr<Operation>> start(const TransferCall& call) = 0;

  /// Split collective calls, at most one at a time. `end` must be given the direction and the
  /// positioning that `begin` was given; it returns what became of the call.
  virtual Error begin(const TransferCall& call) = 0;
  virtual Outcome end(Direction direction, bool shared, bool has_offset) = 0;
};

/// Ends the threads that carry out what was started, when that is done, and the one that answers
/// for shared pointers. Comes when all ranks have come as far: it does not let the MPI library
/// progress. May be called again, and what is started afterwards gets new threads.
void stop_background();

}  // namespace headrace::file
