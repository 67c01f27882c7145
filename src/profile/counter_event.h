#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string_view>

namespace headrace::profile {

/// See spec/counters.toml.
enum class EventSource : std::uint8_t { hardware, software, cache, raw, usage };

struct CounterEvent {
  std::string_view name;
  EventSource source;
  std::uint64_t config;
  bool in_kernel = false;          ///< it happens there, which needs more permission
  long rusage::* usage = nullptr;  ///< of EventSource::usage
};

/// A code of processors of one set, for an event in a group that generic codes do not cover.
struct RawCode {
  std::string_view set;
  std::string_view of;
  std::string_view name;
  std::uint64_t config;
};

/// Models of processors that have a set of codes.
struct KnownModels {
  std::string_view vendor;
  std::uint32_t family;
  std::uint32_t first;
  std::uint32_t last;
  std::string_view set;
};

/// As PERF_TYPE_HW_CACHE has it.
constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t operation,
                                    std::uint64_t result) {
  return cache | operation << 8 | result << 16;
}

}  // namespace headrace::profile
