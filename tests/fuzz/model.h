#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/observations.h"
#include "fuzz/program.h"

namespace headrace::fuzz {

// What the standard says each call does to a file and its pointers, done byte by byte. Ranks are
// numbered within their group here.

/// What all orders of concurrent calls have in common.
struct FileState {
  Mode mode;
  bool atomic = false;
  std::vector<View> views;
  std::vector<ViewMap> maps;  ///< of views

  FileState(const Mode& opened_as, std::size_t ranks);
  bool has_one_view() const;  ///< all ranks have the same: then they may share a pointer
};

/// What depends on the order.
struct World {
  Look content;
  std::int64_t shared = 0;  ///< the shared pointer, in etypes
  std::vector<std::int64_t> pointers;

  std::int64_t size() const { return content ? content->size() : 0; }
};

/// What must come of a call.
struct Expected {
  std::vector<std::string> errors;  ///< one of these; success where there are none
  std::int64_t bytes = 0;
  std::vector<std::uint8_t> memory;
  std::optional<std::int64_t> value;
};

/// One rank's part of a step.
struct Call {
  const Step* step = nullptr;
  const Part* part = nullptr;
  std::size_t rank = 0;
  bool cancelled = false;
  bool during_split = false;  ///< another split collective of the rank is active
};

/// The errors of the arguments.
std::vector<std::string> errors_of(const FileState& state, const Call& call);

/// The etype at which an access begins. `before`: etypes of lower ranks in an ordered call.
std::int64_t start_of(const World& world, const Call& call, std::int64_t before = 0);

/// Etypes by which an access moves the shared pointer.
std::int64_t shared_etypes(const FileState& state, const Call& call);

/// An access that begins at etype `start`. Moves the individual pointer, not the shared one.
Expected carry_out_access(World& world, const FileState& state, const Call& call, Memory memory,
                          std::int64_t start);

/// Any other step of a rank by itself: seek, shared_position, byte_offset, get_size.
Expected carry_out_query(World& world, const FileState& state, const Call& call);

/// MPI_File_seek_shared. The error, or empty.
std::string seek_shared(World& world, const FileState& state, const Step& step);

/// Opens what `world` holds, with the default view.
FileState open(World& world, const Mode& mode, std::size_t ranks);

/// The views that set_view makes, or nothing where a rank's is not allowed.
std::optional<FileState> with_views(const World& world, const FileState& state,
                                    const std::vector<const Part*>& parts);

}  // namespace headrace::fuzz
