#include "record/region_names.h"

#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "record/recorder.h"

namespace headrace::record {
namespace {

constexpr const char* kOtherLabel = "(other regions)";

struct Name {
  std::string label;
  std::uint32_t note = kNone;
};

struct Names {
  std::mutex mutex;
  std::map<int, Name> names;
};

Names& all() {
  static auto& only = *new Names;  // never destroyed: regions end during exit, too
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
    Names& own = all();
    const std::lock_guard lock(own.mutex);
    if (own.names.contains(id)) return true;
    if (own.names.size() >= kMostRegions) return false;
    own.names.emplace(id, Name{label == nullptr ? "" : shortened(label)});
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::uint32_t region_note(int id) noexcept {
  try {
    if (id == kOtherRegions) {
      const std::string_view fields[] = {"", kOtherLabel};
      return add_note(NoteKind::region, fields);
    }
    Names& own = all();
    const std::lock_guard lock(own.mutex);
    const auto found = own.names.find(id);
    if (found == own.names.end()) return kNone;
    Name& name = found->second;
    if (name.note == kNone) {
      const std::string number = std::to_string(id);
      const std::string_view fields[] = {number, name.label};
      name.note = add_note(NoteKind::region, fields);
    }
    return name.note;
  } catch (const std::bad_alloc&) {
    return kNone;
  }
}

}  // namespace headrace::record
