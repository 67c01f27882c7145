#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/held_descriptor.h"
#include "profile/counter_choice.h"
#include "record/clock.h"
#include "record/image_file.h"

namespace headrace::profile {

/// The counts of a process, from the kernel into the recorder's image. One thread of ours calls it;
/// what that thread does itself is not counted.
class EventCounts {
 public:
  /// Takes room in the image. Without room nothing is counted.
  EventCounts(record::ImageFile& image, std::vector<ChosenEvent> events);

  /// Begins to count in these threads and in all that they and theirs start from now on, not in
  /// processes that they fork.
  void begin(std::span<const pid_t> threads);
  /// Brings the image up to date.
  void update();
  /// For a line: which events are not counted, and why; empty if all are.
  std::string refusals() const;

 private:
  struct Counted {
    ChosenEvent chosen;
    record::CounterItem* item;
    std::vector<HeldDescriptor> counters;  ///< one for each thread with which it began
  };

  void open(Counted& one, pid_t thread);
  /// False where it cannot be read any more.
  bool read(Counted& one) const;
  void add_usage(Counted& one, const rusage& now) const;

  std::vector<Counted> counted_;
  std::int64_t begin_ = 0;  ///< ns
  rusage usage_at_begin_{};
};

}  // namespace headrace::profile
