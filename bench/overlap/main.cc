#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "common/buffer.h"
#include "common/content.h"
#include "common/failure.h"
#include "common/json.h"
#include "common/meeting.h"
#include "common/mpi_file.h"
#include "common/test_file.h"
#include "common/timed_benchmark.h"
#include "common/timed_results.h"
#include "common/ways.h"
#include "overlap/computation.h"
#include "overlap/parameters.h"
#include "overlap/slow_store.h"

namespace headrace::bench::overlap {
namespace {

/// One repetition: seconds of the transfer alone, of computing alone, and of both together, each
/// from the first rank's begin to the last one's end.
struct Sample {
  bool writing = false;
  double transfer = 0;
  double computing = 0;
  double together = 0;

  /// 1: the shorter one was free. Without any overlap: 1 + shorter/longer.
  double cost() const { return together / std::max(transfer, computing); }
};

class Bench {
 public:
  Bench(const Parameters& parameters, const World& world, Hints hints)
      : parameters_(parameters),
        world_(world),
        hints_(std::move(hints)),
        layout_(block_layout(world, parameters.block_size() * world.rank, parameters.block_size(),
                             parameters.block_size() * world.size,
                             parameters.size.bytes / parameters.block_size())),
        data_(make_buffer(world.communicator, parameters.size.bytes, Buffer::Place::malloc)) {}

  void run();
  void report() const;
  std::string json() const;
  bool is_right() const { return wrong_bytes_ == 0; }

 private:
  std::vector<double> costs(bool writing) const;
  void open();
  void repetition(bool writing, std::int64_t number);
  void record(const Sample& sample, std::int64_t number);
  double measure(bool transferring, double compute_seconds, bool writing);
  int begin(bool writing);
  int finish(bool writing, MPI_Status& status);
  void check_data(bool writing);
  void make_data(std::int64_t number) { fill(layout_, 0, OffsetContent(number), data().data()); }
  std::span<std::byte> data() const { return data_.bytes(); }
  std::int64_t file_bytes() const { return parameters_.size.bytes * world_.size; }
  void remove_file() { remove_test_file(world_.communicator, parameters_.file, world_.rank == 0); }

  const Parameters& parameters_;
  const World& world_;
  Hints hints_;
  Layout layout_;
  Computation computation_;
  Buffer data_;
  MpiFile file_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  volatile double computed_ = 0;
  std::vector<Sample> samples_;
  std::vector<TimedAccess> accesses_;
  std::int64_t written_ = 0;  ///< the repetition whose data the file holds
  std::int64_t wrong_bytes_ = 0;
  std::int64_t undelayed_bytes_ = 0;
};

void Bench::run() {
  const RemovedOnSignal guard(parameters_.file, !parameters_.keep);
  remove_file();
  require_space(world_.communicator, parameters_.file, file_bytes());
  try {
    open();
    // Not measured: makes the file's blocks and warms the paths.
    make_data(0);
    measure(true, 0, true);
    slow_down(parameters_.delay / 1e3 / (1 << 20));
    for (std::int64_t i = 1; i <= parameters_.repetitions; ++i) {
      if (parameters_.write) repetition(true, i);
      if (parameters_.read) repetition(false, i);
    }
    slow_down(0);
    agree(world_.communicator, file_.close());
  } catch (const AgreedFailure&) {
    if (!parameters_.keep) remove_file();
    throw;
  }
  if (!parameters_.keep) remove_file();
}

void Bench::open() {
  MPI_Info info = make_info(hints_);
  std::string error = file_.open(world_.communicator, parameters_.file, true, info);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  agree(world_.communicator, error);
  agree(world_.communicator,
        file_.set_view(layout_.start, layout_.etype.get(), layout_.file_type.get()));
}

int Bench::begin(bool writing) {
  const int count = static_cast<int>(data().size());
  MPI_File file = file_.handle();
  if (parameters_.call == "individual") {
    return writing ? MPI_File_iwrite_at(file, 0, data().data(), count, MPI_BYTE, &request_)
                   : MPI_File_iread_at(file, 0, data().data(), count, MPI_BYTE, &request_);
  }
  if (parameters_.call == "collective") {
    return writing ? MPI_File_iwrite_at_all(file, 0, data().data(), count, MPI_BYTE, &request_)
                   : MPI_File_iread_at_all(file, 0, data().data(), count, MPI_BYTE, &request_);
  }
  return writing ? MPI_File_write_at_all_begin(file, 0, data().data(), count, MPI_BYTE)
                 : MPI_File_read_at_all_begin(file, 0, data().data(), count, MPI_BYTE);
}

int Bench::finish(bool writing, MPI_Status& status) {
  if (parameters_.call != "split") return MPI_Wait(&request_, &status);
  return writing ? MPI_File_write_at_all_end(file_.handle(), data().data(), &status)
                 : MPI_File_read_at_all_end(file_.handle(), data().data(), &status);
}

/// Seconds that a transfer, computing, or both take.
double Bench::measure(bool transferring, double compute_seconds, bool writing) {
  std::string error;
  MPI_Status status{};
  Stamps stamps;
  meet(world_.communicator);
  stamps.transfer_begin = world_.now();
  int code = transferring ? begin(writing) : MPI_SUCCESS;
  if (compute_seconds > 0) computed_ = computation_.run(compute_seconds);
  if (transferring && code == MPI_SUCCESS) code = finish(writing, status);
  stamps.transfer_end = world_.now();
  if (transferring) {
    error = file_.moved(code, status, MPI_BYTE, parameters_.size.bytes, "bytes",
                        writing ? "write" : "read");
  }
  agree(world_.communicator, error);
  return durations(world_, stamps).transfer;
}

void Bench::repetition(bool writing, std::int64_t number) {
  Sample sample;
  sample.writing = writing;
  // Other data than beside the computing, or a write that is lost there would not be found.
  if (writing) make_data(-number);
  sample.transfer = measure(true, 0, writing);
  const double given = writing ? parameters_.compute : parameters_.read_compute;
  const double computing = given > 0 ? given : sample.transfer * parameters_.share;
  sample.computing = measure(false, computing, writing);
  writing ? make_data(number) : poison(data());
  const std::int64_t delayed = delayed_bytes();
  sample.together = measure(true, computing, writing);
  const std::int64_t moved = sum(world_, delayed_bytes() - delayed);
  if (parameters_.delay > 0) undelayed_bytes_ += std::max<std::int64_t>(0, file_bytes() - moved);
  if (writing) written_ = number;
  check_data(writing);
  record(sample, number);
}

void Bench::record(const Sample& sample, std::int64_t number) {
  samples_.push_back(sample);
  TimedAccess access;
  access.writing = sample.writing;
  access.repetition = number;
  access.bytes = file_bytes();
  access.seconds = {0, sample.together, 0, sample.together};
  access.hints = file_.hints();
  accesses_.push_back(access);
  if (world_.rank != 0 || parameters_.json == "-") return;
  if (parameters_.show_hints && number == 1) print_hints(access.hints);
  std::printf("%-9s %-12.6f %-12.6f %-12.6f %-8.3f %lld\n", sample.writing ? "write" : "read",
              sample.transfer, sample.computing, sample.together, sample.cost(),
              static_cast<long long>(number));
  std::fflush(stdout);
}

/// What was read, or what is in the file now, against what must be there.
void Bench::check_data(bool writing) {
  std::string error;
  if (writing) {
    poison(data());
    const std::unique_ptr<Way> way = make_posix_way(layout_);
    slow_down(0);
    error = way->open(parameters_.file, false);
    if (error.empty()) error = way->move(false, 0, data().data());
    slow_down(parameters_.delay / 1e3 / (1 << 20));
  }
  agree(world_.communicator, error);
  wrong_bytes_ += sum(world_, check(layout_, 0, OffsetContent(written_), data()).wrong);
}

std::vector<double> Bench::costs(bool writing) const {
  std::vector<double> result;
  for (const Sample& sample : samples_) {
    if (sample.writing == writing) result.push_back(sample.cost());
  }
  std::sort(result.begin(), result.end());
  return result;
}

void Bench::report() const {
  std::printf("\n");
  for (const bool writing : {true, false}) {
    const std::vector<double> values = costs(writing);
    if (values.empty()) continue;
    std::printf("%-31s: %.3f (lowest %.3f, highest %.3f)\n",
                writing ? "write: cost of both together" : "read: cost of both together",
                values[values.size() / 2], values.front(), values.back());
  }
  std::printf("%-31s: %.3f\n%-31s: %lld\n", "without any overlap it would be",
              1 + std::min(parameters_.share, 1 / std::max(parameters_.share, 1e-9)), "wrong bytes",
              static_cast<long long>(wrong_bytes_));
  if (undelayed_bytes_ > 0) {
    std::printf(
        "%lld bytes were moved past the slow store (not by pread or pwrite): the costs "
        "above are not of a slow store\n",
        static_cast<long long>(undelayed_bytes_));
  }
}

std::string Bench::json() const {
  JsonWriter json;
  json.open_object();
  json.member("program", "headrace bench overlap");
  json.member("MPI", library_version());
  json.member("ranks", world_.size);
  json.member("call", parameters_.call);
  json.member("size", parameters_.size.bytes);
  json.member("block", parameters_.block_size());
  json.member("share", parameters_.share);
  json.member("delay", parameters_.delay);
  json.member("wrongBytes", wrong_bytes_);
  json.member("undelayedBytes", undelayed_bytes_);
  json.open_array("samples");
  for (const Sample& sample : samples_) {
    json.open_object();
    json.member("access", sample.writing ? "write" : "read");
    json.member("transfer", sample.transfer);
    json.member("computing", sample.computing);
    json.member("together", sample.together);
    json.member("cost", sample.cost());
    json.close_object();
  }
  json.close_array();
  write_accesses(json, accesses_);
  json.close_object();
  return json.text();
}

void print_job(const Parameters& p, const World& world) {
  char computing[128];
  std::snprintf(computing, sizeof computing,
                "%g of the transfer's time; store slowed by %g ms per MiB", p.share, p.delay);
  print_head("headrace bench overlap",
             {{"job", std::to_string(world.size) + " ranks, " + p.call + " calls of " +
                          format_size(p.size.bytes) + " each, blocks of " +
                          format_size(p.block_size()) + ", '" + p.file + "'"},
              {"computing", computing}});
  std::printf("%-9s %-12s %-12s %-12s %-8s %s\n", "access", "transfer(s)", "compute(s)", "both(s)",
              "cost", "iter");
  std::fflush(stdout);
}

int body(int argc, char** argv) {
  return run_timed_benchmark<Bench>(argc, argv, parse_parameters, print_job);
}

}  // namespace
}  // namespace headrace::bench::overlap

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"overlap", "--size"},
                                      headrace::bench::overlap::body);
}
