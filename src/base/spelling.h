#pragma once

#include <span>
#include <string_view>

namespace headrace {

/// The one of `names` that `name` was most likely meant to be, or empty where none is near: at most
/// a quarter of its characters must be inserted, deleted or replaced.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace headrace
