#pragma once

#include "steps/type_map.h"
#include "view/type.h"

namespace headrace::steps {

/// The engine's type of a tree.
view::TypePtr make_type(const TypeTree& type);

/// A type as the engine has it, and as the oracle has it.
struct Pair {
  view::TypePtr type;
  TypeMap model;
};
Pair pair_of(const TypeTree& type);

}  // namespace headrace::steps
