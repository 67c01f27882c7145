#pragma once

#include <barrier>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "exchange/file_team.h"
#include "fuzz/observations.h"
#include "fuzz/sim/files.h"
#include "steps/engine/driver.h"

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
  void meet(const Step& step);
  void reopen(const Step& step);
  void look(const Step& step);
  void saw(int id, const steps::Got& got);
  void open_as(const Mode& mode, const Hints& hints);

  const Program& program_;
  const Group& group_;
  int rank_;
  std::shared_ptr<exchange::FileTeam> team_;
  std::shared_ptr<exchange::FileTeam> next_team_;
  Files& files_;
  std::barrier<>& barrier_;
  Record& record_;
  steps::Driver driver_;
};

}  // namespace headrace::fuzz
