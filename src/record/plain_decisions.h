#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "record/image.h"
#include "record/image_text.h"

namespace headrace::record {

class ImageFile;

/// Decisions of code that signal handlers run, too, in the image. Any thread and any handler may
/// add to them: no memory is taken but the image's, and nobody is waited for but, for a moment,
/// another thread. Their number is bounded.
class PlainDecisions {
 public:
  static constexpr std::size_t kMost = 128;
  static constexpr std::size_t kMostNamed = 96;  ///< of these, on objects with names of their own

  explicit PlainDecisions(ImageFile& image);

  /// Counts a decision: an equal one once more. If there is no room for a further one, it counts as
  /// one on `group`, which stands for many subjects. False: there is no room for that either.
  bool count(const PlainDecision& decision, std::string_view group) noexcept;

 private:
  struct Place {
    std::atomic<PlainDecisionItem*> item;
    const char* text;
  };

  PlainDecisionItem* find(const PlainDecision& decision) const noexcept;
  PlainDecisionItem* find_or_add(const PlainDecision& decision, std::size_t most) noexcept;
  PlainDecisionItem* add(const PlainDecision& decision, std::size_t most) noexcept;

  ImageFile& image_;
  ImageText texts_;
  std::atomic_flag is_adding_;
  std::atomic<std::size_t> count_ = 0;
  ExtentHeader* items_ = nullptr;
  std::array<Place, kMost> places_{};
};

/// Lets count_plain_decision() count in this image, which is never given back.
void start_plain_decisions(ImageFile& image);

}  // namespace headrace::record
