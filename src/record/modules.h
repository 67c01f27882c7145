#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace headrace::record {

/// An object of the process, as its call paths name it on whatever machine they are read.
struct Module {
  std::string name;         ///< as the dynamic linker has it; of the program, its file
  std::string build_id;     ///< in hex; empty where it has none
  std::uintptr_t bias = 0;  ///< an address less this is the address in the ELF file

  bool operator==(const Module&) const = default;
};

/// The objects in which return addresses lie. It asks the dynamic linker each time whether objects
/// were unloaded, and keeps what it was told, so an object may be unloaded later. Not thread-safe.
/// Microseconds, and memory, where the module is new.
class Modules {
 public:
  /// Null where the address is in no object: code that was made at run time.
  const Module* find(std::uintptr_t address);

  /// In the order in which they were found. They keep their addresses.
  const std::deque<Module>& found() const { return modules_; }

 private:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
    const Module* module;
  };
  struct Search;

  static int look_at(void* object, std::size_t size, void* search) noexcept;
  const Module* known_at(std::uintptr_t address, std::uint64_t unloads) noexcept;

  std::deque<Module> modules_;
  std::vector<Range> ranges_;  ///< segments of objects that are loaded
  std::uint64_t unloads_ = 0;  ///< of objects, when the ranges were found
};

/// All objects of the process. Throws std::bad_alloc.
std::vector<Module> loaded_modules();

/// The hex digits of the build-id among the notes of an ELF segment in memory; empty without one.
std::string build_id_of_notes(const void* notes, std::size_t size, std::size_t alignment);

}  // namespace headrace::record
