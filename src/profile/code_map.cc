#include "profile/code_map.h"

#include <link.h>

#include <algorithm>

namespace headrace::profile {
namespace {

constexpr int kAttempts = 3;

/// The object's unwind tables, and the segment that holds them.
void find_tables(CodeRange& range, const dl_phdr_info& object) {
  std::uintptr_t header = 0;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_GNU_EH_FRAME) continue;
    header = object.dlpi_addr + object.dlpi_phdr[i].p_vaddr;
    range.header_size = object.dlpi_phdr[i].p_memsz;
  }
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || header - begin >= segment.p_memsz) continue;
    range.readable_begin = reinterpret_cast<const std::byte*>(begin);
    range.readable_end = range.readable_begin + segment.p_memsz;
    const auto left = static_cast<std::size_t>(begin + segment.p_memsz - header);
    range.header_size = std::min(range.header_size, left);
    range.header = reinterpret_cast<const std::byte*>(header);
    return;
  }
}

void add_object(CodeMap& map, const dl_phdr_info& object) {
  CodeRange range;
  find_tables(range, object);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    range.begin = object.dlpi_addr + segment.p_vaddr;
    range.end = range.begin + segment.p_memsz;
    range.is_readable = (segment.p_flags & PF_R) != 0;
    map.add(range);
  }
}

}  // namespace

struct CodeMap::Visit {
  CodeMap& map;
  void (*work)(void*);
  void* argument;
  bool is_first = true;
  bool is_collecting = false;
  bool is_done = false;
};

int CodeMap::visit(void* info, std::size_t, void* argument) noexcept {
  const dl_phdr_info& object = *static_cast<dl_phdr_info*>(info);
  Visit& visit = *static_cast<Visit*>(argument);
  CodeMap& map = visit.map;
  if (visit.is_first) {
    visit.is_first = false;
    visit.is_collecting =
        map.generation_ == 0 || map.loads_ != object.dlpi_adds || map.unloads_ != object.dlpi_subs;
    if (visit.is_collecting) {
      map.count_ = 0;
      map.loads_ = object.dlpi_adds;
      map.unloads_ = object.dlpi_subs;
      ++map.generation_;
    }
  }
  if (!visit.is_collecting) {
    visit.work(visit.argument);
    visit.is_done = true;
    return 1;
  }
  add_object(map, object);
  return 0;
}

void CodeMap::add(const CodeRange& range) noexcept {
  if (count_ == ranges_.most()) return;
  std::size_t place = count_++;
  for (; place > 0 && ranges_[place - 1].begin > range.begin; --place) {
    ranges_[place] = ranges_[place - 1];
  }
  ranges_[place] = range;
}

bool CodeMap::with_objects_held(void (*work)(void*), void* argument) noexcept {
  if (ranges_.most() == 0) return false;
  const auto callback = [](dl_phdr_info* info, std::size_t size, void* visiting) noexcept {
    return visit(info, size, visiting);
  };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Visit visiting{*this, work, argument};
    ::dl_iterate_phdr(callback, &visiting);
    if (visiting.is_done) return true;
  }
  return false;
}

const CodeRange* CodeMap::find(std::uintptr_t address) const noexcept {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (ranges_[middle].begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0 || address >= ranges_[low - 1].end) return nullptr;
  return &ranges_[low - 1];
}

}  // namespace headrace::profile
