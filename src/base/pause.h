#pragma once

namespace headrace {

/// Tells the core that this thread looks at memory again and again, until another changes it.
void pause_spinning();

}  // namespace headrace
