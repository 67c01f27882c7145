#include "record/plain_decisions.h"

#include <new>

#include "record/adding.h"
#include "record/clock.h"
#include "record/decision.h"
#include "record/image_file.h"
#include "record/recorder.h"

namespace headrace::record {
namespace {

constexpr std::uint32_t kItems = 16;  // of an extent
/// Texts may fill this part of the image; the rest is for calls.
constexpr std::uint64_t kPartOfImage = 16;

constinit std::atomic<PlainDecisions*> decisions_in_use = nullptr;

}  // namespace

PlainDecisions::PlainDecisions(ImageFile& image)
    : image_(image),
      texts_(image, ExtentKind::plain_texts, image.header().capacity / kPartOfImage) {}

/// They are few, and files are opened rarely.
PlainDecisionItem* PlainDecisions::find(const PlainDecision& decision) const noexcept {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    PlainDecisionItem* const item = places_[i].item.load(std::memory_order_acquire);
    const auto& sizes = item->sizes;
    if (sizes[0] != decision.subject.size() || sizes[1] != decision.choice.size() ||
        sizes[2] != decision.reason.size()) {
      continue;
    }
    std::string_view rest(places_[i].text, std::size_t{sizes[0]} + sizes[1] + sizes[2]);
    if (!rest.starts_with(decision.subject) || !rest.ends_with(decision.reason)) continue;
    if (rest.substr(sizes[0], sizes[1]) == decision.choice) return item;
  }
  return nullptr;
}

/// Only by one thread at a time.
PlainDecisionItem* PlainDecisions::add(const PlainDecision& decision, std::size_t most) noexcept {
  if (PlainDecisionItem* const found = find(decision); found != nullptr) return found;
  if (count_ >= most) return nullptr;
  if (items_ == nullptr || items_->used == items_->capacity) {
    ExtentHeader* const more =
        image_.try_take(ExtentKind::plain_decisions, sizeof(PlainDecisionItem), kItems);
    if (more == nullptr) return nullptr;
    items_ = more;
  }
  const ImageText::Placed text = texts_.add({decision.subject, decision.choice, decision.reason});
  if (!text) return nullptr;
  const auto size = [](std::string_view one) { return static_cast<std::uint32_t>(one.size()); };
  auto* const item = new (reinterpret_cast<PlainDecisionItem*>(items_ + 1) + items_->used)
      PlainDecisionItem{text.place,
                        {size(decision.subject), size(decision.choice), size(decision.reason)},
                        0,
                        ticks(),
                        0};
  items_->used.fetch_add(1, std::memory_order_release);
  Place& place = places_[count_];
  place.text = text.text;
  place.item.store(item, std::memory_order_release);
  count_.fetch_add(1, std::memory_order_release);
  return item;
}

PlainDecisionItem* PlainDecisions::find_or_add(const PlainDecision& decision,
                                               std::size_t most) noexcept {
  if (PlainDecisionItem* const found = find(decision); found != nullptr) return found;
  if (count_ >= most) return nullptr;
  const Adding adding(is_adding_);
  return adding ? add(decision, most) : nullptr;
}

bool PlainDecisions::count(const PlainDecision& decision, std::string_view group) noexcept {
  PlainDecisionItem* item = find_or_add(decision, kMostNamed);
  if (item == nullptr) item = find_or_add({group, decision.choice, decision.reason}, kMost);
  if (item == nullptr) return false;
  std::atomic_ref(item->calls).fetch_add(1, std::memory_order_relaxed);
  return true;
}

void start_plain_decisions(ImageFile& image) {
  decisions_in_use.store(new PlainDecisions(image), std::memory_order_release);
}

void count_plain_decision(const PlainDecision& decision, std::string_view group) noexcept {
  ImageFile* const own = is_recording.load(std::memory_order_relaxed) ? image() : nullptr;
  PlainDecisions* const decisions = decisions_in_use.load(std::memory_order_acquire);
  if (own == nullptr || decisions == nullptr || decisions->count(decision, group)) return;
  own->header().lost_decisions.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace headrace::record
