#include <new>

#include "base/settings.h"
#include "engine/helper_threads.h"
#include "engine/open_file.h"
#include "exchange/shared_pointer_service.h"

// Calls of an open file that go on while the program computes.

namespace headrace::engine {
namespace {

/// Where all files' calls go that wait for no other rank. Outlasts static objects.
const std::shared_ptr<WorkQueue>& common_queue() {
  static const auto* const queue = new std::shared_ptr<WorkQueue>(
      std::make_shared<WorkQueue>(static_cast<std::size_t>(settings().helper_threads)));
  return *queue;
}

}  // namespace

/// A call that was begun on a file. It uses the file until it is done, and no longer.
class OpenFile::BackgroundCall : public Operation, public Work {
 public:
  /// `queue`: where it can be taken back from; null for collective calls.
  BackgroundCall(OpenFile& file, Prepared prepared, std::shared_ptr<WorkQueue> queue)
      : file_(file),
        team_(file.team_),
        background_(file.background_),
        queue_(std::move(queue)),
        prepared_(std::move(prepared)) {
    in_flight_ = &(prepared_->keeps_order() ? background_->meeting : background_->independent);
    in_flight_->add();
  }

  void run(const exchange::Waiter& waiter) override {
    Outcome outcome;
    try {
      outcome = file_.carry_out(*prepared_, waiter);
      if (outcome.error && prepared_->call.direction == Direction::write) {
        ticket_ = background_->untold.add(outcome.error);
      }
    } catch (const std::bad_alloc&) {
      outcome.error = {ErrorClass::no_memory, 0, {}};
    }
    finish(std::move(outcome));
  }

  bool is_done() const override {
    return done_.load(std::memory_order_acquire) || !process_.is_here();
  }

  const Outcome& wait() override {
    if (!is_done()) {
      const std::shared_ptr<exchange::Team> team = team_.lock();
      event_.wait(team ? team->waiter() : exchange::Waiter{}, [this] { return is_done(); });
    }
    if (!done_.load(std::memory_order_acquire)) return left_behind();
    background_->untold.remove(ticket_);
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

  OpenFile& file_;
  std::weak_ptr<exchange::Team> team_;  ///< no helper thread may be the last to let go of it
  std::shared_ptr<Background> background_;
  std::shared_ptr<WorkQueue> queue_;
  InFlight* in_flight_ = nullptr;
  std::optional<Prepared> prepared_;

  ProcessMark process_;
  std::atomic<bool> done_ = false;
  exchange::Event event_{};
  Outcome outcome_;
  UntoldFailures::Ticket ticket_ = 0;
};

Result<std::shared_ptr<Operation>> OpenFile::start(const TransferCall& call) try {
  Prepared prepared = prepare(call, true);
  const Error failed = prepared.failed;
  const bool meets = prepared.keeps_order();
  // Where ranks meet the others count on this one: it takes part with no data.
  if (failed && !meets) return failed;
  const bool moves = prepared.access.bytes > 0;
  const std::shared_ptr<WorkQueue> queue = meets ? lane() : common_queue();
  const auto started = std::make_shared<BackgroundCall>(*this, std::move(prepared),
                                                        call.collective ? nullptr : queue);
  if (!moves && !meets) {
    started->run({});
  } else if (!queue->add(started, channel_->waiter())) {
    if (meets) drain_lane();
    started->run(channel_->waiter());
  }
  if (failed) return failed;
  return std::shared_ptr<Operation>(started);
} catch (const std::bad_alloc&) {
  return Error{ErrorClass::no_memory, 0,
               "cannot begin a nonblocking call (no memory is left), use a blocking one"};
}

/// The queue of calls in which ranks meet: all ranks must meet in the order of their calls.
std::shared_ptr<WorkQueue> OpenFile::lane() {
  const std::lock_guard lock(mutex_);
  if (!lane_) lane_ = std::make_shared<WorkQueue>(1);
  return lane_;
}

/// Waits until the ranks have met in all that was begun: afterwards this thread may meet them.
void OpenFile::drain_lane() {
  background_->meeting.wait_for_none(channel_->waiter());
}

/// Waits for all that was begun.
void OpenFile::drain() {
  drain_lane();
  background_->independent.wait_for_none(channel_->waiter());
}

Error OpenFile::begin(const TransferCall& call) {
  Result<std::shared_ptr<Operation>> started = start(call);
  if (!started) return started.error();
  const std::lock_guard lock(mutex_);
  split_ = {call.direction, call.shared, call.offset.has_value(), std::move(started.value())};
  is_splitting_.store(true, std::memory_order_relaxed);
  return {};
}

Outcome OpenFile::end(Direction direction, bool shared, bool has_offset) {
  std::shared_ptr<Operation> operation;
  {
    const std::lock_guard lock(mutex_);
    if (!split_.operation) {
      return {0,
              {ErrorClass::io, 0,
               "no split collective call is active on '" + path_ + "', begin one first"}};
    }
    if (split_.direction != direction || split_.shared != shared ||
        split_.has_offset != has_offset) {
      return {0,
              {ErrorClass::io, 0,
               "the split collective call active on '" + path_ +
                   "' is another one, end it by the procedure that belongs to its begin"}};
    }
    operation = std::move(split_.operation);
    is_splitting_.store(false, std::memory_order_relaxed);
  }
  return operation->wait();
}

void stop_background() {
  HelperThreads::of_process().stop();
  exchange::SharedPointerService::of_process().stop();
}

}  // namespace headrace::engine
