#include "common/json.h"
#include "ior/output.h"

namespace headrace::bench::ior {
namespace {

constexpr double mebibyte = 1 << 20;

void write_hints(JsonWriter& json, const char* name, const Hints& hints) {
  json.open_object(name);
  for (const auto& [key, value] : hints) json.member(key, value);
  json.close_object();
}

void write_parameters(JsonWriter& json, const Parameters& p, const World& world) {
  json.open_object("Parameters");
  json.member("api", p.api);
  json.member("testFileName", p.test_file);
  json.member("numTasks", world.size);
  json.member("numNodes", world.node_count);
  json.member("tasksPerNode", world.ranks_per_node);
  json.member("repetitions", p.repetitions);
  json.member("segmentCount", p.segment_count);
  json.member("blockSize", p.block_size);
  json.member("transferSize", p.transfer_size);
  json.member("collective", p.collective);
  json.member("useFileView", p.use_file_view);
  json.member("filePerProc", p.file_per_process);
  json.member("reorderTasks", p.reorder_constant);
  json.member("taskPerNodeOffset", p.task_offset);
  json.member("reorderTasksRandom", p.reorder_random);
  json.member("reorderTasksRandomSeed", p.random_seed);
  json.member("intraTestBarriers", p.barriers);
  json.member("fsync", p.fsync);
  json.member("keepFile", p.keep_file);
  json.member("setTimeStampSignature", p.signature);
  json.member("checkWrite", p.check_write);
  json.member("checkRead", p.check_read);
  json.close_object();
}

void write_access(JsonWriter& json, const Parameters& p, const World& world, const Access& access) {
  json.open_object();
  json.member("access", access.writing ? "write" : "read");
  json.member("bwMiB", access.bandwidth() / mebibyte);
  json.member("blockKiB", static_cast<double>(p.block_size) / 1024);
  json.member("xferKiB", static_cast<double>(p.transfer_size) / 1024);
  json.member("iops", access.operations());
  json.member("latency",
              access.seconds.transfer * world.size / static_cast<double>(access.transfers));
  json.member("openTime", access.seconds.open);
  json.member("wrRdTime", access.seconds.transfer);
  json.member("closeTime", access.seconds.close);
  json.member("totalTime", access.seconds.total);
  json.member("bytes", access.bytes);
  json.member("iter", access.repetition);
  write_hints(json, "hintsOpened", access.opened_hints);
  write_hints(json, "hintsBeforeClose", access.closing_hints);
  json.close_object();
}

void write_summary(JsonWriter& json, const Results& results, bool writing) {
  std::vector<double> speeds;
  std::vector<double> rates;
  std::vector<double> times;
  for (const Access& access : results.accesses) {
    if (access.writing != writing) continue;
    speeds.push_back(access.bandwidth() / mebibyte);
    rates.push_back(access.operations());
    times.push_back(access.seconds.total);
  }
  if (speeds.empty()) return;
  const Statistics speed = statistics(speeds);
  const Statistics rate = statistics(rates);
  json.open_object();
  json.member("operation", writing ? "write" : "read");
  json.member("bwMaxMIB", speed.maximum);
  json.member("bwMinMIB", speed.minimum);
  json.member("bwMeanMIB", speed.mean);
  json.member("bwStdMIB", speed.deviation);
  json.member("OPsMax", rate.maximum);
  json.member("OPsMin", rate.minimum);
  json.member("OPsMean", rate.mean);
  json.member("OPsSD", rate.deviation);
  json.member("MeanTime", statistics(times).mean);
  json.close_object();
}

}  // namespace

std::string Output::json(const Results& results) const {
  JsonWriter json;
  json.open_object();
  json.member("Version", "headrace bench ior 1");
  json.member("Began", began_);
  json.member("Command line", command_line_);
  json.member("MPI", library_version());
  json.open_array("tests");
  json.open_object();
  write_parameters(json, parameters_, world_);
  json.open_array("Results");
  for (const Access& access : results.accesses) write_access(json, parameters_, world_, access);
  json.close_array();
  json.member("wrongBytes", results.wrong_bytes);
  json.close_object();
  json.close_array();
  json.open_array("summary");
  write_summary(json, results, true);
  write_summary(json, results, false);
  json.close_array();
  json.member("Finished", date_text());
  json.close_object();
  return json.text();
}

}  // namespace headrace::bench::ior
