#include "record/modules.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace headrace::record {
namespace {

struct Search {
  std::uintptr_t address;
  Module module;
  bool is_first = true;  // the dynamic linker names the program first
  bool is_found = false;
  bool lacks_memory = false;
};

std::string program_file() {
  std::array<char, 4096> name{};
  const ssize_t length = ::readlink("/proc/self/exe", name.data(), name.size());
  if (length > 0) return {name.data(), static_cast<std::size_t>(length)};
  const auto* executed = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return executed != nullptr ? executed : "";
}

bool holds(const dl_phdr_info& info, std::uintptr_t address) {
  return std::any_of(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum, [&](const auto& segment) {
    return segment.p_type == PT_LOAD &&
           address - info.dlpi_addr - segment.p_vaddr < segment.p_memsz;
  });
}

std::string build_id_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // Only notes that a loaded segment holds are in memory.
    if (!holds(info, info.dlpi_addr + segment.p_vaddr)) continue;
    const auto* notes = reinterpret_cast<const void*>(info.dlpi_addr + segment.p_vaddr);
    std::string found = build_id_of_notes(notes, segment.p_memsz, segment.p_align);
    if (!found.empty()) return found;
  }
  return {};
}

/// A plug-in's name may be relative to where the program was when it loaded it.
void make_absolute(std::string& name) {
  if (name.find('/') == std::string::npos || name.starts_with('/')) return;
  const std::unique_ptr<char, decltype(&std::free)> whole(::realpath(name.c_str(), nullptr),
                                                          &std::free);
  if (whole != nullptr) name = whole.get();
}

/// No exception may leave it: the dynamic linker's frames are another unwinder's.
int look_at(dl_phdr_info* info, std::size_t, void* argument) noexcept {
  Search& search = *static_cast<Search*>(argument);
  const bool is_program = search.is_first;
  search.is_first = false;
  if (!holds(*info, search.address)) return 0;
  search.is_found = true;
  try {
    search.module = {info->dlpi_name, build_id_of(*info), info->dlpi_addr};
    if (is_program && search.module.name.empty()) search.module.name = program_file();
  } catch (const std::bad_alloc&) {
    search.lacks_memory = true;
  }
  return 1;
}

}  // namespace

// _dl_find_object (glibc 2.35) is faster, but has no program headers, and a new path takes longer.
const Module* Modules::find(std::uintptr_t address) {
  // The call may be an object's last instruction.
  Search search{address - 1, {}};
  ::dl_iterate_phdr(&look_at, &search);
  if (search.lacks_memory) throw std::bad_alloc();
  if (!search.is_found) return nullptr;
  make_absolute(search.module.name);
  const auto known = std::find(modules_.begin(), modules_.end(), search.module);
  return known != modules_.end() ? &*known : &modules_.emplace_back(std::move(search.module));
}

std::string build_id_of_notes(const void* notes, std::size_t size, std::size_t alignment) {
  if (alignment < 4 || (alignment & (alignment - 1)) != 0) alignment = 4;
  const auto* bytes = static_cast<const unsigned char*>(notes);
  const auto padded = [&](std::size_t length) { return (length + alignment - 1) & -alignment; };
  for (std::size_t at = 0; size - at >= sizeof(ElfW(Nhdr));) {
    ElfW(Nhdr) header;
    std::memcpy(&header, bytes + at, sizeof header);
    const std::size_t name = at + sizeof header;
    const std::size_t content = name + padded(header.n_namesz);
    if (content > size || header.n_descsz > size - content) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(bytes + name, "GNU", 4) == 0) {
      std::string digits;
      for (std::size_t i = content; i < content + header.n_descsz; ++i) {
        digits += "0123456789abcdef"[bytes[i] >> 4];
        digits += "0123456789abcdef"[bytes[i] & 15];
      }
      return digits;
    }
    at = std::min(size, content + padded(header.n_descsz));
  }
  return {};
}

}  // namespace headrace::record
