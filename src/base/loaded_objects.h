#pragma once

#include <functional>
#include <string_view>

namespace headrace {

/// How many objects were ever loaded into this process: each dlopen of a new one adds to it. Takes
/// some 40 nanoseconds.
unsigned long long loaded_object_count();

/// How many were unloaded again.
unsigned long long unloaded_object_count();

/// Calls `visit` with the path of each loaded object, as the dynamic linker has it; the program's
/// own path is empty. `visit` must not load objects.
void for_each_object_path(const std::function<void(std::string_view)>& visit);

}  // namespace headrace
