#include "storage/slowed_store.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

#include "base/kept_errno.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/spelling.h"

namespace headrace::storage {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr ByteCount kMost = 60 * kSecond;

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

/// Sleeps, but for the last part: the kernel wakes sleepers some 50 us late.
void wait_until(std::int64_t end) {
  constexpr std::int64_t kLate = 80'000;
  for (std::int64_t left = end - now(); left > 0; left = end - now()) {
    if (left > 2 * kLate) {
      const std::int64_t sleep = left - kLate;
      const timespec time{static_cast<time_t>(sleep / kSecond), sleep % kSecond};
      nanosleep(&time, nullptr);
    } else {
      sched_yield();
    }
  }
}

class SlowedStore : public Store {
 public:
  SlowedStore(std::unique_ptr<Store> inner, const Delays& delays)
      : inner_(std::move(inner)), delays_(delays) {}

  Transferred read(FileOffset offset, std::span<const iovec> segments) override {
    const std::int64_t begin = now();
    const Transferred done = inner_->read(offset, segments);
    return after(begin, done, delays_.read_call, delays_.read_byte);
  }
  Transferred write(FileOffset offset, std::span<const iovec> segments) override {
    const std::int64_t begin = now();
    const Transferred done = inner_->write(offset, segments);
    return after(begin, done, delays_.write_call, delays_.write_byte);
  }
  Result<std::unique_ptr<Store>> reopen_to_read() override {
    Result<std::unique_ptr<Store>> opened = inner_->reopen_to_read();
    if (!opened) return opened;
    return slowed(std::move(opened.value()), delays_);
  }

  Result<ByteCount> size() override { return inner_->size(); }
  Error resize(ByteCount size) override { return inner_->resize(size); }
  Error allocate(ByteCount size) override { return inner_->allocate(size); }
  Error sync() override { return inner_->sync(); }
  Error lock(FileOffset begin, FileOffset end, LockMode mode) override {
    return inner_->lock(begin, end, mode);
  }
  Result<bool> try_lock(FileOffset begin, FileOffset end, LockMode mode) override {
    return inner_->try_lock(begin, end, mode);
  }
  Error close() override { return inner_->close(); }
  Error remove() override { return inner_->remove(); }
  std::int64_t file_number() const override { return inner_->file_number(); }
  std::uint64_t device() const override { return inner_->device(); }
  Layout layout() override { return inner_->layout(); }
  bool is_coherent() override { return inner_->is_coherent(); }
  void take_turns(const WriteTurn& turn) override { inner_->take_turns(turn); }
  Choices choices() override { return inner_->choices(); }
  void lock_ahead(FileOffset begin, FileOffset end) override { inner_->lock_ahead(begin, end); }

 private:
  /// The request takes the longer of its own time and the delay. So what is mimicked does not
  /// depend on this machine's page cache.
  static Transferred after(std::int64_t begin, const Transferred& done, ByteCount of_call,
                           ByteCount of_byte) {
    const KeptErrno kept;
    const std::int64_t delay = of_call + done.bytes * of_byte;
    if (delay > 0) wait_until(begin + delay);
    return done;
  }

  std::unique_ptr<Store> inner_;
  const Delays delays_;
};

}  // namespace

Delays read_delays(std::span<const std::string> words, std::vector<std::string>& problems) {
  Delays delays;
  const std::pair<std::string_view, ByteCount*> names[] = {{"write_call", &delays.write_call},
                                                           {"write_byte", &delays.write_byte},
                                                           {"read_call", &delays.read_call},
                                                           {"read_byte", &delays.read_byte}};
  for (const std::string& word : words) {
    const auto equals = std::min(word.find('='), word.size());
    const std::string_view name = std::string_view(word).substr(0, equals);
    const char* const begin = word.data() + std::min(equals + 1, word.size());
    const char* const end = word.data() + word.size();
    ByteCount value = 0;
    const auto [rest, error] = std::from_chars(begin, end, value);
    bool is_used = false;
    for (const auto& [known, delay] : names) {
      if (known != name || error != std::errc{} || rest != end) continue;
      if (value < 0 || value > kMost) continue;
      *delay = value;
      is_used = true;
    }
    if (!is_used) {
      problems.push_back("'" + printable(word) +
                         "' of HEADRACE_MIMIC_STORE is ignored (it is no delay), write for example "
                         "write_call=200000");
    }
  }
  return delays;
}

std::unique_ptr<Store> slowed(std::unique_ptr<Store> store, const Delays& delays) {
  if (delays == Delays{}) return store;
  return std::make_unique<SlowedStore>(std::move(store), delays);
}

const Delays& mimicked_delays() {
  static const Delays delays = [] {
    std::vector<std::string> problems;
    const Delays read = read_delays(settings().mimic_store, problems);
    for (const std::string& problem : problems) print_message_once(problem);
    return read;
  }();
  return delays;
}

}  // namespace headrace::storage
