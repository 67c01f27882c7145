#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/image_file.h"
#include "record/image_owner.h"
#include "record/thread_record.h"

namespace headrace::record {

/// An image that is filled as the recorder of a rank fills its own, with calls at known times.
class MadeImage {
 public:
  static constexpr std::int64_t kBeginTicks = 1000;
  static constexpr std::int64_t kBeginNs = 5000;
  static constexpr std::int64_t kTicksOfNs = 2;

  /// In `directory`, which must be a private one, as image of `job`.
  MadeImage(const std::string& directory, const std::string& job, int rank, int rank_count)
      : MadeImage(directory, job, rank, rank_count, ThreadRecord::Limits{}) {}

  MadeImage(const std::string& directory, const std::string& job, int rank, int rank_count,
            const ThreadRecord::Limits& limits) {
    const std::string directories[] = {directory};
    auto made = ImageFile::make(directories, job, "rank-" + std::to_string(rank), 4 << 20);
    if (!made) return;
    image = std::move(made.value());
    std::uint32_t other[kCallClasses];
    for (int i = 0; i < kCallClasses; ++i) {
      other[i] = note(NoteKind::procedure, {"(other)", std::to_string(i)});
    }
    thread = ThreadRecord::make(*image, 0, limits, other, nullptr);
    fill_header(rank, rank_count);
  }

  std::uint32_t note(NoteKind kind, const std::vector<std::string>& fields) {
    const std::vector<std::string_view> views(fields.begin(), fields.end());
    return image->note(kind, views);
  }
  std::uint32_t procedure(const char* name, CallClass of_class) {
    return note(NoteKind::procedure, {name, std::to_string(static_cast<int>(of_class))});
  }
  std::uint32_t world(int size) {
    const std::string ranks = std::to_string(size);
    return note(NoteKind::communicator, {"0", ranks, ranks, "MPI_COMM_WORLD"});
  }

  /// One call, from here. It takes so many ns.
  [[gnu::noipa]] Row& call(const char* name, CallClass of_class, std::uint32_t communicator,
                           std::int64_t sent, std::int64_t ns) {
    const auto* slot = static_cast<const std::uintptr_t*>(__builtin_frame_address(0)) + 1;
    PathEnd& path = thread->find_path(slot, 0);
    Row& row = thread->row(path, procedure(name, of_class), of_class, communicator);
    row.sent += sent;
    row.bins[static_cast<std::size_t>(bin_of(sent))] += 1;
    thread->add_call(row, now_, now_ + ns * kTicksOfNs);
    now_ += ns * kTicksOfNs;
    return row;
  }

  FileCounts& file(const char* name) {
    const std::uint32_t text = note(NoteKind::file, {name});
    ExtentHeader* const extent = image->take(ExtentKind::files, kNone, sizeof(FileItem), 1);
    auto* const item = new (extent + 1) FileItem{};
    item->name = text;
    extent->used = 1;
    return item->counts;
  }
  /// `ticks`: when; subject, choice, reason and alternatives are `fields`.
  void decision(const std::vector<std::string>& fields, std::int64_t ticks, DecisionCost cost) {
    const std::uint32_t number = note(NoteKind::decision, fields);
    ExtentHeader* const extent = image->take(ExtentKind::decisions, kNone, sizeof(DecisionItem), 1);
    new (extent + 1) DecisionItem{number, 0, ticks, cost};
    extent->used = 1;
  }

  /// As at MPI_Finalize, one second after the begin.
  void finish(RankState state = RankState::finalized) {
    thread->update_counts();
    image->header().end_ticks = kBeginTicks + 1'000'000'000 * kTicksOfNs;
    image->header().end_ns = kBeginNs + 1'000'000'000;
    image->header().state = static_cast<std::uint32_t>(state);
  }

  std::unique_ptr<ImageFile> image;
  std::unique_ptr<ThreadRecord> thread;

 private:
  void fill_header(int rank, int rank_count) {
    ImageHeader& header = image->header();
    header.rank = rank;
    header.rank_count = rank_count;
    header.process = ::getpid();
    header.process_start = process_start(header.process);
    header.process_space = process_space();
    header.has_steady_counter = 1;
    header.start = std::int64_t{1'800'000'000} * 1'000'000'000 + rank;
    header.init = 7000 + rank;
    header.begin_ticks = kBeginTicks;
    header.begin_ns = kBeginNs;
    header.call_cost = 20'000;
    header.magic = kImageMagic;
  }

  std::int64_t now_ = kBeginTicks;
};

}  // namespace headrace::record
