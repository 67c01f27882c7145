#pragma once

#include <string>
#include <vector>

#include "faults/fault.h"

namespace headrace::faults {

/// What once broke the contract, and stays.
struct Regression {
  std::string script;  ///< a fixed one
  Layer layer = Layer::store;
  std::vector<Fault> faults;
  bool at_each_place = false;  ///< of the last fault, from its own on
};

std::vector<Regression> regressions();

}  // namespace headrace::faults
