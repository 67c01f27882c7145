#include "profile/python_sample.h"

#include <cstring>

#include "record/own_memory.h"

namespace headrace::profile {
namespace {

constexpr int kMostRead = 96;             // with those that run no Python
constexpr std::size_t kHeadOfFrame = 80;  // has all that is read of a frame, in each version

using Head = std::array<unsigned char, kHeadOfFrame>;

bool read_word(std::uintptr_t address, std::uintptr_t& word) noexcept {
  return record::read_own_memory(reinterpret_cast<const void*>(address), &word, sizeof word);
}

std::uintptr_t word_at(const Head& head, std::size_t at) noexcept {
  std::uintptr_t word = 0;
  std::memcpy(&word, &head[at], sizeof word);
  return word;
}

std::uintptr_t innermost_frame(const record::Python& python) noexcept {
  const record::PythonLayout& layout = python.layout;
  auto holder = reinterpret_cast<std::uintptr_t>(python.thread_state());
  if (holder == 0) return 0;
  if (layout.thread_holder != 0 && !read_word(holder + layout.thread_holder, holder)) return 0;
  std::uintptr_t frame = 0;
  return read_word(holder + layout.current_frame, frame) ? frame : 0;
}

}  // namespace

void read_python_frames(const record::Python& python, PythonSample& found) noexcept {
  const record::PythonLayout& layout = python.layout;
  found.count = 0;
  found.is_whole = false;
  std::uintptr_t frame = innermost_frame(python);
  for (int i = 0; i < kMostRead && frame != 0; ++i) {
    Head head;
    if (!record::read_own_memory(reinterpret_cast<const void*>(frame), head.data(), head.size())) {
      return;
    }
    if (head[layout.frame_owner] >= layout.first_foreign_owner) {
      // The interpreter keeps one of these in each of its own calls.
      if (found.count != 0) found.frames[found.count - 1].instruction |= 1;
    } else {
      if (found.count == PythonSample::kMost) return;
      const bool is_entry = layout.frame_entry != 0 && head[layout.frame_entry] != 0;
      found.frames[found.count++] = {
          word_at(head, layout.frame_code) & ~layout.code_tags,
          (word_at(head, layout.frame_instruction) & ~std::uintptr_t{1}) | (is_entry ? 1U : 0U)};
    }
    frame = word_at(head, layout.frame_previous);
  }
  found.is_whole = frame == 0;
}

}  // namespace headrace::profile
