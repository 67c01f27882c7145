#include "collective/sync_plan.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/spelling.h"

namespace headrace::collective {
namespace {

constexpr std::int64_t kMost = 1'000'000;

/// A whole number from 1 to kMost, and nothing else.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || end != last || number < 1 || number > kMost) return std::nullopt;
  return number;
}

std::string unknown(std::string_view name, std::span<const std::string_view> operations) {
  const std::string_view nearest = nearest_name(name.substr(0, kMaxPrinted), operations);
  const std::string why = "no operation that can have a barrier before it has this name";
  if (!nearest.empty()) return why + "), did you mean " + std::string(nearest) + "?";
  return why + "), write names such as bcast, all or 0";
}

}  // namespace

bool SyncPlan::is_empty() const {
  return std::ranges::all_of(every, [](std::int64_t one) { return one == 0; });
}

SyncPlan read_sync_plan(std::span<const std::string> given,
                        std::span<const std::string_view> operations) {
  SyncPlan plan;
  plan.every.resize(operations.size());
  for (const std::string& one : given) {
    const std::string lower = lower_case(one);
    std::string_view name = lower;
    if (name == "0" || name == "none") {
      std::ranges::fill(plan.every, 0);
      continue;
    }
    const auto refuse = [&](const std::string& why) {
      plan.problems.push_back("'" + printable(one) + "' of HEADRACE_COLL_SYNC is ignored (" + why);
    };
    std::int64_t every = 1;
    if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
      const auto number = number_of(name.substr(colon + 1));
      if (!number) {
        refuse("no whole number from 1 to 1000000 follows the colon), write for example bcast:64");
        continue;
      }
      every = *number;
      name = name.substr(0, colon);
    }
    if (name == "1" || name == "all") {
      std::ranges::fill(plan.every, every);
      continue;
    }
    if (name.starts_with("mpi_")) name.remove_prefix(4);
    const auto found = std::ranges::find(operations, name);
    if (found == operations.end()) {
      refuse(unknown(name, operations));
      continue;
    }
    plan.every[static_cast<std::size_t>(found - operations.begin())] = every;
  }
  return plan;
}

}  // namespace headrace::collective
