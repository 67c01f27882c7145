#pragma once

#include <barrier>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "exchange/file_team.h"
#include "file/file.h"
#include "fuzz/observations.h"
#include "fuzz/sim/files.h"

namespace headrace::fuzz {

/// What all ranks saw; from several threads.
class Record {
 public:
  explicit Record(int ranks) { observations_.of_rank.resize(static_cast<std::size_t>(ranks)); }

  void saw(int rank, int step, Seen seen);
  void look(const std::string& file, int step, Look content);
  void problem(const std::string& text);
  Observations take() { return std::move(observations_); }

 private:
  std::mutex mutex_;
  Observations observations_;
};

/// One file on one rank: takes the steps of a program.
class Actor {
 public:
  /// `team`: of the first open; `next_team`: of those that follow.
  Actor(const Program& program, const Group& group, int rank,
        std::shared_ptr<exchange::FileTeam> team, std::shared_ptr<exchange::FileTeam> next_team,
        Files& files, std::barrier<>& barrier, Record& record);

  int file() const { return group_.file; }
  void open();
  void take(const Step& step);
  void close();

 private:
  /// An access that goes on.
  struct Pending {
    std::shared_ptr<file::Operation> operation;
    Memory memory;
    Seen seen;
  };

  void access(const Step& step);
  file::TransferCall call_of(const Step& step, Memory& memory) const;
  void finish(int id, Pending pending, const file::Outcome& outcome);
  void wait(const Step& step);
  void end(const Step& step);
  void query(const Step& step);
  void together(const Step& step);
  void set_view(const Step& step);
  void meet(const Step& step);
  void reopen(const Step& step);
  void look(const Step& step);
  void saw(const Step& step, const Error& error, Seen seen = {});
  void open_as(const Mode& mode, const Hints& hints);
  const Part& part(const Step& step) const { return step.parts[static_cast<std::size_t>(rank_)]; }

  const Program& program_;
  const Group& group_;
  int rank_;
  std::shared_ptr<exchange::FileTeam> team_;
  std::shared_ptr<exchange::FileTeam> next_team_;
  Files& files_;
  std::barrier<>& barrier_;
  Record& record_;
  std::unique_ptr<file::File> file_;
  std::map<int, Pending> pending_;
  const Step* split_ = nullptr;
};

/// MPI's name of an error class in small letters, without MPI_ERR_; empty for success.
std::string error_name(ErrorClass error_class);

}  // namespace headrace::fuzz
