#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "exchange/file_channel.h"
#include "fabric/team.h"

namespace headrace::exchange {

/// The ranks of one communicator, as ranks that open files together.
class FileTeam {
 public:
  /// Collective over the team, whose channels must have FileChannel::needs().
  static Result<std::shared_ptr<FileTeam>> create(std::shared_ptr<fabric::Team> ranks);
  /// The same, and makes the team; see fabric::Team::create.
  static Result<std::shared_ptr<FileTeam>> create(std::unique_ptr<fabric::Messenger> messenger,
                                                  const std::string& node, bool has_room = true);
  virtual ~FileTeam() = default;

  virtual fabric::Team& ranks() = 0;
  /// Collective, in the same order on all ranks (as MPI requires of MPI_File_open).
  virtual Result<std::unique_ptr<FileChannel>> open_channel() = 0;
};

}  // namespace headrace::exchange
