#pragma once

#include <atomic>
#include <cstdint>

#include "abi/flavour.h"
#include "abi/generated/entry.h"

namespace headrace::abi {

/// One argument of an MPI procedure, as the calling convention passes it.
using Word = std::uintptr_t;

/// Where each procedure goes; null while that is not known.
extern std::atomic<void*> entry_table[2][kEntryCount];

/// Where to go now, for an entry that is still null.
void* resolve(Name name, Entry entry);

/// Forwards a call. The compiler makes it a jump: a tool that walks the stack sees no frame of
/// ours.
template <class... Words>
inline Word call(Name name, Entry entry, Words... words) {
  auto& place = entry_table[static_cast<int>(name)][static_cast<int>(entry)];
  void* function = place.load(std::memory_order_acquire);
  if (function == nullptr) [[unlikely]]
    function = resolve(name, entry);
  return reinterpret_cast<Word (*)(Words...)>(function)(words...);
}

}  // namespace headrace::abi
