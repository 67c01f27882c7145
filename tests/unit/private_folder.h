#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace headrace::record {

/// A directory of this user alone, for one test.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = std::filesystem::temp_directory_path() / "headrace-test-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path = name;
  }
  ~PrivateFolder() {
    if (!path.empty()) std::filesystem::remove_all(path);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  std::string path;
};

}  // namespace headrace::record
