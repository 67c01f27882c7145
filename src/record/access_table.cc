#include "record/access_table.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/mixed_hash.h"
#include "base/pause.h"
#include "record/adding.h"
#include "record/image_file.h"

namespace headrace::record {
namespace {

constexpr std::size_t kPlaces = 4096;  // a power of two, well above the number of items
constexpr std::uint32_t kItems = 16;   // of an extent
constexpr std::string_view kOthers = "(other files)";
constexpr std::string_view kGroupEnd = "/*";
/// How often it looks whether another thread has finished taking memory of the image.
constexpr int kTries = 1000;
/// After so many the image is full, and no longer just in use by another thread.
constexpr int kMostRefusals = 8;

/// Eight bytes at a time, as most opens look two long names up. A name has one hash, however it is
/// cut into parts. Each word is mixed in by a multiplication, whose high bits then reach the low
/// ones (Knuth, The Art of Computer Programming, 6.4: multiplicative hashing).
class NameHash {
 public:
  explicit NameHash(AccessLayer layer) : hash_(static_cast<std::uint64_t>(layer)) {}

  void add(std::string_view part) {
    for (; filled_ == 0 && part.size() >= sizeof word_; part.remove_prefix(sizeof word_)) {
      std::memcpy(&word_, part.data(), sizeof word_);
      mix();
    }
    for (const char c : part) {
      word_ |= std::uint64_t{static_cast<unsigned char>(c)} << (8 * filled_);
      if (++filled_ == sizeof word_) mix();
    }
  }

  std::uint64_t end() {
    mix();
    return hash_;
  }

 private:
  void mix() {
    hash_ = golden_hash(hash_ ^ word_);
    hash_ ^= hash_ >> 32;
    word_ = 0;
    filled_ = 0;
  }

  std::uint64_t hash_;
  std::uint64_t word_ = 0;
  unsigned filled_ = 0;  ///< bytes of the word
};

std::uint64_t hash_of(AccessLayer layer, AccessTable::Name name) {
  NameHash hash(layer);
  hash.add(name.head);
  hash.add(name.tail);
  return hash.end();
}

bool is_equal(std::string_view whole, AccessTable::Name name) {
  return whole.size() == name.size() && whole.starts_with(name.head) && whole.ends_with(name.tail);
}

/// The least of a part of the image and of what all items may take.
std::size_t most_items(ImageFile& image) {
  constexpr std::size_t kMost = AccessTable::kMostNamed + AccessTable::kMostDirectories;
  return std::min<std::size_t>(kMost, image.header().capacity / 8 / sizeof(AccessItem));
}

}  // namespace

AccessTable::AccessTable(ImageFile& image)
    : image_(image),
      places_(kPlaces),
      most_(most_items(image)),
      names_(image, ExtentKind::access_names, image.header().capacity / 8) {}

std::unique_ptr<AccessTable> AccessTable::make(ImageFile& image) {
  std::unique_ptr<AccessTable> made(new AccessTable(image));
  if (made->places_.most() == 0) return nullptr;
  for (int layer = 0; layer < kAccessLayers; ++layer) {
    made->others_[layer] = made->append(static_cast<AccessLayer>(layer), {kOthers}, kAccessLayers);
    if (made->others_[layer].item == nullptr) return nullptr;
    made->others_[layer].is_group = true;
    made->others_[layer].is_new = false;
  }
  return made;
}

/// Its place, or the empty one where it would be.
AccessTable::Place* AccessTable::place_of(AccessLayer layer, Name name) noexcept {
  for (std::uint64_t i = hash_of(layer, name);; ++i) {
    Place& place = places_[i % kPlaces];
    const AccessItem* const item = place.item.load(std::memory_order_acquire);
    if (item == nullptr) return &place;
    const std::string_view there(place.name.load(std::memory_order_relaxed), item->name_size);
    if (item->layer == layer && is_equal(there, name)) return &place;
  }
}

/// Only by one thread at a time.
AccessTable::Found AccessTable::append(AccessLayer layer, Name name, std::size_t most) noexcept {
  Place& place = *place_of(layer, name);
  if (AccessItem* const item = place.item; item != nullptr) {
    return {item, {place.name.load(), item->name_size}};
  }
  const auto size = static_cast<std::uint32_t>(name.size());
  if (count_ >= most || !names_.may_add(size)) return {};
  if (items_ == nullptr || items_->used == items_->capacity) {
    ExtentHeader* const more = image_.try_take(ExtentKind::accesses, sizeof(AccessItem), kItems);
    if (more == nullptr) return {};
    items_ = more;
  }
  const ImageText::Placed text = names_.add({name.head, name.tail});
  if (!text) return {};
  auto* const item = new (reinterpret_cast<AccessItem*>(items_ + 1) + items_->used)
      AccessItem{layer, size, text.place, {}};
  items_->used.fetch_add(1, std::memory_order_release);
  ++count_;
  place.name.store(text.text, std::memory_order_relaxed);
  place.item.store(item, std::memory_order_release);
  return {item, {text.text, size}, true};
}

AccessTable::Found AccessTable::find_or_append(AccessLayer layer, Name name,
                                               std::size_t most) noexcept {
  const Place& place = *place_of(layer, name);
  if (AccessItem* const item = place.item; item != nullptr) {
    return {item, {place.name.load(), item->name_size}};
  }
  if (count_ >= most || name.size() > kMostName) return {};
  const Adding adding(is_adding_);
  if (!adding) return {};
  Found found = append(layer, name, most);
  for (int tries = 0; found.item == nullptr && count_ < most && tries < kTries; ++tries) {
    if (refusals_ >= kMostRefusals) break;
    pause_spinning();
    found = append(layer, name, most);
  }
  if (found.item == nullptr) ++refusals_;
  return found;
}

AccessTable::Found AccessTable::find_or_add(AccessLayer layer, Name name) noexcept {
  const bool is_group = name.tail.empty() && name.head.ends_with(kGroupEnd);
  const std::size_t most_named = most_ - std::min(most_ / 8, kMostDirectories);
  Found found = find_or_append(layer, name, is_group ? most_ : most_named);
  found.is_group = is_group || found.item == others_[static_cast<int>(layer)].item;
  const std::size_t slash = name.head.rfind('/');
  if (found.item == nullptr && slash != name.head.npos && name.tail.empty()) {
    found = find_or_append(layer, {name.head.substr(0, slash), kGroupEnd}, most_);
    found.is_group = true;
  }
  return found.item != nullptr ? found : others_[static_cast<int>(layer)];
}

}  // namespace headrace::record
