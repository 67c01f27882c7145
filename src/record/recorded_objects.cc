// Files and decisions of this process, as they lie in its image.
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "record/decision.h"
#include "record/file_counts.h"
#include "record/file_names.h"
#include "record/recorder.h"

namespace headrace::record {
namespace {

constexpr std::uint32_t kItems = 16;  ///< of an extent
constexpr std::size_t kMostFiles = 1024;
constexpr std::size_t kMostDecisions = 1024;
constexpr const char* kOtherFiles = "(other files)";

/// Items of one kind, each for what has a key. The last one is for what finds no room.
template <class Item, ExtentKind kind>
class Items {
 public:
  using Key = std::pair<std::uint32_t, bool>;

  /// Null if there is none of this key, nor room for one.
  Item* find_or_add(ImageFile& image, const Key& key, const Item& fresh, std::size_t most) {
    const auto found = items_.find(key);
    if (found != items_.end()) return found->second;
    if (items_.size() >= most) return nullptr;
    if (extent_ == nullptr || extent_->used == extent_->capacity) {
      extent_ = image.take(kind, kNone, sizeof(Item), kItems);
    }
    if (extent_ == nullptr) return nullptr;
    auto* const place = reinterpret_cast<Item*>(extent_ + 1) + extent_->used;
    auto* const item = new (place) Item(fresh);
    extent_->used.fetch_add(1, std::memory_order_release);
    items_.emplace(key, item);
    return item;
  }

 private:
  ExtentHeader* extent_ = nullptr;
  std::map<Key, Item*> items_;
};

struct Objects {
  std::mutex mutex;
  Items<FileItem, ExtentKind::files> files;
  Items<DecisionItem, ExtentKind::decisions> decisions;
};

Objects& objects() {
  static auto& only = *new Objects;  // never destroyed: files are closed during exit, too
  return only;
}

FileItem fresh_file(std::uint32_t name, bool is_passed_on) {
  FileItem item{};
  item.name = name;
  item.counts.store_read = item.counts.store_written = is_passed_on ? -1 : 0;
  return item;
}

FileCounts* find_file(ImageFile& image, std::string_view name, bool is_passed_on,
                      std::size_t most) {
  const std::string_view fields[] = {name};
  const std::uint32_t note = image.note(NoteKind::file, fields);
  if (note == kNone) return nullptr;
  FileItem* const item = objects().files.find_or_add(image, {note, is_passed_on},
                                                     fresh_file(note, is_passed_on), most);
  return item == nullptr ? nullptr : &item->counts;
}

}  // namespace

FileCounts* counts_of_file(const char* name, bool is_passed_on) noexcept {
  ImageFile* const own = is_recording.load(std::memory_order_relaxed) ? image() : nullptr;
  if (own == nullptr) return nullptr;
  try {
    const std::lock_guard lock(objects().mutex);
    // There is always room for the others.
    constexpr std::size_t kReserved = 2;
    static_cast<void>(find_file(*own, kOtherFiles, is_passed_on, kMostFiles));
    FileCounts* const found =
        find_file(*own, recorded_name(name), is_passed_on, kMostFiles - kReserved);
    return found != nullptr ? found : find_file(*own, kOtherFiles, is_passed_on, kMostFiles);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

DecisionCost* note_decision(const Decision& decision, bool is_timed) noexcept {
  ImageFile* const own = is_recording.load(std::memory_order_relaxed) ? image() : nullptr;
  if (own == nullptr) return nullptr;
  try {
    const std::string_view fields[] = {decision.subject, decision.choice, decision.reason,
                                       decision.alternatives};
    const std::lock_guard lock(objects().mutex);
    const std::uint32_t note = own->note(NoteKind::decision, fields);
    DecisionItem* item = nullptr;
    if (note != kNone) {
      const DecisionItem fresh{note, 0, ticks(), {0, is_timed ? 0 : -1}};
      item = objects().decisions.find_or_add(*own, {note, is_timed}, fresh, kMostDecisions);
    }
    if (item == nullptr) own->header().lost_decisions.fetch_add(1, std::memory_order_relaxed);
    return item == nullptr ? nullptr : &item->cost;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::string text_of(const Decision& decision) {
  return decision.subject + ": " + decision.choice + ", " + decision.reason;
}

}  // namespace headrace::record
