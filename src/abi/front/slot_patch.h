#pragma once

#include "abi/flavour.h"

namespace headrace::abi {

/// Starts catching those of the library's procedures that not every library has, large counts above
/// all, for `flavour`. They are not exported, since a program would see them where its library has
/// none; instead the slots through which loaded objects call them are redirected. Slots that hold
/// null (weak symbols without a definition) stay as they are, and those that hold the function of
/// another tool which calls the library's by a slot, and so comes to us.
///
/// Objects that are loaded later are looked at when the program looks a symbol up in any way
/// (dlsym): nearly all that is loaded is entered by what that returns. (Wrapping dlopen would hide
/// its caller, by whose RUNPATH it searches.) And at calls that need it, catch_unexported.
///
/// Where a front library is loaded the exported procedures are caught so, too: this library may
/// have come behind the MPI library, or in a scope that other objects do not see, and a file that
/// one object opens through us may be another's to write.
void set_caught_flavour(const Flavour* flavour, void* library);

}  // namespace headrace::abi
