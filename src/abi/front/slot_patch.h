#pragma once

#include "abi/flavour.h"

namespace headrace::abi {

/// Starts catching, for `flavour`, the procedures that not every library has, mainly those with
/// large counts. They are not exported, since a program would then see them even if its library
/// lacks them; instead the slots through which loaded objects call them are redirected. Slots that
/// hold null (weak symbols without a definition) stay as they are. So do slots that hold another
/// tool's function which calls the library's through a slot, and so reaches us.
///
/// Objects that are loaded later are patched when the program looks a symbol up (dlsym), since
/// nearly all such objects are entered by what that returns; and by catch_unexported(). (Wrapping
/// dlopen would hide its caller, whose RUNPATH it uses.)
///
/// If a front library is loaded, the exported procedures are caught the same way: this library may
/// come after the MPI library, or in a scope that other objects do not see, and another object may
/// write a file that one object opened through us.
void set_caught_flavour(const Flavour* flavour, void* library);

/// Starts catching what the program does with files (io_slots.h), and calls of functions that are
/// to be traced (trace_slots.h), if the recorder wants that. What slots are led to stays until the
/// process ends; without a recorder it does nothing.
void catch_calls();

}  // namespace headrace::abi
