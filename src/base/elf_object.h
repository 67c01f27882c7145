#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace headrace {

/// A word of an object that holds the address of a symbol of this name.
struct Slot {
  enum class Kind {
    call,    ///< through which the object calls a function; may not be bound yet
    global,  ///< of the global offset table, for other uses, and for calls that are bound early
    data,    ///< data that was initialised with the address; the program may have changed it
  };
  std::string_view name;
  void** word;
  Kind kind;
  std::size_t index;   ///< among the relocations of its kind
  std::size_t symbol;  ///< its number in the object's table of symbols
};

/// A view of one loaded ELF object's dynamic section: its name, the symbols that it defines, the
/// slots that the dynamic linker filled. Valid inside for_each_object() only, which holds the
/// linker's lock so that no object disappears.
class ElfObject {
 public:
  explicit ElfObject(const dl_phdr_info& info);

  /// False for the program itself, the kernel's vdso, and objects without symbols.
  bool is_library() const { return is_library_; }
  const char* path() const { return info_.dlpi_name; }
  std::uintptr_t base() const { return info_.dlpi_addr; }
  /// No two objects that are loaded at one time have the same.
  std::uintptr_t identity() const { return reinterpret_cast<std::uintptr_t>(dynamic_); }
  /// How many objects were loaded into the process up to now, and unloaded.
  unsigned long long loaded() const { return info_.dlpi_adds; }
  unsigned long long unloaded() const { return info_.dlpi_subs; }
  std::string_view soname() const;
  bool contains(std::uintptr_t address) const;

  /// Visits the sonames of the libraries that it needs.
  void for_each_need(const std::function<void(std::string_view soname)>& visit) const;

  bool defines(std::string_view name) const;
  void for_each_definition(const std::function<void(std::string_view name)>& visit) const;

  /// Visits each word that holds the address of a symbol, but for those in memory that is never
  /// written once the object is loaded (relocated text). Of names that are not wanted it looks at
  /// the first letters only: a library of C++ has tens of thousands of slots.
  using IsWanted = bool(const char* name);
  void for_each_slot(const std::function<void(const Slot&)>& visit,
                     IsWanted* is_wanted = nullptr) const;

  /// The version of the symbol that a slot needs; empty if it needs none.
  std::string_view version_of(const Slot& slot) const;

  /// Visits the memory of its code.
  void for_each_code(
      const std::function<void(std::uintptr_t begin, std::uintptr_t end)>& visit) const;

  /// Whether `value`, read from a slot of this object, says that it is not bound yet: that it leads
  /// to the slot's own stub, which asks the linker. No other code of the object does.
  bool is_unbound(const Slot& slot, const void* value) const;

  /// Stores `value` in a slot of this object that holds `expected`, even if the slot was made
  /// read-only after start-up. A slot that changed meanwhile is left alone. False if the memory's
  /// protection cannot be changed.
  bool replace(const Slot& slot, void* expected, void* value) const;

  /// Whether for_each_slot knows the relocation types of this machine.
  static bool supports_relocations();

 private:
  std::string_view name_of(const ElfW(Sym) & symbol) const;
  const void* pointer(ElfW(Addr) value) const;
  const ElfW(Phdr) * segment_of(std::uintptr_t address) const;
  void visit_relocations(const ElfW(Rela) * relocations, std::size_t bytes,
                         const std::function<void(const Slot&)>& visit, IsWanted* is_wanted) const;

  const dl_phdr_info& info_;
  bool is_library_ = false;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const char* strings_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const std::uint32_t* gnu_hash_ = nullptr;
  const std::uint32_t* sysv_hash_ = nullptr;
  const ElfW(Versym) * symbol_versions_ = nullptr;
  const ElfW(Verneed) * needed_versions_ = nullptr;
  std::size_t needed_versions_count_ = 0;
  const ElfW(Rela) * data_relocations_ = nullptr;
  std::size_t data_relocations_bytes_ = 0;
  const ElfW(Rela) * call_relocations_ = nullptr;
  std::size_t call_relocations_bytes_ = 0;
  ElfW(Addr) soname_offset_ = 0;
  std::uintptr_t read_only_begin_ = 0;  ///< memory protected after relocation (RELRO)
  std::uintptr_t read_only_end_ = 0;
};

/// Visits all loaded objects but this library itself.
void for_each_object(const std::function<void(const ElfObject&)>& visit);

/// Visits the object that an address, such as a function's, lies in; false if there is none. Unlike
/// dladdr, it may be called inside for_each_object(), and does not go through all symbols of the
/// object, of which large libraries have 100,000.
bool visit_object_at(const void* address, const std::function<void(const ElfObject&)>& visit);

/// Whether an address, such as a function's, lies in this library.
bool is_in_this_library(const void* address);

}  // namespace headrace
