#include "view/elements.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace headrace::view {
namespace {

using Part = Elements::Part;

/// Adds `count` times `old` to `parts`; equal neighbours become one part.
void append(std::vector<Part>& parts, std::int64_t count, const ElementsPtr& old) {
  if (count == 0 || old->parts().empty()) return;
  Part part{old, {}, count, {}};
  if (old->parts().size() == 1) {  // a repetition of a repetition
    part = old->parts().front();
    part.count *= count;
  }
  const bool joins =
      !parts.empty() && parts.back().child == part.child && parts.back().element == part.element;
  if (joins) {
    parts.back().count += part.count;
  } else {
    parts.push_back(std::move(part));
  }
}

}  // namespace

Elements::Elements(std::vector<Part> parts) : parts_(std::move(parts)) {
  for (Part& part : parts_) {
    part.begin = amount_;
    amount_ = amount_ + part.one() * part.count;
  }
}

Amount Elements::whole(std::int64_t Amount::* measure, std::int64_t limit) const {
  if (amount_.*measure == 0) return {};
  const std::int64_t repetitions = limit / (amount_.*measure);
  Amount result = amount_ * repetitions;
  const Elements* current = this;
  limit -= result.*measure;
  while (limit > 0) {
    const auto behind = std::upper_bound(
        current->parts_.begin(), current->parts_.end(), limit,
        [&](std::int64_t value, const Part& part) { return value < part.begin.*measure; });
    const Part& part = *(behind - 1);
    limit -= part.begin.*measure;
    const Amount one = part.one();
    const std::int64_t count = limit / (one.*measure);
    result = result + part.begin + one * count;
    limit -= count * (one.*measure);
    if (!part.child) break;
    current = part.child.get();
  }
  return result;
}

ElementsPtr make_elements(const Element& element) {
  return std::make_shared<const Elements>(std::vector<Part>{{nullptr, element, 1, {}}});
}

ElementsPtr repeat_elements(std::int64_t count, const ElementsPtr& old) {
  if (count == 1) return old;
  std::vector<Part> parts;
  append(parts, count, old);
  return std::make_shared<const Elements>(std::move(parts));
}

ElementsPtr join_elements(std::span<const std::int64_t> counts,
                          std::span<const ElementsPtr> parts) {
  std::vector<Part> joined;
  for (std::size_t i = 0; i < parts.size(); ++i) append(joined, counts[i], parts[i]);
  return std::make_shared<const Elements>(std::move(joined));
}

ElementCursor::ElementCursor(const Elements& elements, std::int64_t items) {
  assert(elements.amount().items > 0 && items >= 0);
  items %= elements.amount().items;
  const Elements* current = &elements;
  while (current != nullptr) {
    const auto& parts = current->parts();
    const auto behind = std::upper_bound(
        parts.begin(), parts.end(), items,
        [](std::int64_t value, const Part& part) { return value < part.begin.items; });
    const Part& part = *(behind - 1);
    items -= part.begin.items;
    const std::int64_t done = items / part.one().items;
    items -= done * part.one().items;
    levels_.push_back({current, static_cast<std::size_t>(behind - parts.begin()) - 1, done});
    current = part.child.get();
  }
  assert(items == 0);
}

/// From the innermost level down to a part of elements.
void ElementCursor::descend() {
  for (;;) {
    const Level& last = levels_.back();
    const Part& part = last.elements->parts()[last.part];
    if (!part.child) return;
    levels_.push_back({part.child.get(), 0, 0});
  }
}

/// Leaves a part whose repetitions are all done.
void ElementCursor::step() {
  for (;;) {
    Level& last = levels_.back();
    if (last.done < last.elements->parts()[last.part].count) break;
    last.done = 0;
    last.part += 1;
    if (last.part < last.elements->parts().size()) break;
    last.part = 0;
    if (levels_.size() == 1) break;
    levels_.pop_back();
    levels_.back().done += 1;
  }
  descend();
}

ElementCursor::Run ElementCursor::next(ByteCount native_limit) {
  Level& last = levels_.back();
  const Part& part = last.elements->parts()[last.part];
  Run run{part.element, std::min(part.count - last.done, native_limit / part.element.native_size)};
  last.done += run.count;
  step();
  return run;
}

}  // namespace headrace::view
