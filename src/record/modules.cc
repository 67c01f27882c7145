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
#include <utility>

namespace headrace::record {
namespace {

std::string program_file() {
  std::array<char, 4096> name{};
  const ssize_t length = ::readlink("/proc/self/exe", name.data(), name.size());
  if (length > 0) return {name.data(), static_cast<std::size_t>(length)};
  const auto* executed = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return executed != nullptr ? executed : "";
}

/// Null if no loaded segment of the object holds the address.
const ElfW(Phdr) * segment_with(const dl_phdr_info& info, std::uintptr_t address) {
  const ElfW(Phdr)* const end = info.dlpi_phdr + info.dlpi_phnum;
  const auto* const found = std::find_if(info.dlpi_phdr, end, [&](const auto& segment) {
    return segment.p_type == PT_LOAD &&
           address - info.dlpi_addr - segment.p_vaddr < segment.p_memsz;
  });
  return found == end ? nullptr : found;
}

std::string build_id_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // Only notes that a loaded segment holds are in memory.
    if (segment_with(info, info.dlpi_addr + segment.p_vaddr) == nullptr) continue;
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

}  // namespace

struct Modules::Search {
  Modules& modules;
  std::uintptr_t address;
  const Module* known = nullptr;  // found without looking at all objects
  Module module{};
  Range range{};
  bool is_first = true;  // the dynamic linker names the program first
  bool is_found = false;
  bool lacks_memory = false;
};

const Module* Modules::known_at(std::uintptr_t address, std::uint64_t unloads) noexcept {
  if (unloads_ != unloads) ranges_.clear();
  unloads_ = unloads;
  const auto holds = [address](const Range& one) {
    return address >= one.begin && address < one.end;
  };
  const auto found = std::ranges::find_if(ranges_, holds);
  return found == ranges_.end() ? nullptr : found->module;
}

/// No exception may leave it: the dynamic linker's frames are another unwinder's.
int Modules::look_at(void* object, std::size_t, void* argument) noexcept {
  const dl_phdr_info& info = *static_cast<const dl_phdr_info*>(object);
  Search& search = *static_cast<Search*>(argument);
  const bool is_program = std::exchange(search.is_first, false);
  if (is_program) search.known = search.modules.known_at(search.address, info.dlpi_subs);
  if (search.known != nullptr) return 1;
  const ElfW(Phdr)* const segment = segment_with(info, search.address);
  if (segment == nullptr) return 0;
  search.is_found = true;
  search.range.begin = info.dlpi_addr + segment->p_vaddr;
  search.range.end = search.range.begin + segment->p_memsz;
  try {
    search.module = {info.dlpi_name, build_id_of(info), info.dlpi_addr};
    if (is_program && search.module.name.empty()) search.module.name = program_file();
  } catch (const std::bad_alloc&) {
    search.lacks_memory = true;
  }
  return 1;
}

// _dl_find_object (glibc 2.35) is faster, but has no program headers, and a new path takes longer.
const Module* Modules::find(std::uintptr_t address) {
  // The call may be an object's last instruction.
  Search search{*this, address - 1};
  const auto look = [](dl_phdr_info* object, std::size_t size, void* argument) noexcept {
    return look_at(object, size, argument);
  };
  ::dl_iterate_phdr(look, &search);
  if (search.known != nullptr) return search.known;
  if (search.lacks_memory) throw std::bad_alloc();
  if (!search.is_found) return nullptr;
  make_absolute(search.module.name);
  const auto same = std::ranges::find(modules_, search.module);
  const Module* const module =
      same != modules_.end() ? &*same : &modules_.emplace_back(std::move(search.module));
  ranges_.push_back({search.range.begin, search.range.end, module});
  return module;
}

std::vector<Module> loaded_modules() {
  struct Collected {
    std::vector<Module> modules;
    bool lacks_memory = false;
  } collected;
  const auto collect = [](dl_phdr_info* info, std::size_t, void* argument) noexcept {
    auto& all = *static_cast<Collected*>(argument);
    try {
      all.modules.push_back({info->dlpi_name, build_id_of(*info), info->dlpi_addr});
    } catch (const std::bad_alloc&) {
      all.lacks_memory = true;
    }
    return all.lacks_memory ? 1 : 0;
  };
  ::dl_iterate_phdr(collect, &collected);
  if (collected.lacks_memory) throw std::bad_alloc();
  for (Module& one : collected.modules) make_absolute(one.name);
  if (!collected.modules.empty() && collected.modules.front().name.empty()) {
    collected.modules.front().name = program_file();
  }
  return std::move(collected.modules);
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
