#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "device/driver.h"
#include "view/type.h"

namespace headrace::device {

/// Names a device's memory, which the CPU cannot touch.
struct Place {
  Driver* driver = nullptr;
  Device device;
};

namespace detail {
extern std::atomic<bool> has_drivers;
}

/// Whether any find() so far has found a driver. Costs one load.
inline bool is_driver_known() {
  return detail::has_drivers.load(std::memory_order_relaxed);
}

/// The device whose memory lies at `address`; none if the CPU may touch it, as it may managed
/// memory, and host memory that a driver has registered. In a process without a vendor's driver,
/// this only reads how many objects were ever loaded. From any thread.
std::optional<Place> find(const void* address);

/// The same for data: one element of a type that is not empty, placed at `buffer`. If a part lies
/// in a device's memory, all data counts as the device's, since a driver copies host memory, too.
/// If there are many pieces, looks at some only.
std::optional<Place> find_data(std::byte* buffer, const view::TypePtr& type);

/// Adds a driver that is not a loaded library, for tests. It lives until the process ends.
void add_driver(std::unique_ptr<Driver> driver);

}  // namespace headrace::device
