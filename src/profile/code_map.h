#pragma once

#include <cstddef>
#include <cstdint>

#include "record/mapped_array.h"

namespace headrace::profile {

/// A segment of code of a loaded object.
struct CodeRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_readable = false;
  const std::byte* header = nullptr;  ///< the object's .eh_frame_hdr; null if it has none
  std::size_t header_size = 0;
  const std::byte* readable_begin = nullptr;  ///< what of the object may be read, its tables too
  const std::byte* readable_end = nullptr;
};

/// The code of all loaded objects, sorted by address. Not thread-safe. It takes no
/// memory by malloc, since the dynamic linker's lock is held meanwhile.
class CodeMap {
 public:
  CodeMap() : ranges_(kMost) {}

  /// Null where no object has code.
  const CodeRange* find(std::uintptr_t address) const noexcept;

  /// Calls `work(argument)` while no object can be loaded or unloaded, with the map as it is then.
  /// `work` may not call malloc, or anything else that may wait for another thread. False if it was
  /// not called: objects change all the time, or there is no memory.
  bool with_objects_held(void (*work)(void*), void* argument) noexcept;

  /// Grows whenever objects were loaded or unloaded.
  std::uint64_t generation() const noexcept { return generation_; }

  /// How many objects were ever unloaded, as of with_objects_held.
  std::uint64_t unloads() const noexcept { return unloads_; }

  /// For tests.
  void add(const CodeRange& range) noexcept;

 private:
  static constexpr std::size_t kMost = 8192;
  struct Visit;
  static int visit(void* info, std::size_t size, void* argument) noexcept;

  record::MappedArray<CodeRange> ranges_;
  std::size_t count_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t loads_ = 0;  ///< as the dynamic linker counts, when the map was made
  std::uint64_t unloads_ = 0;
};

}  // namespace headrace::profile
