#include "tune/paths.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "common/buffer.h"
#include "common/datatype.h"
#include "common/failure.h"
#include "common/hints.h"
#include "common/meeting.h"
#include "common/mpi_file.h"
#include "common/world.h"

namespace headrace::bench::tune {
namespace {

/// Fewer pairs of samples have no interval that holds the median with 95 %.
constexpr int kLeastPairs = 6;

void require(const std::string& error) {
  if (!error.empty()) throw Failure(error);
}

/// A file that ranks open together, with a view in which their pieces take turns.
class PiecesFile {
 public:
  /// `path`: direct, staged, or automatic.
  PiecesFile(const Place& place, const char* path, std::int64_t bytes, std::int64_t count)
      : place_(place), bytes_(bytes), count_(count) {
    MPI_Info info = make_info({{"headrace_write_path", path}, {"headrace_read_path", path}});
    require(file_.open(place.node, place.file, true, info));
    MPI_Info_free(&info);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const MPI_Aint stride = bytes * place.size;
    MPI_Type_create_hvector(static_cast<int>(count), static_cast<int>(bytes), stride, MPI_BYTE,
                            &type);
    pieces_ = Datatype::commit(type);
    require(file_.set_view(bytes * place.rank, MPI_BYTE, pieces_.get()));
  }

  /// Seconds of a call, on the rank that took longest. A write is to an empty file, and nothing
  /// that is read is cached before. Collective.
  double call(bool writes, std::byte* data) {
    if (!writes && place_.rank == 0) place_.cache->drop();
    if (writes) require(file_.result(MPI_File_set_size(file_.handle(), 0), "resize"));
    const std::int64_t all = bytes_ * count_;
    MPI_Status status;
    MPI_Barrier(place_.node);
    const double begin = node_clock();
    const int code = writes ? MPI_File_write_at_all(file_.handle(), 0, data, static_cast<int>(all),
                                                    MPI_BYTE, &status)
                            : MPI_File_read_at_all(file_.handle(), 0, data, static_cast<int>(all),
                                                   MPI_BYTE, &status);
    double seconds = node_clock() - begin;
    require(file_.moved(code, status, MPI_BYTE, all, "bytes", writes ? "write" : "read"));
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, place_.node);
    return seconds;
  }

  Hints hints() const { return file_.hints(); }

 private:
  const Place& place_;
  const std::int64_t bytes_;
  const std::int64_t count_;
  MpiFile file_;
  Datatype pieces_;
  const ClosedAtEnd closed_{file_};
};

/// The number in "cores are 290 ns a page apart"; 0 without one.
double core_distance_in(const std::string& reason) {
  constexpr std::string_view kBefore = "cores are ";
  const auto found = reason.find(kBefore);
  return found == std::string::npos ? 0
                                    : std::strtod(reason.c_str() + found + kBefore.size(), nullptr);
}

void note(const Hints& hints, Told& told) {
  const auto value = [&](const char* name) {
    const auto found = hints.find(name);
    return found == hints.end() ? std::string() : found->second;
  };
  told.file_system = value("headrace_file_system");
  for (const char* const name : {"headrace_write_reason", "headrace_read_reason"}) {
    const double distance = core_distance_in(value(name));
    if (distance > 0) told.core_distance = distance;
  }
}

void measure_paths(const Place& place, bool writes, std::int64_t bytes, std::int64_t count,
                   double seconds, std::vector<Figure>& figures, Told& told) {
  const Buffer buffer = make_buffer(place.node, bytes * count, Buffer::Place::page);
  std::byte* const data = buffer.bytes().data();
  constexpr std::array kPaths{"direct", "staged"};
  std::array<PiecesFile, 2> files{PiecesFile(place, kPaths[0], bytes, count),
                                  PiecesFile(place, kPaths[1], bytes, count)};
  std::array<Figure, 2> of_path;
  for (std::size_t i = 0; i < 2; ++i) {
    of_path[i] = {.what = writes ? "collective_write" : "collective_read",
                  .ranks = place.size,
                  .bytes = bytes,
                  .count = count,
                  .path = kPaths[i]};
    files[i].call(true, data);
    files[i].call(writes, data);
  }
  repeat(place.node, seconds, kLeastPairs, [&] {
    for (std::size_t i = 0; i < 2; ++i) of_path[i].seconds.push_back(files[i].call(writes, data));
  });
  // Only a choice of the layer's own tells how far cores are apart.
  PiecesFile automatic(place, "automatic", bytes, count);
  automatic.call(writes, data);
  if (place.rank != 0) return;
  note(automatic.hints(), told);
  for (Figure& figure : of_path) figures.push_back(std::move(figure));
}

}  // namespace

void add_path_tasks(const Place& place, std::vector<Figure>& figures, Told& told,
                    std::vector<Task>& tasks) {
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 6> kShapes{
      {{1000, 1000}, {10'000, 200}, {65'536, 64}, {262'144, 16}, {1 << 20, 4}, {4 << 20, 2}}};
  for (const bool writes : {true, false}) {
    for (const auto& [bytes, count] : kShapes) {
      tasks.push_back(
          {std::string("collective ") + (writes ? "writes" : "reads") + " of " +
               std::to_string(bytes) + " B, by both paths",
           2, [&place, &figures, &told, writes, bytes = bytes, count = count](double seconds) {
             measure_paths(place, writes, bytes, count, seconds, figures, told);
             meet(place.node);
           }});
    }
  }
}

void add_pattern_task(const Place& place, bool writes, std::int64_t bytes, std::int64_t count,
                      std::vector<Figure>& figures, std::vector<Task>& tasks) {
  const auto measure = [&place, &figures, writes, bytes, count](double seconds) {
    const Buffer buffer = make_buffer(place.node, bytes * count, Buffer::Place::page);
    std::byte* const data = buffer.bytes().data();
    PiecesFile file(place, "automatic", bytes, count);
    Figure figure{.what = writes ? "write_pattern" : "read_pattern",
                  .ranks = place.size,
                  .bytes = bytes,
                  .count = count};
    file.call(true, data);
    file.call(writes, data);
    repeat(place.node, seconds, kLeastSamples,
           [&] { figure.seconds.push_back(file.call(writes, data)); });
    const Hints hints = file.hints();
    const auto found = hints.find(writes ? "headrace_write_taken" : "headrace_read_taken");
    if (found != hints.end()) figure.path = found->second;
    if (place.rank == 0) figures.push_back(std::move(figure));
  };
  tasks.push_back({"a pattern of " + std::to_string(bytes) + " B", 1, measure});
}

}  // namespace headrace::bench::tune
