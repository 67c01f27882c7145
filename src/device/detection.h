#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "device/driver.h"
#include "view/type.h"

namespace headrace::device {

/// Where memory lies that the CPU cannot touch.
struct Place {
  Driver* driver = nullptr;
  Device device;
};

namespace detail {
extern std::atomic<bool> has_drivers;
}

/// Whether a driver was found when find() was called last. One load.
inline bool is_driver_known() {
  return detail::has_drivers.load(std::memory_order_relaxed);
}

/// The device whose memory lies at `address`; none where the CPU may touch it, which includes
/// managed memory, and host memory that a driver has registered. In a process without a vendor's
/// driver this is a look at the number of objects that were ever loaded. From any thread.
std::optional<Place> find(const void* address);

/// The same for data: one element of a type that is not empty, placed at `buffer`. Data of which a
/// part lies in a device's memory counts as a whole: a driver copies host memory, too. Looks at
/// some pieces only where there are many.
std::optional<Place> find_data(std::byte* buffer, const view::TypePtr& type);

/// Adds a driver that is no object of this process, for tests. It lives until the process ends.
void add_driver(std::unique_ptr<Driver> driver);

}  // namespace headrace::device
