#pragma once

#include <span>
#include <string>

#include "abi/feature.h"

namespace headrace::abi {

/// Sets which features there are, outermost first. None joins a chain yet. False if the user's
/// settings ask for none.
bool set_features(std::span<const Feature* const> features);

/// Lets the features that were started join the chains of the procedures that they wrap, except
/// those that join later.
void join_features();

/// The names of features that could not start, or "".
const std::string& refused_features();

/// Whether a feature that is wanted wraps the procedure, switched on or not.
bool is_wrapped(Entry entry);

/// Lets an entry that no feature wraps lead to `function` (not null), unless a feature has joined
/// meanwhile.
void lead_to(Name name, Entry entry, void* function);

}  // namespace headrace::abi
