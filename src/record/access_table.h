#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "record/image.h"
#include "record/image_text.h"
#include "record/mapped_array.h"

namespace headrace::record {

class ImageFile;

/// What is counted of each file that the program uses without MPI, by name and layer, in the image
/// from the first open on. The number of files is bounded: further ones are counted by directory,
/// then all together. Any thread may call it, signal handlers included: it takes no memory but the
/// image's, and waits for nobody but, for a moment, another thread.
class AccessTable {
 public:
  static constexpr std::size_t kMostNamed = 1024;  ///< files of both layers
  static constexpr std::size_t kMostDirectories = 128;
  static constexpr std::size_t kMostName = 4096;

  /// A name in two parts.
  struct Name {
    std::string_view head;
    std::string_view tail = {};
    std::size_t size() const { return head.size() + tail.size(); }
  };

  struct Found {
    AccessItem* item = nullptr;
    std::string_view name = {};  ///< in the image
    bool is_new = false;         ///< nobody has asked for it before
    bool is_group = false;       ///< it is of several files
  };

  /// Null if the image has no room for it.
  static std::unique_ptr<AccessTable> make(ImageFile& image);

  /// The item of a file; of its directory, or of all others, if there is no room. `name` is as it
  /// may be recorded, or as it was found before, for another layer.
  Found find_or_add(AccessLayer layer, Name name) noexcept;

 private:
  struct Place {
    std::atomic<AccessItem*> item;
    std::atomic<const char*> name;
  };

  explicit AccessTable(ImageFile& image);
  Place* place_of(AccessLayer layer, Name name) noexcept;
  Found find_or_append(AccessLayer layer, Name name, std::size_t most) noexcept;
  Found append(AccessLayer layer, Name name, std::size_t most) noexcept;

  ImageFile& image_;
  MappedArray<Place> places_;  ///< by hash, open-addressed
  const std::size_t most_;     ///< items
  std::atomic_flag is_adding_;
  std::atomic<std::size_t> count_ = 0;
  int refusals_ = 0;  ///< by the image
  ExtentHeader* items_ = nullptr;
  ImageText names_;
  Found others_[kAccessLayers];
};

}  // namespace headrace::record
