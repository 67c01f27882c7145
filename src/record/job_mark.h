#pragma once

#include <string>

/// Which job a process belongs to, without a message: by what its launcher tells it.
namespace headrace::record {

struct JobMark {
  /// The same for all processes of the job on a node, and no other job's while this one runs. Fit
  /// for a file name.
  std::string name;
  /// The number that the batch system or the launcher gives the job, for the record's name; may be
  /// empty.
  std::string number;
  /// Processes of the job, and of these on this node; 0 if the launcher does not tell.
  int ranks = 0;
  int ranks_on_node = 0;

  bool is_on_one_node() const { return ranks > 0 && ranks == ranks_on_node; }
};

JobMark find_job_mark();

}  // namespace headrace::record
