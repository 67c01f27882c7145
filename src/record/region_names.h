#pragma once

#include <cstddef>
#include <string>

/// The regions of this process, by the numbers that the program gives them.
namespace headrace::record {

inline constexpr std::size_t kMostRegions = 1000;
inline constexpr std::size_t kMostLabel = 80;  ///< bytes of a label that are kept

/// Stands for all regions beyond the thousandth.
inline constexpr int kOtherRegions = -1;

/// Keeps the region's first label. False if it is one of those that find no room.
bool name_region(int id, const char* label) noexcept;

/// The region's label; empty if it has none.
std::string label_of_region(int id);

}  // namespace headrace::record
