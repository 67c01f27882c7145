#pragma once

namespace headrace::profile {

/// Gives the calling thread a table of descriptors of its own (Linux 5.9): the files that it opens
/// then take no number that the program expects to get, and the program cannot close them. The
/// table keeps stderr, for messages.
void use_own_descriptors();

}  // namespace headrace::profile
