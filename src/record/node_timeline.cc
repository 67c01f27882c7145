#include "record/node_timeline.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "record/bounds.h"
#include "record/call_rows.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kOutsidePeers = -2;

enum class Kind : std::uint8_t { call, region, open_call, open_region };

std::int64_t place_in(std::span<const std::int64_t> places, std::size_t of, std::int64_t none) {
  return of < places.size() ? places[of] : none;
}

/// Images may be damaged: neither time is negative, and the end is a number.
bool can_be(const Event& event) {
  return event.begin >= 0 && event.ticks >= 0 && event.ticks <= INT64_MAX - event.begin;
}

std::int64_t end_of(const Event& event) {
  return event.begin + event.ticks;
}

}  // namespace

NodeTimeline::NodeTimeline(std::span<const Image> images, std::span<const RankTimes> times)
    : images_(images), times_of_ranks_(times) {
  if (images.empty()) return;
  const auto all_ranks = static_cast<std::size_t>(images.front().header().rank_count);
  most_of_rank_ = std::max<std::size_t>(
      std::min(kMostOfJob / all_ranks, kMostOfNode / images.size()), most_of_rank_);
}

std::int64_t NodeTimeline::time_of(std::int64_t ticks) const {
  const ImageHeader& first = images_.front().header();
  const RankTimes& times = times_of_ranks_.front();
  const std::int64_t start = not_negative(first.start);
  return ticks >= first.begin_ticks
             ? sum(start, times.ns(ticks - first.begin_ticks))
             : not_negative(start - times.ns(first.begin_ticks - not_negative(ticks)));
}

/// By thread.
std::vector<NodeTimeline::Own> NodeTimeline::latest_of(const Image& image) const {
  std::vector<Own> found;
  for (const auto& [number, thread] : image.threads()) {
    if (thread.timeline == nullptr) continue;
    for (const std::span<const Event> part : thread.events) {
      for (const Event& event : part) {
        if (can_be(event)) found.push_back({number, &event});
      }
    }
  }
  if (found.size() > most_of_rank_) {
    const auto last = found.begin() + static_cast<std::ptrdiff_t>(most_of_rank_);
    std::ranges::nth_element(found, last, std::greater<>(),
                             [](const Own& own) { return end_of(*own.event); });
    found.erase(last, found.end());
  }
  std::ranges::stable_sort(found, {}, &Own::thread);
  return found;
}

void NodeTimeline::add(const Image& image, const Places& places) {
  const std::vector<Own> events = latest_of(image);
  for (const auto& [number, thread] : image.threads()) {
    if (thread.timeline == nullptr) continue;
    const auto own = std::ranges::equal_range(events, number, {}, &Own::thread);
    std::vector<Placed> placed;
    placed.reserve(own.size());
    add_thread(image, number, thread, {own.begin(), own.end()}, places, placed);
    add_open(image, number, *thread.timeline, places, placed);
    // In ticks, since a ns may have several. Outer ones come before those in them.
    std::ranges::stable_sort(placed, {}, [](const Placed& one) {
      const bool is_call = one.row.kind % 2 == 0;
      return std::tuple(one.begin, -one.ticks, is_call);
    });
    for (const Placed& one : placed) rows_.push_back(one.row);
  }
}

void NodeTimeline::add_thread(const Image& image, std::uint32_t number, const Image::Thread& thread,
                              std::span<const Own> events, const Places& places,
                              std::vector<Placed>& placed) {
  std::int64_t since = INT64_MAX;
  for (const Own& own : events) {
    const Event& event = *own.event;
    EventsRow row;
    row.rank = image.header().rank;
    row.thread = number;
    row.kind = static_cast<std::int64_t>(event.procedure == kNone ? Kind::region : Kind::call);
    row.procedure = place_in(places.procedures, event.procedure, -1);
    row.region = place_in(places.regions, event.region, 0);
    row.communicator = place_in(places.communicators, event.communicator, -1);
    row.peer = std::max<std::int64_t>(event.peer, kOutsidePeers);
    row.sent = not_negative(event.sent);
    row.received = not_negative(event.received);
    row.begin = time_of(event.begin);
    row.time = time_of(end_of(event)) - row.begin;
    since = std::min(since, end_of(event));
    placed.push_back({event.begin, event.ticks, row});
  }
  TimelinesRow row;
  row.rank = image.header().rank;
  row.thread = number;
  row.events = static_cast<std::int64_t>(events.size());
  row.lost = not_negative(not_negative(thread.timeline->added) - row.events);
  if (row.lost == 0) since = image.header().begin_ticks;
  row.since = time_of(since == INT64_MAX ? record::end_of(image) : since);
  row.clock_error = std::max<std::int64_t>(thread.timeline->clock_error, -1);
  threads_.push_back(row);
}

/// What had not ended when the rank was last heard of.
void NodeTimeline::add_open(const Image& image, std::uint32_t number, const TimelineItem& item,
                            const Places& places, std::vector<Placed>& placed) {
  EventsRow row;
  row.rank = image.header().rank;
  row.thread = number;
  row.peer = kNoPeer;
  row.kind = static_cast<std::int64_t>(Kind::open_region);
  const auto regions = std::min<std::size_t>(item.open_regions.load(), kMostOpenRegions);
  for (const OpenEvent& open : std::span(item.regions).first(regions)) {
    row.region = place_in(places.regions, open.note, 0);
    row.begin = time_of(open.begin);
    placed.push_back({open.begin, INT64_MAX, row});
  }
  row.kind = static_cast<std::int64_t>(Kind::open_call);
  const auto calls = std::min<std::size_t>(item.open_calls.load(), kMostOpenCalls);
  for (const OpenEvent& open : std::span(item.calls).first(calls)) {
    row.procedure = place_in(places.procedures, open.note, -1);
    row.begin = time_of(open.begin);
    placed.push_back({open.begin, INT64_MAX, row});
  }
}

}  // namespace headrace::record
