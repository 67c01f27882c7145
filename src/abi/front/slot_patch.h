#pragma once

#include "abi/flavour.h"

namespace headrace::abi {

/// Starts catching those of the library's procedures that not every library has, large counts above
/// all, for `flavour`. They are not exported, since a program would see them where its library has
/// none; instead the slots through which loaded objects call them are redirected. Slots that hold
/// null (weak symbols without a definition) stay as they are, and those that hold the function of
/// another tool which calls the library's by a slot, and so comes to us.
void set_caught_flavour(const Flavour* flavour, void* library);

}  // namespace headrace::abi
