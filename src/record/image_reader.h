#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/image.h"

/// Images of this rank or another one, finished, half written, or damaged.
namespace headrace::record {

inline constexpr std::size_t kNoteKinds = 12;  ///< numbers of NoteKind, from 0

/// An image's contents, checked: notes, frames and callers that it names are there, or are kNone.
/// A caller's number is below its frame's.
class Image {
 public:
  struct Thread {
    ThreadItem totals{};
    std::vector<Row> rows;
    std::vector<Frame> frames;
    std::vector<WaitItem> waits;
    std::vector<Peer> peers;
    std::vector<RegionItem> regions;
    /// Null if its events were not kept. It and the events are as they were found: not checked.
    const TimelineItem* timeline = nullptr;
    std::vector<std::span<const Event>> events;  ///< in any order
  };
  /// What a thread has of traced functions.
  struct Traced {
    std::vector<Frame> frames;
    std::vector<TracedCalls> calls;
  };
  /// What samples show, of all threads.
  struct Sampled {
    std::vector<SampledThread> threads;
    std::vector<Frame> frames;
    std::vector<SampleItem> samples;
  };
  /// What was chosen, and by code that signal handlers run, too.
  struct Decisions {
    std::vector<DecisionItem> items;
    std::vector<PlainDecisionItem> plain;
    std::string texts;  ///< of those

    /// Empty ones if the image does not have them.
    PlainDecision texts_of(const PlainDecisionItem& item) const;
  };
  /// Calls on files without MPI, one by one. `head` is null if they were not kept. It and the
  /// events, of which only those with a turn are there, are as they were found: not checked.
  struct FileTimeline {
    const FileTimelineItem* head = nullptr;
    std::span<const FileEvent> events;
  };
  using Note = std::vector<std::string_view>;  ///< its fields

  Image(Image&&) = default;
  Image& operator=(Image&&) = default;

  /// Of a copy of its bytes.
  static Result<Image> parse(std::vector<std::byte> bytes);

  /// Reads a file of this user. It is not mapped: whoever made it might shorten it.
  static Result<Image> read(const std::string& path);

  const ImageHeader& header() const { return *reinterpret_cast<const ImageHeader*>(bytes_.data()); }
  RankState state() const { return static_cast<RankState>(header().state.load()); }
  const std::map<std::uint32_t, Thread>& threads() const { return threads_; }
  std::span<const FileItem> files() const { return files_; }
  const Decisions& decisions() const { return decisions_; }
  std::span<const AccessItem> accesses() const { return accesses_; }
  /// Where items of accesses say that their name is. Empty if the image does not have it.
  std::string_view access_name(std::uint64_t place, std::size_t size) const;
  const Sampled& sampled() const { return sampled_; }
  /// Null if it has none.
  const HeatTables* heat() const { return heat_.empty() ? nullptr : heat_.data(); }
  std::span<const CounterItem> counters() const { return counters_; }
  std::span<const AwaitedItem> awaited() const { return awaited_; }
  const FileTimeline& file_timeline() const { return file_timeline_; }
  /// By numbers of their own.
  const std::map<std::uint32_t, Traced>& traced() const { return traced_; }

  std::span<const Note> notes(NoteKind kind) const {
    return notes_[static_cast<std::size_t>(kind)];
  }
  /// A field of a note; empty if there is no such note, or it has fewer.
  std::string_view field(NoteKind kind, std::uint32_t note, std::size_t field) const;
  /// What a fact says; empty if it is not there.
  std::string_view fact(std::string_view name) const;

 private:
  Image() = default;
  bool check_header() const;
  bool take_extents();
  bool take_extent(std::size_t begin, const ExtentHeader& extent, std::uint32_t used);
  void take_timeline(std::size_t begin, const ExtentHeader& extent, std::uint32_t used);
  bool take_notes(std::span<const std::byte> notes);
  void check_references();
  void check_samples();
  void check_traced();

  std::vector<std::byte> bytes_;
  std::map<std::uint32_t, Thread> threads_;
  std::vector<FileItem> files_;
  Decisions decisions_;
  std::vector<AccessItem> accesses_;
  std::string access_names_;
  Sampled sampled_;
  std::vector<HeatTables> heat_;  ///< one at most
  std::vector<CounterItem> counters_;
  std::vector<AwaitedItem> awaited_;
  FileTimeline file_timeline_;
  std::map<std::uint32_t, Traced> traced_;
  std::array<std::vector<Note>, kNoteKinds> notes_;
};

}  // namespace headrace::record
