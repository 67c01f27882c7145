#include "sim/mailbox.h"

#include <algorithm>

namespace headrace::sim {
namespace {

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

}  // namespace

std::unique_ptr<exchange::Messenger> PostOffice::messenger(int rank) {
  return std::make_unique<MailboxMessenger>(*this, rank);
}

void PostOffice::send(int from, int to, int tag, std::span<const std::byte> message) {
  Box& box = boxes_[static_cast<std::size_t>(to)];
  const std::lock_guard lock(box.mutex);
  box.messages[{from, tag}].emplace_back(message.begin(), message.end());
  box.arrived.notify_all();
}

bool PostOffice::receive(int from, int to, int tag, std::span<std::byte> message) {
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

}  // namespace headrace::sim
