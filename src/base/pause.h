#pragma once

namespace headrace {

/// Tells the core that this thread spins: it reads memory until another thread changes it.
void pause_spinning();

}  // namespace headrace
