#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "exchange/messenger.h"

namespace headrace::sim {

/// Mailboxes of ranks that are threads of this process.
class PostOffice {
 public:
  explicit PostOffice(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return static_cast<int>(boxes_.size()); }
  /// Messages of `rank`; usable from several threads, as the real one is.
  std::unique_ptr<exchange::Messenger> messenger(int rank);

  void send(int from, int to, int tag, std::span<const std::byte> message);
  /// False where the message does not have the size that the receiver expects.
  bool receive(int from, int to, int tag, std::span<std::byte> message);

 private:
  using Sender = std::pair<int, int>;  ///< rank and tag
  struct Box {
    std::mutex mutex;
    std::condition_variable arrived;
    std::map<Sender, std::deque<std::vector<std::byte>>> messages;
  };
  std::vector<Box> boxes_;
};

}  // namespace headrace::sim
