#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "record/mapped_array.h"
#include "record/path_store.h"
#include "record/stack_walk.h"

namespace headrace::record {

/// A call path, or the outer part of one.
struct Path {
  std::uintptr_t return_address = 0;
  std::uint32_t caller = 0;  ///< the path without this frame, by its place in the table; 0 is none
  std::uint32_t leaves = 0;  ///< in the trie: ways in which its frames lay on the stack
  PathEnd end;
};

/// The paths of one thread, each once, whatever the sizes of its frames were.
class PathTable {
 public:
  PathTable(PathStore& store, std::size_t most);
  bool has_memory() const noexcept { return paths_.most() != 0 && places_.most() != 0; }

  /// Null where table or store have no room.
  Path* add(std::span<const StackFrame> walk) noexcept;

  /// The path of a call site alone. It may use room that is kept for such.
  Path* add_site(std::uintptr_t return_address) noexcept;

  /// The same for one whose calls nobody counts: the store does not hear of it.
  Path* add_foreign_site(std::uintptr_t return_address) noexcept;

 private:
  std::uint32_t find(std::uint32_t caller, std::uintptr_t address, std::size_t& place) noexcept;
  std::uint32_t make(std::uint32_t caller, std::uintptr_t address, std::size_t place) noexcept;

  PathStore& store_;
  MappedArray<Path> paths_;
  MappedArray<std::uint32_t> places_;  // open-addressed
  std::size_t mask_ = 0;
  bool is_store_full_ = false;
};

}  // namespace headrace::record
