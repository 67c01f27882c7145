#include "record/path_table.h"

#include <bit>

#include "base/mixed_hash.h"

namespace headrace::record {

std::atomic<std::uintptr_t> trampoline_return = 0;

PathTable::PathTable(PathStore& store, std::size_t most)
    : store_(store), paths_(most + 1), places_(std::bit_ceil(most * 2 + 2)) {
  mask_ = std::bit_ceil(most * 2 + 2) - 1;
  if (paths_.has_room(1)) paths_.take(1);  // 0 is none
}

Path* PathTable::add(std::span<const StackFrame> walk) noexcept {
  std::uint32_t path = 0;
  for (std::size_t i = walk.size(); i-- > 0;) {
    std::size_t place = 0;
    std::uint32_t next = find(path, walk[i].return_address, place);
    if (next == 0) {
      // A quarter is kept for call sites alone.
      if (paths_.taken() > paths_.most() - paths_.most() / 4) return nullptr;
      next = make(path, walk[i].return_address, place);
    }
    if (next == 0) return nullptr;
    path = next;
  }
  return &paths_[path];
}

Path* PathTable::add_site(std::uintptr_t return_address) noexcept {
  std::size_t place = 0;
  std::uint32_t path = find(0, return_address, place);
  if (path == 0) path = make(0, return_address, place);
  return path == 0 ? nullptr : &paths_[path];
}

Path* PathTable::add_foreign_site(std::uintptr_t return_address) noexcept {
  if (!paths_.has_room(1)) return nullptr;
  Path& path = paths_[paths_.take(1)];
  path.return_address = return_address;
  path.end = {kNoPath, true, nullptr};
  return &path;
}

/// `place` is where it is or belongs.
std::uint32_t PathTable::find(std::uint32_t caller, std::uintptr_t address,
                              std::size_t& place) noexcept {
  const std::uint64_t mixed = golden_hash(address ^ std::uint64_t{caller} << 44);
  for (place = mixed >> 24 & mask_;; place = (place + 1) & mask_) {
    const std::uint32_t path = places_[place];
    if (path == 0) return 0;
    if (paths_[path].return_address == address && paths_[path].caller == caller) return path;
  }
}

std::uint32_t PathTable::make(std::uint32_t caller, std::uintptr_t address,
                              std::size_t place) noexcept {
  if (is_store_full_ || !paths_.has_room(1)) return 0;
  const PathId id = store_.add(caller == 0 ? kNoPath : paths_[caller].end.id, address);
  is_store_full_ = id == kNoPath;
  if (is_store_full_) return 0;
  const auto path = static_cast<std::uint32_t>(paths_.take(1));
  paths_[path] = {address, caller, 0, {id, false, nullptr}};
  places_[place] = path;
  return path;
}

}  // namespace headrace::record
