#include "file/file_pointer.h"

#include "base/rounding.h"
#include "view/copy.h"

namespace headrace::file {

FilePointer::FilePointer(const std::string& path, std::shared_ptr<const View> view) : path_(path) {
  show(std::move(view));
}

/// Takes a view. The caller holds mutex_, or no other thread knows the file.
void FilePointer::show(std::shared_ptr<const View> view) {
  view_ = std::move(view);
  unit_.store(unit_of(*view_), std::memory_order_relaxed);
  stretch_.set(viewed_stretch_of(*view_));
}

std::shared_ptr<const View> FilePointer::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

std::int64_t FilePointer::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

Error FilePointer::seek(std::int64_t offset, Whence whence, std::int64_t end) {
  const std::lock_guard lock(mutex_);
  // Under the lock, since another thread may move the pointer.
  const std::int64_t base =
      whence == Whence::current ? position_ : (whence == Whence::end ? end : 0);
  const Result<std::int64_t> target = this->target(base, offset);
  if (!target) return target.error();
  position_ = target.value();
  seeks_ += 1;
  return {};
}

Result<std::int64_t> FilePointer::target(std::int64_t base, std::int64_t offset) const {
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target)) {
    return Error{ErrorClass::argument, 0,
                 "cannot seek that far in '" + path_ +
                     "' (the position does not fit in 63 bits), use a smaller "
                     "offset"};
  }
  if (target >= 0) return target;
  return Error{
      ErrorClass::argument, 0,
      "cannot seek before the beginning of the view of '" + path_ + "', use a larger offset"};
}

Result<std::int64_t> FilePointer::end_position(ByteCount size) const {
  const std::shared_ptr<const View> view = this->view();
  if (view->filetype->size() == 0) return std::int64_t{0};
  if (!view->filetype->is_monotonic()) {
    return Error{ErrorClass::unsupported_operation, 0,
                 "cannot seek to the end of '" + path_ +
                     "' (its view goes backwards or overlaps), seek from the beginning"};
  }
  return divide_up(view::data_below(*view->filetype, view->displacement, size), unit_of(*view));
}

Result<FileOffset> FilePointer::byte_offset(std::int64_t offset) const {
  const std::shared_ptr<const View> view = this->view();
  if (offset < 0) return Error{ErrorClass::argument, 0, "the offset is negative, use 0 or more"};
  if (view->filetype->size() == 0) return view->displacement;
  if (Error error = check_fits(*view, offset, 1)) return error;
  return view::offset_of(*view->filetype, view->displacement, offset * unit_of(*view));
}

std::optional<FileOffset> FilePointer::take_stretch(ByteCount bytes, PointerMove& move) {
  const std::lock_guard lock(mutex_);
  const ViewedStretch stretch = stretch_.get();
  const std::optional<FileOffset> place = stretch.place_of(position_, bytes);
  if (!place) return std::nullopt;
  position_ += bytes / stretch.unit;
  move = {stretch.unit, position_, seeks_};
  return place;
}

void FilePointer::pull_back(Direction direction, ByteCount missing, const PointerMove& move) {
  if (move.unit == 0) return;
  const std::lock_guard lock(mutex_);
  if (seeks_ != move.seeks) return;
  if (direction == Direction::write && position_ != move.end) return;
  position_ -= divide_up(missing, move.unit);
}

}  // namespace headrace::file
