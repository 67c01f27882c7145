#include "plan/aggregators.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>

#include "base/rounding.h"
#include "base/spelling.h"

namespace headrace::plan {
namespace {

Error bad_entry(std::string_view entry, const char* reason) {
  return {ErrorClass::info, 0,
          "is no list of hosts (" + std::string(reason) + " in '" + printable(entry) +
              "'; write for example *:1 or node1:2,node2:1)"};
}

bool is_host(std::string_view name, std::string_view host) {
  if (name == "*" || name == host) return true;
  return name.find('.') == std::string_view::npos && name == host.substr(0, host.find('.'));
}

/// The largest divisor of `objects` that is at most `most`.
std::int64_t divisor_below(std::int64_t objects, std::int64_t most) {
  std::int64_t count = std::min(objects, most);
  while (objects % count != 0) --count;
  return count;
}

/// A count of aggregators that shares `objects` evenly, at most `most` and at least 1.
std::int64_t fitting_count(std::int64_t objects, std::int64_t most) {
  if (objects <= 0) return most;
  if (most >= objects) return most / objects * objects;
  const std::int64_t divisor = divisor_below(objects, most);
  if (2 * divisor > most) return divisor;
  return divide_up(objects, divide_up(objects, most));
}

std::string how_shared(std::int64_t objects, std::int64_t count) {
  const std::string stripes = std::to_string(objects) + " stripes";
  if (count % objects == 0 || objects % count == 0) {
    return stripes + " are shared out evenly among " + std::to_string(count);
  }
  return stripes + " have no divisor near it";
}

/// Assigns nodes' places.
class Places {
 public:
  explicit Places(std::span<const int> places) : left_(places.size()), used_(places.size()) {
    std::ranges::transform(places, left_.begin(), [](int most) { return std::max(0, most); });
    for (std::size_t node = 0; node < left_.size(); ++node) {
      if (left_[node] > 0) usable_.push_back(static_cast<int>(node));
    }
  }

  std::int64_t total() const {
    return std::accumulate(left_.begin(), left_.end(), std::int64_t{0});
  }
  std::int64_t usable() const { return std::ssize(usable_); }

  /// The usable node at `start` or the next one that has `wanted` places left; -1: none.
  int find(std::int64_t start, int wanted) const {
    for (std::int64_t i = 0; i < usable(); ++i) {
      const int node = usable_[(start + i) % usable()];
      if (left_[node] >= wanted) return node;
    }
    return -1;
  }

  Aggregator take(int node) {
    --left_[node];
    return {node, used_[node]++};
  }

 private:
  std::vector<int> left_;
  std::vector<int> used_;
  std::vector<int> usable_;
};

/// Puts each group (aggregators t, t + groups, ...) on one node, and spreads the groups over the
/// nodes.
std::vector<Aggregator> spread(Places places, std::int64_t count, std::int64_t groups) {
  std::vector<Aggregator> chosen(count);
  const auto members = static_cast<int>(count / groups);
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t start = groups < places.usable() ? group * places.usable() / groups : group;
    const int home = places.find(start, members);
    for (int member = 0; member < members; ++member) {
      chosen[group + member * groups] = places.take(home >= 0 ? home : places.find(start, 1));
    }
  }
  return chosen;
}

/// The requested count, and what requested it.
struct RequestedCount {
  std::int64_t count = 0;
  std::string how;  ///< empty: nothing did
};

RequestedCount requested_count(std::int64_t nodes, std::int64_t objects,
                               const AggregatorHints& hint) {
  if (hint.count > 0) return {hint.count, "cb_nodes=" + std::to_string(hint.count)};
  if (objects <= 0) return {nodes, ""};
  if (hint.multiplier <= 1) return {objects, ""};
  const bool overflows = hint.multiplier > std::numeric_limits<std::int64_t>::max() / objects;
  return {overflows ? std::numeric_limits<std::int64_t>::max() : hint.multiplier * objects,
          "cray_cb_nodes_multiplier=" + std::to_string(hint.multiplier)};
}

}  // namespace

Result<ConfigList> ConfigList::parse(std::string_view text) {
  ConfigList list;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view entry = without_blanks(rest.substr(0, comma));
    const auto colon = entry.find(':');
    const std::string_view host = without_blanks(entry.substr(0, colon));
    if (host.empty()) return bad_entry(entry, "a host is missing");
    int most = 1;
    if (colon != std::string_view::npos) {
      const std::string_view number = without_blanks(entry.substr(colon + 1));
      const char* const end = number.data() + number.size();
      if (number == "*") {
        most = -1;
      } else if (const auto read = std::from_chars(number.data(), end, most);
                 read.ec != std::errc{} || read.ptr != end || most < 0) {
        return bad_entry(entry, "a count is neither a number nor *");
      }
    }
    list.entries_.push_back({std::string(host), most});
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
  }
}

int ConfigList::most_on(std::string_view host, int ranks) const {
  if (entries_.empty()) return ranks;
  for (const Entry& entry : entries_) {
    if (is_host(entry.host, host)) return entry.most < 0 ? ranks : std::min(entry.most, ranks);
  }
  return 0;
}

std::int64_t ConfigList::digest() const {
  constexpr std::size_t kFactor = 31;  // any odd number will do; makes the order of entries count
  std::size_t digest = 0;
  for (const Entry& entry : entries_) {
    digest = digest * kFactor + std::hash<std::string>{}(entry.host);
    digest = digest * kFactor + static_cast<std::size_t>(entry.most);
  }
  return static_cast<std::int64_t>(digest);
}

AggregatorChoice choose_aggregators(std::span<const int> places, std::int64_t stripe_count,
                                    const AggregatorHints& hint) {
  AggregatorChoice choice;
  const Places all(places);
  if (all.total() == 0) return choice;
  const RequestedCount asked = requested_count(all.usable(), stripe_count, hint);
  std::int64_t most = asked.count;
  std::string limit;
  if (stripe_count > 0 && hint.most_for_object > 0 &&
      divide_up(most, stripe_count) > hint.most_for_object) {
    most = hint.most_for_object * stripe_count;
    limit = "romio_lustre_co_ratio=" + std::to_string(hint.most_for_object) + " allows " +
            std::to_string(most);
  }
  if (most > all.total()) {
    most = all.total();
    limit = "the nodes have " + std::to_string(most) + " places for them";
  }
  const std::int64_t count = fitting_count(stripe_count, most);
  if (!asked.how.empty() && count != asked.count) {
    if (count != most) {
      limit += (limit.empty() ? "" : ", and ") + how_shared(stripe_count, count);
    }
    choice.correction =
        asked.how + " gives " + std::to_string(count) + " aggregators (" + limit + ")";
  }
  const std::int64_t groups = stripe_count > 0 ? std::min(count, stripe_count) : count;
  choice.aggregators = spread(all, count, groups);
  return choice;
}

}  // namespace headrace::plan
