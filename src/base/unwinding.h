#pragma once

namespace headrace {

/// Lets exceptions of the program, and the cancellation of its threads, pass through our functions.
/// This library has an unwinder of its own (it needs nothing but libc), and the one that the
/// program uses asks it about our frames: it ends the program where it was never started itself.
void prepare_unwinding();

}  // namespace headrace
