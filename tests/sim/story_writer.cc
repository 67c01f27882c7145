#include "sim/story_writer.h"

#include <algorithm>

namespace headrace::sim {

using steps::Whence;

StoryWriter::StoryWriter(Random& random, int ranks, std::string path)
    : random_(random), ranks_(ranks) {
  story_.path = std::move(path);
}

FileStory StoryWriter::write(std::int64_t steps) {
  begin();
  for (std::int64_t i = 0; i < steps; ++i) {
    StoryStep& next = story_.steps.emplace_back();
    next.step.kind = i == 0 && random_.chance(70) ? StepKind::set_view : next_kind();
    next.step.parts.resize(views_.size());
    switch (next.step.kind) {
      case StepKind::access: access(next); break;
      case StepKind::set_view: set_view(next.step); break;
      case StepKind::seek: seek(next); break;
      case StepKind::set_size:
      case StepKind::preallocate: change_size(next.step); break;
      case StepKind::get_size: ask_size(next); break;
      case StepKind::byte_offset: ask_byte_offset(next); break;
      case StepKind::set_hints:
        next.step.hints = random_hints(random_);
        all_meet();
        break;
      case StepKind::reopen: open(); break;
      default: break;  // sync
    }
  }
  if (!story_.mode.delete_on_close) story_.after = bytes_;
  return std::move(story_);
}

void StoryWriter::begin() {
  Mode& mode = story_.mode;
  const std::int64_t kind = random_.number(0, 9);
  mode.read = kind != 0;
  mode.write = kind != 1;
  if (mode.write && random_.chance(60)) mode.create = true;
  if (!mode.create || random_.chance(50)) {
    story_.before.emplace(
        static_cast<std::size_t>(random_.number(0, 1) * random_.number(0, 500'000)));
    const std::uint64_t seed = random_.seed();
    for (std::size_t i = 0; i < story_.before->size(); ++i) {
      (*story_.before)[i] = random_byte(seed, static_cast<std::int64_t>(i));
    }
    bytes_ = *story_.before;
  }
  mode.append = random_.chance(10);
  mode.delete_on_close = !may_reopen_ && random_.chance(10);
  mode.exclusive = mode.create && !story_.before && !may_reopen_;
  story_.hints = random_hints(random_);
  open();
}

void StoryWriter::open() {
  views_.assign(static_cast<std::size_t>(ranks_), ViewMap{});
  const std::int64_t start = story_.mode.append ? std::ssize(bytes_) : 0;
  pointers_.assign(static_cast<std::size_t>(ranks_), start);
  all_meet();
}

StepKind StoryWriter::next_kind() {
  const std::int64_t dice = random_.number(1, 100);
  if (dice <= 58) return StepKind::access;
  if (dice <= 72) return StepKind::set_view;
  if (dice <= 78) return StepKind::seek;
  if (dice <= 81 && story_.mode.write) return StepKind::set_size;
  if (dice <= 83 && story_.mode.write) return StepKind::preallocate;
  if (dice <= 86) return StepKind::get_size;
  if (dice <= 89) return StepKind::byte_offset;
  if (dice <= 92) return StepKind::sync;
  if (dice <= 95) return StepKind::set_hints;
  return may_reopen_ ? StepKind::reopen : StepKind::set_view;
}

void StoryWriter::access(StoryStep& next) {
  Step& step = next.step;
  const bool ascends = std::ranges::all_of(views_, &ViewMap::is_ascending);
  step.is_write = !random_.chance(50) && ascends;
  const Direction direction = step.is_write ? Direction::write : Direction::read;
  step.is_collective = random_.chance(75);
  const auto most = random_.one_of<ByteCount>({10, 300, 300, 5'000, 5'000, 40'000});
  const int idle = random_.one_of<int>({0, 0, 30, 70});
  std::vector<std::vector<FileOffset>> touched;
  within_step_.clear(0);
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    Part& part = step.parts[index];
    part = make_request(random_, step.is_write, views_[index], pointers_[index], most);
    spoil(part);
    if (random_.chance(idle)) part.count = 0;
    std::vector<FileOffset> bytes = file_bytes(rank, part);
    // What ranks write in one step does not overlap.
    if (step.is_write) {
      if (within_step_.concerns(rank, direction, bytes, kEndOfRequests)) {
        part.count = 0;
        bytes.clear();
      }
      within_step_.add(rank, direction, bytes, kEndOfRequests);
    }
    if (conflicts_.concerns(rank, direction, bytes, std::ssize(bytes_))) next.meets_first = true;
    touched.push_back(std::move(bytes));
  }
  if (next.meets_first) all_meet();
  for (int rank = 0; rank < ranks_; ++rank) {
    conflicts_.add(rank, direction, touched[static_cast<std::size_t>(rank)], std::ssize(bytes_));
  }
  for (int rank = 0; rank < ranks_; ++rank) next.expected.push_back(predict(step, rank));
}

void StoryWriter::spoil(Part& part) {
  if (!part.at_pointer && random_.chance(1)) part.offset = -1;
  if (random_.chance(1)) part.count = -1;
}

std::vector<FileOffset> StoryWriter::file_bytes(int rank, const Part& part) const {
  const auto index = static_cast<std::size_t>(rank);
  const ViewMap& view = views_[index];
  std::vector<FileOffset> bytes;
  if (view.shows_nothing() || (!part.at_pointer && part.offset < 0)) return bytes;
  const ByteCount wanted = wanted_bytes(part);
  const ByteCount position = (part.at_pointer ? pointers_[index] : part.offset) * view.unit();
  bytes.reserve(static_cast<std::size_t>(wanted));
  for (ByteCount i = 0; i < wanted; ++i) bytes.push_back(view.offset_of(position + i));
  return bytes;
}

Expected StoryWriter::predict(const Step& step, int rank) {
  const auto index = static_cast<std::size_t>(rank);
  const Part& part = step.parts[index];
  steps::Memory memory = make_memory(kDataSeed, step, rank);
  Expected expected;
  if (step.is_write && !story_.mode.write) {
    expected.error = ErrorClass::read_only;
  } else if (!step.is_write && !story_.mode.read) {
    expected.error = ErrorClass::access;
  } else if (part.count < 0) {
    expected.error = ErrorClass::count;
  } else if (!part.at_pointer && part.offset < 0) {
    expected.error = ErrorClass::argument;
  } else {
    for (const FileOffset offset : file_bytes(rank, part)) {
      const auto place = static_cast<std::size_t>(offset);
      if (step.is_write && place >= bytes_.size()) bytes_.resize(place + 1);
      if (place >= bytes_.size()) break;
      const std::int64_t at = memory.places[static_cast<std::size_t>(expected.bytes)];
      std::uint8_t& byte = memory.bytes[static_cast<std::size_t>(at)];
      (step.is_write ? bytes_[place] : byte) = step.is_write ? byte : bytes_[place];
      expected.bytes += 1;
    }
    if (step.is_write && expected.bytes < wanted_bytes(part)) {
      expected.error = ErrorClass::argument;
    }
    // Only whole etypes count as done.
    if (part.at_pointer) pointers_[index] += expected.bytes / views_[index].unit();
  }
  expected.pointer = pointers_[index];
  expected.memory = std::move(memory.bytes);
  return expected;
}

void StoryWriter::set_view(Step& step) {
  const std::int64_t kind = random_.number(0, 9);
  const std::vector<View> views = kind < 7   ? disjoint_views(random_, ranks_)
                                  : kind < 9 ? free_views(random_, ranks_, true)
                                             : free_views(random_, ranks_, false);
  for (std::size_t rank = 0; rank < views.size(); ++rank) step.parts[rank].view = views[rank];
  views_ = maps_of(views);
  pointers_.assign(pointers_.size(), 0);
  all_meet();
}

void StoryWriter::seek(StoryStep& next) {
  Step& step = next.step;
  step.whence = random_.one_of<Whence>({Whence::set, Whence::current, Whence::end});
  const bool at_end = step.whence == Whence::end;
  if (at_end && conflicts_.concerns_size()) {
    next.meets_first = true;
    all_meet();
  }
  if (at_end) conflicts_.add_size_question();
  for (std::size_t rank = 0; rank < views_.size(); ++rank) {
    // Such a view has no one place that is the file's end.
    const bool refused = at_end && !views_[rank].is_ascending();
    std::int64_t base = 0;
    if (step.whence == Whence::current) base = pointers_[rank];
    if (at_end && !refused) base = views_[rank].etypes_below(std::ssize(bytes_));
    const std::int64_t offset = random_.number(-20, 200);
    step.parts[rank].offset = offset;
    if (!refused && base + offset >= 0) pointers_[rank] = base + offset;
    next.expected.emplace_back().pointer = pointers_[rank];
  }
}

void StoryWriter::change_size(Step& step) {
  step.value = random_.chance(20) ? 0 : random_.number(0, 600'000);
  const auto size = static_cast<std::size_t>(step.value);
  if (step.kind == StepKind::set_size || size > bytes_.size()) bytes_.resize(size);
  all_meet();
}

void StoryWriter::ask_size(StoryStep& next) {
  if (conflicts_.concerns_size()) {
    next.meets_first = true;
    all_meet();
  }
  conflicts_.add_size_question();
  for (int rank = 0; rank < ranks_; ++rank) {
    next.expected.emplace_back().value = std::ssize(bytes_);
  }
}

void StoryWriter::ask_byte_offset(StoryStep& next) {
  for (std::size_t rank = 0; rank < views_.size(); ++rank) {
    const ViewMap& view = views_[rank];
    const std::int64_t offset = random_.number(0, 1'000);
    next.step.parts[rank].offset = offset;
    Expected& expected = next.expected.emplace_back();
    if (!view.shows_nothing()) expected.value = view.offset_of(offset * view.unit());
  }
}

}  // namespace headrace::sim
