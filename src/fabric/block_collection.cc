#include "fabric/block_collection.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace headrace::fabric {
namespace {

/// Bytes of one message. Others may move data meanwhile.
constexpr std::size_t kPart = std::size_t{4} << 20;
constexpr std::uint64_t kLargestBlock = std::uint64_t{1} << 32;

/// How long nothing has moved.
class Waiting {
 public:
  explicit Waiting(Patience patience) : patience_(patience) {}

  void has_moved() {
    since_ = Clock::now();
    turns_ = 0;
  }
  /// Gives up the core for a moment. False once it has waited for too long.
  bool go_on() {
    constexpr int kYields = 400;
    constexpr timespec kPause{0, 100'000};
    if (turns_++ < kYields) {
      ::sched_yield();
      return true;
    }
    ::nanosleep(&kPause, nullptr);
    return Clock::now() - since_ < patience_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Patience patience_;
  Clock::time_point since_ = Clock::now();
  int turns_ = 0;
};

/// A message and its bytes. If the library does not let go of them, they stay for good.
class OwnedMessage {
 public:
  OwnedMessage(Messenger& messenger, std::size_t size)
      : bytes_(std::make_unique<std::byte[]>(std::max<std::size_t>(size, 1))),
        message_(messenger.make_message()) {}
  ~OwnedMessage() {
    if (!is_under_way_ || message_->end()) return;
    static_cast<void>(bytes_.release());
    static_cast<void>(message_.release());
  }
  OwnedMessage(const OwnedMessage&) = delete;
  OwnedMessage& operator=(const OwnedMessage&) = delete;

  std::byte* bytes() { return bytes_.get(); }

  Error send(Messenger& messenger, int tag, int to, std::size_t size) {
    is_under_way_ = true;
    return messenger.start_send(*message_, tag, to, {bytes_.get(), size});
  }
  Error receive(Messenger& messenger, int tag, int from, std::size_t size) {
    is_under_way_ = true;
    return messenger.start_receive(*message_, tag, from, {bytes_.get(), size});
  }
  Error wait(Patience patience) {
    Waiting waiting(patience);
    for (;;) {
      const Result<bool> done = message_->is_done();
      if (!done) return done.error();
      if (done.value()) break;
      if (!waiting.go_on()) return {ErrorClass::other, 0, "another node does not answer"};
    }
    is_under_way_ = false;
    return {};
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::unique_ptr<Message> message_;
  bool is_under_way_ = false;
};

/// Receives a block that is announced: its sender waits for a word, then sends the parts.
Error receive_block(Messenger& messenger, int tag, int from, Patience patience,
                    std::string& block) {
  std::uint64_t size = 0;
  if (Error failed =
          messenger.exchange(tag, -1, {}, from, std::as_writable_bytes(std::span(&size, 1)))) {
    return failed;
  }
  if (size > kLargestBlock) return {ErrorClass::other, 0, "a block is too large"};
  block.resize(size);
  const auto length = static_cast<std::size_t>(size);
  OwnedMessage part(messenger, std::min(length, kPart));
  OwnedMessage word(messenger, 1);
  if (Error failed = word.send(messenger, tag + 1, from, 1)) return failed;
  for (std::size_t done = 0; done < length; done += kPart) {
    const std::size_t now = std::min(length - done, kPart);
    if (Error failed = part.receive(messenger, tag + 1, from, now)) return failed;
    if (Error failed = part.wait(patience)) return failed;
    std::copy_n(reinterpret_cast<const char*>(part.bytes()), now,
                block.begin() + static_cast<std::ptrdiff_t>(done));
  }
  return word.wait(patience);
}

Error hand(Messenger& messenger, int tag, std::string_view block, Patience patience) {
  const std::uint64_t size = block.size();
  OwnedMessage word(messenger, 1);
  OwnedMessage announced(messenger, sizeof size);
  OwnedMessage part(messenger, std::min(block.size(), kPart));
  if (Error failed = word.receive(messenger, tag + 1, 0, 1)) return failed;
  std::copy_n(reinterpret_cast<const std::byte*>(&size), sizeof size, announced.bytes());
  if (Error failed = announced.send(messenger, tag, 0, sizeof size)) return failed;
  if (Error failed = announced.wait(patience)) return failed;
  if (Error failed = word.wait(patience)) return failed;
  for (std::size_t done = 0; done < block.size(); done += kPart) {
    const std::string_view now = block.substr(done, kPart);
    std::copy_n(reinterpret_cast<const std::byte*>(now.data()), now.size(), part.bytes());
    if (Error failed = part.send(messenger, tag + 1, 0, now.size())) return failed;
    if (Error failed = part.wait(patience)) return failed;
  }
  return {};
}

}  // namespace

Error hand_block(Messenger& messenger, int tag, std::string_view block, Patience patience) {
  return attempt([&] { return hand(messenger, tag, block, patience); });
}

std::vector<int> collect_blocks(Messenger& messenger, int tag, Patience patience,
                                const TakeBlock& take) {
  std::vector<int> missing;
  for (int rank = 1; rank < messenger.size(); ++rank) missing.push_back(rank);
  std::size_t left = missing.size();
  Waiting waiting(patience);
  std::string block;
  while (left > 0) {
    const Result<std::optional<Arrival>> found = messenger.find(tag, -1);
    if (!found) break;
    if (!found.value()) {
      if (!waiting.go_on()) break;
      continue;
    }
    const int from = found.value()->from;
    --left;
    const Error failed =
        attempt([&] { return receive_block(messenger, tag, from, patience, block); });
    if (!failed) {
      std::erase(missing, from);
      take(from, block);
    }
    waiting.has_moved();
  }
  return missing;
}

}  // namespace headrace::fabric
