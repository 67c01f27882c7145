#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "record/packing.h"

namespace headrace::record {

/// `app.1234.4p1n.20261128T101500`, without the number of the job if there is none. `start` in ns
/// since 1970, shown in local time.
std::string record_name(std::string_view program, std::string_view job, std::int64_t ranks,
                        std::int64_t nodes, std::int64_t start);

/// A record that is being written. It has its name once it is complete: before, and if it is never
/// finished, it has a hidden one, which is removed in the end.
class RecordFile {
  /// The directory, if it was made for this file. It goes if no record comes into it.
  class OwnDirectory {
   public:
    OwnDirectory() = default;
    explicit OwnDirectory(std::string path) : path_(std::move(path)) {}
    OwnDirectory(OwnDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    OwnDirectory& operator=(OwnDirectory&&) = delete;
    ~OwnDirectory();
    void keep() { path_.clear(); }

   private:
    std::string path_;
  };

 public:
  /// Makes the directory, too. `name` without .hrc.
  static Result<RecordFile> make(const std::string& directory, const std::string& name);

  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

  Error add(const Sections& sections);

  /// Writes the end, and gives the file its name. If another file has that one, a number is added.
  /// Returns its path.
  Result<std::string> finish();

 private:
  RecordFile(OwnDirectory directory, int descriptor, std::string path, std::string hidden);
  Error write(std::string_view bytes);
  Error close();
  int publish(const std::string& path);

  OwnDirectory own_directory_;
  int descriptor_;
  std::string path_;    ///< without .hrc
  std::string hidden_;  ///< empty once it is gone
  std::uint32_t sections_ = 0;
};

}  // namespace headrace::record
