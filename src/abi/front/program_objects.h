#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "base/elf_object.h"
#include "base/loaded_objects.h"
#include "base/settled_objects.h"

/// Which of the process's objects are the program's: it, and the libraries that it uses. What the
/// MPI library does is not the program's: its objects are left alone, as is what only they need.
namespace headrace::abi {

/// Call it right before the library's MPI_Init: what that loads is the library's own.
void note_objects_before_init() noexcept;

/// Call it once, when MPI runs. False without memory.
bool note_objects_after_init() noexcept;

/// The program's objects, by name_of(). Throws std::bad_alloc.
std::set<std::string> program_objects();

/// Its soname, or its file's name; the program's is empty.
std::string name_of(const ElfObject& object);

/// Objects whose slots were looked at; forgotten when any is unloaded.
class SeenObjects {
 public:
  /// Whether slots are to be looked at.
  std::atomic<bool> is_wanted = false;
  /// Held while they are looked at. A holder that may wait for a thread that loads objects must not
  /// be waited for: take it by try_to_lock then.
  std::mutex mutex;

  /// Whether objects were loaded since all were seen.
  bool may_lack_any() const noexcept { return is_wanted && loaded_object_count() != loaded_; }
  /// Call it first, with the mutex held.
  void begin(const SettledObjects& settled);
  bool has(const ElfObject& object) const { return objects_.contains(object.identity()); }
  void add(const ElfObject& object) { objects_.insert(object.identity()); }
  /// All that are settled were seen.
  void end(const SettledObjects& settled) { loaded_ = settled.loaded(); }

 private:
  std::set<std::uintptr_t> objects_;
  unsigned long long unloaded_ = 0;
  std::atomic<unsigned long long> loaded_ = 0;
};

/// The C library, which its own functions do not reach through slots, and the dynamic linker.
bool is_of_system(const ElfObject& object);

}  // namespace headrace::abi
