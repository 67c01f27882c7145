#include "record/region_names.h"

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>

namespace headrace::record {
namespace {

constexpr const char* kOtherLabel = "(other regions)";

struct Labels {
  std::mutex mutex;
  std::map<int, std::string> labels;
};

Labels& all() {
  static auto& only = *new Labels;  // never destroyed: regions end during exit, too
  return only;
}

bool is_inside_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;  // of UTF-8
}

std::string shortened(const char* label) {
  std::string text(label, strnlen(label, kMostLabel + 1));
  if (text.size() <= kMostLabel) return text;
  std::size_t length = kMostLabel;
  while (length > 0 && is_inside_character(text[length])) --length;
  text.resize(length);
  return text;
}

}  // namespace

bool name_region(int id, const char* label) noexcept {
  try {
    Labels& own = all();
    const std::lock_guard lock(own.mutex);
    if (own.labels.contains(id)) return true;
    if (own.labels.size() >= kMostRegions) return false;
    own.labels.emplace(id, label == nullptr ? "" : shortened(label));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::string label_of_region(int id) {
  if (id == kOtherRegions) return kOtherLabel;
  Labels& own = all();
  const std::lock_guard lock(own.mutex);
  const auto found = own.labels.find(id);
  return found == own.labels.end() ? "" : found->second;
}

}  // namespace headrace::record
