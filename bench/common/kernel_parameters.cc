#include "common/kernel_parameters.h"

#include <algorithm>

#include "common/failure.h"

namespace headrace::bench {

namespace {

/// Numbers that count up from it through a file are exact as doubles.
constexpr std::int64_t most_seed = std::int64_t{1} << 52;

/// "mpiio, posix or rank0".
std::string listed(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

/// The help of --way.
std::string way_text(const std::vector<std::string>& ways) {
  std::string text = listed(ways) + ": MPI-IO, pwrite and pread of each piece";
  if (std::find(ways.begin(), ways.end(), "rank0") != ways.end()) text += ", all through rank 0";
  if (ways.back() == "contiguous") text += ", the limit (as many bytes, each rank's in one run)";
  return text;
}

}  // namespace

std::vector<std::string> every_way() {
  return {"mpiio", "posix", "rank0", "contiguous"};
}

void parse_kernel(int argc, char** argv, const std::string& program, const std::string& summary,
                  std::vector<Option> own, KernelParameters& parameters, std::string& help,
                  const std::vector<std::string>& ways) {
  KernelParameters& p = parameters;
  const std::vector<Option> common = {
      {'o', "testFile", &p.file, "the file"},
      {'w', "writeFile", &p.write, "write (with -r or alone; both when neither is given)"},
      {'r', "readFile", &p.read, "read"},
      {'i', "repetitions", &p.repetitions, "how often", 1},
      {'k', "keepFile", &p.keep, "leave the file"},
      {'e', "fsync", &p.fsync, "sync before closing after writing"},
      {'G', "seed", &p.seed, "what the data are made from", 0},
      {'H', "showHints", &p.show_hints, "print the hints of the open file"},
      {'U', "hintsFileName", &p.hints_file, "file of lines IOR_HINT__MPI__<key>=<value>"},
      {0, "json", &p.json, "write the results as JSON here, - for standard output"},
      {0, "noCheck", &p.skip_check, "do not compare the data"},
      {'h', "help", &p.show_help, "this help"},
  };
  // Options point at their help, which must live as long.
  const std::string way_help = way_text(ways);
  own.push_back({0, "way", &p.way, way_help});
  if (ways.back() == "contiguous") {
    own.push_back({0, "request", &p.request,
                   "bytes of a request of --way contiguous (the fastest of 64k, 256k, 1m, 4m)", 1});
    own.push_back({0, "readRequest", &p.read_request, "the same of reads, where they differ", 1});
  }
  own.insert(own.end(), common.begin(), common.end());
  OptionParser parser(program, program + ": " + summary, std::move(own));
  parser.parse(argc, argv);
  help = parser.help();
  if (p.show_help) return;
  if (std::find(ways.begin(), ways.end(), p.way) == ways.end()) {
    throw AgreedFailure("unknown way '" + p.way + "', give " + listed(ways), 2);
  }
  if ((p.request.bytes > 0 || p.read_request.bytes > 0) && p.way != "contiguous") {
    throw AgreedFailure(
        "--request needs --way contiguous (the other ways' requests follow from the pieces), add "
        "it or drop --request",
        2);
  }
  if (p.seed > most_seed) {
    throw AgreedFailure("seed beyond 2^52 (-G: doubles count up from it), give a smaller one", 2);
  }
  if (!p.write && !p.read) p.write = p.read = true;
}

void check_size(std::int64_t bytes, int ranks, std::int64_t calls) {
  if (bytes > INT32_MAX) {
    throw AgreedFailure(
        "a rank would move more than 2 GiB in a call (the count of an MPI call is an int), use "
        "more ranks or make the test smaller",
        2);
  }
  check_file_size({bytes, ranks, calls});
}

void check_file_size(const Extents& factors) {
  if (product(factors) == INT64_MAX) {
    throw AgreedFailure("the file would be beyond 2^63 bytes, " + make_smaller(), 2);
  }
}

}  // namespace headrace::bench
