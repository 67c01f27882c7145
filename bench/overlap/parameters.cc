#include "overlap/parameters.h"

#include "common/failure.h"

namespace headrace::bench::overlap {
namespace {

/// Of the transfer's time, and of milliseconds: longer than anyone waits.
constexpr double most_times = 1e6;

}  // namespace

Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help) {
  Parameters p;
  OptionParser parser(
      "headrace bench overlap",
      "headrace bench overlap: nonblocking transfers while the program computes; what both "
      "together "
      "cost beside the longer of the two.",
      {
          {'w', "writeFile", &p.write, "write (the default without -r)"},
          {'r', "readFile", &p.read, "read"},
          {0, "size", &p.size, "bytes of each rank", 1},
          {'b', "block", &p.block, "ranks take turns by blocks of so many bytes; 0: one each", 0},
          {0, "call", &p.call, "individual (iwrite_at), collective (iwrite_at_all) or split"},
          {0, "share", &p.share, "computing takes this share of the transfer's own time"},
          {0, "compute", &p.compute, "computing beside a write takes so many seconds instead"},
          {0, "readCompute", &p.read_compute, "the same beside a read"},
          {0, "delay", &p.delay, "a slow store: each MiB sleeps so many milliseconds more"},
          {'o', "testFile", &p.file, "the file"},
          {'i', "repetitions", &p.repetitions, "how often", 1},
          {'k', "keepFile", &p.keep, "leave the file"},
          {'H', "showHints", &p.show_hints, "print the hints of the open file"},
          {'U', "hintsFileName", &p.hints_file, "file of lines IOR_HINT__MPI__<key>=<value>"},
          {0, "json", &p.json, "write the results as JSON here, - for stdout"},
          {'h', "help", &p.show_help, "this help"},
      });
  parser.parse(argc, argv);
  help = parser.help();
  if (p.show_help) return p;
  if (!p.write && !p.read) p.write = true;
  if (p.call != "individual" && p.call != "collective" && p.call != "split") {
    throw AgreedFailure("unknown call '" + p.call + "', give individual, collective or split", 2);
  }
  if (p.share > most_times || p.delay > most_times) {
    throw AgreedFailure("--share and --delay cannot be beyond 1000000, lower them", 2);
  }
  if (p.compute > most_times || p.read_compute > most_times) {
    throw AgreedFailure("--compute and --readCompute cannot be beyond 1000000, lower them", 2);
  }
  if (p.size.bytes > INT32_MAX) {
    throw AgreedFailure("a rank would move more than 2 GiB (the count is an int), lower --size", 2);
  }
  if (p.size.bytes % p.block_size() != 0) {
    throw AgreedFailure("--size is not a multiple of -b, change one of them", 2);
  }
  if (p.block_size() * ranks > INT32_MAX) {
    throw AgreedFailure("the ranks' blocks together exceed 2 GiB, lower -b", 2);
  }
  return p;
}

}  // namespace headrace::bench::overlap
