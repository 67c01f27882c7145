#include "posix/file_name.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "record/file_names.h"
#include "record/recorder.h"

namespace headrace::posix {
namespace {

using record::AccessTable;

/// As long as the longest name of Linux; longer ones are cut.
using Room = std::array<char, AccessTable::kMostName>;

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
std::string_view link_of(int descriptor, Room& room) noexcept {
  std::array<char, 40> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  const ssize_t size = ::readlink(path.data(), room.data(), room.size());
  return {room.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size))};
}

std::string_view directory_of(int directory, Room& room) noexcept {
  if (directory != AT_FDCWD) return link_of(directory, room);
  if (::getcwd(room.data(), room.size()) == nullptr || room[0] != '/') return {};
  return room.data();
}

}  // namespace

bool is_device_name(std::string_view name) {
  return name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
}

[[gnu::noinline]] AccessTable::Found find_file(record::AccessLayer layer, int directory,
                                               std::string_view name) noexcept {
  if (name.starts_with('/')) return find(layer, name.substr(0, AccessTable::kMostName));
  while (name.starts_with("./")) name.remove_prefix(2);
  Room room;
  std::size_t size = directory_of(directory, room).size();
  if (size > 1 && size < room.size()) room[size++] = '/';
  const std::size_t more = std::min(name.size(), room.size() - size);
  std::memcpy(room.data() + size, name.data(), more);
  return find(layer, {room.data(), size + more});
}

[[gnu::noinline]] AccessTable::Found find_linked_file(record::AccessLayer layer,
                                                      int descriptor) noexcept {
  Room room;
  const std::string_view name = link_of(descriptor, room);
  return find(layer, name.empty() ? std::string_view("(unnamed file)") : name);
}

}  // namespace headrace::posix
