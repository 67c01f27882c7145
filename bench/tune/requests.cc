#include "tune/requests.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "common/buffer.h"
#include "common/datatype.h"
#include "common/failure.h"
#include "common/meeting.h"
#include "common/mpi_file.h"
#include "common/world.h"

namespace headrace::bench::tune {
namespace {

constexpr std::int64_t kBatchBytes = std::int64_t{4} << 20;
constexpr std::int64_t kBatchCalls = 64;

void require(const std::string& error) {
  if (!error.empty()) throw Failure(error);
}

std::int64_t batch_of(std::int64_t bytes) {
  return std::clamp<std::int64_t>(kBatchBytes / bytes, 2, kBatchCalls);
}

/// How a batch of requests is made.
struct Way {
  const char* what;
  bool writes = true;
  bool is_new = false;     ///< the file grows
  bool is_cold = true;     ///< memory is not in the CPU's caches
  std::int64_t shift = 0;  ///< of the first request's offset
};

/// Requests of some ranks on one file, each rank's blocks between those of the others.
class Requests {
 public:
  Requests(MPI_Comm ranks, const Place& place)
      : ranks_(ranks), memory_(place.cold), cache_(*place.cache) {
    MPI_Comm_rank(ranks, &rank_);
    MPI_Comm_size(ranks, &size_);
    require(file_.open(ranks, place.file, true, MPI_INFO_NULL));
  }

  /// Makes a file of this many bytes for each rank, or empties it.
  void resize(std::int64_t bytes) {
    require(file_.result(MPI_File_set_size(file_.handle(), bytes * size_), "resize"));
  }

  void fill(std::int64_t bytes, std::int64_t each) {
    resize(0);
    batch({"", true}, bytes, each);
  }

  /// Seconds of a request, on the rank that took longest. Nothing that is read is cached before.
  /// Collective.
  double batch(const Way& way, std::int64_t bytes, std::int64_t count) {
    if (way.is_new) resize(0);
    if (!way.writes && rank_ == 0) cache_.drop();
    MPI_Barrier(ranks_);
    const double begin = node_clock();
    for (std::int64_t i = 0; i < count; ++i) {
      const MPI_Offset offset = way.shift + (i * size_ + rank_) * bytes;
      std::byte* const data = next(way.is_cold, bytes);
      MPI_Status status;
      const int code = way.writes ? MPI_File_write_at(file_.handle(), offset, data,
                                                      static_cast<int>(bytes), MPI_BYTE, &status)
                                  : MPI_File_read_at(file_.handle(), offset, data,
                                                     static_cast<int>(bytes), MPI_BYTE, &status);
      require(file_.moved(code, status, MPI_BYTE, bytes, "bytes", way.writes ? "write" : "read"));
    }
    double seconds = (node_clock() - begin) / static_cast<double>(count);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, ranks_);
    return seconds;
  }

 private:
  std::byte* next(bool is_cold, std::int64_t bytes) {
    if (!is_cold) return memory_.data();
    if (at_ + bytes > kColdBytes) at_ = 0;
    std::byte* const data = memory_.data() + at_;
    at_ += bytes;
    return data;
  }

  MPI_Comm ranks_;
  std::span<std::byte> memory_;
  PageCache& cache_;
  MpiFile file_;
  const ClosedAtEnd closed_{file_};
  int rank_ = 0;
  int size_ = 1;
  std::int64_t at_ = 0;
};

/// A task that the first rank does alone, while the others sleep.
Task alone(const Place& place, std::string name, std::function<void(double)> measure) {
  return {std::move(name), 1, [&place, measure = std::move(measure)](double seconds) {
            if (place.rank == 0) measure(seconds);
            meet(place.node);
          }};
}

void measure_requests(const Place& place, const Way& way, std::int64_t bytes, double seconds,
                      std::vector<Figure>& figures) {
  Requests requests(MPI_COMM_SELF, place);
  const std::int64_t count = batch_of(bytes);
  if (!way.is_new) requests.fill(bytes, count + 1);
  Figure figure{.what = way.what, .bytes = bytes};
  requests.batch(way, bytes, count);
  repeat(MPI_COMM_SELF, seconds, kLeastSamples,
         [&] { figure.seconds.push_back(requests.batch(way, bytes, count)); });
  figures.push_back(std::move(figure));
}

/// Pieces with gaps between them, which the layer reads by common calls.
void measure_joined(const Place& place, std::int64_t piece, std::int64_t gap, double seconds,
                    std::vector<Figure>& figures) {
  const int count = static_cast<int>(kBatchBytes / (piece + gap));
  {
    Requests requests(MPI_COMM_SELF, place);
    requests.fill(kBatchBytes / 8, 8);
  }
  MpiFile file;
  require(file.open(MPI_COMM_SELF, place.file, false, MPI_INFO_NULL));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, static_cast<int>(piece), static_cast<int>(piece + gap), MPI_BYTE, &type);
  const Datatype pieces = Datatype::commit(type);
  require(file.set_view(0, MPI_BYTE, pieces.get()));
  const Buffer buffer(static_cast<std::size_t>(piece * count), Buffer::Place::page);
  Figure figure{.what = "read_joined", .bytes = piece, .count = count, .gap = gap};
  repeat(MPI_COMM_SELF, seconds, kLeastSamples, [&] {
    place.cache->drop();
    MPI_Status status;
    const double begin = node_clock();
    const int code = MPI_File_read_at(file.handle(), 0, buffer.bytes().data(),
                                      static_cast<int>(piece) * count, MPI_BYTE, &status);
    figure.seconds.push_back(node_clock() - begin);
    require(file.moved(code, status, MPI_BYTE, piece * count, "bytes", "read"));
  });
  require(file.close());
  figures.push_back(std::move(figure));
}

/// Copies between memory that stays in the CPU's caches and memory that does not.
void measure_copies(const Place& place, bool to_slot, double seconds,
                    std::vector<Figure>& figures) {
  constexpr std::int64_t kSlot = 256 << 10;
  constexpr std::int64_t kPiece = 64 << 10;
  const Buffer slot(kSlot, Buffer::Place::page);
  Figure figure{.what = to_slot ? "copy_to_slot" : "copy_from_slot", .bytes = kPiece};
  std::int64_t at = 0;
  repeat(MPI_COMM_SELF, seconds, kLeastSamples, [&] {
    constexpr std::int64_t kCopies = 64;
    const double begin = node_clock();
    for (std::int64_t i = 0; i < kCopies; ++i) {
      std::byte* const near = slot.bytes().data() + i * kPiece % kSlot;
      std::byte* const far = place.cold.data() + at;
      std::memcpy(to_slot ? near : far, to_slot ? far : near, kPiece);
      asm volatile("" : : "r"(near), "r"(far) : "memory");
      at = (at + kPiece) % kColdBytes;
    }
    figure.seconds.push_back((node_clock() - begin) / kCopies);
  });
  figures.push_back(std::move(figure));
}

/// Making, opening, asking after and removing files.
void measure_metadata(const Place& place, double seconds, std::vector<Figure>& figures) {
  constexpr int kFiles = 16;
  std::array<Figure, 4> all{Figure{.what = "create"}, Figure{.what = "open"},
                            Figure{.what = "stat"}, Figure{.what = "remove"}};
  const auto name = [&](int i) { return place.directory + "/file" + std::to_string(i); };
  repeat(MPI_COMM_SELF, seconds, kLeastSamples, [&] {
    for (std::size_t step = 0; step < all.size(); ++step) {
      const double begin = node_clock();
      for (int i = 0; i < kFiles; ++i) {
        int result = 0;
        struct stat status{};
        if (step < 2) {
          result = ::open(name(i).c_str(), (step == 0 ? O_CREAT : 0) | O_RDWR | O_CLOEXEC, 0600);
          if (result >= 0) result = ::close(result);
        } else {
          result = step == 2 ? ::stat(name(i).c_str(), &status) : ::unlink(name(i).c_str());
        }
        if (result != 0) throw Failure(describe_errno("cannot use '" + name(i) + "'", errno));
      }
      all[step].seconds.push_back((node_clock() - begin) / kFiles);
    }
  });
  for (Figure& figure : all) figures.push_back(std::move(figure));
}

}  // namespace

void add_request_tasks(const Place& place, std::vector<Figure>& figures, std::vector<Task>& tasks) {
  constexpr Way kAppend{"append", true, true};
  constexpr Way kWrite{"write", true, false};
  constexpr Way kRead{"read", false, false};
  constexpr Way kAppendHot{"append_cached", true, true, false};
  constexpr Way kReadHot{"read_cached", false, false, false};
  constexpr Way kWriteUnaligned{"write_unaligned", true, false, true, 100};
  constexpr Way kReadUnaligned{"read_unaligned", false, false, true, 100};
  const auto add = [&](const Way& way, std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t bytes : sizes) {
      tasks.push_back(alone(place, std::string(way.what) + " of " + std::to_string(bytes) + " B",
                            [&place, &figures, way, bytes](double seconds) {
                              measure_requests(place, way, bytes, seconds, figures);
                            }));
    }
  };
  add(kAppend, {512, 4096, 16384, 65536, 1 << 20, 4 << 20});
  add(kWrite, {4096, 65536, 1 << 20});
  add(kRead, {512, 4096, 65536, 1 << 20, 4 << 20});
  add(kAppendHot, {512, 16384, 65536, 262144});
  add(kReadHot, {512, 16384, 65536, 262144});
  add(kWriteUnaligned, {4096, 65536, 1 << 20});
  add(kReadUnaligned, {4096, 65536, 1 << 20});
  for (const auto& [piece, gap] :
       {std::pair<std::int64_t, std::int64_t>{2048, 1024}, {4096, 2048}, {16384, 4096}}) {
    tasks.push_back(alone(place, "pieces of " + std::to_string(piece) + " B read together",
                          [&place, &figures, piece = piece, gap = gap](double seconds) {
                            measure_joined(place, piece, gap, seconds, figures);
                          }));
  }
  for (const bool to_slot : {true, false}) {
    tasks.push_back(alone(place, "copies in memory", [&place, &figures, to_slot](double seconds) {
      measure_copies(place, to_slot, seconds, figures);
    }));
  }
  tasks.push_back(alone(place, "metadata", [&place, &figures](double seconds) {
    measure_metadata(place, seconds, figures);
  }));
}

void add_together_tasks(const Place& place, std::vector<Figure>& figures,
                        std::vector<Task>& tasks) {
  constexpr Way kWrite{"append_together", true, true};
  constexpr Way kRead{"read_together", false, false};
  std::vector<int> sizes;
  for (int ranks = 1; ranks < place.size; ranks *= 2) sizes.push_back(ranks);
  sizes.push_back(place.size);
  for (const Way& way : {kWrite, kRead}) {
    for (const std::int64_t bytes : {65536, 1 << 20}) {
      for (const int ranks : sizes) {
        const auto measure = [&place, &figures, way, bytes, ranks](double seconds) {
          MPI_Comm some = MPI_COMM_NULL;
          MPI_Comm_split(place.node, place.rank < ranks ? 0 : MPI_UNDEFINED, place.rank, &some);
          if (some != MPI_COMM_NULL) {
            Requests requests(some, place);
            const std::int64_t count = batch_of(bytes);
            if (!way.is_new) requests.fill(bytes, count);
            Figure figure{.what = way.what, .ranks = ranks, .bytes = bytes};
            repeat(some, seconds, kLeastSamples,
                   [&] { figure.seconds.push_back(requests.batch(way, bytes, count)); });
            if (place.rank == 0) figures.push_back(std::move(figure));
          }
          if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
          meet(place.node);
        };
        tasks.push_back({std::string(way.what) + ", " + std::to_string(ranks) + " ranks, " +
                             std::to_string(bytes) + " B",
                         1, measure});
      }
    }
  }
}

}  // namespace headrace::bench::tune
