#pragma once

#include <string>
#include <vector>

#include "record/run_findings.h"

namespace headrace::record {

/// What is told at the end of a job that was recorded.
struct JobStory {
  RunTimes times;
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  Costliest first;                 ///< of the node of rank 0
  std::string lacks;               ///< why the record is not complete; empty if it is
  std::vector<std::string> files;  ///< summary()
  std::string record;              ///< its path; empty if there is none
  std::string problem;             ///< why there is none, where nobody asked for it
};

/// Six at most: the verdict, efficiencies, files (two lines), the costliest call path, the record.
/// Where functions have names in this process, they are looked up.
std::vector<std::string> exit_lines(const JobStory& story);

}  // namespace headrace::record
