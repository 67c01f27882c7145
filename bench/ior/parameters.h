#pragma once

#include <cstdint>
#include <string>

namespace headrace::bench::ior {

/// What the command line asks for, under IOR's directive names. Sizes in bytes, times in seconds.
struct Parameters {
  std::string api = "POSIX";
  std::string test_file = "testFile";
  std::string hints_file;
  std::string summary_file;
  std::string summary_format = "default";
  std::string packet_type = "timestamp";
  std::int64_t block_size = 1 << 20;
  std::int64_t transfer_size = 1 << 18;
  std::int64_t segment_count = 1;
  std::int64_t repetitions = 1;
  std::int64_t task_count = 0;  ///< 0: all
  std::int64_t delay = 0;
  std::int64_t signature = 0;  ///< 0: the time at which the repetition began
  std::int64_t task_offset = 1;
  std::int64_t random_seed = 0;
  int verbose = 0;
  bool collective = false;
  bool reorder_constant = false;
  bool reorder_random = false;
  bool fsync = false;
  bool fsync_per_write = false;
  bool use_existing = false;
  bool file_per_process = false;
  bool barriers = false;
  bool show_hints = false;
  bool keep_file = false;
  bool keep_file_with_error = false;
  bool multi_file = false;
  bool preallocate = false;
  bool quit_on_error = false;
  bool read_file = false;
  bool check_read = false;
  bool use_file_view = false;
  bool write_file = false;
  bool check_write = false;
  bool show_help = false;

  bool mpiio() const { return api == "MPIIO"; }
  bool store_offset() const { return packet_type == "offset"; }
  /// Bytes that one task moves in one pass.
  std::int64_t bytes_per_task() const { return segment_count * block_size; }
  std::int64_t transfers_per_block() const { return block_size / transfer_size; }
  std::int64_t transfers_per_task() const { return segment_count * transfers_per_block(); }
};

/// Reads and checks the command line; the same on every rank. Throws AgreedFailure with exit code
/// 2. `help` receives the help text.
Parameters parse_parameters(int argc, char** argv, std::string& help);

}  // namespace headrace::bench::ior
