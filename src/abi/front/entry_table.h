#pragma once

#include <atomic>

#include "abi/flavour.h"
#include "abi/generated/entry.h"
#include "abi/words.h"

namespace headrace::abi {

/// Where each procedure goes; null while that is not known.
extern std::atomic<void*> entry_table[2][kEntryCount];

/// Where to go now, for an entry that is still null.
void* resolve(Name name, Entry entry);

inline void* destination(Name name, Entry entry) {
  auto& place = entry_table[static_cast<int>(name)][static_cast<int>(entry)];
  void* const function = place.load(std::memory_order_acquire);
  if (function == nullptr) [[unlikely]]
    return resolve(name, entry);
  return function;
}

/// Forwards a call.
template <class... Words>
inline Word call(Name name, Entry entry, Words... words) {
  return call_words(destination(name, entry), words...);
}

}  // namespace headrace::abi
