#include "abi/flavour/recorded_file.h"

#include <mutex>
#include <new>
#include <string_view>
#include <unordered_map>

#include "abi/flavour/file_handle.h"
#include "record/clock.h"
#include "record/heat_map.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

constinit std::atomic<bool> has_noted_files = false;

namespace {

struct Noted {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, NotedFile> by_handle;
};

Noted& noted() {
  static auto& only = *new Noted;  // never destroyed: files are closed during exit, too
  return only;
}

bool has(std::string_view procedure, std::string_view part) {
  return procedure.find(part) != std::string_view::npos;
}

}  // namespace

NotedFile note_opened(MPI_File file, const char* name, bool keeps_events) noexcept {
  const bool is_ours = find_file(file) != nullptr;
  if (name == nullptr || (is_ours && !keeps_events)) return {};
  NotedFile made;
  record::FileCounts* const counts = record::counts_of_file(name, !is_ours);
  if (counts == nullptr) return {};
  if (!is_ours) {
    record::add(counts->opens, 1);
    made.counts = counts;
  }
  if (keeps_events) made.name = static_cast<std::int32_t>(record::name_of(*counts));
  try {
    Noted& all = noted();
    const std::lock_guard lock(all.mutex);
    all.by_handle[handle_key(file)] = made;
    has_noted_files.store(true, std::memory_order_release);
  } catch (const std::bad_alloc&) {
    // Its calls are not counted.
  }
  return made;
}

void note_closed(MPI_File file) noexcept {
  if (!has_noted_files.load(std::memory_order_acquire)) return;
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  all.by_handle.erase(handle_key(file));
}

NotedFile find_noted_file(MPI_File file) noexcept {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_handle.find(handle_key(file));
  return found == all.by_handle.end() ? NotedFile() : found->second;
}

void count_passed_bytes(record::FileCounts& counts, bool writes, std::int64_t bytes,
                        std::int64_t begin) noexcept {
  record::add(writes ? counts.written : counts.read, bytes);
  record::add_heat(record::HeatLayer::asked, writes, bytes, begin, record::ticks());
}

void count_passed_call(record::FileCounts& counts, const char* procedure, std::int64_t ticks) {
  record::add(counts.ticks, ticks);
  if (has(procedure, "_close")) record::add(counts.close, ticks);
  const bool is_end = has(procedure, "_end");
  const bool is_collective = has(procedure, "_all") || has(procedure, "_ordered");
  const bool reads = has(procedure, "_read") || has(procedure, "_iread");
  const bool writes = has(procedure, "_write") || has(procedure, "_iwrite");
  if (is_end || (!reads && !writes)) return;
  record::add(reads ? counts.reads : counts.writes, 1);
  if (is_collective) record::add(reads ? counts.collective_reads : counts.collective_writes, 1);
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
