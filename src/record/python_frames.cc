#include "record/python_frames.h"

#include <bit>

#include "base/mixed_hash.h"
#include "record/python_names.h"

namespace headrace::record {
namespace {

constexpr int kMostForeignFrames = 64;

template <class T>
T at(std::uintptr_t structure, std::size_t offset) {
  return *reinterpret_cast<const T*>(structure + offset);
}

std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
  return std::rotl(sum, 7) ^ word;
}

std::size_t place_of(std::uint64_t sum, std::size_t mask) {
  return golden_hash(sum) >> 32 & mask;
}

}  // namespace

PythonPaths::PythonPaths(PathStore& store, const std::optional<Python>& python, std::size_t most)
    : store_(store),
      python_(python),
      keys_(most + 1),
      places_(std::bit_ceil(most * 2 + 2)),
      paths_(most + 1),
      path_places_(std::bit_ceil(most * 2 + 2)),
      mask_(std::bit_ceil(most * 2 + 2) - 1) {
  if (keys_.most() == 0 || places_.most() == 0 || paths_.most() == 0 || path_places_.most() == 0) {
    python_.reset();
    return;
  }
  keys_.take(1);  // 0 is none
  paths_.take(1);
}

PathEnd& PythonPaths::find(PathEnd& native) noexcept {
  Frames frames;
  if (!python_ || native.id == kNoPath || !read_frames(frames)) return native;
  auto sum = reinterpret_cast<std::uintptr_t>(&native);
  for (const Frame& frame : frames) sum = mixed(mixed(sum, frame.code), frame.instruction);
  std::size_t place = place_of(sum, mask_);
  for (; places_[place] != 0; place = (place + 1) & mask_) {
    const Key& key = keys_[places_[place]];
    if (key.native == &native && key.frames == frames) return *key.end;
  }
  if (!keys_.has_room(1)) {
    ++counts_.folded;
    return native;
  }
  ++counts_.resolved;
  PathEnd* end = add(native, frames);
  if (end == nullptr) end = &native;  // for good: to try again would cost each call microseconds
  const auto index = static_cast<std::uint32_t>(keys_.take(1));
  keys_[index] = {&native, frames, end};
  places_[place] = index;
  return *end;
}

bool PythonPaths::read_frames(Frames& frames) const noexcept {
  const PythonLayout& layout = python_->layout;
  auto holder = reinterpret_cast<std::uintptr_t>(python_->thread_state());
  if (holder == 0) return false;
  if (layout.thread_holder != 0) holder = at<std::uintptr_t>(holder, layout.thread_holder);
  auto frame = at<std::uintptr_t>(holder, layout.current_frame);
  std::size_t count = 0;
  for (int i = 0; i < kMostForeignFrames && frame != 0 && count < frames.size(); ++i) {
    if (at<unsigned char>(frame, layout.frame_owner) < layout.first_foreign_owner) {
      frames[count++] = {at<std::uintptr_t>(frame, layout.frame_code) & ~layout.code_tags,
                         at<std::uintptr_t>(frame, layout.frame_instruction)};
    }
    frame = at<std::uintptr_t>(frame, layout.frame_previous);
  }
  return count != 0;
}

PathEnd* PythonPaths::add(PathEnd& native, const Frames& frames) noexcept {
  PathEnd* end = &native;
  for (std::size_t i = frames.size(); i-- > 0 && end != nullptr;) {
    if (frames[i].code != 0) end = add_frame(*end, frames[i]);
  }
  return end;
}

// Instructions of one line are one path.
PathEnd* PythonPaths::add_frame(PathEnd& caller, const Frame& frame) noexcept {
  PythonPlace where;
  if (!read_python_place(*python_, frame.code, frame.instruction, where)) {
    ++counts_.unreadable;
    return nullptr;
  }
  const std::uint64_t sum = mixed(mixed(reinterpret_cast<std::uintptr_t>(&caller), frame.code),
                                  static_cast<std::uint64_t>(where.line));
  std::size_t place = place_of(sum, mask_);
  for (; path_places_[place] != 0; place = (place + 1) & mask_) {
    Path& path = paths_[path_places_[place]];
    if (path.caller == &caller && path.code == frame.code && path.line == where.line) {
      return &path.end;
    }
  }
  const PathId id = paths_.has_room(1) ? store_.add_python(caller.id, where.function.text(),
                                                           where.file.text(), where.line)
                                       : kNoPath;
  if (id == kNoPath) {
    ++counts_.unstored;
    return nullptr;
  }
  const auto index = static_cast<std::uint32_t>(paths_.take(1));
  paths_[index] = {&caller, frame.code, where.line, {id, false, nullptr}};
  path_places_[place] = index;
  return &paths_[index].end;
}

}  // namespace headrace::record
