#include "ior/output.h"

#include <sys/utsname.h>

#include <cstdio>

#include "common/options.h"

namespace headrace::bench::ior {
namespace {

constexpr double mebibyte = 1 << 20;

std::string machine() {
  struct utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.nodename;
}

std::vector<double> column(const Results& results, bool writing, double (*value)(const Access&)) {
  std::vector<double> values;
  for (const Access& access : results.accesses) {
    if (access.writing == writing) values.push_back(value(access));
  }
  return values;
}

double bandwidth(const Access& access) {
  return access.bandwidth() / mebibyte;
}
double operations(const Access& access) {
  return access.operations();
}
double total_time(const Access& access) {
  return access.seconds.total;
}

void line(const char* name, const std::string& value) {
  std::printf("%-20s: %s\n", name, value.c_str());
}

}  // namespace

Output::Output(const Parameters& parameters, const World& world, std::string command_line)
    : parameters_(parameters),
      world_(world),
      command_line_(std::move(command_line)),
      began_(date_text()) {}

void Output::begin() {
  const Parameters& p = parameters_;
  const char* order = p.reorder_constant ? "constant task offset"
                      : p.reorder_random ? "random task order"
                                         : "no tasks offsets";
  const std::int64_t files = p.file_per_process ? world_.size : 1;
  std::printf("headrace bench ior: IOR's options and layout, own program\n");
  line("Began", began_);
  line("Command line", command_line_);
  line("Machine", machine());
  line("MPI", library_version());
  std::printf("\nOptions:\n");
  line("api", p.api);
  line("test filename", p.test_file);
  line("access", p.file_per_process ? "file-per-process" : "single-shared-file");
  line("type", p.collective ? "collective" : "independent");
  line("segments", std::to_string(p.segment_count));
  line("ordering in a file", "sequential");
  line("ordering inter file", order);
  line("nodes", std::to_string(world_.node_count));
  line("tasks", std::to_string(world_.size));
  line("clients per node", std::to_string(world_.ranks_per_node));
  line("repetitions", std::to_string(p.repetitions));
  line("xfersize", format_size(p.transfer_size));
  line("blocksize", format_size(p.block_size));
  line("aggregate filesize", format_size(p.bytes_per_task() * world_.size));
  if (p.verbose > 0) line("files", std::to_string(files));
  std::printf("\nResults:\n\n");
  std::printf("%-9s %-10s %-10s %-11s %-10s %-10s %-10s %-10s %-10s %-10s %s\n", "access",
              "bw(MiB/s)", "IOPS", "Latency(s)", "block(KiB)", "xfer(KiB)", "open(s)", "wr/rd(s)",
              "close(s)", "total(s)", "iter");
  std::printf("%-9s %-10s %-10s %-11s %-10s %-10s %-10s %-10s %-10s %-10s %s\n", "------",
              "---------", "----", "----------", "----------", "---------", "--------", "--------",
              "--------", "--------", "----");
  std::fflush(stdout);
}

void Output::access(const Access& access) {
  if (parameters_.show_hints && parameters_.mpiio() && access.opened_hints != shown_hints_) {
    print_hints(access.opened_hints);
    shown_hints_ = access.opened_hints;
  }
  const double latency = access.seconds.transfer / static_cast<double>(access.transfers) *
                         static_cast<double>(world_.size);
  std::printf("%-9s %-10.2f %-10.2f %-11.6f %-10.2f %-10.2f %-10.6f %-10.6f %-10.6f %-10.6f %lld\n",
              access.writing ? "write" : "read", bandwidth(access), operations(access), latency,
              static_cast<double>(parameters_.block_size) / 1024,
              static_cast<double>(parameters_.transfer_size) / 1024, access.seconds.open,
              access.seconds.transfer, access.seconds.close, access.seconds.total,
              static_cast<long long>(access.repetition));
  std::fflush(stdout);
}

void Output::end(const Results& results) {
  std::printf("\n");
  for (const bool writing : {true, false}) {
    const std::vector<double> speeds = column(results, writing, bandwidth);
    if (speeds.empty()) continue;
    const double best = statistics(speeds).maximum;
    std::printf("%-10s %.2f MiB/sec (%.2f MB/sec)\n", writing ? "Max Write:" : "Max Read: ", best,
                best * mebibyte / 1e6);
  }
  std::printf("\nSummary of all tests:\n%-9s %10s %10s %10s %10s %10s %10s %10s %10s\n",
              "Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev", "Max(OPs)", "Min(OPs)",
              "Mean(OPs)", "Mean(s)");
  summary(results, true);
  summary(results, false);
  if (parameters_.check_write || parameters_.check_read) {
    line("Wrong bytes", std::to_string(results.wrong_bytes));
  }
  line("Finished", date_text());
  std::fflush(stdout);
}

void Output::summary(const Results& results, bool writing) const {
  const std::vector<double> speeds = column(results, writing, bandwidth);
  if (speeds.empty()) return;
  const Statistics speed = statistics(speeds);
  const Statistics operation = statistics(column(results, writing, operations));
  const Statistics time = statistics(column(results, writing, total_time));
  std::printf("%-9s %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.5f\n",
              writing ? "write" : "read", speed.maximum, speed.minimum, speed.mean, speed.deviation,
              operation.maximum, operation.minimum, operation.mean, time.mean);
}

std::string Output::csv(const Results& results) const {
  std::string text =
      "access,bw(MiB/s),IOPS,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),iter";
  for (const Access& access : results.accesses) {
    char row[256];
    std::snprintf(row, sizeof row, "\n%s,%.4f,%.4f,%.4f,%.4f,%.6f,%.6f,%.6f,%.6f,%lld",
                  access.writing ? "write" : "read", bandwidth(access), operations(access),
                  static_cast<double>(parameters_.block_size) / 1024,
                  static_cast<double>(parameters_.transfer_size) / 1024, access.seconds.open,
                  access.seconds.transfer, access.seconds.close, access.seconds.total,
                  static_cast<long long>(access.repetition));
    text += row;
  }
  return text;
}

}  // namespace headrace::bench::ior
