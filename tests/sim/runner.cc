#include "sim/runner.h"

#include <barrier>
#include <cstdlib>
#include <thread>

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
        problems_(problems) {}

  void open() {
    Result<std::unique_ptr<file::File>> file =
        file::File::open(team_, file_system_, story_.path, story_.mode, story_.hints);
    if (!file) return report("open: " + file.error().message);
    file_ = std::move(file.value());
  }

  void close() {
    if (!file_) return;
    if (const Error error = file_->close()) report("close: " + error.message);
    file_.reset();
  }

  void next() {
    const Step& step = story_.steps[number_];
    // Without a file the rank still meets the others.
    if (step.meets_first) meeting_.arrive_and_wait();
    if (file_ || step.kind == StepKind::reopen) take(step);
    ++number_;
  }
  bool is_done() const { return number_ == story_.steps.size(); }

 private:
  void take(const Step& step) {
    switch (step.kind) {
      case StepKind::transfer: return transfer(step);
      case StepKind::set_view:
        return expect_success("set_view", file_->set_view(mine(step.views).view()));
      case StepKind::seek: return seek(step);
      case StepKind::resize: return expect_success("resize", file_->resize(step.size));
      case StepKind::allocate: return expect_success("allocate", file_->allocate(step.size));
      case StepKind::sync: return expect_success("sync", file_->sync());
      case StepKind::size: return expect("size", file_->size().value(), step.size);
      case StepKind::set_hints: return expect_success("set_hints", file_->set_hints(step.hints));
      case StepKind::byte_offset:
        if (mine(step.results) < 0) return;
        return expect("byte offset", file_->positions().byte_offset(mine(step.offsets)).value(),
                      mine(step.results));
      case StepKind::reopen: close(); return open();
    }
  }

  void transfer(const Step& step) {
    const Request& request = mine(step.requests);
    Bytes buffer = request.buffer;
    const bool on_device = story_.on_devices && random_byte(number_, rank_) % 2 == 0;
    const file::Outcome outcome = (on_device ? carry_out_on_device : carry_out)(
        *file_, step.direction, step.collective, request, buffer);
    if (outcome.error.error_class != request.error) {
      report("transfer: error '" + outcome.error.message + "' is not the one expected");
    }
    expect("bytes moved", outcome.bytes, request.bytes);
    const std::string difference = first_difference(buffer, request.after);
    if (!difference.empty()) report("memory: byte " + difference);
    expect("pointer", file_->positions().individual().value(), request.pointer);
  }

  void seek(const Step& step) {
    const std::int64_t before = file_->positions().individual().value();
    const Error error = file_->positions().seek(mine(step.offsets), step.whence);
    if (error && file_->positions().individual().value() != before)
      report("seek: a failed seek moved the pointer");
    expect("pointer after seek", file_->positions().individual().value(), mine(step.results));
  }

  template <class T>
  const T& mine(const std::vector<T>& of_ranks) const {
    return of_ranks[static_cast<std::size_t>(rank_)];
  }
  void expect(const std::string& what, std::int64_t is, std::int64_t should_be) {
    if (is == should_be) return;
    report(what + ": " + std::to_string(is) + " instead of " + std::to_string(should_be));
  }
  void expect_success(const std::string& what, const Error& error) {
    if (error) report(what + ": " + error.message);
  }
  void report(const std::string& problem) {
    const bool collective = number_ < story_.steps.size() && story_.steps[number_].collective;
    problems_.add(story_.path + " rank " + std::to_string(rank_) + " step " +
                  std::to_string(number_) + (collective ? "" : " (independent)") + ", " + problem);
  }

  const FileStory& story_;
  int rank_;
  std::shared_ptr<exchange::FileTeam> team_;
  storage::FileSystem& file_system_;
  std::barrier<>& meeting_;
  Problems& problems_;
  std::unique_ptr<file::File> file_;
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
