#pragma once

#include <string>
#include <vector>

#include "copy/pieces.h"

namespace headrace::bench::copying {

/// One way to copy pieces.
struct Kernel {
  const char* name;
  const char* what;
  void (*copy)(const Pieces&);
  std::size_t shortest = 1;  ///< pieces it is made for
  std::size_t longest = SIZE_MAX;

  bool suits(std::size_t length) const { return shortest <= length && length <= longest; }
};

/// Those that this processor can run; the first is view::copy of this build.
std::vector<Kernel> kernels();

std::string processor();

}  // namespace headrace::bench::copying
