#include "posix/mapped_files.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace headrace::posix {
namespace {

/// By a number of device and inode; 0: free.
std::array<std::atomic<std::uint64_t>, 1024> mapped;
std::atomic<bool> has_more = false;

/// Never 0. (The last steps of MurmurHash3, Appleby 2011.)
std::uint64_t number_of(const FileIdentity& file) {
  std::uint64_t mixed = file.inode ^ (file.device * 0x9e3779b97f4a7c15U);
  mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdU;
  mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53U;
  return (mixed ^ (mixed >> 33)) | 1U;
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
  if (!find_identity(descriptor, file)) return;
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
