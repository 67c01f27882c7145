#include "plan/run_list.h"

#include <cstring>

namespace headrace::plan {
namespace {

/// Writes numbers until there is no room left.
class NumberWriter {
 public:
  explicit NumberWriter(std::span<std::byte> room) : room_(room) {}

  void add(std::int64_t number) {
    auto rest = static_cast<std::uint64_t>(number);
    do {
      if (size_ == room_.size()) {
        is_full_ = true;
        return;
      }
      const std::uint64_t more = rest > 0x7f ? 0x80 : 0;
      room_[size_++] = static_cast<std::byte>((rest & 0x7f) | more);
      rest >>= 7;
    } while (rest > 0);
  }

  std::size_t size() const { return size_; }
  bool is_full() const { return is_full_; }

 private:
  std::span<std::byte> room_;
  std::size_t size_ = 0;
  bool is_full_ = false;
};

/// Joins stretches to runs and writes these.
class RunWriter {
 public:
  RunWriter(std::span<std::byte> room, int granule_shift) : numbers_(room), shift_(granule_shift) {}

  void add(ByteCount begin, ByteCount length) {
    if (run_.count > 0 && length == run_.length &&
        (run_.count == 1 || begin == run_.offset + run_.count * run_.stride)) {
      run_.stride = run_.count == 1 ? begin - run_.offset : run_.stride;
      run_.count += 1;
      return;
    }
    finish();
    run_ = {begin, length, 0, 1};
  }

  void finish() {
    if (run_.count == 0) return;
    numbers_.add((run_.offset >> shift_) - at_);
    numbers_.add((run_.length >> shift_) * 2 + (run_.count > 1 ? 1 : 0));
    if (run_.count > 1) {
      numbers_.add(run_.count - 2);
      numbers_.add((run_.stride - run_.length) >> shift_);
    }
    at_ = (run_.offset + (run_.count - 1) * run_.stride + run_.length) >> shift_;
    run_.count = 0;
  }

  const NumberWriter& numbers() const { return numbers_; }

 private:
  NumberWriter numbers_;
  int shift_;
  std::int64_t at_ = 0;  ///< where the last run ended, in granules
  StridedRun run_;
};

Coverage::Word* words_of(std::span<const std::byte> map) {
  return reinterpret_cast<Coverage::Word*>(const_cast<std::byte*>(map.data()));
}

}  // namespace

RunList write_runs(const Coverage& covered, ByteCount window_size, int granule_shift,
                   std::span<std::byte> room) {
  const std::size_t map_size = run_list_room(window_size, granule_shift);
  RunWriter writer(room.first(map_size), granule_shift);
  RunList list;
  ByteCount begin = 0;
  ByteCount len = 0;
  for (ByteCount at = 0; covered.next_run(at, window_size, begin, len); at = begin + len) {
    if (!writer.numbers().is_full()) writer.add(begin, len);
    list.bytes += len;
  }
  writer.finish();
  list.size = writer.numbers().size();
  if (writer.numbers().is_full()) {
    list.form = RunForm::map;
    list.size = map_size;
    covered.copy_words(window_size, room.data());
  }
  return list;
}

RunReader::RunReader(RunForm form, std::span<const std::byte> list, ByteCount window_size,
                     int granule_shift)
    : form_(form),
      rest_(list),
      map_(words_of(list), granule_shift),
      window_size_(window_size),
      granules_(window_size >> granule_shift),
      shift_(granule_shift) {
  is_broken_ = form == RunForm::map && list.size() != run_list_room(window_size, granule_shift);
}

bool RunReader::broken() {
  is_broken_ = true;
  return false;
}

/// Reads a number, which must not exceed the window's granules.
bool RunReader::number(std::int64_t& value) {
  constexpr int kMaxBits = 42;  // more than the granules of any window need
  value = 0;
  for (int shift = 0; !rest_.empty() && shift < kMaxBits; shift += 7) {
    const auto byte = static_cast<std::int64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value <= 2 * granules_ + 1 || broken();
  }
  return broken();
}

bool RunReader::next(StridedRun& run) {
  if (is_broken_) return false;
  if (form_ == RunForm::map) return next_of_map(run);
  if (rest_.empty()) return false;
  std::int64_t gap = 0;
  std::int64_t length = 0;
  std::int64_t more = 0;
  std::int64_t apart = 0;
  if (!number(gap) || !number(length)) return false;
  std::int64_t count = 1;
  if (length % 2 != 0) {
    if (!number(more) || !number(apart)) return false;
    count = more + 2;
  }
  length /= 2;
  const std::int64_t begin = at_ + gap;
  const std::int64_t stride = count > 1 ? length + apart : 0;
  at_ = begin + (count - 1) * stride + length;
  if (length == 0 || at_ > granules_) return broken();
  run = {begin << shift_, length << shift_, stride << shift_, count};
  return true;
}

bool RunReader::next_of_map(StridedRun& run) {
  run = {0, 0, 0, 1};
  if (!map_.next_run(at_, window_size_, run.offset, run.length)) return false;
  at_ = run.offset + run.length;
  return true;
}

}  // namespace headrace::plan
