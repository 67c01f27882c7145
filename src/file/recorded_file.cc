#include "file/recorded_file.h"

#include <algorithm>

#include "file/path_choice.h"
#include "file/recorded_store.h"
#include "record/file_names.h"

namespace headrace::file {

void RecordedFile::open(const std::string& path) {
  counts_ = record::counts_of_file(path.c_str(), false);
  if (counts_ != nullptr) name_ = record::recorded_name(path);
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
      place = kept.insert(kept.end(), {kind, record::note_decision(decision, true)});
    }
    if (place->cost == nullptr) return {};
    record::add(place->cost->calls, 1);
    record::add(place->cost->ticks, ticks);
    return {};
  }));
}

void RecordedFile::note_corrections(const std::vector<std::string>& lines) const {
  if (counts_ == nullptr) return;
  for (const std::string& line : lines) {
    record::note_decision({"hints of '" + name_ + "'", "corrected", line, ""}, false);
  }
}

}  // namespace headrace::file
