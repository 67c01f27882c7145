#pragma once

namespace headrace {

/// Lets exceptions of the program, and the cancellation of its threads, pass through our functions.
/// This library has an unwinder of its own, since it needs nothing but libc. The program's unwinder
/// asks ours about our frames, and ends the program if ours was never set up.
void prepare_unwinding();

}  // namespace headrace
