#pragma once

#include <string>
#include <vector>

#include "faults/fault.h"

namespace headrace::faults {

/// What once broke the contract, and stays.
struct Kept {
  std::string script;  ///< a fixed one
  Layer layer = Layer::store;
  std::vector<Fault> faults;
  bool at_each_place = false;  ///< of the last fault, from its own on
};

std::vector<Kept> kept_cases();

}  // namespace headrace::faults
