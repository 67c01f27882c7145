#include "copy/jobs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace headrace::bench::copying {
namespace {

constexpr std::int64_t kColdSlots = 64;
constexpr std::size_t kStrideFactor = 3;

[[noreturn]] void fail(const std::string& problem, int system_error) {
  throw std::runtime_error(problem + " (" + std::strerror(system_error) +
                           "), name another directory with --dir");
}

}  // namespace

Sink::Sink(const std::string& directory) : directory_(directory) {
  std::string name = directory + "/headrace-copy-XXXXXX";
  descriptor_ = mkstemp(name.data());
  if (descriptor_ < 0) fail("no file can be made in '" + directory + "'", errno);
  unlink(name.c_str());
  const std::vector<std::byte> zeros(kSlot);
  try {
    for (int slot = 0; slot < kSlots; ++slot) write(zeros.data(), kSlot);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

Sink::~Sink() {
  close(descriptor_);
}

void Sink::write(const std::byte* data, std::size_t length) {
  const auto begin = static_cast<off_t>(next_) * static_cast<off_t>(kSlot);
  for (std::size_t done = 0; done < length;) {
    const ssize_t written =
        pwrite(descriptor_, data + done, length - done, begin + static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot write in '" + directory_ + "'", written < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(written);
  }
  next_ = (next_ + 1) % kSlots;
}

Memory::Memory()
    : source((kColdSlots + kStrideFactor) * kSlot, std::byte{1}),
      slots((kColdSlots + kStrideFactor) * kSlot, std::byte{2}) {}

std::string Job::title() const {
  const std::string size =
      length % 1024 == 0 ? std::to_string(length / 1024) + " KiB" : std::to_string(length) + " B";
  switch (way) {
    case Way::contiguous: return "one stretch of " + size;
    case Way::gather: return "pieces of " + size + ", strided to contiguous";
    case Way::scatter: return "pieces of " + size + ", contiguous to strided";
  }
  return size;
}

void Job::run(const Kernel& kernel, Memory& memory, std::int64_t turn) const {
  // The source lies at 16 bytes in a page, as what malloc returns.
  const std::int64_t cold = turn % kColdSlots * static_cast<std::int64_t>(kSlot);
  const std::byte* const from = memory.source.data() + (is_hot ? 0 : cold) + 16;
  std::byte* const to = memory.slots.data() + (is_hot ? 0 : cold);
  const auto bytes_of_piece = static_cast<std::int64_t>(length);
  const std::int64_t apart = bytes_of_piece * static_cast<std::int64_t>(kStrideFactor);
  kernel.copy({to, way == Way::scatter ? apart : bytes_of_piece, from,
               way == Way::gather ? apart : bytes_of_piece, length,
               static_cast<std::int64_t>(bytes() / length)});
  if (sink != nullptr) sink->write(to, bytes());
}

}  // namespace headrace::bench::copying
