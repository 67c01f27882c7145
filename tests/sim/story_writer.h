#pragma once

#include <string>
#include <vector>

#include "sim/conflicts.h"
#include "sim/scenario.h"

namespace headrace::sim {

/// Writes the story of one file: takes random steps and does by itself, byte for byte, what they
/// must do to the file and to each rank.
class StoryWriter {
 public:
  StoryWriter(Random& random, int ranks, std::string path);

  void may_reopen(bool may) { may_reopen_ = may; }
  FileStory write(std::int64_t steps);

 private:
  void begin();
  void open();
  StepKind next_kind();
  void access(StoryStep& next);
  void set_view(Step& step);
  void seek(StoryStep& next);
  void change_size(Step& step);
  void ask_size(StoryStep& next);
  void ask_byte_offset(StoryStep& next);

  Expected predict(const Step& step, int rank);
  /// Sometimes makes it one that must be refused.
  void spoil(Part& part);
  std::vector<FileOffset> file_bytes(int rank, const Part& part) const;
  void all_meet() { conflicts_.clear(std::ssize(bytes_)); }

  Random& random_;
  int ranks_;
  FileStory story_;
  bool may_reopen_ = true;
  Bytes bytes_;  ///< the file
  std::vector<ViewMap> views_;
  std::vector<std::int64_t> pointers_;  ///< of each rank, in etypes
  Conflicts conflicts_;
  Conflicts within_step_;
};

}  // namespace headrace::sim
