#pragma once

namespace headrace::sim {

/// From now on mappings of shared objects fail where `whether()` is true, which sets errno.
void let_mappings_fail(bool (*whether)());

}  // namespace headrace::sim
