#include "profile/counter_choice.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "profile/generated/counter_table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace headrace::profile {
namespace {

std::string_view set_of(const std::optional<Processor>& processor) {
  if (!processor) return {};
  for (const KnownModels& known : kKnownModels) {
    if (known.vendor == processor->vendor && known.family == processor->family &&
        processor->model >= known.first && processor->model <= known.last) {
      return known.set;
    }
  }
  return {};
}

void add_raw(std::vector<ChosenEvent>& chosen, const CounterEvent& event, std::string_view set) {
  const std::size_t before = chosen.size();
  for (const RawCode& code : kRawCodes) {
    if (code.set == set && code.of == event.name) {
      chosen.push_back({{code.name, EventSource::raw, code.config}, true});
    }
  }
  if (chosen.size() == before) chosen.push_back({event, false});
}

std::string no_permission(bool in_kernel, std::optional<int> paranoid) {
  const int most = in_kernel ? 1 : 2;
  if (!paranoid) return "no permission";
  const std::string now = "perf_event_paranoid is " + std::to_string(*paranoid);
  if (*paranoid > most) {
    return "no permission: " + now + ", your administrator can set it to " + std::to_string(most);
  }
  return "no permission, although " + now + ": a container's filter, as a rule";
}

}  // namespace

std::optional<Processor> own_processor() {
#if defined(__x86_64__)
  std::array<char, 12> vendor{};
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return std::nullopt;
  std::memcpy(&vendor[0], &b, 4);
  std::memcpy(&vendor[4], &d, 4);
  std::memcpy(&vendor[8], &c, 4);
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return std::nullopt;
  constexpr unsigned kExtended = 15;  // from here on the family has a second part
  Processor found{{vendor.data(), vendor.size()}, a >> 8 & 0xf, a >> 4 & 0xf};
  if (found.family == 6 || found.family == kExtended) found.model |= (a >> 16 & 0xf) << 4;
  if (found.family == kExtended) found.family += a >> 20 & 0xff;
  return found;
#else
  return std::nullopt;
#endif
}

std::vector<ChosenEvent> events_of(CountersSetting group,
                                   const std::optional<Processor>& processor) {
  const std::string_view set = set_of(processor);
  std::vector<ChosenEvent> chosen;
  for (const GroupedEvent& grouped : kGroupedEvents) {
    if (grouped.group != group) continue;
    const auto* const event =
        std::find_if(std::begin(kCounterEvents), std::end(kCounterEvents),
                     [&](const CounterEvent& one) { return one.name == grouped.event; });
    if (event == std::end(kCounterEvents)) continue;
    if (event->source == EventSource::raw) {
      add_raw(chosen, *event, set);
    } else {
      chosen.push_back({*event, true});
    }
  }
  return chosen;
}

std::string why_not_counted(int error, bool in_kernel, std::optional<int> paranoid) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EINVAL:
    case EOPNOTSUPP: return "this machine has no such counter, as most virtual machines have none";
    case EACCES:
    case EPERM: return no_permission(in_kernel, paranoid);
    case ENODATA: return "the event has no known code on this processor";
    case EMFILE:
    case ENFILE: return "too many open files (ulimit -n)";
    case ENOSYS: return "the kernel has no perf_event, or a filter forbids it";
    default: return std::strerror(error);
  }
}

}  // namespace headrace::profile
