#include "ior/parameters.h"

#include <algorithm>
#include <cctype>

#include "common/failure.h"
#include "common/options.h"

namespace headrace::bench::ior {
namespace {

struct Sizes {
  Size block, transfer;
  Level verbose;
};

std::vector<Option> option_table(Parameters& p, Sizes& sizes) {
  return {
      {'a', "api", &p.api, "POSIX or MPIIO"},
      {'b', "blockSize", &sizes.block, "contiguous bytes of a task in a segment", 1},
      {'B', "useO_DIRECT", Unsupported{}, ""},
      {'A', "refNum", Unsupported{}, ""},
      {'c', "collective", &p.collective, "collective MPI-IO calls"},
      {'C', "reorderTasksConstant", &p.reorder_constant, "read back what a neighbour wrote"},
      {'d', "interTestDelay", &p.delay, "seconds to wait before each write or read", 0},
      {'D', "deadlineForStonewalling", Unsupported{}, ""},
      {'e', "fsync", &p.fsync, "sync the file before it is closed after writing"},
      {'E', "useExistingTestFile", &p.use_existing, "do not remove the file before writing"},
      {'f', "scriptFile", Unsupported{}, ""},
      {'F', "filePerProc", &p.file_per_process, "a file for each task, <name>.<8-digit rank>"},
      {'g', "intraTestBarriers", &p.barriers, "barriers between open, transfers and close"},
      {'G', "setTimeStampSignature", &p.signature, "signature of the data, to check it later", 0},
      {'h', "showHelp", &p.show_help, "this help"},
      {'H', "showHints", &p.show_hints, "print the hints of the open file"},
      {0, "mpiio.showHints", &p.show_hints, "the same"},
      {'i', "repetitions", &p.repetitions, "how often the test is run", 1},
      {'I', "individualDataSets", Unsupported{}, ""},
      {'j', "outlierThreshold", Unsupported{}, ""},
      {'J', "setAlignment", Unsupported{}, ""},
      {'k', "keepFile", &p.keep_file, "leave the files"},
      {'K', "keepFileWithError", &p.keep_file_with_error, "leave files in which errors were found"},
      {'l', "dataPacketType", &p.packet_type, "timestamp, or offset: words hold file offsets"},
      {'m', "multiFile", &p.multi_file, "a file for each repetition, <name>.<repetition>"},
      {'M', "memoryPerNode", Unsupported{}, ""},
      {'n', "noFill", Unsupported{}, ""},
      {'N', "numTasks", &p.task_count, "tasks that take part, 0 for all", 0},
      {'o', "testFile", &p.test_file, "the file"},
      {'O', "directives", Unsupported{}, ""},
      {'p', "preallocate", &p.preallocate, "MPI_File_preallocate before writing"},
      {0, "mpiio.preallocate", &p.preallocate, "the same"},
      {'P', "useSharedFilePointer", Unsupported{}, ""},
      {'q', "quitOnError", &p.quit_on_error, "stop at the first wrong byte found by -W or -R"},
      {'Q', "taskPerNodeOffset", &p.task_offset, "how many nodes -C shifts by", 1},
      {'r', "readFile", &p.read_file, "read"},
      {'R', "checkRead", &p.check_read, "check the data after reading"},
      {'s', "segmentCount", &p.segment_count, "segments", 1},
      {'S', "useStridedDatatype", Unsupported{}, ""},
      {'t', "transferSize", &sizes.transfer, "bytes of one call", 1},
      {'T', "maxTimeDuration", Unsupported{}, ""},
      {'u', "uniqueDir", Unsupported{}, ""},
      {'U', "hintsFileName", &p.hints_file, "file of lines IOR_HINT__MPI__<key>=<value>"},
      {0, "mpiio.hintsFileName", &p.hints_file, "the same"},
      {'v', "verbose", &sizes.verbose, "say more; repeat for more"},
      {'V', "useFileView", &p.use_file_view, "MPI_File_set_view instead of explicit offsets"},
      {0, "mpiio.useFileView", &p.use_file_view, "the same"},
      {'w', "writeFile", &p.write_file, "write"},
      {'W', "checkWrite", &p.check_write, "check the data after writing"},
      {'x', "singleXferAttempt", Unsupported{}, ""},
      {'X', "reorderTasksRandomSeed", &p.random_seed, "seed for -Z"},
      {'Y', "fsyncPerWrite", &p.fsync_per_write, "sync after each write"},
      {'z', "randomOffset", Unsupported{}, ""},
      {'Z', "reorderTasksRandom", &p.reorder_random, "read back in a random order of tasks"},
      {0, "summaryFile", &p.summary_file, "where the summary goes instead of standard output"},
      {0, "summaryFormat", &p.summary_format, "default, JSON or CSV"},
  };
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char character) { return std::toupper(character); });
  return text;
}

[[noreturn]] void reject(const std::string& text) {
  throw AgreedFailure(text, 2);
}

void check_names(Parameters& p) {
  p.api = upper(p.api);
  if (p.api != "POSIX" && p.api != "MPIIO") {
    reject("unknown api '" + p.api + "' (-a), give POSIX or MPIIO");
  }
  p.summary_format = upper(p.summary_format);
  if (p.summary_format != "DEFAULT" && p.summary_format != "JSON" && p.summary_format != "CSV") {
    reject("unknown summaryFormat '" + p.summary_format + "', give default, JSON or CSV");
  }
  const std::string packet = upper(p.packet_type);
  if (packet != "O" && packet != "OFFSET" && packet != "T" && packet != "TIMESTAMP") {
    reject("unknown data packet type '" + p.packet_type + "' (-l), give timestamp or offset");
  }
  p.packet_type = packet[0] == 'O' ? "offset" : "timestamp";
}

void check_numbers(const Parameters& p) {
  if (p.transfer_size > p.block_size) {
    reject("transfer size " + std::to_string(p.transfer_size) + " is larger than block size " +
           std::to_string(p.block_size) + ", make -t at most -b");
  }
  if (p.block_size % p.transfer_size != 0) {
    reject("block size " + std::to_string(p.block_size) + " is not a multiple of transfer size " +
           std::to_string(p.transfer_size) +
           " (a block is a whole number of transfers), change -b or -t");
  }
  if (p.transfer_size > INT32_MAX) {
    reject("transfer size " + std::to_string(p.transfer_size) +
           " is beyond 2 GiB (the count of an MPI call is an int), make -t smaller");
  }
  if (p.use_file_view && p.block_size / p.transfer_size > INT32_MAX) {
    reject(
        "a block has more than 2^31 transfers (the view of -V counts them in an int), make -b "
        "smaller or -t larger");
  }
  std::int64_t total = 0;
  if (__builtin_mul_overflow(p.segment_count, p.block_size, &total) || total > INT64_MAX >> 20) {
    reject("the file would be beyond 2^43 bytes a task (-s times -b), make -s or -b smaller");
  }
  if (p.task_offset > INT32_MAX) reject("task offset beyond 2^31 (-Q), give a smaller one");
  if (p.signature > UINT32_MAX) reject("signature beyond 32 bits (-G), give a smaller one");
}

void check_combinations(const Parameters& p) {
  if (!p.mpiio() && (p.collective || p.use_file_view || p.preallocate)) {
    const char* flag = p.collective ? "-c" : p.use_file_view ? "-V" : "-p";
    reject(std::string(flag) + " needs -a MPIIO (POSIX has no such call), add it or drop the flag");
  }
  if (p.reorder_constant && p.reorder_random) reject("-C and -Z exclude each other, drop one");
  const bool written_here = p.write_file;
  if ((p.check_read || p.check_write) && !written_here && p.signature == 0) {
    reject(
        "-W or -R without -w needs -G (the data's signature is the time of the write unless -G "
        "gave one), write and check with the same -G");
  }
}

}  // namespace

Parameters parse_parameters(int argc, char** argv, std::string& help) {
  Parameters p;
  Sizes sizes{{p.block_size}, {p.transfer_size}, {}};
  OptionParser parser("headrace bench ior",
                      "headrace bench ior: writes and reads a file with IOR's options and layout.",
                      option_table(p, sizes));
  parser.parse(argc, argv);
  help = parser.help();
  if (p.show_help) return p;
  p.block_size = sizes.block.bytes;
  p.transfer_size = sizes.transfer.bytes;
  p.verbose = sizes.verbose.value;
  if (!p.write_file && !p.read_file && !p.check_write && !p.check_read) {
    p.write_file = p.read_file = true;
  }
  check_names(p);
  check_numbers(p);
  check_combinations(p);
  return p;
}

}  // namespace headrace::bench::ior
