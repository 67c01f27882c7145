#pragma once

#include <string>

#include "common/world.h"
#include "ior/parameters.h"
#include "ior/test.h"

namespace headrace::bench::ior {

/// Prints what IOR prints, in its places: options, a table line for each access, the closing
/// maxima and the summary of all tests. For rank 0.
class Output {
 public:
  Output(const Parameters& parameters, const World& world, std::string command_line);

  void begin();
  void access(const Access& access);
  void end(const Results& results);

  /// The same as one JSON document, under IOR's names where it has them.
  std::string json(const Results& results) const;
  /// One line an access, with a header line.
  std::string csv(const Results& results) const;

 private:
  void summary(const Results& results, bool writing) const;

  const Parameters& parameters_;
  const World& world_;
  std::string command_line_;
  std::string began_;
  Hints shown_hints_;
};

}  // namespace headrace::bench::ior
