#pragma once

#include <functional>
#include <set>

#include "base/elf_object.h"

namespace headrace {

/// The objects whose loading had ended at one time. While another thread loads an object, the
/// dynamic linker lists it, but still writes to its slots and changes their memory's protection.
class SettledObjects {
 public:
  /// Waits until what other threads load or unload now is done: call it with no lock held that a
  /// constructor of an object may want. Throws std::bad_alloc.
  static SettledObjects of_now();

  /// Visits those of them that are still there, but not this library itself. False if there may be
  /// objects that were left out.
  bool for_each(const std::function<void(const ElfObject&)>& visit) const;

  /// How many objects were loaded, and unloaded, up to that time.
  unsigned long long loaded() const { return loaded_; }
  unsigned long long unloaded() const { return unloaded_; }

 private:
  std::set<std::uintptr_t> dynamic_sections_;
  unsigned long long loaded_ = 0;
  unsigned long long unloaded_ = 0;
};

}  // namespace headrace
