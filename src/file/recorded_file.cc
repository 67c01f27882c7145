#include "file/recorded_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/settings.h"
#include "file/path_choice.h"
#include "file/recorded_store.h"
#include "record/file_names.h"
#include "record/heat_map.h"

namespace headrace::file {
namespace {

/// A file may be opened often, with other numbers in the text each time: what was kept of its name
/// counts on.
class KeptChoices {
 public:
  record::DecisionCost* find_or_keep(const record::Decision& decision, std::int64_t kind) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = costs_.try_emplace({decision.subject, kind}, nullptr);
    if (is_new) place->second = record::note_decision(decision, true);
    return place->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::int64_t>, record::DecisionCost*> costs_;
};

KeptChoices& kept_choices() {
  static auto& only = *new KeptChoices;  // never destroyed: files are closed during exit, too
  return only;
}

/// How often files were opened. As many names as a record keeps; 0 for others.
class OpensByName {
 public:
  std::int64_t count(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (opens_.size() >= kMost && !opens_.contains(name)) return 0;
    return ++opens_[name];
  }

 private:
  static constexpr std::size_t kMost = 1000;
  std::mutex mutex_;
  std::map<std::string, std::int64_t> opens_;
};

OpensByName& opens_by_name() {
  static auto& only = *new OpensByName;  // as above
  return only;
}

}  // namespace

void RecordedFile::open(const std::string& path) {
  counts_ = record::counts_of_file(path.c_str(), false);
  if (counts_ != nullptr) name_ = record::recorded_name(path);
  if (settings().io_stats == 0 && settings().io_timers == 0) return;
  is_told_ = true;
  told_name_ = path;
  if (counts_ == nullptr) {
    own_counts_ = std::make_unique<record::FileCounts>();
    counts_ = own_counts_.get();
    name_ = path;
  }
  begin_ = *counts_;
  opened_ = record::read_clock();
}

IoSums RecordedFile::sums() const {
  return is_told_ ? sums_of(begin_, *counts_) : IoSums();
}

OwnTimes RecordedFile::times(std::int64_t closing) const {
  if (!is_told_) return {};
  record::FileCounts now = *counts_;
  now.ticks += closing;
  now.close += closing;
  return times_of(begin_, now, record::tick_length(opened_, record::read_clock()));
}

void RecordedFile::note_open() {
  if (counts_ == nullptr) return;
  record::add(counts_->opens, 1);
  if (!is_told_) return;
  static_cast<void>(attempt([this]() -> Error {
    opens_ = opens_by_name().count(told_name_);
    return {};
  }));
}

std::unique_ptr<storage::Store> RecordedFile::counted(std::unique_ptr<storage::Store> store) const {
  if (counts_ == nullptr) return store;
  return std::make_unique<RecordedStore>(std::move(store), *counts_);
}

void RecordedFile::count_call(Direction direction, bool is_collective) {
  const bool writes = direction == Direction::write;
  record::add(writes ? counts_->writes : counts_->reads, 1);
  if (!is_collective) return;
  record::add(writes ? counts_->collective_writes : counts_->collective_reads, 1);
}

void RecordedFile::count_moved(Direction direction, ByteCount bytes) {
  const bool writes = direction == Direction::write;
  record::add(writes ? counts_->written : counts_->read, bytes);
  if (own_counts_ != nullptr || bytes == 0) return;
  const std::int64_t now = record::ticks();
  const std::int64_t begin = record::moving_since;
  if (begin != 0) record::moving_since = now;
  record::add_heat(record::HeatLayer::asked, writes, bytes, begin, now);
}

/// What a choice's kind stands for is told with the numbers of its first call.
void RecordedFile::add_to_choice(const PathChoice& choice, Direction direction,
                                 std::int64_t ticks) {
  static_cast<void>(attempt([&]() -> Error {
    const std::int64_t kind = choice.kind();
    const std::lock_guard lock(mutex_);
    std::vector<Kept>& kept = kept_[direction == Direction::write ? 0 : 1];
    auto place = std::ranges::find(kept, kind, &Kept::kind);
    if (place == kept.end()) {
      const record::Decision decision = choice.decision(name_);
      if (decision.choice.empty()) return {};
      place = kept.insert(kept.end(), {kind, kept_choices().find_or_keep(decision, kind)});
    }
    if (place->cost == nullptr) return {};
    record::add(place->cost->calls, 1);
    record::add(place->cost->ticks, ticks);
    return {};
  }));
}

void RecordedFile::note_buffers(const std::string& text) const {
  if (counts_ == nullptr) return;
  record::note_decision({"buffers of '" + name_ + "'", text, "HEADRACE_IOBUF names it", ""}, false);
}

void RecordedFile::note_corrections(const std::vector<std::string>& lines) const {
  if (counts_ == nullptr) return;
  for (const std::string& line : lines) {
    record::note_decision({"hints of '" + name_ + "'", "corrected", line, ""}, false);
  }
}

}  // namespace headrace::file
