#pragma once

#include <span>
#include <string>

#include "abi/feature.h"

namespace headrace::abi {

/// Tells which features there may be, outermost first. Nothing is in any chain yet. False where the
/// user's settings ask for none.
bool set_features(std::span<const Feature* const> features);

/// Puts the features that were started into the chains of the procedures that they wrap, but for
/// those that join later.
void join_features();

/// The names of features that could not start, or "".
const std::string& refused_features();

/// Whether one of the features that are wanted wraps the procedure, be it switched on or not.
bool is_wrapped(Entry entry);

/// Lets an entry that nobody wraps lead to `function` from now on; not where a feature has joined
/// meanwhile.
void lead_to(Name name, Entry entry, void* function);

}  // namespace headrace::abi
