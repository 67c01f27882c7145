#include "device/detection.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "base/loaded_objects.h"
#include "view/copy.h"
#include "view/cursor.h"

namespace headrace::device {

namespace detail {
constinit std::atomic<bool> has_drivers = false;
}

namespace {

/// A vendor's library, recognised by the beginning of its file's name.
struct Vendor {
  std::string_view file_name;
  std::unique_ptr<Driver> (*make)(void* library);
};
constexpr Vendor kVendors[] = {
    {"libcuda.so", make_cuda}, {"libamdhip64.so", make_hip}, {"libze_loader.so", make_level_zero}};
constexpr std::size_t kMaxDrivers = 8;

/// Drivers are never removed, so what was found stays valid without a lock.
struct Found {
  std::mutex mutex;  ///< held while adding
  std::atomic<unsigned long long> object_count = 0;
  std::array<bool, std::size(kVendors)> has_vendor{};
  std::array<std::unique_ptr<Driver>, kMaxDrivers> drivers;
  std::atomic<std::size_t> count = 0;

  void add(std::unique_ptr<Driver> driver) {
    const std::size_t place = count.load(std::memory_order_relaxed);
    if (driver == nullptr || place == drivers.size()) return;
    drivers[place] = std::move(driver);
    count.store(place + 1, std::memory_order_release);
    detail::has_drivers.store(true, std::memory_order_relaxed);
  }
};

/// Never destroyed: calls may go on until the process ends.
Found& found() {
  static auto* const all = new Found;
  return *all;
}

std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Looks for drivers among the objects that are loaded now, and keeps each loaded.
void add_loaded_drivers(Found& all) {
  std::array<std::string, std::size(kVendors)> paths;
  for_each_object_path([&](std::string_view path) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (file_name_of(path).starts_with(kVendors[i].file_name)) paths[i] = path;
    }
  });
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (all.has_vendor[i] || paths[i].empty()) continue;
    void* const library = ::dlopen(paths[i].c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    all.add(kVendors[i].make(library));
    all.has_vendor[i] = true;
  }
}

/// Looks again only if the count of loaded objects has changed. If another thread is looking, waits
/// for its result.
void add_new_drivers(Found& all) {
  const unsigned long long count = loaded_object_count();
  if (all.object_count.load(std::memory_order_acquire) == count) return;
  const std::lock_guard lock(all.mutex);
  add_loaded_drivers(all);
  all.object_count.store(count, std::memory_order_release);
}

}  // namespace

std::optional<Place> find(const void* address) {
  Found& all = found();
  add_new_drivers(all);
  const std::size_t count = all.count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    Driver* const driver = all.drivers[i].get();
    if (const std::optional<Device> device = driver->find(address)) return Place{driver, *device};
  }
  return std::nullopt;
}

std::optional<Place> find_data(std::byte* buffer, const view::TypePtr& type) {
  const auto at = [&](std::int64_t offset) { return view::memory_at(buffer, offset); };
  std::optional<Place> place = find(at(type->true_lower_bound()));
  if (place || !is_driver_known() || type->piece_count() <= 1) return place;
  // Allocations of host and device never lie in one stretch of this size.
  constexpr std::int64_t kProbeDistance = 64 << 10;
  constexpr int kMaxProbes = 16;
  std::int64_t probed = type->true_lower_bound();
  view::Cursor memory(type, 0, type->size());
  for (int probes = 0; probes < kMaxProbes && memory.remaining() > 0;) {
    const view::StridedRun run = memory.next();
    for (std::int64_t i = 0; i < run.count && probes < kMaxProbes; ++i) {
      const std::int64_t offset = run.offset + i * run.stride;
      if (std::abs(offset - probed) < kProbeDistance) continue;
      probed = offset;
      ++probes;
      if ((place = find(at(offset)))) return place;
    }
  }
  return find(at(type->true_upper_bound() - 1));
}

void add_driver(std::unique_ptr<Driver> driver) {
  Found& all = found();
  const std::lock_guard lock(all.mutex);
  all.add(std::move(driver));
}

}  // namespace headrace::device
