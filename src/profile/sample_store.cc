#include "profile/sample_store.h"

#include <algorithm>
#include <new>

#include "profile/unwinder.h"
#include "record/extent_items.h"

namespace headrace::profile {
namespace {

using record::ExtentHeader;
using record::ExtentKind;
using record::kNone;
using record::SampleItem;

constexpr std::size_t kMostItems = std::size_t{1} << 16;
// Of the frames that are unwound at most, and those of Python between them.
constexpr std::size_t kMostInPath = Unwound::kMost + PythonSample::kMost;
constexpr std::uint32_t kThreadsAtATime = 8;
constexpr std::uint32_t kFramesAtATime = 256;
constexpr std::uint32_t kItemsAtATime = 128;

}  // namespace

SampleStore::SampleStore(record::ImageFile& image) : image_(image) {
  forget_addresses();
}

std::uint32_t SampleStore::add_thread(const std::string& name, record::SampleSource source,
                                      std::int64_t period) {
  auto* const item = record::take_item<record::SampledThread>(
      image_, thread_items_, ExtentKind::sampled_threads, kNone, kThreadsAtATime);
  if (item == nullptr) return kNone;
  new (item) record::SampledThread{};
  name.copy(item->name.data(), item->name.size() - 1);
  item->source = static_cast<std::uint32_t>(source);
  item->caller = kNone;
  item->period = period;
  const auto place = static_cast<std::uint32_t>(threads_.size());
  SampleItem* const other = new_item({kNone, place, 0});
  if (other == nullptr) return kNone;
  threads_.push_back({item, other});
  record::publish(thread_items_);
  return place;
}

SampleItem* SampleStore::new_item(const Key& key) {
  auto* const item =
      record::take_item<SampleItem>(image_, samples_, ExtentKind::samples, kNone, kItemsAtATime);
  if (item == nullptr) return nullptr;
  new (item) SampleItem{key.path, key.thread, key.region, 0, 0, 0};
  record::publish(samples_);
  return item;
}

SampleItem& SampleStore::item_of(const Key& key) {
  const auto found = items_.find(key);
  if (found != items_.end()) return *found->second;
  SampleItem* const made = items_.size() < kMostItems ? new_item(key) : nullptr;
  if (made == nullptr) return *threads_[key.thread].other;
  items_.emplace(key, made);
  return *made;
}

void SampleStore::add(std::uint32_t thread, std::uint32_t region,
                      std::span<const std::uintptr_t> path, std::int64_t time) {
  std::array<record::StackFrame, kMostInPath> walk;
  const std::size_t depth = std::min(path.size(), walk.size());
  for (std::size_t i = 0; i < depth; ++i) walk[i] = {0, path[i]};
  const record::Path* kept = paths_->has_memory() ? paths_->add({walk.data(), depth}) : nullptr;
  if (kept == nullptr && paths_->has_memory()) kept = paths_->add_site(path[0]);
  SampleItem& item = item_of({kept != nullptr ? kept->end.id : kNone, thread, region});
  item.time += time;
  item.count += 1;
  record::SampledThread& own = *threads_[thread].item;
  own.time += time;
  own.samples += 1;
}

void SampleStore::describe(record::Frame& frame, std::uintptr_t word) {
  if (PythonPlaces::is_place(word)) {
    const PythonPlaces::Place& place = python_.place(word);
    const std::string_view fields[] = {place.function, place.file};
    frame.function = image_.note(record::NoteKind::function, fields);
    frame.line = static_cast<std::uint32_t>(place.line);
    return;
  }
  frame.offset = word;
  const record::Module* const module = modules_.find(word);
  if (module == nullptr) return;
  const std::string_view fields[] = {module->name, module->build_id};
  frame.module = image_.note(record::NoteKind::module, fields);
  frame.offset = word - module->bias;
}

record::PathId SampleStore::add(record::PathId caller, std::uintptr_t return_address) noexcept {
  if (record::is_between(caller, return_address)) return caller;
  try {
    auto* const frame = record::take_item<record::Frame>(
        image_, frames_, ExtentKind::sampled_frames, kNone, kFramesAtATime);
    if (frame == nullptr) return record::kNoPath;
    *frame = {caller, kNone, 0, kNone, 0};
    describe(*frame, return_address);
    record::publish(frames_);
    return frame_count_++;
  } catch (const std::bad_alloc&) {
    return record::kNoPath;
  }
}

}  // namespace headrace::profile
