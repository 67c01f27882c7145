#pragma once

#include <atomic>

#include "abi/flavour.h"
#include "abi/generated/entry.h"
#include "abi/words.h"

namespace headrace::abi {

/// The function that each entry jumps to; null while unknown.
extern std::atomic<void*> entry_table[2][kEntryCount];

/// The function to jump to now, for an entry that is still null.
void* resolve(Name name, Entry entry);

inline void* destination(Name name, Entry entry) {
  auto& place = entry_table[static_cast<int>(name)][static_cast<int>(entry)];
  void* const function = place.load(std::memory_order_acquire);
  if (function == nullptr) [[unlikely]]
    return resolve(name, entry);
  return function;
}

/// A procedure's first call. A function of its own, so that later calls save no registers.
template <Name name, Entry entry, class... Words>
[[gnu::noinline, gnu::cold]] Word resolve_and_call(Words... words) {
  return call_words(resolve(name, entry), words...);
}

/// Forwards a call.
template <Name name, Entry entry, class... Words>
inline Word call(Words... words) {
  auto& place = entry_table[static_cast<int>(name)][static_cast<int>(entry)];
  void* const function = place.load(std::memory_order_acquire);
  if (function == nullptr) [[unlikely]]
    return resolve_and_call<name, entry>(words...);
  return call_words(function, words...);
}

}  // namespace headrace::abi
