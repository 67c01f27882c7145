#include "sim/story_writer.h"

#include <algorithm>

namespace headrace::sim {

StoryWriter::StoryWriter(Random& random, int ranks, std::string path)
    : random_(random), ranks_(ranks) {
  story_.path = std::move(path);
}

FileStory StoryWriter::write(std::int64_t steps) {
  begin();
  for (std::int64_t i = 0; i < steps; ++i) {
    Step& step = story_.steps.emplace_back();
    step.kind = i == 0 && random_.chance(70) ? StepKind::set_view : next_kind();
    switch (step.kind) {
      case StepKind::transfer: transfer(step); break;
      case StepKind::set_view: set_view(step); break;
      case StepKind::seek: seek(step); break;
      case StepKind::resize:
      case StepKind::allocate: change_size(step); break;
      case StepKind::size: ask_size(step); break;
      case StepKind::byte_offset: ask_byte_offset(step); break;
      case StepKind::sync: break;
      case StepKind::set_hints:
        step.hints = random_hints(random_);
        all_meet();
        break;
      case StepKind::reopen: open(); break;
    }
  }
  if (!story_.mode.delete_on_close) story_.after = bytes_;
  return std::move(story_);
}

void StoryWriter::begin() {
  file::AccessMode& mode = story_.mode;
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
  views_.assign(static_cast<std::size_t>(ranks_), ViewModel::of_bytes());
  const std::int64_t start = story_.mode.append ? std::ssize(bytes_) : 0;
  pointers_.assign(static_cast<std::size_t>(ranks_), start);
  all_meet();
}

StepKind StoryWriter::next_kind() {
  const std::int64_t dice = random_.number(1, 100);
  if (dice <= 58) return StepKind::transfer;
  if (dice <= 72) return StepKind::set_view;
  if (dice <= 78) return StepKind::seek;
  if (dice <= 81 && story_.mode.write) return StepKind::resize;
  if (dice <= 83 && story_.mode.write) return StepKind::allocate;
  if (dice <= 86) return StepKind::size;
  if (dice <= 89) return StepKind::byte_offset;
  if (dice <= 92) return StepKind::sync;
  if (dice <= 95) return StepKind::set_hints;
  return may_reopen_ ? StepKind::reopen : StepKind::set_view;
}

void StoryWriter::transfer(Step& step) {
  const bool ascends = std::ranges::all_of(views_, &ViewModel::ascends);
  step.direction = random_.chance(50) || !ascends ? Direction::read : Direction::write;
  step.collective = random_.chance(75);
  const auto most = random_.one_of<ByteCount>({10, 300, 300, 5'000, 5'000, 40'000});
  const int idle = random_.one_of<int>({0, 0, 30, 70});
  std::vector<std::vector<FileOffset>> touched;
  within_step_.clear(0);
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    Request request = make_request(random_, step.direction, views_[index], pointers_[index], most);
    spoil(request);
    if (random_.chance(idle)) empty(request);
    std::vector<FileOffset> bytes = file_bytes(rank, request);
    // What ranks write in one step does not overlap.
    if (step.direction == Direction::write) {
      if (within_step_.concerns(rank, step.direction, bytes, kEndOfRequests)) {
        empty(request);
        bytes.clear();
      }
      within_step_.add(rank, step.direction, bytes, kEndOfRequests);
    }
    if (conflicts_.concerns(rank, step.direction, bytes, std::ssize(bytes_))) {
      step.meets_first = true;
    }
    step.requests.push_back(std::move(request));
    touched.push_back(std::move(bytes));
  }
  if (step.meets_first) all_meet();
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    conflicts_.add(rank, step.direction, touched[index], std::ssize(bytes_));
  }
  for (int rank = 0; rank < ranks_; ++rank) {
    predict(step, rank, step.requests[static_cast<std::size_t>(rank)]);
  }
}

void StoryWriter::spoil(Request& request) {
  if (request.offset && random_.chance(1)) request.offset = -1;
  if (random_.chance(1)) request.count = -1;
}

std::vector<FileOffset> StoryWriter::file_bytes(int rank, const Request& request) const {
  const ViewModel& view = views_[static_cast<std::size_t>(rank)];
  std::vector<FileOffset> bytes;
  if (view.is_empty() || request.offset.value_or(0) < 0) return bytes;
  bytes.reserve(static_cast<std::size_t>(request.wanted()));
  for (ByteCount i = 0; i < request.wanted(); ++i) {
    bytes.push_back(view.offset_of(request.position + i));
  }
  return bytes;
}

void StoryWriter::predict(const Step& step, int rank, Request& request) {
  const auto index = static_cast<std::size_t>(rank);
  const ViewModel& view = views_[index];
  const bool writes = step.direction == Direction::write;
  request.after = request.buffer;
  request.pointer = pointers_[index];
  if (writes && !story_.mode.write) {
    request.error = ErrorClass::read_only;
  } else if (!writes && !story_.mode.read) {
    request.error = ErrorClass::access;
  } else if (request.count < 0) {
    request.error = ErrorClass::count;
  } else if (request.offset.value_or(0) < 0) {
    request.error = ErrorClass::argument;
  } else {
    const std::vector<std::int64_t> places = request.places(request.wanted());
    for (const FileOffset offset : file_bytes(rank, request)) {
      const auto place = static_cast<std::size_t>(offset);
      if (writes && place >= bytes_.size()) bytes_.resize(place + 1);
      if (place >= bytes_.size()) break;
      std::uint8_t& memory =
          request.after[static_cast<std::size_t>(places[static_cast<std::size_t>(request.bytes)])];
      if (writes) {
        bytes_[place] = memory;
      } else {
        memory = bytes_[place];
      }
      request.bytes += 1;
    }
    if (writes && request.bytes < request.wanted()) request.error = ErrorClass::argument;
    // Only whole etypes count as done.
    if (!request.offset) {
      request.pointer += request.bytes / view.unit();
    }
  }
  pointers_[index] = request.pointer;
}

void StoryWriter::set_view(Step& step) {
  const std::int64_t kind = random_.number(0, 9);
  step.views = kind < 7   ? disjoint_views(random_, ranks_)
               : kind < 9 ? free_views(random_, ranks_, true)
                          : free_views(random_, ranks_, false);
  views_ = step.views;
  pointers_.assign(pointers_.size(), 0);
  all_meet();
}

void StoryWriter::seek(Step& step) {
  step.whence =
      random_.one_of<file::Whence>({file::Whence::set, file::Whence::current, file::Whence::end});
  const bool at_end = step.whence == file::Whence::end;
  if (at_end && conflicts_.concerns_size()) {
    step.meets_first = true;
    all_meet();
  }
  if (at_end) conflicts_.add_size_question();
  for (std::size_t rank = 0; rank < views_.size(); ++rank) {
    const std::int64_t base = step.whence == file::Whence::set       ? 0
                              : step.whence == file::Whence::current ? pointers_[rank]
                                                                     : end_pointer(views_[rank]);
    const std::int64_t offset = random_.number(-20, 200);
    step.offsets.push_back(offset);
    // Such a view has no one place that is the file's end.
    const bool refused = at_end && !views_[rank].is_empty() && !views_[rank].ascends();
    if (!refused && base + offset >= 0) pointers_[rank] = base + offset;
    step.results.push_back(pointers_[rank]);
  }
}

std::int64_t StoryWriter::end_pointer(const ViewModel& view) const {
  if (view.is_empty() || !view.ascends()) return 0;
  ByteCount below = 0;
  // Whole tiles first, then byte by byte.
  const FileOffset size = std::ssize(bytes_);
  while (view.offset_of(below + view.size() - 1) < size) below += view.size();
  while (view.offset_of(below) < size) ++below;
  return (below + view.unit() - 1) / view.unit();
}

void StoryWriter::change_size(Step& step) {
  step.size = random_.chance(20) ? 0 : random_.number(0, 600'000);
  const auto size = static_cast<std::size_t>(step.size);
  if (step.kind == StepKind::resize || size > bytes_.size()) bytes_.resize(size);
  all_meet();
}

void StoryWriter::ask_size(Step& step) {
  if (conflicts_.concerns_size()) {
    step.meets_first = true;
    all_meet();
  }
  conflicts_.add_size_question();
  step.size = std::ssize(bytes_);
}

void StoryWriter::ask_byte_offset(Step& step) {
  for (const ViewModel& view : views_) {
    const std::int64_t offset = random_.number(0, 1'000);
    step.offsets.push_back(offset);
    step.results.push_back(view.is_empty() ? -1 : view.offset_of(offset * view.unit()));
  }
}

}  // namespace headrace::sim
