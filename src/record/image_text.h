#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "record/image.h"

namespace headrace::record {

class ImageFile;

/// Texts in an image, one behind the other, in extents of one kind. One thread at a time adds to
/// them; it may be a signal handler's, since nothing waits and no memory but the image's is taken.
class ImageText {
 public:
  /// `most`: bytes of all.
  ImageText(ImageFile& image, ExtentKind kind, std::uint64_t most)
      : image_(image), kind_(kind), most_(most) {}

  struct Placed {
    const char* text = nullptr;  ///< in the image; null: there is no room
    std::uint64_t place = 0;     ///< within the bytes of all extents of the kind, in their order
    explicit operator bool() const { return text != nullptr; }
  };

  /// Whether so many bytes more are allowed.
  bool may_add(std::size_t bytes) const { return bytes_ + bytes <= most_; }
  /// Adds the parts as one text.
  Placed add(std::initializer_list<std::string_view> parts) noexcept;

 private:
  ImageFile& image_;
  const ExtentKind kind_;
  const std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  ExtentHeader* extent_ = nullptr;
};

}  // namespace headrace::record
