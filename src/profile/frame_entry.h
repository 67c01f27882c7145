#pragma once

#include <cstdint>
#include <optional>

#include "profile/code_map.h"

namespace headrace::profile {

/// What .eh_frame says of one function: the entry of the function (FDE), and the one of which it
/// is a kind (CIE).
struct FrameEntry {
  std::uintptr_t begin = 0;  ///< of the function
  std::uintptr_t end = 0;
  std::uint64_t code_factor = 0;
  std::int64_t data_factor = 0;
  std::uint64_t return_column = 0;
  bool is_signal_frame = false;
  std::uint8_t encoding = 0;                ///< of addresses
  const std::byte* common_begin = nullptr;  ///< instructions of the kind
  const std::byte* common_end = nullptr;
  const std::byte* own_begin = nullptr;  ///< instructions of the function
  const std::byte* own_end = nullptr;
};

/// The entry of the function at `address`. By the sorted table of .eh_frame_hdr, which all linkers
/// make.
std::optional<FrameEntry> find_entry(const CodeRange& object, std::uintptr_t address) noexcept;

}  // namespace headrace::profile
