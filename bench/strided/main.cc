#include <fcntl.h>

#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "common/failure.h"
#include "common/hints.h"
#include "common/json.h"
#include "common/options.h"
#include "common/pattern.h"
#include "common/posix_io.h"
#include "common/test_file.h"
#include "common/timed_benchmark.h"
#include "common/timed_results.h"

namespace headrace::bench::strided {
namespace {

/// A file of `size` bytes already holds the data of others. In one collective call the ranks write
/// a block at every multiple of `stride`, taking turns: rank r of n those at (i*n + r)*stride.
/// Whatever lies between must stay.
struct Parameters {
  Size size{std::int64_t{128} << 20};
  Size block{512};
  Size stride{4096};
  std::string way = "mpiio";
  std::string file = "filled";
  std::string hints_file;
  std::string json;
  std::int64_t repetitions = 1;
  bool keep = false;
  bool show_hints = false;
  bool show_help = false;

  /// Blocks that each of `ranks` writes.
  std::int64_t blocks(int ranks) const { return size.bytes / (stride.bytes * ranks); }
};

Parameters parse_parameters(int argc, char** argv, int ranks, std::string& help) {
  Parameters p;
  OptionParser parser(
      "headrace bench strided",
      "headrace bench strided: a collective strided write into a file that holds "
      "others' data; counts what of it was overwritten.",
      {
          {'b', "block", &p.block, "bytes of a block", 1},
          {0, "stride", &p.stride, "bytes from a block to the next, which is another rank's", 1},
          {0, "size", &p.size, "bytes of the file, filled beforehand", 1},
          {0, "way", &p.way, "mpiio or posix"},
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
  if (p.way != "mpiio" && p.way != "posix") {
    throw AgreedFailure("unknown way '" + p.way + "', give mpiio or posix", 2);
  }
  if (p.block.bytes > p.stride.bytes) {
    throw AgreedFailure("the blocks overlap (-b is larger than --stride), change one of them", 2);
  }
  if (p.size.bytes % (p.stride.bytes * ranks) != 0) {
    throw AgreedFailure("--size is not a multiple of --stride times the " + std::to_string(ranks) +
                            " ranks, change it",
                        2);
  }
  if (p.blocks(ranks) * p.block.bytes > INT32_MAX) {
    throw AgreedFailure(
        "a rank would write more than 2 GiB (the count of an MPI call is an int), use more ranks",
        2);
  }
  return p;
}

/// Makes what the file must hold from `offset` on: the data of others (`owner` -1), or what rank
/// `owner` wrote in this repetition. Words of 8 bytes depend on owner, repetition and place.
void fill(std::span<std::byte> to, std::int64_t owner, std::int64_t offset,
          std::int64_t repetition) {
  const std::uint64_t salt =
      owner < 0 ? 0x5eed : mix(static_cast<std::uint64_t>((owner + 1) << 20 | repetition));
  std::uint64_t word = mix(salt ^ static_cast<std::uint64_t>(offset / 8));
  for (std::byte& byte : to) {
    if (offset % 8 == 0) word = mix(salt ^ static_cast<std::uint64_t>(offset / 8));
    byte = static_cast<std::byte>(word >> 8 * (offset % 8));
    ++offset;
  }
}

/// Bytes that are not as they must be.
struct Damage {
  std::int64_t overwritten = 0;  ///< of others' data between the blocks
  std::int64_t missing = 0;      ///< of the blocks
  std::int64_t first_overwritten = -1;
  std::int64_t file_size = 0;
};

class Bench {
 public:
  Bench(const Parameters& parameters, const World& world, Hints hints)
      : parameters_(parameters), world_(world), hints_(std::move(hints)) {}

  void run() {
    try {
      for (std::int64_t i = 0; i < parameters_.repetitions; ++i) repetition(i);
    } catch (const AgreedFailure&) {
      if (!parameters_.keep) remove_file();
      throw;
    }
    if (!parameters_.keep) remove_file();
  }

  void report() const;
  std::string json() const;
  bool is_right() const {
    return damage_.overwritten == 0 && damage_.missing == 0 &&
           damage_.file_size == parameters_.size.bytes;
  }

 private:
  void repetition(std::int64_t number) {
    remove_file();
    fill_file();
    write(number);
    inspect(number);
  }

  void fill_file();
  void write(std::int64_t number);
  std::string write_mpiio(const std::vector<std::byte>& data, Stamps& stamps, Hints& hints);
  std::string write_posix(const std::vector<std::byte>& data, Stamps& stamps);
  void inspect(std::int64_t number);
  void remove_file() { remove_test_file(world_.communicator, parameters_.file, world_.rank == 0); }

  /// The rank that writes the byte at `offset`, -1 for none.
  std::int64_t owner(std::int64_t offset) const {
    const bool in_block = offset % parameters_.stride.bytes < parameters_.block.bytes;
    return in_block ? offset / parameters_.stride.bytes % world_.size : -1;
  }

  /// Where the block or the gap that holds `offset` ends.
  std::int64_t boundary(std::int64_t offset) const {
    const std::int64_t start = offset - offset % parameters_.stride.bytes;
    const std::int64_t block_end = start + parameters_.block.bytes;
    return offset < block_end ? block_end : start + parameters_.stride.bytes;
  }

  /// Where a block of this rank begins.
  std::int64_t block_start(std::int64_t number) const {
    return (number * world_.size + world_.rank) * parameters_.stride.bytes;
  }
  std::int64_t blocks() const { return parameters_.blocks(world_.size); }

  /// This rank's share of the file when all ranks fill or inspect it: [first, end).
  std::int64_t share(int rank) const { return parameters_.size.bytes / world_.size * rank; }
  std::int64_t share_end() const {
    return world_.rank == world_.size - 1 ? parameters_.size.bytes : share(world_.rank + 1);
  }

  const Parameters& parameters_;
  const World& world_;
  Hints hints_;
  std::vector<TimedAccess> accesses_;
  Damage damage_;
};

void Bench::fill_file() {
  require_space(world_.communicator, parameters_.file, parameters_.size.bytes);
  PosixFile file;
  std::string error = file.open(parameters_.file, O_CREAT | O_RDWR);
  std::vector<std::byte> piece(1 << 20);
  for (std::int64_t at = share(world_.rank); error.empty() && at < share_end();) {
    const std::int64_t length =
        std::min<std::int64_t>(static_cast<std::int64_t>(piece.size()), share_end() - at);
    fill({piece.data(), static_cast<std::size_t>(length)}, -1, at, 0);
    error = file.write_at(at, piece.data(), static_cast<std::size_t>(length));
    at += length;
  }
  const std::string closed = file.close();
  agree(world_.communicator, error.empty() ? closed : error);
}

void Bench::write(std::int64_t number) {
  const std::size_t length = static_cast<std::size_t>(parameters_.block.bytes);
  std::vector<std::byte> data(static_cast<std::size_t>(blocks()) * length);
  for (std::int64_t i = 0; i < blocks(); ++i) {
    fill({data.data() + i * length, length}, world_.rank, block_start(i), number);
  }
  TimedAccess access;
  Stamps stamps;
  MPI_Barrier(world_.communicator);
  const std::string error = parameters_.way == "mpiio" ? write_mpiio(data, stamps, access.hints)
                                                       : write_posix(data, stamps);
  agree(world_.communicator, error);
  access.writing = true;
  access.repetition = number;
  access.bytes = static_cast<std::int64_t>(data.size()) * world_.size;
  access.seconds = durations(world_, stamps);
  accesses_.push_back(access);
  if (world_.rank != 0 || parameters_.json == "-") return;
  if (parameters_.show_hints && number == 0) print_hints(access.hints);
  print_access(access);
}

std::string Bench::write_mpiio(const std::vector<std::byte>& data, Stamps& stamps, Hints& hints) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(static_cast<int>(blocks()), static_cast<int>(parameters_.block.bytes),
                          static_cast<MPI_Aint>(parameters_.stride.bytes * world_.size), MPI_BYTE,
                          &type);
  MPI_Type_commit(&type);
  MPI_Info info = make_info(hints_);
  MPI_File file = MPI_FILE_NULL;
  MPI_Status status;
  int count = static_cast<int>(data.size());

  stamps.open_begin = world_.now();
  int code =
      MPI_File_open(world_.communicator, parameters_.file.c_str(), MPI_MODE_RDWR, info, &file);
  const bool opened = code == MPI_SUCCESS;
  if (opened) {
    code = MPI_File_set_view(file, block_start(0), MPI_BYTE, type, "native", MPI_INFO_NULL);
  }
  stamps.open_end = stamps.transfer_begin = world_.now();
  if (opened) {
    const int written = MPI_File_write_all(file, data.data(), count, MPI_BYTE, &status);
    if (written == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &count);
    if (code == MPI_SUCCESS) code = written;
  }
  stamps.transfer_end = world_.now();
  if (opened) hints = file_hints(file);
  stamps.close_begin = world_.now();
  const int closed = opened ? MPI_File_close(&file) : MPI_SUCCESS;
  stamps.close_end = world_.now();
  if (code == MPI_SUCCESS) code = closed;

  MPI_Type_free(&type);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (code != MPI_SUCCESS) {
    return describe_mpi("cannot write to '" + parameters_.file + "'", code);
  }
  if (count == static_cast<int>(data.size())) return {};
  return "cannot write to '" + parameters_.file + "' (" + std::to_string(count) + " of " +
         std::to_string(data.size()) + " bytes were reported)";
}

std::string Bench::write_posix(const std::vector<std::byte>& data, Stamps& stamps) {
  PosixFile file;
  const std::int64_t length = parameters_.block.bytes;
  stamps.open_begin = world_.now();
  std::string error = file.open(parameters_.file, O_RDWR);
  stamps.open_end = stamps.transfer_begin = world_.now();
  for (std::int64_t i = 0; error.empty() && i < blocks(); ++i) {
    error =
        file.write_at(block_start(i), data.data() + i * length, static_cast<std::size_t>(length));
  }
  stamps.transfer_end = stamps.close_begin = world_.now();
  const std::string closed = file.close();
  stamps.close_end = world_.now();
  return error.empty() ? closed : error;
}

void Bench::inspect(std::int64_t number) {
  MPI_Barrier(world_.communicator);
  PosixFile file;
  std::string error = file.open(parameters_.file, O_RDONLY);
  std::vector<std::byte> piece(1 << 20);
  std::vector<std::byte> expected(piece.size());
  std::int64_t overwritten = 0;
  std::int64_t missing = 0;
  std::int64_t first = parameters_.size.bytes;
  for (std::int64_t at = share(world_.rank); error.empty() && at < share_end();) {
    const std::int64_t length =
        std::min<std::int64_t>(static_cast<std::int64_t>(piece.size()), share_end() - at);
    error = file.read_at(at, piece.data(), static_cast<std::size_t>(length));
    for (std::int64_t i = 0; error.empty() && i < length;) {
      const std::int64_t rank = owner(at + i);
      const std::int64_t end = std::min(length, boundary(at + i) - at);
      const std::size_t size = static_cast<std::size_t>(end - i);
      fill({expected.data(), size}, rank, at + i, number);
      if (std::memcmp(piece.data() + i, expected.data(), size) != 0) {
        for (std::size_t k = 0; k < size; ++k) {
          if (piece[i + k] == expected[k]) continue;
          if (rank >= 0) ++missing;
          if (rank < 0 && overwritten++ == 0) first = at + i + static_cast<std::int64_t>(k);
        }
      }
      i = end;
    }
    at += length;
  }
  agree(world_.communicator, error);
  std::int64_t lowest = first;
  MPI_Allreduce(&first, &lowest, 1, MPI_INT64_T, MPI_MIN, world_.communicator);
  damage_.overwritten = std::max(damage_.overwritten, sum(world_, overwritten));
  damage_.missing = std::max(damage_.missing, sum(world_, missing));
  if (lowest < parameters_.size.bytes && damage_.first_overwritten < 0) {
    damage_.first_overwritten = lowest;
  }
  damage_.file_size = file_size(parameters_.file);
}

std::string Bench::json() const {
  JsonWriter json;
  json.open_object();
  json.member("program", "headrace bench strided");
  json.member("MPI", library_version());
  json.member("ranks", world_.size);
  json.member("way", parameters_.way);
  json.member("block", parameters_.block.bytes);
  json.member("stride", parameters_.stride.bytes);
  json.member("size", parameters_.size.bytes);
  json.member("fileSize", damage_.file_size);
  json.member("overwrittenBytes", damage_.overwritten);
  json.member("missingBytes", damage_.missing);
  json.member("firstOverwritten", damage_.first_overwritten);
  write_accesses(json, accesses_);
  json.close_object();
  return json.text();
}

void Bench::report() const {
  std::printf("\n");
  print_maxima(accesses_);
  std::printf("%-31s: %lld\n%-31s: %lld\n", "bytes of others overwritten",
              static_cast<long long>(damage_.overwritten), "bytes missing",
              static_cast<long long>(damage_.missing));
}

void print_job(const Parameters& p, const World& world) {
  std::printf("headrace bench strided\n%-20s: %s\n", "MPI", library_version().c_str());
  std::printf("%-20s: %d ranks write blocks of %s, stride %s, into '%s' of %s\n\n", "job",
              world.size, format_size(p.block.bytes).c_str(), format_size(p.stride.bytes).c_str(),
              p.file.c_str(), format_size(p.size.bytes).c_str());
  print_access_header();
  std::fflush(stdout);
}

int body(int argc, char** argv) {
  return run_timed_benchmark<Bench>(argc, argv, parse_parameters, print_job);
}

}  // namespace
}  // namespace headrace::bench::strided

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, "strided", headrace::bench::strided::body);
}
