#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mixed_hash.h"
#include "profile/python_places.h"
#include "record/image_file.h"
#include "record/modules.h"
#include "record/path_table.h"

namespace headrace::profile {

/// The samples of this process, as they lie in the recorder's image: a kill leaves them there. Not
/// thread-safe.
class SampleStore final : public record::PathStore {
 public:
  explicit SampleStore(record::ImageFile& image);
  SampleStore(const SampleStore&) = delete;
  SampleStore& operator=(const SampleStore&) = delete;

  /// A new thread's place; kNone if there is no room. `period` in ns.
  std::uint32_t add_thread(const std::string& name, record::SampleSource source,
                           std::int64_t period);
  /// What the image has of it.
  record::SampledThread& thread(std::uint32_t place) { return *threads_[place].item; }

  /// `path`: innermost first; addresses one byte behind what was executed, and words of python().
  /// `time`: ns. What finds no room counts without its path.
  void add(std::uint32_t thread, std::uint32_t region, std::span<const std::uintptr_t> path,
           std::int64_t time);
  PythonPlaces& python() { return python_; }

  /// The next samples' addresses may mean other code than before.
  void forget_addresses() { paths_.emplace(*this, kMostFrames); }

 private:
  static constexpr std::size_t kMostFrames = std::size_t{1} << 16;

  struct Key {
    std::uint32_t path;
    std::uint32_t thread;
    std::uint32_t region;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t ids = std::uint64_t{key.path} << 32 | key.thread;
      return golden_hash(ids ^ std::uint64_t{key.region} << 20) >> 16;
    }
  };
  struct Thread {
    record::SampledThread* item;
    record::SampleItem* other;  ///< of what finds no room
  };

  record::PathId add(record::PathId caller, std::uintptr_t return_address) noexcept override;
  void describe(record::Frame& frame, std::uintptr_t word);
  record::SampleItem* new_item(const Key& key);
  record::SampleItem& item_of(const Key& key);

  record::ImageFile& image_;
  std::optional<record::PathTable> paths_;
  PythonPlaces python_;
  record::Modules modules_;
  std::vector<Thread> threads_;
  std::unordered_map<Key, record::SampleItem*, Hash> items_;
  record::ExtentHeader* thread_items_ = nullptr;
  record::ExtentHeader* frames_ = nullptr;
  record::ExtentHeader* samples_ = nullptr;
  std::uint32_t frame_count_ = 0;
};

}  // namespace headrace::profile
