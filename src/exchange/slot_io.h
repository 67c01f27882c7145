#pragma once

#include <cstdint>
#include <optional>

#include "exchange/file_state.h"
#include "exchange/slots.h"
#include "plan/windows.h"
#include "storage/store.h"

namespace headrace::exchange {

/// A window's slot and the file: the same for calls of one node and those between nodes.
struct SlotFile {
  storage::Store& store;
  Slots& slots;
  std::int64_t window;
  FileOffset begin;                        ///< of the window
  ByteCount size;                          ///< of the window, at most the slot's
  std::byte* bytes = slots.bytes(window);  ///< looked up once
};

/// Reads a part of the window into its slot, and marks the slot as loaded.
void load_slot(const SlotFile& slot, const plan::FileRange& part);

/// Writes a part of the window. Where it failed: from where on bytes are missing, and why.
std::optional<WriteStop> write_slot(const SlotFile& slot, const plan::FileRange& part);

/// Writes what is marked of the window, and nothing in between, and takes the marks away. Where the
/// round has failed nothing is written; where it fails here, note_stop() tells the others.
void write_and_clear(const SlotFile& slot, int granule_shift, StagingFailure& failure,
                     std::uint64_t round);

/// Tells the ranks of the round that nothing is written from `stop` on.
void note_stop(StagingFailure& failure, std::uint64_t round, std::int64_t window,
               const WriteStop& stop);

}  // namespace headrace::exchange
