#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "profile/counter_event.h"

namespace headrace::profile {

/// Which processor this is, by the numbers that its vendor gives its models.
struct Processor {
  std::string vendor;
  std::uint32_t family = 0;
  std::uint32_t model = 0;
};

/// This one; nothing where it does not say so (it is no x86-64).
std::optional<Processor> own_processor();

/// An event that is to be counted. Not known: a code for it on this processor.
struct ChosenEvent {
  CounterEvent event;
  bool is_known = true;
};

/// The events of a group on a processor. None for `off`.
std::vector<ChosenEvent> events_of(CountersSetting group,
                                   const std::optional<Processor>& processor);

/// Why an event is not counted, by the number that the system gave. `paranoid`: what
/// /proc/sys/kernel/perf_event_paranoid says, if that is known.
std::string why_not_counted(int error, bool in_kernel, std::optional<int> paranoid);

}  // namespace headrace::profile
