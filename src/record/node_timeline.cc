#include "record/node_timeline.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "record/bounds.h"
#include "record/call_rows.h"

namespace headrace::record {
namespace {

enum class Kind : std::uint8_t { call, region, open_call, open_region, posix, stdio };

constexpr const char* kOperations[kFileOperations] = {"open", "close", "read", "write",
                                                      "seek", "sync",  "map",  "truncate"};

std::int64_t place_in(std::span<const std::int64_t> places, std::size_t of, std::int64_t none) {
  return of < places.size() ? places[of] : none;
}

/// Images may be damaged: neither time is negative, and the end is a number.
template <class Timed>
bool can_be(const Timed& event) {
  return event.begin >= 0 && event.ticks >= 0 && event.ticks <= INT64_MAX - event.begin;
}

bool is_there(const FileEvent& event) {
  return event.turn != 0 && event.turn != FileEvent::kIsWritten && can_be(event);
}

/// Threads that have called MPI by their numbers in the kernel, which events of files have, too.
std::map<std::int64_t, std::uint32_t> numbers_of_threads(const Image& image) {
  std::map<std::int64_t, std::uint32_t> found;
  for (const auto& [number, thread] : image.threads()) {
    if (thread.timeline != nullptr) found.try_emplace(thread.timeline->system_thread, number);
  }
  return found;
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

std::int64_t NodeTimeline::end_of(const Image& image) const {
  const auto place = static_cast<std::size_t>(&image - images_.data());
  return time_of(times_of_ranks_[place].end().ticks);
}

/// By thread.
std::vector<NodeTimeline::Own> NodeTimeline::latest_of(const Image& image) const {
  std::vector<Own> found;
  for (const auto& [number, thread] : image.threads()) {
    if (thread.timeline == nullptr) continue;
    for (const std::span<const Event> part : thread.events) {
      for (const Event& event : part) {
        if (can_be(event)) found.push_back({number, event.begin + event.ticks, &event, nullptr});
      }
    }
  }
  const auto numbers = numbers_of_threads(image);
  for (const FileEvent& event : image.file_timeline().events) {
    if (!is_there(event)) continue;
    const auto known = numbers.find(event.system_thread);
    const std::uint32_t thread =
        event.thread == kNone && known != numbers.end() ? known->second : event.thread;
    found.push_back({thread, event.begin + event.ticks, nullptr, &event});
  }
  if (found.size() > most_of_rank_) {
    const auto last = found.begin() + static_cast<std::ptrdiff_t>(most_of_rank_);
    std::ranges::nth_element(found, last, std::greater<>(), &Own::end);
    found.erase(last, found.end());
  }
  std::ranges::stable_sort(found, {}, &Own::thread);
  return found;
}

void NodeTimeline::add(const Image& image, const Places& places) {
  const std::vector<Own> events = latest_of(image);
  std::set<std::uint32_t> numbers;
  for (const auto& [number, thread] : image.threads()) {
    if (thread.timeline != nullptr) numbers.insert(number);
  }
  for (const Own& own : events) numbers.insert(own.thread);
  for (const std::uint32_t number : numbers) {
    const auto own = std::ranges::equal_range(events, number, {}, &Own::thread);
    add_thread(image, number, {own.begin(), own.end()}, places);
  }
  if (image.file_timeline().head != nullptr) add_file_timeline(image, events);
}

void NodeTimeline::add_thread(const Image& image, std::uint32_t number, std::span<const Own> events,
                              const Places& places) {
  std::vector<Placed> placed;
  placed.reserve(events.size());
  for (const Own& own : events) {
    EventsRow row =
        own.event != nullptr ? call_row(*own.event, places) : file_row(image, *own.file, places);
    row.rank = image.header().rank;
    row.thread = number == kNone ? -1 : std::int64_t{number};
    const std::int64_t begin = own.event != nullptr ? own.event->begin : own.file->begin;
    row.begin = time_of(begin);
    row.time = time_of(own.end) - row.begin;
    placed.push_back({begin, own.end - begin, row});
  }
  const auto thread = image.threads().find(number);
  if (thread != image.threads().end() && thread->second.timeline != nullptr) {
    add_timeline(image, number, *thread->second.timeline, events);
    add_open(image, number, *thread->second.timeline, places, placed);
  }
  // In ticks, since a ns may have several. Outer ones come before those in them.
  std::ranges::stable_sort(placed, {}, [](const Placed& one) {
    const auto kind = static_cast<Kind>(one.row.kind);
    return std::tuple(one.begin, -one.ticks, kind != Kind::region && kind != Kind::open_region);
  });
  for (const Placed& one : placed) rows_.push_back(one.row);
}

EventsRow NodeTimeline::call_row(const Event& event, const Places& places) const {
  EventsRow row;
  row.kind = static_cast<std::int64_t>(event.procedure == kNone ? Kind::region : Kind::call);
  const bool is_known = event.procedure < places.procedures.size();
  row.procedure = is_known ? places.procedures[event.procedure].name : -1;
  row.region = place_in(places.regions, event.region, 0);
  row.communicator = place_in(places.communicators, event.communicator, -1);
  const auto peer = std::max<std::int64_t>(event.peer, kOutsidePeers);
  const bool is_io = is_known && places.procedures[event.procedure].is_io;
  row.file = is_io && peer >= 0 ? place_in(places.files, static_cast<std::size_t>(peer), -1) : -1;
  row.peer = is_io ? kNoPeer : peer;
  row.offset = -1;
  row.sent = not_negative(event.sent);
  row.received = not_negative(event.received);
  return row;
}

EventsRow NodeTimeline::file_row(const Image& image, const FileEvent& event,
                                 const Places& places) const {
  EventsRow row;
  row.kind = static_cast<std::int64_t>(event.is_on_stream != 0 ? Kind::stdio : Kind::posix);
  const auto operation = static_cast<std::size_t>(event.operation);
  row.procedure = operation < kFileOperations ? places.texts.place(kOperations[operation]) : -1;
  row.region = place_in(places.regions, event.region, 0);
  row.communicator = -1;
  row.peer = kNoPeer;
  const std::string_view name = image.access_name(event.name_place, event.name_size);
  row.file = name.empty() ? -1 : places.texts.place(name);
  row.offset = std::max<std::int64_t>(event.offset, -1);
  const std::int64_t bytes = not_negative(event.bytes);
  row.sent = event.operation == FileOperation::write ? bytes : 0;
  row.received = event.operation == FileOperation::read ? bytes : 0;
  row.system_thread = not_negative(event.system_thread);
  return row;
}

void NodeTimeline::add_timeline(const Image& image, std::uint32_t number, const TimelineItem& item,
                                std::span<const Own> events) {
  TimelinesRow row;
  row.rank = image.header().rank;
  row.thread = number;
  std::int64_t since = INT64_MAX;
  for (const Own& own : events) {
    if (own.event == nullptr) continue;
    ++row.events;
    since = std::min(since, own.end);
  }
  row.lost = not_negative(not_negative(item.added) - row.events);
  if (row.lost == 0) since = image.header().begin_ticks;
  row.since = since == INT64_MAX ? end_of(image) : time_of(since);
  row.clock_error = std::max<std::int64_t>(item.clock_error, -1);
  threads_.push_back(row);
}

void NodeTimeline::add_file_timeline(const Image& image, std::span<const Own> events) {
  FileTimelinesRow row;
  row.rank = image.header().rank;
  std::int64_t since = INT64_MAX;
  for (const Own& own : events) {
    if (own.file == nullptr) continue;
    ++row.events;
    since = std::min(since, own.end);
  }
  const auto added = static_cast<std::int64_t>(image.file_timeline().head->added.load());
  row.lost = not_negative(not_negative(added) - row.events);
  if (row.lost == 0) since = image.header().begin_ticks;
  row.since = since == INT64_MAX ? end_of(image) : time_of(since);
  files_.push_back(row);
}

/// What had not ended when the rank was last heard of.
void NodeTimeline::add_open(const Image& image, std::uint32_t number, const TimelineItem& item,
                            const Places& places, std::vector<Placed>& placed) {
  EventsRow row;
  row.rank = image.header().rank;
  row.thread = number;
  row.peer = kNoPeer;
  row.file = row.offset = -1;
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
    row.procedure = open.note < places.procedures.size() ? places.procedures[open.note].name : -1;
    row.begin = time_of(open.begin);
    placed.push_back({open.begin, INT64_MAX, row});
  }
}

}  // namespace headrace::record
