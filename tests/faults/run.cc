#include "faults/run.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>

#include "faults/injector.h"
#include "faults/leaks.h"
#include "faults/rank.h"
#include "sim/mailbox.h"

namespace headrace::faults {
namespace {

/// The simulation's messages are no part of the engine; making one to be started is.
class Messages : public sim::MailboxMessenger {
 public:
  using MailboxMessenger::MailboxMessenger;
  Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    const OutsideEngine outside;
    return MailboxMessenger::exchange(tag, to, outgoing, from, incoming);
  }
  Error start_send(fabric::Message& message, int tag, int to,
                   std::span<const std::byte> outgoing) override {
    const OutsideEngine outside;
    return MailboxMessenger::start_send(message, tag, to, outgoing);
  }
  Error start_receive(fabric::Message& message, int tag, int from,
                      std::span<std::byte> incoming) override {
    const OutsideEngine outside;
    return MailboxMessenger::start_receive(message, tag, from, incoming);
  }
};

/// One run of a script. Ranks act together, and the first looks at what came of it.
class Run {
 public:
  Run(const Script& script, Coverage& coverage)
      : script_(script),
        coverage_(coverage),
        world_(World::create(script)),
        inspector_(script, *world_, problems_),
        office_(script.ranks()),
        meeting_(script.ranks()),
        got_(static_cast<std::size_t>(script.ranks())) {}

  Verdict run(const std::vector<Fault>& faults);

 private:
  void act_as(int rank);
  void join(Rank& rank, int number);
  void check_join();
  void take_steps(Rank& rank, int number);
  void take(Rank& rank, int number, const Step& step, std::size_t place);
  void use_again(Rank& rank, int number);
  Step plain_view() const;
  Step plain_access(bool is_write, bool is_collective) const;
  template <class Action, class Inspect>
  void together(int number, const std::string& call, Action action, Inspect inspect);
  /// Without faults.
  template <class Action>
  void undisturbed(int number, Action action);
  std::vector<Struck> count_struck(const std::string& call);

  const Script& script_;
  Coverage& coverage_;
  sim::Problems problems_;
  std::unique_ptr<World> world_;
  Inspector inspector_;
  sim::PostOffice office_;
  std::barrier<> meeting_;
  std::vector<Got> got_;
  bool all_have_failed_ = false;
};

std::vector<Struck> Run::count_struck(const std::string& call) {
  std::vector<Struck> struck = Injector::instance().take_struck();
  const std::vector<std::string>& calls = all_calls();
  const auto row = static_cast<int>(std::ranges::find(calls, call) - calls.begin());
  for (const Struck& one : struck) coverage_.add(row, one);
  return struck;
}

template <class Action, class Inspect>
void Run::together(int number, const std::string& call, Action action, Inspect inspect) {
  meeting_.arrive_and_wait();
  got_[static_cast<std::size_t>(number)] = action();
  meeting_.arrive_and_wait();
  if (number == 0) inspect(count_struck(call));
  meeting_.arrive_and_wait();
}

template <class Action>
void Run::undisturbed(int number, Action action) {
  meeting_.arrive_and_wait();
  if (number == 0) Injector::instance().suspend();
  meeting_.arrive_and_wait();
  action();
  meeting_.arrive_and_wait();
  if (number == 0) Injector::instance().resume();
  meeting_.arrive_and_wait();
}

void Run::join(Rank& rank, int number) {
  const auto try_it = [&] {
    Got got;
    got.error = rank.join(std::make_unique<Messages>(office_, number));
    return got;
  };
  together(number, "open", try_it, [&](const std::vector<Struck>& struck) {
    inspector_.note_lost_pointer(struck);
    const auto failures =
        std::ranges::count_if(got_, [](const Got& one) { return static_cast<bool>(one.error); });
    all_have_failed_ = failures > 0;
    if (failures > 0 && failures < std::ssize(got_)) problems_.add("join: not all ranks fail");
  });
  if (!all_have_failed_) return;
  undisturbed(number, [&] {
    if (const Error error = try_it().error) problems_.add("join again: " + error.message);
  });
}

void Run::take(Rank& rank, int number, const Step& step, std::size_t place) {
  const std::string call = call_of(step);
  together(
      number, call, [&] { return rank.take(step); },
      [&](const std::vector<Struck>& struck) {
        if (has_wrong(step)) {
          const std::vector<std::string>& calls = all_calls();
          coverage_.add_invalid(static_cast<int>(std::ranges::find(calls, call) - calls.begin()));
        }
        inspector_.check(step, place, got_, struck);
        all_have_failed_ = static_cast<bool>(got_[0].error);
      });
  // The steps that follow are made for this view, with its pointers at the beginning.
  if (step.kind != StepKind::set_view || !all_have_failed_) return;
  Step again = step;
  for (Part& part : again.parts) part.wrong = false;
  undisturbed(number, [&] {
    together(
        number, call, [&] { return rank.take(again); },
        [&](const std::vector<Struck>& struck) { inspector_.check(again, place, got_, struck); });
  });
}

/// Each rank has its own part of the file.
Step Run::plain_view() const {
  const int ranks = script_.ranks();
  Step step = step_of(StepKind::set_view, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    View& view = step.parts[static_cast<std::size_t>(rank)].view;
    view.displacement = std::int64_t{64} * rank;
    view.filetype = resized(0, std::int64_t{64} * ranks, basic(64));
  }
  return step;
}

Step Run::plain_access(bool is_write, bool is_collective) const {
  Step step = step_of(StepKind::access, script_.ranks());
  // No other step has such data.
  step.id = 1'000'000 + (is_write ? 2 : 0) + (is_collective ? 1 : 0);
  step.is_write = is_write;
  step.is_collective = is_collective;
  for (Part& part : step.parts) part.count = 640;
  return step;
}

/// The file goes on working when nothing strikes any more.
void Run::use_again(Rank& rank, int number) {
  const auto expect_success = [&](const Step& step) {
    together(
        number, call_of(step), [&] { return rank.take(step); },
        [&](const std::vector<Struck>& struck) { inspector_.check(step, 99, got_, struck); });
  };
  if (!script_.learns_late) {
    const Step sync = step_of(StepKind::sync, script_.ranks());
    together(
        number, "sync", [&] { return rank.take(sync); },
        [&](const std::vector<Struck>&) { inspector_.check_final_sync(got_); });
  }
  expect_success(plain_view());
  for (const bool collective : {true, false}) {
    expect_success(plain_access(true, collective));
    expect_success(plain_access(false, collective));
  }
}

void Run::take_steps(Rank& rank, int number) {
  for (std::size_t i = 0; i < script_.steps.size(); ++i) take(rank, number, script_.steps[i], i);
  undisturbed(number, [&] { use_again(rank, number); });
  together(
      number, "close", [&] { return rank.close(); },
      [&](const std::vector<Struck>& struck) { inspector_.check_close(got_, struck); });
}

void Run::act_as(int number) {
  Rank rank(script_, number, *world_, meeting_);
  join(rank, number);
  if (!rank.has_team()) return;
  if (number == 0) inspector_.set_sharing(rank.shares_memory());
  together(
      number, "open", [&] { return rank.open(); },
      [&](const std::vector<Struck>& struck) {
        inspector_.check_open(got_, struck);
        all_have_failed_ = static_cast<bool>(got_[0].error);
      });
  if (all_have_failed_) {
    undisturbed(number, [&] {
      if (const Error error = rank.open().error) problems_.add("open again: " + error.message);
    });
  }
  meeting_.arrive_and_wait();
  if (rank.is_open()) take_steps(rank, number);
  undisturbed(number, [&] {
    if (const Error lost = rank.leave()) problems_.add("leave: " + lost.message);
  });
}

Verdict Run::run(const std::vector<Fault>& faults) {
  Injector::instance().arm(faults);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < script_.ranks(); ++rank) {
    threads.emplace_back([this, rank] { act_as(rank); });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<bool> struck = Injector::instance().disarm();
  return {problems_.take(), std::ranges::count(struck, true), !struck.empty() && struck.back()};
}

/// What the run has left behind. A thread that has ended may be listed for a moment.
std::string left_over(const Holdings& before) {
  constexpr int kPolls = 20'000;
  std::string left;
  for (int poll = 0; poll < kPolls; ++poll) {
    left = Holdings::now().more_than(before);
    if (left.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return left;
}

}  // namespace

Verdict run_script(const Script& script, const std::vector<Fault>& faults, Coverage& coverage) {
  const Holdings before = Holdings::now();
  Verdict verdict = Run(script, coverage).run(faults);
  file::stop_background();
  const std::string left = left_over(before);
  if (!left.empty()) verdict.problems.push_back("leaks: " + left);
  return verdict;
}

}  // namespace headrace::faults
