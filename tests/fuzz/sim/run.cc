#include "fuzz/sim/run.h"

#include <barrier>
#include <memory>
#include <mutex>
#include <thread>

#include "fuzz/sim/actor.h"
#include "sim/mailbox.h"

namespace headrace::fuzz {
namespace {

/// What the ranks of a group have in common.
struct Meeting {
  Meeting(const Group& of_group, bool serves_any_thread)
      : group(of_group),
        office(static_cast<int>(of_group.ranks.size()), serves_any_thread),
        barrier(std::ssize(of_group.ranks)) {}

  Group group;
  sim::PostOffice office;
  std::barrier<> barrier;
};

std::string node_name(const Program& program, int rank) {
  return "node" + std::to_string(program.nodes[static_cast<std::size_t>(rank)]);
}

/// All that one rank does.
class RankRunner {
 public:
  RankRunner(const Program& program, int rank, Files& files, sim::PostOffice& office,
             std::vector<std::unique_ptr<Meeting>>& meetings, Record& record)
      : program_(program),
        rank_(rank),
        files_(files),
        world_office_(office),
        meetings_(meetings),
        record_(record) {}

  void run() {
    // Files on all ranks share a team, as files on one communicator do.
    const std::shared_ptr<exchange::FileTeam> world = make_team(world_office_, rank_);
    for (const std::unique_ptr<Meeting>& meeting : meetings_) {
      const std::vector<int>& ranks = meeting->group.ranks;
      const auto found = std::ranges::find(ranks, rank_);
      if (found == ranks.end()) continue;
      const bool is_world = std::ssize(ranks) == program_.ranks();
      const std::shared_ptr<exchange::FileTeam> own =
          make_team(meeting->office, static_cast<int>(found - ranks.begin()));
      // Threads must not open files on one communicator at once.
      actors_.push_back(
          std::make_unique<Actor>(program_, meeting->group, rank_, is_world ? world : own,
                                  is_world && !program_.has_thread_a_file ? world : own, files_,
                                  meeting->barrier, record_));
    }
    for (const auto& actor : actors_) actor->open();
    if (program_.has_thread_a_file) {
      run_in_threads();
    } else {
      for (const Step& step : program_.steps) {
        for (const auto& actor : actors_) {
          if (actor->file() == step.file) actor->take(step);
        }
      }
      for (const auto& actor : actors_) actor->close();
    }
  }

 private:
  std::shared_ptr<exchange::FileTeam> make_team(sim::PostOffice& office, int rank) {
    Result<std::shared_ptr<exchange::FileTeam>> team = exchange::FileTeam::create(
        std::make_unique<sim::MailboxMessenger>(office, rank), node_name(program_, rank_));
    return std::move(team.value());
  }

  void run_in_threads() {
    std::vector<std::thread> threads;
    for (const auto& actor : actors_) {
      threads.emplace_back([&program = program_, &actor] {
        for (const Step& step : program.steps) {
          if (actor->file() == step.file) actor->take(step);
        }
        actor->close();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  const Program& program_;
  int rank_;
  Files& files_;
  sim::PostOffice& world_office_;
  std::vector<std::unique_ptr<Meeting>>& meetings_;
  Record& record_;
  std::vector<std::unique_ptr<Actor>> actors_;
};

}  // namespace

Observations run(const Program& program) {
  const std::unique_ptr<Files> files = Files::create(program);
  // Half of the programs run as below MPI_THREAD_MULTIPLE.
  const bool serves_any_thread = program.seed % 2 == 1;
  sim::PostOffice office(program.ranks(), serves_any_thread);
  std::vector<std::unique_ptr<Meeting>> meetings;
  for (const Group& group : groups_of(program)) {
    if (const Look content = initial_content(program, group)) files->put(group.name, *content);
    meetings.push_back(std::make_unique<Meeting>(group, serves_any_thread));
  }
  Record record(program.ranks());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < program.ranks(); ++rank) {
    threads.emplace_back(
        [&, rank] { RankRunner(program, rank, *files, office, meetings, record).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::unique_ptr<Meeting>& meeting : meetings) {
    record.look(meeting->group.name, 0, files->look(meeting->group.name));
  }
  return record.take();
}

}  // namespace headrace::fuzz
