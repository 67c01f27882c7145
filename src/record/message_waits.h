#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
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

  /// Whose ranks are which in MPI_COMM_WORLD. `id`: of CommunicatorIds. Any thread may call it.
  void know(std::uint64_t id, std::vector<std::int32_t> members) noexcept;

  /// How a call that sends waits for the receiver.
  enum class Sending : std::uint8_t {
    by_itself,  ///< it does not: the message is buffered, or another call waits
    maybe,      ///< if the library does not store the message
    surely
  };
  /// The call that ends has sent to a rank of MPI_COMM_WORLD, from `begin` on.
  void sent(std::uint32_t thread, std::uint64_t communicator, std::int64_t to, int tag,
            std::int64_t begin, Sending how) noexcept;

  /// What a receive takes: rank and tag of a communicator; one that is below 0 stands for any.
  struct Envelope {
    std::uint64_t communicator = 0;  ///< 0: it is not known which
    int from = -1;
    int tag = -1;
  };
  /// A receive is posted that another call completes. Returns its number; 0 if it has none.
  std::uint64_t posted(std::uint32_t thread, const Envelope& wanted) noexcept;
  /// The call that ends has received a message, by the receive of that number, which was posted at
  /// `ticks`; 0: by the call itself. If one that was posted before could have taken the message,
  /// which is which is not known, and no more messages are followed.
  void received(std::uint32_t thread, const Envelope& envelope, std::int64_t ticks,
                std::uint64_t number) noexcept;
  /// The call that ends may have waited for something of which nothing is known here.
  void note_unknown(std::uint32_t thread) noexcept;

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
    bool is_sure;  ///< that the call needs it
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
  struct Posted {
    std::uint64_t number;
    Envelope wanted;
  };
  struct Judged {
    WaitBounds wait;
    Awaited kind;
    std::int64_t matched;
    std::int64_t early;
  };
  static constexpr std::size_t kPending = 64;

  MessageWaits(ImageFile& image, MessageLogs& logs, std::int32_t rank);
  bool follows(std::uint32_t thread) noexcept;
  std::int64_t rank_of(std::uint64_t communicator, int member);
  Peer* peer_of(std::int64_t rank);
  void note(const Message& message);
  bool forget_posted(const Envelope& envelope, std::uint64_t number);
  const MessageLog* find_log(Peer& peer, bool of_sent);
  std::optional<std::int64_t> find(const Message& message);
  void begin_call() noexcept;
  void judge(bool gives_up) noexcept;
  bool judge_call(Call& call, bool gives_up);
  static void add_message(Judged& judged, const Call& call, const Message& message,
                          std::int64_t when);

  ImageFile& image_;
  MessageLogs& logs_;
  const std::int32_t rank_;
  NodeImages images_;
  WaitTables tables_;
  OneThread thread_;
  std::atomic<bool> is_stopped_ = false;
  MessageCounts counts_;
  std::mutex members_mutex_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> members_;
  std::vector<Posted> posted_;  ///< that are not complete, in their order
  std::uint64_t last_posted_ = 0;
  std::unordered_map<std::int64_t, std::unique_ptr<Peer>> peers_;
  Peer* last_peer_ = nullptr;
  std::unique_ptr<std::array<Call, kPending>> calls_;
  std::uint64_t begun_ = 0;   ///< calls; the last one may not have ended
  std::uint64_t judged_ = 0;  ///< of these
  std::int64_t judged_at_ = 0;
};

}  // namespace headrace::record
