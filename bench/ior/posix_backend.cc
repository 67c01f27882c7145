#include <fcntl.h>

#include "common/posix_io.h"
#include "ior/backend.h"

namespace headrace::bench::ior {
namespace {

class PosixBackend final : public Backend {
 public:
  explicit PosixBackend(const Parameters& parameters) : sync_each_(parameters.fsync_per_write) {}

  std::string open(const std::string& path, bool writing, int) override {
    return file_.open(path, writing ? O_CREAT | O_RDWR : O_RDONLY);
  }

  std::string write(std::int64_t offset, std::span<const std::byte> data) override {
    const std::string error = file_.write_at(offset, data.data(), data.size());
    return error.empty() && sync_each_ ? file_.sync() : error;
  }

  std::string read(std::int64_t offset, std::span<std::byte> data) override {
    return file_.read_at(offset, data.data(), data.size());
  }

  std::string sync() override { return file_.sync(); }
  std::string close() override { return file_.close(); }

 private:
  PosixFile file_;
  bool sync_each_;
};

}  // namespace

std::unique_ptr<Backend> make_posix_backend(const Parameters& parameters) {
  return std::make_unique<PosixBackend>(parameters);
}

}  // namespace headrace::bench::ior
