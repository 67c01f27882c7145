#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "record/message_counts.h"
#include "record/node_images.h"
#include "record/one_thread.h"
#include "record/wait_tables.h"

namespace headrace::record {

/// How long this rank waits in point-to-point calls for ranks of its node: in calls that receive
/// until the sender has begun to send (late sender), in those that send until the receiver has
/// posted the receive (late receiver), but never longer than the call took. Each rank writes down
/// its messages with the time, and reads what the other one has written, some calls later.
///
/// Only the first thread that sends or receives is followed, and only until something happens that
/// another rank may count differently: then nothing is taken down any more.
class MessageWaits {
 public:
  /// Null if the image has no room.
  static std::unique_ptr<MessageWaits> make(ImageFile& image, std::int32_t rank);

  /// Whose ranks are which in MPI_COMM_WORLD. `id`: of CommunicatorIds.
  void know(std::uint64_t id, std::vector<std::int32_t> members) noexcept;

  /// The call that ends has sent to a rank of MPI_COMM_WORLD, from `begin` on. `blocks`: it may
  /// have waited for the receiver.
  void sent(std::uint32_t thread, std::uint64_t communicator, std::int64_t to, int tag,
            std::int64_t begin, bool blocks) noexcept;
  /// It has received from a rank of the communicator, by a receive that was posted then.
  void received(std::uint32_t thread, std::uint64_t communicator, int from, int tag,
                std::int64_t posted) noexcept;

  /// What the call, which has the messages told before, waited for.
  enum class Needs : std::uint8_t {
    all,      ///< all of its messages
    one,      ///< whichever came first
    nothing,  ///< it does not wait
  };
  void end_call(std::uint32_t thread, const Row& row, std::int64_t begin, std::int64_t end,
                Needs needs) noexcept;

  /// The call with these messages is not recorded.
  void drop_call(std::uint32_t thread) noexcept {
    if (follows(thread)) begin_call();
  }

  /// No call comes after. Looks for what is missing for a moment.
  void finish() noexcept;
  void stop() noexcept { is_stopped_.store(true, std::memory_order_relaxed); }

 private:
  struct Peer {
    std::int32_t rank = 0;
    MessageLog* sent = nullptr;    ///< ours
    MessageLog* posted = nullptr;  ///< ours
    const MessageLogs* theirs = nullptr;
    const MessageLog* their_sent = nullptr;  ///< to this rank; null if it is not found yet
    const MessageLog* their_posted = nullptr;
    std::size_t sent_place = 0;
    std::size_t posted_place = 0;
    int searches = 0;
  };
  struct Message {
    Peer* peer;
    std::uint64_t key;
    std::int64_t posted;
    bool is_sent;
  };
  struct Call {
    static constexpr std::size_t kMost = 32;
    const Row* row = nullptr;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Needs needs = Needs::all;
    bool is_unknown = false;  ///< one of its messages cannot be known
    std::size_t count = 0;
    std::array<Message, kMost> messages;
  };
  static constexpr std::size_t kPending = 64;

  MessageWaits(ImageFile& image, MessageLogs& logs, std::int32_t rank);
  bool follows(std::uint32_t thread) noexcept;
  Peer* peer_of(std::int64_t rank);
  void note(const Message& message);
  const MessageLog* find_log(Peer& peer, bool of_sent);
  std::optional<std::int64_t> find(const Message& message);
  void begin_call() noexcept;
  void judge(bool gives_up) noexcept;
  bool judge_call(Call& call, bool gives_up);

  ImageFile& image_;
  MessageLogs& logs_;
  const std::int32_t rank_;
  NodeImages images_;
  WaitTables tables_;
  OneThread thread_;
  std::atomic<bool> is_stopped_ = false;
  MessageCounts counts_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> members_;
  std::unordered_map<std::int64_t, std::unique_ptr<Peer>> peers_;
  Peer* last_peer_ = nullptr;
  std::unique_ptr<std::array<Call, kPending>> calls_;
  std::uint64_t begun_ = 0;   ///< calls; the last one may not have ended
  std::uint64_t judged_ = 0;  ///< of these
  std::int64_t judged_at_ = 0;
};

}  // namespace headrace::record
