#include "fuzz/real_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace headrace::fuzz {
namespace {

/// Moves all bytes by calls that may move fewer or be interrupted.
template <class Bytes, class Call>
void move_all(Bytes& bytes, std::int64_t offset, Call call) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto at = static_cast<off_t>(offset + static_cast<std::int64_t>(done));
    const ssize_t moved = call(bytes.data() + done, bytes.size() - done, at);
    if (moved == 0 || (moved < 0 && errno != EINTR)) std::abort();
    if (moved > 0) done += static_cast<std::size_t>(moved);
  }
}

}  // namespace

Image image_of(const std::string& path) {
  Image image;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return image;
  struct stat facts{};
  fstat(descriptor, &facts);
  image.exists = true;
  image.size = facts.st_size;
  constexpr off_t kPiece = 1 << 20;
  off_t at = lseek(descriptor, 0, SEEK_DATA);
  while (at >= 0 && at < image.size) {
    const off_t hole = lseek(descriptor, at, SEEK_HOLE);
    while (at < hole) {
      std::vector<std::uint8_t>& bytes = image.pieces[at];
      bytes.resize(static_cast<std::size_t>(std::min(kPiece, hole - at)));
      move_all(bytes, at, [&](std::uint8_t* to, std::size_t len, off_t from) {
        return pread(descriptor, to, len, from);
      });
      at += std::ssize(bytes);
    }
    at = lseek(descriptor, at, SEEK_DATA);
  }
  ::close(descriptor);
  return image;
}

Look look_at(const Image& image) {
  if (!image.exists) return std::nullopt;
  sim::Content content;
  content.resize(image.size);
  for (const auto& [offset, bytes] : image.pieces) content.write(offset, bytes);
  return content;
}

void write_content(const std::string& path, const sim::Content& content) {
  constexpr std::int64_t kEnd = 1 << 20;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0 || ftruncate(descriptor, content.size()) != 0) std::abort();
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min(content.size(), kEnd)));
  for (const std::int64_t at : {std::int64_t{0}, content.size() - std::ssize(bytes)}) {
    content.read(at, bytes);
    move_all(bytes, at, [&](const std::uint8_t* from, std::size_t len, off_t to) {
      return pwrite(descriptor, from, len, to);
    });
  }
  ::close(descriptor);
}

}  // namespace headrace::fuzz
