#include "sim/runner.h"

#include <barrier>
#include <cstdlib>
#include <thread>

#include "steps/engine/driver.h"
#include "storage/kinds.h"

namespace headrace::sim {
namespace {

constexpr std::uint64_t kExt4 = 0xef53;

/// One file on one rank.
class Actor {
 public:
  Actor(const FileStory& story, int rank, std::shared_ptr<exchange::FileTeam> team,
        storage::FileSystem& file_system, std::barrier<>& meeting, Problems& problems)
      : story_(story),
        rank_(rank),
        team_(std::move(team)),
        file_system_(file_system),
        meeting_(meeting),
        problems_(problems),
        driver_(kDataSeed, rank) {}

  void open() {
    const Error error = driver_.open(team_, file_system_, story_.path, story_.mode, story_.hints);
    if (error) report("open: " + error.message);
  }

  void close() {
    if (!driver_.is_open()) return;
    if (const Error error = driver_.close()) report("close: " + error.message);
  }

  void next() {
    const StoryStep& next = story_.steps[number_];
    // Without a file the rank still meets the others.
    if (next.meets_first) meeting_.arrive_and_wait();
    if (next.step.kind == StepKind::reopen) {
      close();
      open();
    } else if (driver_.is_open()) {
      take(next);
    }
    ++number_;
  }
  bool is_done() const { return number_ == story_.steps.size(); }

 private:
  void take(const StoryStep& next) {
    const std::optional<std::int64_t> before = driver_.position();
    const steps::Got got = driver_.take(next.step).at(next.step.id);
    const std::size_t rank = static_cast<std::size_t>(rank_);
    switch (next.step.kind) {
      case StepKind::access: return check_access(next.expected[rank], got);
      case StepKind::seek:
        if (got.error && got.position != before) report("a failed seek moved the pointer");
        return expect("pointer after seek", got.position, next.expected[rank].pointer);
      default:
        if (got.error) report(got.error.message);
        if (!next.expected.empty() && next.expected[rank].value) {
          expect("value", got.value, *next.expected[rank].value);
        }
    }
  }

  void check_access(const Expected& expected, const steps::Got& got) {
    if (got.error.error_class != expected.error) {
      report("access: error '" + got.error.message + "' is not the one expected");
    }
    expect("bytes moved", got.bytes, expected.bytes);
    const std::string difference = first_difference(got.memory, expected.memory);
    if (!difference.empty()) report("memory: byte " + difference);
    expect("pointer", got.position, expected.pointer);
  }

  void expect(const std::string& what, std::optional<std::int64_t> is, std::int64_t should_be) {
    if (is == should_be) return;
    report(what + ": " + (is ? std::to_string(*is) : "none") + " instead of " +
           std::to_string(should_be));
  }
  void report(const std::string& problem) {
    const bool independent =
        number_ < story_.steps.size() && !is_collective(story_.steps[number_].step);
    problems_.add(story_.path + " rank " + std::to_string(rank_) + " step " +
                  std::to_string(number_) + (independent ? " (independent)" : "") + ", " + problem);
  }

  const FileStory& story_;
  int rank_;
  std::shared_ptr<exchange::FileTeam> team_;
  storage::FileSystem& file_system_;
  std::barrier<>& meeting_;
  Problems& problems_;
  steps::Driver driver_;
  std::size_t number_ = 0;
};

void act(const Scenario& scenario, std::vector<Actor>& actors) {
  for (Actor& actor : actors) actor.open();
  if (scenario.has_thread_a_file) {
    std::vector<std::thread> threads;
    for (Actor& actor : actors) {
      threads.emplace_back([&actor] {
        while (!actor.is_done()) actor.next();
        actor.close();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return;
  }
  for (const int file : scenario.order) actors[static_cast<std::size_t>(file)].next();
  for (Actor& actor : actors) actor.close();
}

std::int64_t number_from_environment(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::strtoll(text, nullptr, 10) : otherwise;
}

}  // namespace

void Problems::add(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  list_.push_back(problem);
}

std::vector<std::string> Problems::take() {
  const std::lock_guard lock(mutex_);
  return std::move(list_);
}

std::vector<std::string> run_scenario(const Scenario& scenario) {
  Disk disk(scenario.delay_every);
  if (scenario.is_local) {
    disk.pretend({.kind = storage::find_kind(kExt4, ""), .is_coherent = true});
  }
  std::vector<std::unique_ptr<std::barrier<>>> meetings;
  for (const FileStory& story : scenario.files) {
    if (story.before) disk.put(story.path, *story.before);
    meetings.push_back(std::make_unique<std::barrier<>>(scenario.ranks));
  }
  Problems problems;
  // Half of the scenarios run as below MPI_THREAD_MULTIPLE.
  PostOffice office(scenario.ranks, scenario.order.size() % 2 == 1);
  run_ranks(
      office, scenario.nodes, disk,
      [&](int rank, std::shared_ptr<exchange::FileTeam> team, storage::FileSystem& file_system) {
        std::vector<Actor> actors;
        for (std::size_t i = 0; i < scenario.files.size(); ++i) {
          actors.emplace_back(scenario.files[i], rank, team, file_system, *meetings[i], problems);
        }
        act(scenario, actors);
      });
  for (const FileStory& story : scenario.files) {
    const std::optional<Bytes> is = disk.content(story.path);
    if (is.has_value() != story.after.has_value()) {
      problems.add(story.path + (is ? " was not deleted" : " is missing"));
    } else if (is) {
      const std::string difference = first_difference(*is, *story.after);
      if (!difference.empty()) problems.add(story.path + ": byte " + difference);
    }
  }
  return problems.take();
}

std::string first_difference(const Bytes& is, const Bytes& should_be) {
  const std::size_t common = std::min(is.size(), should_be.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (is[i] == should_be[i]) continue;
    return std::to_string(i) + " differs: " + std::to_string(is[i]) + " instead of " +
           std::to_string(should_be[i]);
  }
  if (is.size() == should_be.size()) return {};
  return std::to_string(common) + " differs: " + std::to_string(is.size()) + " bytes instead of " +
         std::to_string(should_be.size());
}

Budget budget(int default_cases) {
  return {static_cast<int>(number_from_environment("HEADRACE_SIM_CASES", default_cases)),
          static_cast<std::uint64_t>(number_from_environment("HEADRACE_SIM_SEED", 1))};
}

std::string again(std::uint64_t seed) {
  return "run it again by HEADRACE_SIM_SEED=" + std::to_string(seed) + " HEADRACE_SIM_CASES=1";
}

}  // namespace headrace::sim
