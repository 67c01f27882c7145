#include "base/settings.h"
#include "buffering/buffered_store.h"
#include "exchange/shared_pointer_service.h"
#include "file/open_file.h"
#include "posix/endings.h"
#include "threads/helper_threads.h"

// Calls of an open file that go on while the program computes.

namespace headrace::file {
namespace {

/// The queue of all files' calls that wait for no other rank. Never destroyed, so that it outlives
/// static objects.
const std::shared_ptr<WorkQueue>& common_queue() {
  static const auto* const queue = new std::shared_ptr<WorkQueue>(
      std::make_shared<WorkQueue>(static_cast<std::size_t>(settings().helper_threads)));
  return *queue;
}

/// A call that was begun on a file. It uses the file only until it is done.
class BackgroundCall : public Operation, public Work {
 public:
  /// `queue`: the queue from which it can be withdrawn; null for collective calls.
  BackgroundCall(CallExecutor& executor, const BackgroundCalls& calls, PreparedCall prepared,
                 std::shared_ptr<WorkQueue> queue)
      : executor_(executor),
        team_(calls.team()),
        background_(calls.background()),
        unreported_(background_->unreported),
        queue_(std::move(queue)),
        prepared_(std::move(prepared)) {
    in_flight_ = &(prepared_->keeps_order() ? background_->meeting : background_->independent);
    in_flight_->add();
  }

  void run(const fabric::Waiter& waiter) override {
    Outcome outcome = executor_.execute(*prepared_, waiter);
    if (outcome.error && prepared_->call.direction == Direction::write) {
      unreported_.keep(outcome.error);
    }
    finish(std::move(outcome));
  }

  bool is_done() const override {
    return done_.load(std::memory_order_acquire) || !process_.is_here();
  }

  const Outcome& wait() override {
    if (!is_done()) {
      const std::shared_ptr<exchange::FileTeam> team = team_.lock();
      event_.wait(team ? team->ranks().waiter() : fabric::Waiter{}, [this] { return is_done(); });
    }
    if (!done_.load(std::memory_order_acquire)) return left_behind();
    unreported_.forget();
    return outcome_;
  }

  bool cancel() override {
    if (!queue_ || !queue_->withdraw(*this)) return false;
    finish({});
    return true;
  }

 private:
  void finish(Outcome outcome) {
    outcome_ = std::move(outcome);
    prepared_.reset();
    done_.store(true, std::memory_order_release);
    event_.signal();
    // The file may end now.
    in_flight_->remove();
  }

  static const Outcome& left_behind() {
    static const Outcome outcome{
        0,
        {ErrorClass::request, 0,
         "the operation was begun by another process (this one was forked from it), complete it "
         "there"}};
    return outcome;
  }

  CallExecutor& executor_;
  std::weak_ptr<exchange::FileTeam> team_;  ///< a helper thread must not be the last owner
  std::shared_ptr<Background> background_;
  UnreportedFailures::Place unreported_;
  std::shared_ptr<WorkQueue> queue_;
  InFlight* in_flight_ = nullptr;
  std::optional<PreparedCall> prepared_;

  ProcessMark process_;
  std::atomic<bool> done_ = false;
  fabric::Event event_{};
  Outcome outcome_;
};

}  // namespace

Result<std::shared_ptr<Operation>> OpenFile::start(const TransferCall& call) {
  return begin_call(call, true);
}

/// `in_background`: a helper thread executes it; otherwise it is done when this returns.
Result<std::shared_ptr<Operation>> OpenFile::begin_call(const TransferCall& call,
                                                        bool in_background) {
  recorded_.note_call(call.direction, call.collective);
  PreparedCall prepared = prepare(call, in_background);
  Error failed = std::move(prepared.failed);
  const bool meets = prepared.keeps_order();
  // If ranks meet, the others need this one: it takes part without data.
  failures_->note_unwritten(call.direction, failed);
  if (failed && !meets) return failed;
  const bool moves = prepared.access.bytes > 0;
  std::shared_ptr<WorkQueue> queue;
  std::shared_ptr<BackgroundCall> started;
  const Error lacking = attempt([&]() -> Error {
    threads::HelperThreads::of_process();
    queue = meets ? calls_.lane() : common_queue();
    started = std::make_shared<BackgroundCall>(*executor_, calls_, std::move(prepared),
                                               call.collective ? nullptr : queue);
    return {};
  });
  if (lacking) {
    if (!failed) failures_->note_unwritten(call.direction, lacking);
    pointer_.pull_back(call.direction, prepared.access.bytes, prepared.move);
    if (meets) {
      calls_.wait_for_meetings();
      executor_->execute_without_data(prepared, channel_->waiter());
    }
    return failed ? failed : lacking;
  }
  if (!moves && !meets) {
    started->run({});
  } else if (in_background) {
    queue->add(started, channel_->waiter());
  } else {
    if (meets) calls_.wait_for_other_meetings();
    started->run(channel_->waiter());
  }
  if (failed) return failed;
  return std::shared_ptr<Operation>(std::move(started));
}

/// If only threads of the program may send to other nodes, begin() does all of the call, as MPI
/// allows (4.1, section 14.4.5).
Error OpenFile::begin(const TransferCall& call) {
  const bool in_background = !executor_->collective().choice(call.direction).needs_the_program();
  Result<std::shared_ptr<Operation>> started = begin_call(call, in_background);
  if (!started) return started.error();
  split_.begin(call, std::move(started.value()));
  return {};
}

Outcome OpenFile::end(Direction direction, bool shared, bool has_offset) {
  const Result<std::shared_ptr<Operation>> begun = split_.end(direction, shared, has_offset, path_);
  return begun ? begun.value()->wait() : Outcome{0, begun.error()};
}

void settle_files() noexcept {
  static_cast<void>(buffering::settle_all());
  posix::save_all("the job ends");
}

void stop_background() {
  threads::HelperThreads::of_process().stop();
  exchange::SharedPointerService::of_process().stop();
}

}  // namespace headrace::file
