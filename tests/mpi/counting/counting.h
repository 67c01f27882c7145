#pragma once

#include "abi/flavour.h"

/// What the wrappers of the counting feature do beside calling on.
namespace headrace::HEADRACE_FLAVOUR::counting {

void count(abi::Entry entry, abi::Name name);

/// MPI_Pcontrol with this level switches the feature off while the program runs.
inline constexpr int kOff = -7000;
void obey(int level);

}  // namespace headrace::HEADRACE_FLAVOUR::counting
