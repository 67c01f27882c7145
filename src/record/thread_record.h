#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/call_path.h"
#include "record/clock.h"
#include "record/image_file.h"
#include "record/modules.h"
#include "record/open_call.h"
#include "record/python_frames.h"
#include "record/record_switch.h"
#include "record/region_stack.h"
#include "record/thread_timeline.h"

namespace headrace::record {

/// What kind of procedure it is, as reports sum them up.
enum class CallClass : std::uint8_t { point_to_point, collective, one_sided, io, other };
inline constexpr int kCallClasses = 5;

/// When the process's CPU time and memory are looked at again, in ticks. Threads may look at once.
extern std::atomic<std::int64_t> next_sample;
/// Writes them down, so that they are known of a process that is killed: as they were some tenths
/// of a second before its last call.
void sample_process(std::int64_t now) noexcept;

/// The number in MPI_COMM_WORLD of a rank of a communicator, which handle and generation name.
struct PeerPlace {
  std::uint64_t communicator = 0;
  std::uint64_t generation = 0;
  std::int32_t rank = -1;
  std::int32_t in_world = 0;
  bool operator==(const PeerPlace&) const = default;
};

/// What the calls of one thread have come to. Only that thread writes it, so nothing is locked; any
/// process may read the image meanwhile.
class ThreadRecord final : public PathStore {
 public:
  struct Limits {
    int depth = 8;             ///< frames of a call path
    std::size_t rows = 16384;  ///< and frames, each
    std::size_t peers = 4096;  ///< ranks to which messages are counted one by one
  };

  /// `other`: for each class the procedure (a note's number) whose rows take what finds no room.
  /// Null if the image has no room for those.
  static std::unique_ptr<ThreadRecord> make(ImageFile& image, std::uint32_t number,
                                            const Limits& limits,
                                            const std::uint32_t (&other)[kCallClasses],
                                            CallerOf caller_of);

  /// A thread takes over what another one that has ended had.
  void change_thread() noexcept;

  /// From now on each event is kept, too. Without room it is not.
  void start_timeline(TimelineMemory& memory) {
    timeline_ = ThreadTimeline::make(image_, memory, number_);
  }
  /// Null if events are not kept.
  ThreadTimeline* timeline() const { return timeline_.get(); }

  /// See CallPaths::find.
  PathEnd& find_path(const std::uintptr_t* return_slot, int procedure) noexcept {
    PathEnd& native = paths_.find(return_slot, procedure);
    return python_.is_there() && !native.is_foreign ? python_.find(native) : native;
  }

  /// The row of a procedure called by this path in the region in which the thread is. While
  /// recording is off it is one that nobody reads.
  Row& row(PathEnd& path, std::uint32_t procedure, CallClass of_class, std::uint32_t communicator) {
    if (is_switched_off.load(std::memory_order_relaxed)) [[unlikely]]
      return unread_row_;
    RowLink* before = nullptr;
    for (RowLink* link = static_cast<RowLink*>(path.rows); link != nullptr; link = link->next) {
      if (link->row->procedure == procedure && link->row->communicator == communicator &&
          link->row->region == regions_.region()) {
        if (before != nullptr) bring_forward(path, *before, *link);
        return *link->row;
      }
      before = link;
    }
    return add_row(path, procedure, of_class, communicator);
  }

  /// For what another thread's request brings.
  Row& row_without_path(std::uint32_t procedure, CallClass of_class, std::uint32_t communicator) {
    return row(no_path_, procedure, of_class, communicator);
  }

  /// In which call the thread is.
  OpenCall& open_call() { return open_call_; }

  /// A call that took from `begin` to `end`, in ticks.
  void add_call(Row& row, std::int64_t begin, std::int64_t end) {
    const std::int64_t took = end - begin;
    row.ticks += took;
    if (took < row.least) row.least = took;
    if (took > row.greatest) row.greatest = took;
    item_->last_ticks = end;
    item_->calls += 1;
    item_->ticks += took;
    row.calls += 1;
    if (end >= next_sample.load(std::memory_order_relaxed)) [[unlikely]]
      sample_process(end);
  }

  /// So many ticks of the call that is under way are a barrier before it, which is recorded as a
  /// call of its own.
  void set_apart(std::int64_t ticks) { apart_ += ticks; }
  /// Those of the call that ends; none from now on.
  std::int64_t take_apart() { return std::exchange(apart_, 0); }

  /// `peer`: in MPI_COMM_WORLD, or -2 outside it.
  void add_message(std::int64_t peer, std::int64_t bytes) {
    if (is_switched_off.load(std::memory_order_relaxed)) [[unlikely]]
      return;
    if (peer != last_peer_) find_peer(peer);
    last_->sent += bytes;
    last_->messages += 1;
  }

  /// See RegionStack; for `label`, name_region.
  void begin_region(int id, const char* label, std::int64_t now, std::int64_t entered) noexcept;
  RegionStack::End end_region(int id, std::int64_t now) noexcept;
  /// What rows of calls have. May be asked by a signal handler of the thread.
  std::uint32_t region() const noexcept { return regions_.region(); }
  /// The thread ends: it is in no region and no call.
  void end_thread(std::int64_t now) noexcept;

  /// Where the thread remembers such a rank; what is there may be another one's.
  PeerPlace& peer_place(std::uint64_t communicator, std::int32_t rank) {
    return peer_places_[((communicator >> 4 ^ communicator) * 8 +
                         static_cast<std::uint64_t>(rank)) %
                        kPeerPlaces];
  }

  /// Writes down what the call paths have come to, and that the thread runs at `now`, in ticks.
  void update_counts(std::int64_t now = 0);

  std::uint32_t number() const { return number_; }
  /// In all its calls that have ended.
  std::int64_t ticks_in_calls() const noexcept { return item_->ticks; }

 private:
  struct RowLink {
    Row* row;
    RowLink* next;
  };

  /// Many regions may come by one path: the one that the thread is in is looked at first.
  static void bring_forward(PathEnd& path, RowLink& before, RowLink& link) {
    before.next = link.next;
    link.next = static_cast<RowLink*>(path.rows);
    path.rows = &link;
  }

  ThreadRecord(ImageFile& image, std::uint32_t number, const Limits& limits, CallerOf caller_of);
  bool take_reserve(const std::uint32_t (&other)[kCallClasses]);
  Row* new_row(std::uint32_t procedure, std::uint32_t path, std::uint32_t communicator);
  Row& add_row(PathEnd& path, std::uint32_t procedure, CallClass of_class,
               std::uint32_t communicator);
  RowLink* new_link();
  void follow_regions() noexcept;
  RegionItem& region_item(int id, const char* label) noexcept;
  RegionItem* new_region_item(int id);
  void find_peer(std::int64_t peer);
  Peer* new_peer(std::int64_t rank);
  PathId add_frame(const Frame& frame) noexcept;

  PathId add(PathId caller, std::uintptr_t return_address) noexcept override;
  PathId add_python(PathId caller, std::string_view function, std::string_view file,
                    int line) noexcept override;

  static constexpr std::size_t kPeerPlaces = 64;

  ImageFile& image_;
  const std::uint32_t number_;
  const Limits limits_;
  ThreadItem* item_ = nullptr;
  std::int64_t apart_ = 0;
  OpenCall open_call_;
  ExtentHeader* rows_ = nullptr;
  ExtentHeader* frames_ = nullptr;
  ExtentHeader* peers_ = nullptr;
  ExtentHeader* region_items_ = nullptr;
  std::size_t row_count_ = 0;
  std::size_t frame_count_ = 0;
  std::size_t peer_count_ = 0;
  std::int64_t folded_rows_ = 0;
  std::unique_ptr<ThreadTimeline> timeline_;
  PathEnd no_path_;
  Row* other_rows_[kCallClasses] = {};
  Peer* other_peers_ = nullptr;
  std::int64_t last_peer_ = INT64_MIN;
  Peer* last_ = nullptr;
  Row unread_row_{kNone, kNone, kNone, 0, 0, 0, 0, INT64_MAX, 0, 0, {}, 0};
  RegionStack regions_;
  std::unordered_map<int, RegionItem*> items_of_regions_;
  RegionItem unkept_region_{kNone, 0, 0, 0, 0, 0};  ///< there is no room for it
  PeerPlace peer_places_[kPeerPlaces];
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::size_t table_size_;
  std::unique_ptr<Peer*[], Free> peer_table_;  ///< by hash, open-addressed
  std::vector<std::unique_ptr<RowLink[]>> links_;
  std::size_t free_links_ = 0;
  Modules modules_;
  CallPaths paths_;
  PythonPaths python_;
};

/// The size bin of so many bytes.
inline int bin_of(std::int64_t bytes) {
  constexpr std::int64_t kUpper[] = {16, 256, 4096, 65536, 1 << 20, 16 << 20};
  int bin = 0;
  while (bin < kBins - 1 && bytes >= kUpper[bin]) ++bin;
  return bin;
}

}  // namespace headrace::record
