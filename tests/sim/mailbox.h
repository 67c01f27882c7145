#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fabric/messenger.h"

namespace headrace::sim {

/// Mailboxes of ranks that are threads of this process.
class PostOffice {
 public:
  /// `serves_any_thread`: what messengers say; they do.
  explicit PostOffice(int ranks, bool serves_any_thread = false)
      : serves_any_thread_(serves_any_thread), boxes_(static_cast<std::size_t>(ranks)) {}

  bool serves_any_thread() const { return serves_any_thread_; }

  int ranks() const { return static_cast<int>(boxes_.size()); }
  /// Sent so far, by all ranks, with tags from `first_tag` on.
  std::int64_t messages(int first_tag = 0) const { return sum(first_tag, &Sent::messages); }
  std::int64_t bytes(int first_tag = 0) const { return sum(first_tag, &Sent::bytes); }

  /// Becomes true when a message is received.
  using Taken = std::shared_ptr<std::atomic<bool>>;

  /// A place for a message that has not come yet.
  struct Expected {
    int from = 0;
    int to = 0;
    int tag = 0;
    std::span<std::byte> place;
    std::size_t size = 0;
    std::atomic<bool> is_here = false;
  };

  Taken send(int from, int to, int tag, std::span<const std::byte> message) {
    Box& box = boxes_[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.mutex);
    const Taken taken = std::make_shared<std::atomic<bool>>(false);
    std::deque<Letter>& letters = box.messages[{tag, from}];
    letters.push_back({{message.begin(), message.end()}, taken});
    deliver(letters, box.expected[{tag, from}]);
    box.arrived.notify_all();
    Sent& sent = box.sent[tag];
    sent.messages += 1;
    sent.bytes += std::ssize(message);
    return taken;
  }

  /// Gets messages in the order in which they are expected, as MPI matches them.
  void expect(const std::shared_ptr<Expected>& expected) {
    Box& box = boxes_[static_cast<std::size_t>(expected->to)];
    const std::lock_guard lock(box.mutex);
    const Sender sender{expected->tag, expected->from};
    box.expected[sender].push_back(expected);
    deliver(box.messages[sender], box.expected[sender]);
  }
  /// No more, where it has not come.
  void forget(const std::shared_ptr<Expected>& expected) {
    Box& box = boxes_[static_cast<std::size_t>(expected->to)];
    const std::lock_guard lock(box.mutex);
    std::erase(box.expected[{expected->tag, expected->from}], expected);
  }
  /// Places where a message may still come.
  std::int64_t expected() const {
    std::int64_t all = 0;
    for (const Box& box : boxes_) {
      const std::lock_guard lock(box.mutex);
      for (const auto& entry : box.expected) all += std::ssize(entry.second);
    }
    return all;
  }

  /// False where the message does not have the size that the receiver expects.
  bool receive(int from, int to, int tag, std::span<std::byte> message) {
    Box& box = boxes_[static_cast<std::size_t>(to)];
    std::unique_lock lock(box.mutex);
    auto& queue = box.messages[{tag, from}];
    box.arrived.wait(lock, [&] { return !queue.empty(); });
    return take(queue, message) == message.size();
  }

  std::optional<fabric::Arrival> find(int from, int to, int tag) {
    Box& box = boxes_[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.mutex);
    for (auto entry = box.messages.lower_bound({tag, std::max(from, 0)});
         entry != box.messages.end() && entry->first.first == tag; ++entry) {
      if (from >= 0 && entry->first.second != from) break;
      if (entry->second.empty()) continue;
      return fabric::Arrival{entry->first.second, entry->second.front().content.size()};
    }
    return std::nullopt;
  }

 private:
  using Sender = std::pair<int, int>;  ///< tag and rank
  struct Letter {
    std::vector<std::byte> content;
    Taken taken;
  };
  struct Sent {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
  };
  struct Box {
    mutable std::mutex mutex;
    std::condition_variable arrived;
    std::map<Sender, std::deque<Letter>> messages;
    std::map<Sender, std::deque<std::shared_ptr<Expected>>> expected;
    std::map<int, Sent> sent;  ///< to this rank, by tag
  };

  std::int64_t sum(int first_tag, std::int64_t Sent::* count) const {
    std::int64_t all = 0;
    for (const Box& box : boxes_) {
      const std::lock_guard lock(box.mutex);
      for (auto entry = box.sent.lower_bound(first_tag); entry != box.sent.end(); ++entry) {
        all += entry->second.*count;
      }
    }
    return all;
  }

  static void deliver(std::deque<Letter>& letters,
                      std::deque<std::shared_ptr<Expected>>& expected) {
    while (!letters.empty() && !expected.empty()) {
      expected.front()->size = take(letters, expected.front()->place);
      expected.front()->is_here = true;
      expected.pop_front();
    }
  }

  static std::size_t take(std::deque<Letter>& queue, std::span<std::byte> message) {
    const Letter letter = std::move(queue.front());
    queue.pop_front();
    const std::size_t size = letter.content.size();
    std::copy_n(letter.content.begin(), std::min(size, message.size()), message.begin());
    *letter.taken = true;
    return size;
  }

  bool serves_any_thread_;
  std::vector<Box> boxes_;
};

class MailboxMessage : public fabric::Message {
 public:
  void send(PostOffice::Taken taken) {
    expected_.reset();
    taken_ = std::move(taken);
  }
  void expect(PostOffice& office, std::shared_ptr<PostOffice::Expected> expected) {
    taken_.reset();
    has_told_ = false;
    expected_ = std::move(expected);
    office_ = &office;
    office.expect(expected_);
  }
  /// Whether something may still use its buffer.
  bool is_on_its_way() const {
    return (taken_ && !taken_->load()) || (expected_ && !expected_->is_here);
  }

  Result<bool> is_done() override {
    if (taken_) return taken_->load();
    if (!expected_->is_here) return false;
    const bool is_cut = expected_->size > expected_->place.size();
    if (!is_cut || std::exchange(has_told_, true)) return true;
    return Error{ErrorClass::truncated, 0, "a message is larger than expected"};
  }
  std::size_t received() const override {
    return std::min(expected_->size, expected_->place.size());
  }
  bool end() override {
    if (expected_) office_->forget(expected_);
    expected_.reset();
    return !is_on_its_way();
  }

 private:
  PostOffice::Taken taken_;                         ///< where it is sent
  std::shared_ptr<PostOffice::Expected> expected_;  ///< where it is received
  bool has_told_ = false;                           ///< of its failure, once, as MPI_Test does
  PostOffice* office_ = nullptr;                    ///< that has the expected one
};

/// One rank's messages. Usable from several threads, as the real one is.
class MailboxMessenger : public fabric::Messenger {
 public:
  MailboxMessenger(PostOffice& office, int rank) : office_(office), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return office_.ranks(); }
  int largest_tag() const override { return 32767; }
  bool serves_any_thread() const override { return office_.serves_any_thread(); }
  void progress() override {}

  Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    if (to >= 0) office_.send(rank_, to, tag, outgoing);
    if (from >= 0 && !office_.receive(from, rank_, tag, incoming)) {
      return {ErrorClass::other, 0, "a message has another size than expected"};
    }
    return {};
  }

  std::unique_ptr<fabric::Message> make_message() override {
    return std::make_unique<MailboxMessage>();
  }
  Error start_send(fabric::Message& message, int tag, int to,
                   std::span<const std::byte> outgoing) override {
    static_cast<MailboxMessage&>(message).send(office_.send(rank_, to, tag, outgoing));
    return {};
  }
  Error start_receive(fabric::Message& message, int tag, int from,
                      std::span<std::byte> incoming) override {
    auto expected = std::make_shared<PostOffice::Expected>();
    expected->from = from;
    expected->to = rank_;
    expected->tag = tag;
    expected->place = incoming;
    static_cast<MailboxMessage&>(message).expect(office_, std::move(expected));
    return {};
  }
  Result<std::optional<fabric::Arrival>> find(int tag, int from) override {
    return office_.find(from, rank_, tag);
  }

 private:
  PostOffice& office_;
  int rank_;
};

}  // namespace headrace::sim
