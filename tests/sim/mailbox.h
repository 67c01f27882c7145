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
#include <span>
#include <utility>
#include <vector>

#include "exchange/messenger.h"

namespace headrace::sim {

/// Mailboxes of ranks that are threads of this process.
class PostOffice {
 public:
  explicit PostOffice(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(boxes_.size()); }
  /// Sent so far, by all ranks.
  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }

  void send(int from, int to, int tag, std::span<const std::byte> message) {
    Box& box = boxes_[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.mutex);
    box.messages[{from, tag}].emplace_back(message.begin(), message.end());
    box.arrived.notify_all();
    messages_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(std::ssize(message), std::memory_order_relaxed);
  }

  /// False where the message does not have the size that the receiver expects.
  bool receive(int from, int to, int tag, std::span<std::byte> message) {
    Box& box = boxes_[static_cast<std::size_t>(to)];
    std::unique_lock lock(box.mutex);
    auto& queue = box.messages[{from, tag}];
    box.arrived.wait(lock, [&] { return !queue.empty(); });
    const std::vector<std::byte> content = std::move(queue.front());
    queue.pop_front();
    if (content.size() != message.size()) return false;
    std::ranges::copy(content, message.begin());
    return true;
  }

 private:
  using Sender = std::pair<int, int>;  ///< rank and tag
  struct Box {
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<Sender, std::deque<std::vector<std::byte>>> messages;
  };
  std::vector<Box> boxes_;
  std::atomic<std::int64_t> messages_{0};
  std::atomic<std::int64_t> bytes_{0};
};

/// One rank's messages. Usable from several threads, as the real one is.
class MailboxMessenger : public exchange::Messenger {
 public:
  MailboxMessenger(PostOffice& office, int rank) : office_(office), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return office_.ranks(); }
  int largest_tag() const override { return 32767; }
  void progress() override {}

  Error exchange(int tag, int to, std::span<const std::byte> outgoing, int from,
                 std::span<std::byte> incoming) override {
    if (to >= 0) office_.send(rank_, to, tag, outgoing);
    if (from >= 0 && !office_.receive(from, rank_, tag, incoming)) {
      return {ErrorClass::other, 0, "a message has another size than expected"};
    }
    return {};
  }

 private:
  PostOffice& office_;
  int rank_;
};

}  // namespace headrace::sim
