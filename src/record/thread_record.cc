#include "record/thread_record.h"

#include <new>
#include <string>

#include "base/mixed_hash.h"
#include "record/extent_items.h"
#include "record/region_names.h"

namespace headrace::record {
namespace {

constexpr std::uint32_t kRowsAtATime = 32;
constexpr std::uint32_t kFramesAtATime = 128;
constexpr std::uint32_t kPeersAtATime = 64;
constexpr std::uint32_t kRegionsAtATime = 16;
constexpr std::size_t kLinksAtATime = 64;
constexpr std::int64_t kOtherPeers = -1;

std::size_t hash_of(std::int64_t peer) {
  return static_cast<std::size_t>(golden_hash(static_cast<std::uint64_t>(peer)) >> 32);
}

}  // namespace

ThreadRecord::ThreadRecord(ImageFile& image, std::uint32_t number, const Limits& limits,
                           CallerOf caller_of)
    : image_(image),
      number_(number),
      limits_(limits),
      table_size_(2 * limits.peers),
      peer_table_(static_cast<Peer**>(std::calloc(table_size_, sizeof(Peer*)))),
      paths_(*this, {.depth = limits.depth, .most_nodes = limits.rows}, caller_of),
      python_(*this, find_python()) {}

std::unique_ptr<ThreadRecord> ThreadRecord::make(ImageFile& image, std::uint32_t number,
                                                 const Limits& limits,
                                                 const std::uint32_t (&other)[kCallClasses],
                                                 CallerOf caller_of) {
  std::unique_ptr<ThreadRecord> made(new ThreadRecord(image, number, limits, caller_of));
  return made->take_reserve(other) ? std::move(made) : nullptr;
}

/// What must be there when nothing else finds room.
bool ThreadRecord::take_reserve(const std::uint32_t (&other)[kCallClasses]) {
  if (peer_table_ == nullptr) return false;
  ExtentHeader* const thread = image_.take(ExtentKind::thread, number_, sizeof(ThreadItem), 1);
  if (thread == nullptr) return false;
  item_ = new (thread + 1) ThreadItem{};
  open_call_.attach(item_->last);
  regions_.attach(item_->region);
  publish(thread);
  for (int i = 0; i < kCallClasses; ++i) {
    other_rows_[i] = new_row(other[i], kNone, kNone);
    if (other_rows_[i] == nullptr) return false;
  }
  other_peers_ = new_peer(kOtherPeers);
  return other_peers_ != nullptr;
}

Row* ThreadRecord::new_row(std::uint32_t procedure, std::uint32_t path,
                           std::uint32_t communicator) {
  if (row_count_ == limits_.rows) return nullptr;
  Row* const row = take_item<Row>(image_, rows_, ExtentKind::rows, number_, kRowsAtATime);
  if (row == nullptr) return nullptr;
  new (row) Row{procedure, path, communicator, regions_.region(), 0, 0, 0, INT64_MAX, 0, 0, {}, 0};
  ++row_count_;
  publish(rows_);
  return row;
}

ThreadRecord::RowLink* ThreadRecord::new_link() {
  if (free_links_ == 0) {
    try {
      links_.push_back(std::make_unique<RowLink[]>(kLinksAtATime));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    free_links_ = kLinksAtATime;
  }
  return &links_.back()[--free_links_];
}

Row& ThreadRecord::add_row(PathEnd& path, std::uint32_t procedure, CallClass of_class,
                           std::uint32_t communicator) {
  Row* const row = new_row(procedure, path.id, communicator);
  RowLink* const link = row == nullptr ? nullptr : new_link();
  if (link == nullptr) {
    ++folded_rows_;
    return *other_rows_[static_cast<int>(of_class)];
  }
  *link = {row, static_cast<RowLink*>(path.rows)};
  path.rows = link;
  return *row;
}

Peer* ThreadRecord::new_peer(std::int64_t rank) {
  Peer* const peer = take_item<Peer>(image_, peers_, ExtentKind::peers, number_, kPeersAtATime);
  if (peer == nullptr) return nullptr;
  new (peer) Peer{rank, 0, 0};
  publish(peers_);
  return peer;
}

void ThreadRecord::find_peer(std::int64_t peer) {
  last_peer_ = peer;
  std::size_t place = hash_of(peer) % table_size_;
  while (peer_table_[place] != nullptr && peer_table_[place]->rank != peer) {
    place = (place + 1) % table_size_;
  }
  last_ = peer_table_[place];
  if (last_ != nullptr) return;
  last_ = peer_count_ == limits_.peers ? nullptr : new_peer(peer);
  if (last_ == nullptr) {
    last_ = other_peers_;
    return;
  }
  peer_table_[place] = last_;
  ++peer_count_;
}

RegionItem* ThreadRecord::new_region_item(int id) {
  const std::string number = id == kOtherRegions ? "" : std::to_string(id);
  const std::string label = label_of_region(id);
  const std::string_view fields[] = {number, label};
  const std::uint32_t note = image_.note(NoteKind::region, fields);
  if (note == kNone) return nullptr;
  RegionItem* const item =
      take_item<RegionItem>(image_, region_items_, ExtentKind::regions, number_, kRegionsAtATime);
  if (item == nullptr) return nullptr;
  new (item) RegionItem{note, 0, 0, 0, 0, 0};
  publish(region_items_);
  return item;
}

/// Where there is no room the region is one of the others.
RegionItem& ThreadRecord::region_item(int id, const char* label) noexcept {
  const auto found = items_of_regions_.find(id);
  if (found != items_of_regions_.end()) return *found->second;
  try {
    const bool is_kept = id == kOtherRegions || name_region(id, label);
    RegionItem* item = is_kept ? new_region_item(id) : nullptr;
    if (item == nullptr && id == kOtherRegions) return unkept_region_;
    if (item == nullptr) return region_item(kOtherRegions, nullptr);
    items_of_regions_.emplace(id, item);
    return *item;
  } catch (const std::bad_alloc&) {
    return unkept_region_;
  }
}

void ThreadRecord::begin_region(int id, const char* label, std::int64_t now,
                                std::int64_t entered) noexcept {
  regions_.begin(id, region_item(id, label), now, entered);
  if (timeline_ != nullptr) follow_regions();
}

RegionStack::End ThreadRecord::end_region(int id, std::int64_t now) noexcept {
  const RegionStack::End how = regions_.end(id, now);
  if (timeline_ != nullptr) follow_regions();
  return how;
}

void ThreadRecord::end_thread(std::int64_t now) noexcept {
  regions_.end_all(now);
  if (timeline_ != nullptr) follow_regions();
  open_call_.forget();
}

/// A timeline is in true time: it does not stand still while recording is off.
void ThreadRecord::follow_regions() noexcept {
  timeline_->follow_regions(regions_.depth(), regions_.region(), ticks(),
                            !is_switched_off.load(std::memory_order_relaxed));
}

void ThreadRecord::change_thread() noexcept {
  paths_.change_thread();
  if (timeline_ != nullptr) timeline_->change_thread();
}

PathId ThreadRecord::add_frame(const Frame& frame) noexcept {
  if (frame_count_ == limits_.rows) return kNoPath;
  Frame* const place =
      take_item<Frame>(image_, frames_, ExtentKind::frames, number_, kFramesAtATime);
  if (place == nullptr) return kNoPath;
  *place = frame;
  publish(frames_);
  return static_cast<PathId>(frame_count_++);
}

PathId ThreadRecord::add(PathId caller, std::uintptr_t return_address) noexcept {
  if (is_between(caller, return_address)) return caller;
  try {
    const Module* const module = modules_.find(return_address);
    if (module == nullptr) return add_frame({caller, kNone, return_address, kNone, 0});
    const std::string_view fields[] = {module->name, module->build_id};
    const std::uint32_t note = image_.note(NoteKind::module, fields);
    return add_frame({caller, note, return_address - module->bias, kNone, 0});
  } catch (const std::bad_alloc&) {
    return kNoPath;
  }
}

PathId ThreadRecord::add_python(PathId caller, std::string_view function, std::string_view file,
                                int line) noexcept {
  try {
    const std::string_view fields[] = {function, file};
    const std::uint32_t note = image_.note(NoteKind::function, fields);
    return add_frame({caller, kNone, 0, note, static_cast<std::uint32_t>(line)});
  } catch (const std::bad_alloc&) {
    return kNoPath;
  }
}

void ThreadRecord::update_counts(std::int64_t now) {
  if (now > 0) item_->last_ticks = now;
  const CallPaths::Counts counts = paths_.counts();
  item_->unwinds = static_cast<std::int64_t>(counts.unwinds);
  item_->checks = static_cast<std::int64_t>(counts.checks);
  item_->wrong = static_cast<std::int64_t>(counts.wrong);
  item_->folded = static_cast<std::int64_t>(counts.folded + counts.lost) + folded_rows_;
}

}  // namespace headrace::record
