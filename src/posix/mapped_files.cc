#include "posix/mapped_files.h"

#include <array>
#include <atomic>
#include <cstdint>

#include "base/mixed_hash.h"

namespace headrace::posix {
namespace {

/// By a number of device and inode; 0: free.
std::array<std::atomic<std::uint64_t>, 1024> mapped;
std::atomic<bool> has_more = false;

/// Never 0.
std::uint64_t number_of(const FileIdentity& file) {
  return mixed_hash(file.inode ^ golden_hash(file.device)) | 1U;
}

/// The place that has it, or the first free one; null: there is none.
std::atomic<std::uint64_t>* place_of(std::uint64_t number) {
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    auto& place = mapped[(number / 2 + i) % mapped.size()];
    const std::uint64_t there = place;
    if (there == number || there == 0) return &place;
  }
  return nullptr;
}

}  // namespace

void note_shared_mapping(int descriptor) noexcept {
  FileIdentity file;
  if (find_identity(descriptor, file) != 0) return;
  const std::uint64_t number = number_of(file);
  while (true) {
    std::atomic<std::uint64_t>* const place = place_of(number);
    if (place == nullptr) {
      has_more = true;
      return;
    }
    std::uint64_t none = 0;
    if (*place == number || place->compare_exchange_strong(none, number)) return;
  }
}

bool was_mapped(const FileIdentity& file) noexcept {
  if (has_more) return true;
  const std::uint64_t number = number_of(file);
  const std::atomic<std::uint64_t>* const place = place_of(number);
  return place == nullptr || *place == number;
}

}  // namespace headrace::posix
