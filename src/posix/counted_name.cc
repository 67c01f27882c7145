#include "posix/counted_name.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <span>

#include "record/file_names.h"
#include "record/recorder.h"

namespace headrace::posix {
namespace {

using record::AccessTable;

/// As long as the longest name of Linux; longer ones are cut.
using Room = std::array<char, AccessTable::kMostName>;

/// Rooms for names. Stacks of signal handlers may be too small for one, and who opens a file in a
/// handler must not wait for whom it interrupts.
struct RoomPlace {
  std::atomic_flag is_taken;
  Room room;
};
constinit RoomPlace rooms[64];

/// Null if all are in use.
RoomPlace* take_room() noexcept {
  for (RoomPlace& one : rooms) {
    if (!one.is_taken.test_and_set(std::memory_order_acquire)) return &one;
  }
  return nullptr;
}

/// One of them, while it lives.
class Lease {
 public:
  Lease() noexcept : place_(take_room()) {}
  ~Lease() {
    if (place_ != nullptr) place_->is_taken.clear(std::memory_order_release);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Null if all are in use.
  Room* room() const { return place_ == nullptr ? nullptr : &place_->room; }

 private:
  RoomPlace* place_;
};

/// For names for which there is no room.
AccessTable::Found find_others(record::AccessLayer layer) noexcept {
  return record::access_table()->find_or_add(layer, {"(other files)"});
}

/// Each of these is counted as one file: what is in them is no data.
constexpr std::string_view kOfKernel[] = {"/proc", "/sys"};
/// So are all files with these ends: code that an interpreter loads, often a thousand files.
constexpr std::string_view kOfCode[] = {".pyc"};

AccessTable::Found find(record::AccessLayer layer, std::string_view name) noexcept {
  for (const std::string_view place : kOfKernel) {
    if (name.starts_with(place) && name.substr(place.size()).starts_with('/')) {
      return record::access_table()->find_or_add(layer, {place, "/*"});
    }
  }
  for (const std::string_view end : kOfCode) {
    if (name.ends_with(end)) return record::access_table()->find_or_add(layer, {"*", end});
  }
  record::NameRoom room{};
  return record::access_table()->find_or_add(layer, {record::recorded_name(name, room)});
}

/// Where a descriptor leads to; empty if that is not known.
std::string_view link_of(int descriptor, std::span<char> room) noexcept {
  constexpr std::string_view kLinks = "/proc/self/fd/";
  std::array<char, 40> path{};
  std::ranges::copy(kLinks, path.begin());
  std::to_chars(path.data() + kLinks.size(), path.data() + path.size() - 1, descriptor);
  const ssize_t size = ::readlink(path.data(), room.data(), room.size());
  return {room.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size))};
}

std::string_view directory_of(int directory, std::span<char> room) noexcept {
  if (directory != AT_FDCWD) return link_of(directory, room);
  if (::getcwd(room.data(), room.size()) == nullptr || room[0] != '/') return {};
  return room.data();
}

std::string_view full_name_of(int directory, std::string_view name, std::span<char> room) noexcept {
  std::size_t size = 0;
  const auto add = [&](std::string_view part) {
    const std::size_t more = std::min(part.size(), room.size() - size);
    std::memcpy(room.data() + size, part.data(), more);
    size += more;
  };
  while (name.starts_with("./")) name.remove_prefix(2);
  if (!name.starts_with('/')) {
    size = directory_of(directory, room).size();
    if (size > 1) add("/");
  }
  add(name);
  return {room.data(), size};
}

}  // namespace

KeptName::~KeptName() {
  if (place_ != nullptr) static_cast<RoomPlace*>(place_)->is_taken.clear();
}

FullName::FullName(int directory, std::string_view name) noexcept {
  RoomPlace* const place = take_room();
  place_ = place;
  if (place != nullptr) text_ = full_name_of(directory, name, place->room);
}

LinkedName::LinkedName(int descriptor) noexcept {
  RoomPlace* const place = take_room();
  place_ = place;
  if (place == nullptr) return;
  text_ = link_of(descriptor, {place->room.data(), place->room.size() - 1});
  place->room[text_.size()] = '\0';
}

bool is_device_name(std::string_view name) {
  return name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
}

[[gnu::noinline]] AccessTable::Found find_file(record::AccessLayer layer, int directory,
                                               std::string_view name,
                                               std::string_view end) noexcept {
  if (name.starts_with('/') && end.empty()) {
    return find(layer, name.substr(0, AccessTable::kMostName));
  }
  const Lease lease;
  if (lease.room() == nullptr) return find_others(layer);
  const std::span<char> room = *lease.room();
  const std::size_t size = full_name_of(directory, name, room).size();
  const std::size_t more = std::min(end.size(), room.size() - size);
  std::memcpy(room.data() + size, end.data(), more);
  return find(layer, {room.data(), size + more});
}

[[gnu::noinline]] AccessTable::Found find_linked_file(record::AccessLayer layer,
                                                      int descriptor) noexcept {
  const Lease lease;
  if (lease.room() == nullptr) return find_others(layer);
  const std::string_view name = link_of(descriptor, *lease.room());
  return find(layer, name.empty() ? std::string_view("(unnamed file)") : name);
}

}  // namespace headrace::posix
