#include "record/held_files.h"

#include <set>
#include <string_view>

namespace headrace::record {

std::vector<std::string> held_files_of(std::span<const Image> images) {
  constexpr std::string_view kBegin = "buffers of '/";
  std::set<std::string> found;
  for (const Image& image : images) {
    for (const PlainDecisionItem& item : image.decisions().plain) {
      const PlainDecision texts = image.decisions().texts_of(item);
      if (texts.reason != kOthersMayReach || !texts.subject.starts_with(kBegin)) continue;
      const std::size_t slash = kBegin.size() - 1;
      found.emplace(texts.subject.substr(slash, texts.subject.size() - slash - 1));
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace headrace::record
