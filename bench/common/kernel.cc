#include "common/kernel.h"

#include <fcntl.h>

#include <cstdio>
#include <string>

#include "common/failure.h"
#include "common/meeting.h"
#include "common/posix_io.h"
#include "common/window_read.h"

namespace headrace::bench {
namespace {

/// Requests of the way "contiguous" that are tried where none is given, in bytes.
constexpr std::int64_t limit_requests[] = {64 << 10, 256 << 10, 1 << 20, 4 << 20};

}  // namespace

KernelBench::KernelBench(const KernelParameters& parameters, const World& world, Hints hints,
                         Kernel kernel)
    : parameters_(parameters), world_(world), hints_(std::move(hints)), kernel_(std::move(kernel)) {
  if (parameters.way == "contiguous") kernel_.layout = contiguous_layout(world, kernel_.layout);
}

void KernelBench::run() {
  allocate();
  const RemovedOnSignal guard(parameters_.file, parameters_.write && !parameters_.keep);
  for (std::int64_t i = 0; i < parameters_.repetitions; ++i) {
    try {
      if (parameters_.write) timed(true, i);
      if (parameters_.read) timed(false, i);
    } catch (const AgreedFailure&) {
      if (parameters_.write && !parameters_.keep) remove_file();
      throw;
    }
    if (!parameters_.keep && parameters_.write) remove_file();
  }
}

void KernelBench::allocate() {
  const std::int64_t size = kernel_.layout.memory_size;
  const auto place = parameters_.way == "contiguous" ? Buffer::Place::page : Buffer::Place::malloc;
  const std::string what =
      std::to_string(kernel_.buffers) + " buffers of " + std::to_string(size) + " bytes";
  agree_on_memory(world_.communicator, what, [&] {
    for (std::int64_t i = 0; i < kernel_.buffers; ++i) {
      buffers_.emplace_back(static_cast<std::size_t>(size), place);
    }
  });
}

std::unique_ptr<Way> KernelBench::make_way(std::int64_t request) const {
  if (parameters_.way == "mpiio") {
    return make_mpiio_way(world_, kernel_.layout, hints_, kernel_.views);
  }
  if (parameters_.way == "rank0") return make_rank0_way(world_, kernel_.layout);
  return make_posix_way(kernel_.layout, request);
}

std::vector<std::int64_t> KernelBench::requests(bool writing) const {
  if (parameters_.way != "contiguous") return {INT64_MAX};
  if (!writing && parameters_.read_request.bytes > 0) return {parameters_.read_request.bytes};
  if (parameters_.request.bytes > 0) return {parameters_.request.bytes};
  return {std::begin(limit_requests), std::end(limit_requests)};
}

/// A write or a read that counts: the fastest over the requests. The file holds it afterwards.
void KernelBench::timed(bool writing, std::int64_t repetition) {
  TimedAccess best;
  for (const std::int64_t request : requests(writing)) {
    if (writing) {
      remove_file();
      require_space(world_.communicator, parameters_.file, kernel_.file_size());
      make_file();
    }
    TimedAccess result = access(writing, repetition, request);
    if (parameters_.way == "contiguous") result.request = request;
    if (best.bytes == 0 || result.bandwidth() > best.bandwidth()) best = std::move(result);
    if (parameters_.skip_check) continue;
    if (writing) check_file();
    if (writing) inspect();
    tell_wrong(writing ? "write" : "read");
  }
  accesses_.push_back(best);
  if (world_.rank != 0 || parameters_.json == "-") return;
  if (parameters_.show_hints && repetition == 0) print_hints(best.hints);
  print_access(best);
}

TimedAccess KernelBench::access(bool writing, std::int64_t repetition, std::int64_t request) {
  const std::unique_ptr<Way> way = make_way(request);
  std::vector<Interval> calls(static_cast<std::size_t>(kernel_.calls));
  Stamps stamps;
  TimedAccess result;
  if (!writing) {
    for (const Buffer& one : buffers_) poison(one.bytes());
  }
  prepare(writing, 0);
  AccessClock clock(world_);
  meet(world_.communicator);
  stamps.open_begin = clock.now();
  const std::string error = way->open(parameters_.file, writing);
  stamps.open_end = clock.now();
  const std::string moved = move_all(*way, writing, calls);
  stamps.transfer_begin = calls.front().begin;
  stamps.transfer_end = calls.back().end;
  result.hints = clock.stand_during([&] { return way->hints(); });
  stamps.close_begin = clock.now();
  const std::string closed = way->close();
  stamps.close_end = clock.now();
  // First what went wrong: closing may fail on other ranks because of it.
  agree(world_.communicator, error.empty() ? moved : error);
  agree(world_.communicator, closed);
  settle(writing, kernel_.calls - 1);
  result.writing = writing;
  result.repetition = repetition;
  result.bytes = kernel_.calls * kernel_.layout.total_bytes;
  add_durations(result, stamps, calls);
  return result;
}

/// All calls of an access. What is done between them is not in their intervals.
std::string KernelBench::move_all(Way& way, bool writing, std::vector<Interval>& calls) {
  std::string error;
  for (std::int64_t call = 0; call < kernel_.calls; ++call) {
    if (call > 0) {
      if (error.empty()) settle(writing, call - 1);
      prepare(writing, call);
      meet(world_.communicator);
    }
    Interval& interval = calls[static_cast<std::size_t>(call)];
    interval.begin = world_.now();
    const std::string moved = way.move(writing, displacement(call), buffer(call).data());
    const bool syncs = writing && parameters_.fsync && call + 1 == kernel_.calls;
    const std::string synced = syncs ? way.sync() : std::string();
    interval.end = world_.now();
    if (error.empty()) error = moved.empty() ? synced : moved;
  }
  return error;
}

/// Makes the data that a call writes.
void KernelBench::prepare(bool writing, std::int64_t call) {
  if (writing) fill(kernel_.layout, displacement(call), *kernel_.content, buffer(call).data());
}

/// Checks the data that a call read.
void KernelBench::settle(bool writing, std::int64_t call) {
  if (writing || parameters_.skip_check) return;
  mismatch_.add(check(kernel_.layout, displacement(call), *kernel_.content, buffer(call)));
}

/// The times over all ranks, without the pauses between calls.
void KernelBench::add_durations(TimedAccess& result, const Stamps& stamps,
                                const std::vector<Interval>& calls) const {
  result.seconds = durations(world_, stamps);
  if (calls.size() == 1) return;
  std::vector<double> begins;
  std::vector<double> ends;
  for (const Interval& call : calls) {
    begins.push_back(call.begin);
    ends.push_back(call.end);
  }
  const int count = static_cast<int>(calls.size());
  MPI_Allreduce(MPI_IN_PLACE, begins.data(), count, MPI_DOUBLE, MPI_MIN, world_.communicator);
  MPI_Allreduce(MPI_IN_PLACE, ends.data(), count, MPI_DOUBLE, MPI_MAX, world_.communicator);
  double pauses = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    result.calls.push_back(ends[i] - begins[i]);
    if (i > 0) pauses += begins[i] - ends[i - 1];
  }
  result.between_calls = pauses;
  result.seconds.transfer -= pauses;
  result.seconds.total -= pauses;
}

/// Reads the file back without MPI-IO, each rank what it holds, and compares.
void KernelBench::check_file() {
  for (const Buffer& one : buffers_) poison(one.bytes());
  PosixFile file;
  std::string error = file.open(parameters_.file, O_RDONLY);
  const std::int64_t size = file_size(parameters_.file);
  if (error.empty() && size != kernel_.file_size()) {
    error = "'" + parameters_.file + "' has " + std::to_string(size) + " bytes after writing (" +
            std::to_string(kernel_.file_size()) +
            " were written and reported as success), do not trust this MPI with data";
  }
  for (std::int64_t call = 0; error.empty() && call < kernel_.calls; ++call) {
    const std::int64_t start = displacement(call);
    error = read_by_windows(file, size, kernel_.layout, start, buffer(call).data());
    if (error.empty()) settle(false, call);
  }
  const std::string closed = file.close();
  agree(world_.communicator, error.empty() ? closed : error);
}

/// Adds up what this access has found; one line for all ranks where that is anything.
void KernelBench::tell_wrong(const char* action) {
  const Mismatch all = sum(world_, mismatch_);
  mismatch_ = {};
  wrong_bytes_ += all.wrong;
  if (all.wrong == 0 || world_.rank != 0) return;
  const std::string place = kernel_.content->place(all.first);
  std::fprintf(stderr, "%s: error: %lld wrong bytes in '%s' after %s, the first at byte %lld%s\n",
               kernel_.name.c_str(), static_cast<long long>(all.wrong), parameters_.file.c_str(),
               action, static_cast<long long>(all.first),
               place.empty() ? "" : (" (" + place + ")").c_str());
}

void KernelBench::report() const {
  std::printf("\n");
  print_calls(accesses_);
  print_maxima(accesses_);
  if (!parameters_.skip_check) {
    std::printf("Wrong bytes         : %lld\n", static_cast<long long>(wrong_bytes_));
  }
}

std::string KernelBench::json() const {
  JsonWriter json;
  json.open_object();
  json.member("program", "headrace bench " + kernel_.name);
  json.member("MPI", library_version());
  json.member("ranks", world_.size);
  json.member("nodes", world_.node_count);
  json.member("way", parameters_.way);
  kernel_.describe(json);
  json.member("fileSize", kernel_.file_size());
  json.member("fsync", parameters_.fsync);
  json.member("checked", !parameters_.skip_check);
  json.member("wrongBytes", wrong_bytes_);
  write_accesses(json, accesses_);
  json.close_object();
  return json.text();
}

void print_kernel_head(const std::string& name, const KernelParameters& parameters,
                       const World& world, std::int64_t file_size,
                       std::vector<std::pair<std::string, std::string>> lines) {
  lines.insert(lines.begin(), {"ranks", std::to_string(world.size) + " on " +
                                            std::to_string(world.node_count) + " node(s)"});
  lines.emplace_back(
      "file", format_size(file_size) + " to '" + parameters.file + "' by way of " + parameters.way);
  print_head("headrace bench " + name, lines);
  print_access_header();
  std::fflush(stdout);
}

}  // namespace headrace::bench
