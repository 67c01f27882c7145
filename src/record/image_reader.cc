#include "record/image_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "base/uninterrupted.h"

namespace headrace::record {
namespace {

/// The most that a rank's recorder may take, and more.
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;
/// ImageFile::note cuts fields.
constexpr std::uint32_t kMostField = 4096;

Error damaged(const char* why) {
  return {ErrorClass::other, 0, {"it is no recorder's memory (", why, ")"}};
}

/// The descriptor, while it is needed.
class OpenImage {
 public:
  explicit OpenImage(const std::string& path)
      : descriptor_(uninterrupted([&] {
          return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        })) {}
  ~OpenImage() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenImage(const OpenImage&) = delete;
  OpenImage& operator=(const OpenImage&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// False where the file ends before.
bool read_all(int descriptor, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = uninterrupted([&] {
      return ::pread(descriptor, into.data() + done, into.size() - done, static_cast<off_t>(done));
    });
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

template <class Item>
void take_items(std::vector<Item>& items, const std::byte* first, std::uint32_t count) {
  const std::size_t before = items.size();
  items.resize(before + count);
  if (count > 0) std::memcpy(items.data() + before, first, count * sizeof(Item));
}

std::optional<std::uint32_t> item_size(ExtentKind kind) {
  switch (kind) {
    case ExtentKind::thread: return sizeof(ThreadItem);
    case ExtentKind::rows: return sizeof(Row);
    case ExtentKind::frames: return sizeof(Frame);
    case ExtentKind::peers: return sizeof(Peer);
    case ExtentKind::files: return sizeof(FileItem);
    case ExtentKind::notes: return 1;
    case ExtentKind::decisions: return sizeof(DecisionItem);
    case ExtentKind::regions: return sizeof(RegionItem);
    case ExtentKind::accesses: return sizeof(AccessItem);
    case ExtentKind::access_names: return 1;
    case ExtentKind::sampled_threads: return sizeof(SampledThread);
    case ExtentKind::sampled_frames: return sizeof(Frame);
    case ExtentKind::samples: return sizeof(SampleItem);
    case ExtentKind::heat: return sizeof(HeatTables);
    case ExtentKind::counters: return sizeof(CounterItem);
    case ExtentKind::traced_frames: return sizeof(Frame);
    case ExtentKind::traced_calls: return sizeof(TracedCalls);
    case ExtentKind::timeline: return sizeof(TimelineItem);
    case ExtentKind::events: return sizeof(Event);
    case ExtentKind::file_timeline: return sizeof(FileTimelineItem);
    case ExtentKind::file_events: return sizeof(FileEvent);
    case ExtentKind::entry_logs:
    case ExtentKind::message_logs: return std::nullopt;  // for ranks that run
    case ExtentKind::waits: return sizeof(WaitItem);
    case ExtentKind::awaited: return sizeof(AwaitedItem);
    case ExtentKind::plain_decisions: return sizeof(PlainDecisionItem);
    case ExtentKind::plain_texts: return 1;
  }
  return std::nullopt;
}

/// Empty if the text is shorter.
std::string_view part_of(std::string_view text, std::uint64_t place, std::uint64_t size) {
  if (place > text.size() || size > text.size() - place) return {};
  return text.substr(place, size);
}

void drop_unless_below(std::uint32_t& reference, std::size_t count) {
  if (reference >= count) reference = kNone;
}

void check_frames(std::span<Frame> frames, std::size_t modules, std::size_t functions) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    drop_unless_below(frames[i].caller, i);
    drop_unless_below(frames[i].module, modules);
    drop_unless_below(frames[i].function, functions);
  }
}

/// Events of a rank that runs: those whose memory was given to others while it was copied are taken
/// out of the copy.
void drop_overwritten_events(int descriptor, std::span<std::byte> bytes) {
  std::size_t place = reinterpret_cast<const ImageHeader*>(bytes.data())->header_size;
  while (place % 8 == 0 && place < bytes.size() && bytes.size() - place >= sizeof(ExtentHeader)) {
    auto& copied = *reinterpret_cast<ExtentHeader*>(bytes.data() + place);
    ExtentHeader now{};
    if (copied.kind == ExtentKind::events &&
        (pread(descriptor, &now, sizeof now, static_cast<off_t>(place)) != sizeof now ||
         now.turn != copied.turn)) {
      copied.used = 0;
    }
    if (copied.next == 0 || copied.next > bytes.size() - place) return;
    place += copied.next;
  }
}

}  // namespace

Result<Image> Image::parse(std::vector<std::byte> bytes) {
  try {
    Image image;
    image.bytes_ = std::move(bytes);
    if (image.bytes_.size() < sizeof(ImageHeader)) return damaged("it is too short");
    if (image.header().magic != kImageMagic) return damaged("it begins otherwise, or not yet");
    if (!image.check_header()) return damaged("what its header says cannot be");
    if (!image.take_extents()) return damaged("its parts do not fit together");
    image.check_references();
    return image;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<Image> Image::read(const std::string& path) {
  try {
    const OpenImage file(path);
    if (file.get() < 0) return system_failure(errno, "it cannot be opened");
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return system_failure(errno, "it cannot be read");
    if (!S_ISREG(status.st_mode)) return damaged("it is no file");
    if (status.st_uid != ::geteuid()) return damaged("it belongs to another user");
    alignas(ImageHeader) std::array<std::byte, sizeof(ImageHeader)> front{};
    if (!read_all(file.get(), front)) return damaged("it is too short");
    const std::uint64_t size = reinterpret_cast<const ImageHeader*>(front.data())->size;
    if (size < sizeof(ImageHeader) || size > kMostBytes ||
        size > static_cast<std::uint64_t>(status.st_size)) {
      return damaged("it is cut off");
    }
    std::vector<std::byte> bytes(size);
    if (!read_all(file.get(), bytes)) return damaged("it is cut off");
    drop_overwritten_events(file.get(), bytes);
    return parse(std::move(bytes));
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

bool Image::check_header() const {
  const ImageHeader& own = header();
  const std::uint64_t size = own.size;
  return own.header_size >= sizeof(ImageHeader) && own.header_size % 8 == 0 &&
         own.header_size <= bytes_.size() && own.row_size == sizeof(Row) && own.rank >= 0 &&
         own.rank < own.rank_count && own.state <= static_cast<std::uint32_t>(RankState::aborted) &&
         own.begin_ticks >= 0 && own.begin_ns >= 0 && own.end_ticks >= 0 && own.end_ns >= 0 &&
         size >= own.header_size;
}

/// A running rank may have got more extents since the bytes were copied: what is counted in `size`
/// is complete, what lies behind the copy is left out.
bool Image::take_extents() {
  std::size_t place = header().header_size;
  const auto end =
      static_cast<std::size_t>(std::min<std::uint64_t>(header().size.load(), bytes_.size()));
  while (end - place >= sizeof(ExtentHeader)) {
    const auto& extent = *reinterpret_cast<const ExtentHeader*>(bytes_.data() + place);
    const std::uint64_t room = end - place;
    const std::uint64_t items = std::uint64_t{extent.item_size} * extent.capacity;
    const std::uint32_t used = extent.used;
    if (extent.next % 8 != 0 || extent.next < sizeof(ExtentHeader) || extent.next > room ||
        items > extent.next - sizeof(ExtentHeader) || used > extent.capacity) {
      return false;
    }
    if (!take_extent(place + sizeof(ExtentHeader), extent, used)) return false;
    place += static_cast<std::size_t>(extent.next);
  }
  return true;
}

/// Extents of other kinds are left out.
bool Image::take_extent(std::size_t begin, const ExtentHeader& extent, std::uint32_t used) {
  const std::optional<std::uint32_t> size = item_size(extent.kind);
  if (!size) return true;
  if (extent.item_size != *size) return false;
  const std::byte* const first = bytes_.data() + begin;
  switch (extent.kind) {
    case ExtentKind::thread:
      if (used > 0) std::memcpy(&threads_[extent.thread].totals, first, sizeof(ThreadItem));
      return true;
    case ExtentKind::rows: take_items(threads_[extent.thread].rows, first, used); return true;
    case ExtentKind::frames: take_items(threads_[extent.thread].frames, first, used); return true;
    case ExtentKind::peers: take_items(threads_[extent.thread].peers, first, used); return true;
    case ExtentKind::files: take_items(files_, first, used); return true;
    case ExtentKind::decisions: take_items(decisions_.items, first, used); return true;
    case ExtentKind::regions: take_items(threads_[extent.thread].regions, first, used); return true;
    case ExtentKind::accesses: take_items(accesses_, first, used); return true;
    case ExtentKind::access_names:
      access_names_.append(reinterpret_cast<const char*>(first), used);
      return true;
    case ExtentKind::sampled_threads: take_items(sampled_.threads, first, used); return true;
    case ExtentKind::sampled_frames: take_items(sampled_.frames, first, used); return true;
    case ExtentKind::samples: take_items(sampled_.samples, first, used); return true;
    case ExtentKind::heat:
      if (heat_.empty()) take_items(heat_, first, std::min<std::uint32_t>(used, 1));
      return true;
    case ExtentKind::counters: take_items(counters_, first, used); return true;
    case ExtentKind::traced_frames:
      take_items(traced_[extent.thread].frames, first, used);
      return true;
    case ExtentKind::traced_calls:
      take_items(traced_[extent.thread].calls, first, used);
      return true;
    case ExtentKind::timeline:
    case ExtentKind::events:
    case ExtentKind::file_timeline:
    case ExtentKind::file_events: take_timeline(begin, extent, used); return true;
    case ExtentKind::waits: take_items(threads_[extent.thread].waits, first, used); return true;
    case ExtentKind::awaited: take_items(awaited_, first, used); return true;
    case ExtentKind::plain_decisions: take_items(decisions_.plain, first, used); return true;
    case ExtentKind::plain_texts:
      decisions_.texts.append(reinterpret_cast<const char*>(first), used);
      return true;
    case ExtentKind::entry_logs:
    case ExtentKind::message_logs: return true;
    case ExtentKind::notes: return take_notes({first, used});
  }
  return true;
}

/// They are many, and stay where they are.
void Image::take_timeline(std::size_t begin, const ExtentHeader& extent, std::uint32_t used) {
  if (used == 0) return;
  std::byte* const first = bytes_.data() + begin;
  if (extent.kind == ExtentKind::file_timeline) {
    file_timeline_.head = reinterpret_cast<const FileTimelineItem*>(first);
    return;
  }
  if (extent.kind == ExtentKind::file_events) {
    file_timeline_.events = {reinterpret_cast<const FileEvent*>(first), used};
    return;
  }
  Thread& thread = threads_[extent.thread];
  if (extent.kind == ExtentKind::timeline) {
    thread.timeline = reinterpret_cast<const TimelineItem*>(first);
  } else {
    thread.events.emplace_back(reinterpret_cast<const Event*>(first), used);
  }
}

bool Image::take_notes(std::span<const std::byte> notes) {
  while (notes.size() >= sizeof(NoteHeader)) {
    NoteHeader header{};
    std::memcpy(&header, notes.data(), sizeof header);
    if (header.size < sizeof header || header.size > notes.size()) return false;
    std::span<const std::byte> rest = notes.first(header.size).subspan(sizeof header);
    Note note;
    for (int i = 0; i < header.fields; ++i) {
      std::uint32_t length = 0;
      if (rest.size() < sizeof length) return false;
      std::memcpy(&length, rest.data(), sizeof length);
      rest = rest.subspan(sizeof length);
      if (length > std::min<std::size_t>(rest.size(), kMostField)) return false;
      note.emplace_back(reinterpret_cast<const char*>(rest.data()), length);
      rest = rest.subspan(length);
    }
    const auto kind = static_cast<std::size_t>(header.kind);
    if (kind < kNoteKinds) notes_[kind].push_back(std::move(note));
    const std::size_t padded = (std::size_t{header.size} + 7) / 8 * 8;
    notes = notes.subspan(std::min(padded, notes.size()));
  }
  return true;
}

void Image::check_references() {
  const std::size_t modules = notes(NoteKind::module).size();
  const std::size_t functions = notes(NoteKind::function).size();
  const std::size_t regions = notes(NoteKind::region).size();
  for (auto& [number, each] : threads_) {
    const auto check = [&](auto& row) {
      drop_unless_below(row.procedure, notes(NoteKind::procedure).size());
      drop_unless_below(row.communicator, notes(NoteKind::communicator).size());
      drop_unless_below(row.path, each.frames.size());
      if (row.region > regions) row.region = 0;
    };
    std::ranges::for_each(each.rows, check);
    std::ranges::for_each(each.waits, check);
    for (RegionItem& region : each.regions) drop_unless_below(region.note, regions);
    if (each.totals.region.region > regions) each.totals.region.region = 0;
    drop_unless_below(each.totals.last.procedure, notes(NoteKind::procedure).size());
    drop_unless_below(each.totals.last.path, each.frames.size());
    check_frames(each.frames, modules, functions);
  }
  for (FileItem& file : files_) drop_unless_below(file.name, notes(NoteKind::file).size());
  for (DecisionItem& one : decisions_.items) {
    drop_unless_below(one.note, notes(NoteKind::decision).size());
  }
  check_frames(sampled_.frames, modules, functions);
  check_samples();
  check_traced();
}

void Image::check_samples() {
  const std::size_t regions = notes(NoteKind::region).size();
  for (SampleItem& sample : sampled_.samples) {
    drop_unless_below(sample.path, sampled_.frames.size());
    drop_unless_below(sample.thread, sampled_.threads.size());
    if (sample.region > regions) sample.region = 0;
  }
  for (SampledThread& thread : sampled_.threads) thread.name.back() = '\0';
  for (CounterItem& counter : counters_) counter.name.back() = '\0';
}

void Image::check_traced() {
  const std::size_t functions = notes(NoteKind::traced).size();
  for (auto& [number, thread] : traced_) {
    check_frames(thread.frames, notes(NoteKind::module).size(), notes(NoteKind::function).size());
    for (TracedCalls& calls : thread.calls) {
      drop_unless_below(calls.function, functions);
      drop_unless_below(calls.path, thread.frames.size());
      if (calls.region > notes(NoteKind::region).size()) calls.region = 0;
    }
  }
}

std::string_view Image::field(NoteKind kind, std::uint32_t note, std::size_t field) const {
  const std::span<const Note> all = notes(kind);
  return note < all.size() && field < all[note].size() ? all[note][field] : std::string_view();
}

std::string_view Image::access_name(std::uint64_t place, std::size_t size) const {
  return part_of(access_names_, place, size);
}

PlainDecision Image::Decisions::texts_of(const PlainDecisionItem& item) const {
  const auto& [subject, choice, reason] = item.sizes;
  const std::uint64_t size = std::uint64_t{subject} + choice + reason;
  const std::string_view all = part_of(texts, item.place, size);
  if (all.size() < size) return {};
  return {all.substr(0, subject), all.substr(subject, choice), all.substr(subject + choice)};
}

std::string_view Image::fact(std::string_view name) const {
  for (const Note& note : notes(NoteKind::fact)) {
    if (note.size() >= 2 && note[0] == name) return note[1];
  }
  return {};
}

}  // namespace headrace::record
