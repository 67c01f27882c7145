#pragma once

#include <cstdint>
#include <optional>

#include "exchange/file_state.h"
#include "exchange/slots.h"
#include "plan/windows.h"
#include "storage/store.h"

namespace headrace::exchange {

/// A window's slot and the file, for staged and for exchanged calls.
struct SlotFile {
  storage::Store& store;
  Slots& slots;
  std::int64_t window;
  FileOffset begin;                        ///< of the window
  ByteCount size;                          ///< of the window, at most the slot's size
  std::byte* bytes = slots.bytes(window);  ///< looked up once
};

/// Reads a part of the window into its slot, and marks the slot as loaded.
void load_slot(const SlotFile& slot, const plan::FileRange& part);

/// Writes a part of the window. If that fails, returns from where on bytes are missing, and why.
std::optional<WriteStop> write_slot(const SlotFile& slot, const plan::FileRange& part);

/// Writes the marked bytes of the window, and nothing in between, and clears the marks. Writes
/// nothing if the round has failed already. If it fails here, tells the others by note_stop().
void write_and_clear(const SlotFile& slot, int granule_shift, StagingFailure& failure,
                     std::uint64_t round);

/// Tells the ranks of the round that nothing is written from `stop` on. An earlier stop stays.
void note_stop(StagingFailure& failure, std::uint64_t round, std::int64_t window,
               const WriteStop& stop);

}  // namespace headrace::exchange
