#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace headrace::sim {

/// A directory in `parent` for as long as this lives.
class Scratch {
 public:
  Scratch(const std::filesystem::path& parent, const std::string& name)
      : path_((parent / (name + "-XXXXXX")).string()) {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

}  // namespace headrace::sim
