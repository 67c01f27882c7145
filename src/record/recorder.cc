#include "record/recorder.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "base/no_cancellation.h"
#include "base/process_mark.h"
#include "base/settings.h"
#include "record/call_cost.h"
#include "record/file_names.h"
#include "record/heat_map.h"
#include "record/image_owner.h"
#include "record/old_images.h"
#include "record/plain_decisions.h"
#include "record/process_facts.h"
#include "record/process_io.h"
#include "record/record_switch.h"

namespace headrace::record {

std::atomic<bool> is_recording = false;
constinit thread_local ThreadRecord* own_record = nullptr;
std::atomic<std::int64_t> next_sample = 0;
std::array<std::atomic<ThreadListener>, 2> thread_listeners;
std::atomic<void (*)() noexcept> before_end = nullptr;
constinit std::atomic<FileTimeline*> file_timeline = nullptr;
constinit std::atomic<CollectiveWaits*> collective_waits_in_use = nullptr;
constinit std::atomic<MessageWaits*> message_waits_in_use = nullptr;

namespace {

constexpr std::array<const char*, kCallClasses> kOtherNames = {
    "(other point-to-point)", "(other collective)", "(other one-sided)", "(other I/O)", "(other)"};

struct Recorder {
  const ProcessMark process;
  JobMark mark;
  std::int64_t begin_ns = 0;
  std::vector<std::string> directories;
  std::vector<RecordPlace> places;
  std::unique_ptr<ImageFile> image;
  std::unique_ptr<AccessTable> accesses;
  std::unique_ptr<CollectiveWaits> waits;
  std::unique_ptr<MessageWaits> message_waits;
  CommunicatorIds communicators;
  std::unique_ptr<TimelineMemory> timeline;  ///< null if no events are kept
  std::unique_ptr<FileTimeline> file_timeline;
  std::span<const Procedure> procedures;
  CallerOf caller_of = nullptr;
  std::uint32_t other[kCallClasses] = {};
  std::unique_ptr<std::atomic<std::uint32_t>[]> notes;  ///< of procedures, kNone if not yet there
  std::unique_ptr<std::atomic<std::uint32_t>[]> sync_notes;  ///< of barriers before their calls
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadRecord>> threads;
  std::vector<ThreadRecord*> free;  ///< of threads that have ended
  std::atomic<bool> is_full = false;
};

Recorder& recorder() {
  static auto& only = *new Recorder;  // never destroyed: calls arrive during exit, too
  return only;
}

void tell_listeners(const ThreadRecord* own) {
  for (const auto& each : thread_listeners) {
    const ThreadListener listener = each.load(std::memory_order_acquire);
    if (listener != nullptr) listener(own);
  }
}

/// Gives a thread's tables to the next thread when it ends. A key of POSIX, not a variable with a
/// destructor: destructors of other keys may call MPI after those of variables have run. Then the
/// thread takes tables again, and the key's destructor is called again.
void return_record(void*) {
  if (own_record == nullptr) return;
  tell_listeners(nullptr);
  if (is_recording) own_record->end_thread(recorded_ticks());
  Recorder& own = recorder();
  const std::lock_guard lock(own.mutex);
  own.free.push_back(own_record);
  own_record = nullptr;
}

void return_at_end_of_thread() {
  static const std::pair<pthread_key_t, bool> key = [] {
    pthread_key_t made{};
    const bool is_made = pthread_key_create(&made, &return_record) == 0;
    return std::make_pair(made, is_made);
  }();
  if (key.second) pthread_setspecific(key.first, &recorder());
}

void stop_in_child() {
  is_recording = false;
}

/// With room for samples, traces and events, which must not crowd calls out.
std::uint64_t memory_of_image(const Settings& settings) {
  constexpr std::uint64_t kSamples = std::uint64_t{6} << 20;
  constexpr std::uint64_t kTraces = std::uint64_t{8} << 20;
  const auto events = static_cast<std::uint64_t>(settings.timeline_memory);
  return static_cast<std::uint64_t>(settings.record_memory) + (settings.sampling ? kSamples : 0) +
         (wants_traces(settings) ? kTraces : 0) +
         (settings.timeline ? events + (settings.record_files ? events / 2 : 0) : 0);
}

/// Of an image that is smaller than asked for, since files are limited, a part.
void start_timelines(Recorder& own) {
  if (!settings().timeline) return;
  const std::uint64_t got = own.image->header().capacity;
  const auto wanted = static_cast<std::uint64_t>(settings().timeline_memory);
  const std::uint64_t most = got >= memory_of_image(settings()) ? wanted : got / 4;
  own.timeline = std::make_unique<TimelineMemory>(*own.image, most);
  if (own.accesses != nullptr) own.file_timeline = FileTimeline::make(*own.image, most / 2);
  file_timeline.store(own.file_timeline.get());
}

ThreadRecord::Limits limits_of(const Settings& settings) {
  ThreadRecord::Limits limits;
  limits.depth = static_cast<int>(settings.record_depth);
  return limits;
}

std::int64_t ns_of(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
}

void note_usage(ImageHeader& header) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  header.cpu_user = ns_of(usage.ru_utime);
  header.cpu_system = ns_of(usage.ru_stime);
  header.peak_memory = std::int64_t{usage.ru_maxrss} * 1024;
  header.io_end = process_io();
}

std::uint32_t note_of(ImageFile& image, std::string_view name, CallClass call_class) {
  const std::string number = std::to_string(static_cast<int>(call_class));
  const std::string_view fields[] = {name, number};
  return image.note(NoteKind::procedure, fields);
}

/// From the working directory of now.
std::string absolute(const std::string& path) {
  if (path.empty() || path.starts_with('/')) return path;
  std::array<char, 4096> here{};
  return getcwd(here.data(), here.size()) == nullptr ? path : std::string(here.data()) + "/" + path;
}

std::vector<RecordPlace> places_of_now() {
  const bool is_default = !settings().gives("HEADRACE_LOGPATH");
  std::vector<RecordPlace> places{{absolute(settings().log_path), false, is_default}};
  const std::string name = "/headrace-records-" + std::to_string(geteuid());
  if (const char* const own = std::getenv("TMPDIR"); own != nullptr && own[0] == '/') {
    places.push_back({own + name, true});
  }
  places.push_back({"/tmp" + name, true});
  return places;
}

void note_all(ImageFile& image, NoteKind kind, const Facts& facts) {
  for (const auto& [name, value] : facts) {
    const std::string_view fields[] = {name, value};
    image.note(kind, fields);
  }
}

void note_settings(ImageFile& image) {
  for (const SettingInForce& one : recorded_settings()) {
    const std::string_view fields[] = {one.name, one.value, one.origin};
    image.note(NoteKind::setting, fields);
  }
}

void fill_header(ImageHeader& header, const RecorderStart& start) {
  const ClockReading now = read_clock();
  header.rank = start.rank;
  header.rank_count = start.rank_count;
  header.process = getpid();
  header.process_start = process_start(header.process);
  header.process_space = process_space();
  header.has_steady_counter = has_steady_counter ? 1 : 0;
  header.start = since_1970_at(now.ns);
  header.init = start.init_ns;
  header.begin_ticks = now.ticks;
  header.begin_ns = now.ns;
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = kImageMagic;
}

/// The note of a procedure's name with `suffix` behind it, kept in `notes`.
std::uint32_t find_note(const std::unique_ptr<std::atomic<std::uint32_t>[]>& notes, int entry,
                        const char* suffix) {
  Recorder& own = recorder();
  std::atomic<std::uint32_t>& place = notes[static_cast<std::size_t>(entry)];
  std::uint32_t number = place.load(std::memory_order_relaxed);
  if (number != kNone) return number;
  const Procedure& procedure = own.procedures[static_cast<std::size_t>(entry)];
  try {
    number = note_of(*own.image, std::string(procedure.name) + suffix, procedure.call_class);
  } catch (const std::bad_alloc&) {
    number = kNone;
  }
  if (number == kNone) number = own.other[static_cast<int>(procedure.call_class)];
  place.store(number, std::memory_order_relaxed);
  return number;
}

}  // namespace

bool wants_traces(const Settings& settings) {
  const auto is_group = [](const std::string& name) { return name != "0"; };
  return std::ranges::any_of(settings.trace, is_group) || !settings.trace_plan.empty();
}

Error start_recorder(const RecorderStart& start) {
  Recorder& own = recorder();
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &stop_in_child);
  choose_clock();
  own.begin_ns = read_clock().ns;
  own.mark = find_job_mark(start.rank_count, start.is_spawned);
  own.directories = image_directories(settings().record_directory);
  own.places = places_of_now();
  const std::string job = own.mark.name();
  auto made = ImageFile::make(own.directories, job, "rank-" + std::to_string(start.rank),
                              memory_of_image(settings()));
  if (!made) return made.error();
  own.image = std::move(made.value());
  if (own.image->is_first_of_job()) remove_old_images(own.directories, {});
  own.procedures = start.procedures;
  own.caller_of = start.caller_of;
  for (auto* const notes : {&own.notes, &own.sync_notes}) {
    *notes = std::make_unique<std::atomic<std::uint32_t>[]>(start.procedures.size());
    for (std::size_t i = 0; i < start.procedures.size(); ++i) (*notes)[i] = kNone;
  }
  for (int i = 0; i < kCallClasses; ++i) {
    own.other[i] = note_of(*own.image, kOtherNames[i], static_cast<CallClass>(i));
  }
  note_all(*own.image, NoteKind::fact, recorded_facts(process_facts()));
  if (!own.mark.number.empty()) note_all(*own.image, NoteKind::fact, {{"job", own.mark.number}});
  note_all(*own.image, NoteKind::fact, start.facts);
  note_all(*own.image, NoteKind::variable, recorded_variables(allowed_variables()));
  note_settings(*own.image);
  own.image->header().call_cost = measure_call_cost(own.directories, job, settings().timeline);
  if (settings().record_waits) own.waits = CollectiveWaits::make(*own.image);
  if (settings().record_message_waits) {
    own.message_waits = MessageWaits::make(*own.image, start.rank);
  }
  collective_waits_in_use.store(own.waits.get());
  message_waits_in_use.store(own.message_waits.get());
  if (settings().record_files) own.accesses = AccessTable::make(*own.image);
  start_plain_decisions(*own.image);
  start_timelines(own);
  note_usage(own.image->header());
  own.image->header().io_begin = own.image->header().io_end;
  fill_header(own.image->header(), start);
  begin_heat_map(*own.image, own.image->header().begin_ticks);
  is_recording = true;
  begin_recorded_ticks(own.image->header().begin_ticks);
  return {};
}

void mark_end(RankState state) {
  Recorder& own = recorder();
  if (own.image == nullptr || !own.image->is_ours()) return;
  ImageHeader& header = own.image->header();
  if (header.state.load() != static_cast<std::uint32_t>(RankState::running)) return;
  const ClockReading now = read_clock();
  if (state == RankState::finalized) {
    if (own.waits != nullptr) own.waits->finish();
    if (own.message_waits != nullptr) own.message_waits->finish();
  }
  header.end_ticks = now.ticks;
  header.end_ns = now.ns;
  note_usage(header);
  {
    const std::lock_guard lock(own.mutex);
    for (const auto& thread : own.threads) thread->update_counts();
  }
  header.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

void sample_process(std::int64_t now) noexcept {
  constexpr std::int64_t kBetween = std::int64_t{1} << 29;  // ticks
  next_sample.store(now + kBetween, std::memory_order_relaxed);
  ImageFile* const own = is_recording.load(std::memory_order_relaxed) ? image() : nullptr;
  if (own != nullptr) note_usage(own->header());
}

void stop_recorder() {
  is_recording = false;
  if (const auto write_down = before_end.load()) write_down();
}

ImageFile* image() {
  Recorder& own = recorder();
  return own.image == nullptr || !own.image->is_ours() ? nullptr : own.image.get();
}

AccessTable* access_table() {
  return recorder().accesses.get();
}

CommunicatorIds& communicator_ids() {
  return recorder().communicators;
}

const std::vector<std::string>& own_directories() {
  return recorder().directories;
}

const std::vector<RecordPlace>& record_places() {
  Recorder& own = recorder();
  if (own.places.empty()) own.places = places_of_now();
  return own.places;
}

bool is_this_process() {
  return recorder().process.is_here();
}

std::int64_t recorded_ns() {
  return read_clock().ns - recorder().begin_ns;
}

const JobMark& job_mark() {
  return recorder().mark;
}

ThreadRecord* make_own_record() noexcept {
  Recorder& own = recorder();
  if (image() == nullptr) return nullptr;
  const NoCancellation uncancelled;
  return_at_end_of_thread();
  const std::lock_guard lock(own.mutex);
  if (!own.free.empty()) {
    own_record = own.free.back();
    own.free.pop_back();
    own_record->change_thread();
    take_early_regions(*own_record, own.image->header().begin_ticks);
    tell_listeners(own_record);
    return own_record;
  }
  try {
    if (!own.is_full) {
      auto made = ThreadRecord::make(*own.image, static_cast<std::uint32_t>(own.threads.size()),
                                     limits_of(settings()), own.other, own.caller_of);
      if (made != nullptr) {
        own.threads.reserve(own.threads.size() + 1);
        own.free.reserve(own.threads.size() + 1);
        if (own.timeline != nullptr) made->start_timeline(*own.timeline);
        own_record = made.get();
        own.threads.push_back(std::move(made));
        take_early_regions(*own_record, own.image->header().begin_ticks);
        tell_listeners(own_record);
        return own_record;
      }
    }
  } catch (const std::bad_alloc&) {
    // As if the image were full.
  }
  own.is_full = true;
  return nullptr;
}

void note_lost_call() noexcept {
  ImageFile* const own = is_recording && recorder().is_full ? image() : nullptr;
  if (own != nullptr) own->header().lost_calls.fetch_add(1, std::memory_order_relaxed);
}

void count_unsized() noexcept {
  ImageFile* const own = image();
  if (own != nullptr) own->header().unsized.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t procedure_note(int entry) {
  return find_note(recorder().notes, entry, "");
}

std::uint32_t sync_note(int entry) {
  return find_note(recorder().sync_notes, entry, "(sync)");
}

std::uint32_t add_note(NoteKind kind, std::span<const std::string_view> fields) noexcept {
  ImageFile* const own = image();
  try {
    return own == nullptr ? kNone : own->note(kind, fields);
  } catch (const std::bad_alloc&) {
    return kNone;
  }
}

}  // namespace headrace::record
