#include "tune/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/failure.h"

namespace headrace::bench::tune {
namespace {

constexpr int kTries = 4;
/// A file counts as not cached if at most this share of its pages is: kernels keep whole folios.
constexpr std::size_t kPagesForOne = 64;

/// The file, open to be read.
class Descriptor {
 public:
  explicit Descriptor(const std::string& file)
      : file_(file), number_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    check(number_ >= 0);
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void drop() const { ::posix_fadvise(number_, 0, 0, POSIX_FADV_DONTNEED); }
  /// Pages that were not written back cannot be dropped.
  void write_back() const { check(::fsync(number_) == 0); }

  bool is_cached() const {
    struct stat status{};
    check(::fstat(number_, &status) == 0);
    if (status.st_size == 0) return false;
    const auto size = static_cast<std::size_t>(status.st_size);
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const pages = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, number_, 0);
    // Where it cannot be mapped the kernel has no such pages to tell of.
    if (pages == MAP_FAILED) return true;
    std::vector<unsigned char> states((size + page - 1) / page);
    const bool is_told = ::mincore(pages, size, states.data()) == 0;
    ::munmap(pages, size);
    if (!is_told) return true;
    const auto cached = static_cast<std::size_t>(
        std::ranges::count_if(states, [](unsigned char state) { return (state & 1) != 0; }));
    return cached * kPagesForOne > states.size();
  }

 private:
  void check(bool succeeded) const {
    if (!succeeded) throw Failure(describe_errno("cannot look at '" + file_ + "'", errno));
  }

  const std::string& file_;
  int number_;
};

}  // namespace

void PageCache::drop() {
  if (keeps_) return;
  const Descriptor file(file_);
  for (int i = 0; i < kTries; ++i) {
    file.drop();
    if (!file.is_cached()) return;
    file.write_back();
  }
  keeps_ = true;
}

}  // namespace headrace::bench::tune
