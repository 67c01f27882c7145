// Files and decisions of this process, as they lie in its image.
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <span>
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

/// How many items of a kind there may be, and bytes of all texts.
struct Limit {
  std::size_t items;
  std::uint64_t text;
};

/// Texts of names and decisions may fill this part of the image; the rest is for threads and rows.
std::uint64_t most_text(ImageFile& image) {
  return image.header().capacity / 4;
}

/// Items of one kind, each for what has a key. What is not added leaves nothing in the image.
template <class Item, ExtentKind kind>
class Items {
 public:
  using Fields = std::span<const std::string_view>;

  /// Null if there is none of these fields (with or without a mark), nor room for one. `text`:
  /// bytes of all texts so far.
  template <class Make>
  Item* find_or_add(ImageFile& image, NoteKind note_kind, Fields fields, bool is_marked, Limit most,
                    std::uint64_t& text, Make make) {
    Key key{"", is_marked};
    for (const std::string_view field : fields) key.first.append(field) += '\0';
    const auto found = items_.find(key);
    if (found != items_.end()) return found->second;
    if (items_.size() >= most.items || text + key.first.size() > most.text) return nullptr;
    if (extent_ == nullptr || extent_->used == extent_->capacity) {
      extent_ = image.take(kind, kNone, sizeof(Item), kItems);
    }
    if (extent_ == nullptr) return nullptr;
    const std::uint32_t note = image.note(note_kind, fields);
    if (note == kNone) return nullptr;
    text += key.first.size();
    const auto [place, is_new] = items_.emplace(std::move(key), nullptr);
    place->second = new (reinterpret_cast<Item*>(extent_ + 1) + extent_->used) Item(make(note));
    extent_->used.fetch_add(1, std::memory_order_release);
    return place->second;
  }

 private:
  using Key = std::pair<std::string, bool>;

  ExtentHeader* extent_ = nullptr;
  std::map<Key, Item*> items_;
};

struct Objects {
  std::mutex mutex;
  Items<FileItem, ExtentKind::files> files;
  Items<DecisionItem, ExtentKind::decisions> decisions;
  std::uint64_t text = 0;  ///< bytes
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

FileCounts* find_file(ImageFile& image, std::string_view name, bool is_passed_on, Limit most) {
  const std::string_view fields[] = {name};
  FileItem* const item = objects().files.find_or_add(
      image, NoteKind::file, fields, is_passed_on, most, objects().text,
      [&](std::uint32_t note) { return fresh_file(note, is_passed_on); });
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
    constexpr Limit kAll = {kMostFiles, UINT64_MAX};
    const Limit named = {kMostFiles - kReserved, most_text(*own)};
    static_cast<void>(find_file(*own, kOtherFiles, is_passed_on, kAll));
    FileCounts* const found = find_file(*own, recorded_name(name), is_passed_on, named);
    return found != nullptr ? found : find_file(*own, kOtherFiles, is_passed_on, kAll);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::uint32_t name_of(const FileCounts& counts) noexcept {
  const auto* const begin =
      reinterpret_cast<const std::byte*>(&counts) - offsetof(FileItem, counts);
  return reinterpret_cast<const FileItem*>(begin)->name;
}

DecisionCost* note_decision(const Decision& decision, bool is_timed) noexcept {
  ImageFile* const own = is_recording.load(std::memory_order_relaxed) ? image() : nullptr;
  if (own == nullptr) return nullptr;
  try {
    const std::string_view fields[] = {decision.subject, decision.choice, decision.reason,
                                       decision.alternatives};
    const std::lock_guard lock(objects().mutex);
    DecisionItem* const item = objects().decisions.find_or_add(
        *own, NoteKind::decision, fields, is_timed, {kMostDecisions, most_text(*own)},
        objects().text,
        [&](std::uint32_t note) { return DecisionItem{note, 0, ticks(), {0, is_timed ? 0 : -1}}; });
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
