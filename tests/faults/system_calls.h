#pragma once

namespace headrace::faults {

/// From now on system calls on files that the engine opens are struck as store operations of the
/// rank that opened them (Layer::system). Those that make shared memory and threads always are.
/// Linked in by --wrap.
void strike_system_calls(bool strikes);

}  // namespace headrace::faults
