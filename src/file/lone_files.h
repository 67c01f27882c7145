#pragma once

#include <array>
#include <string>

#include "file/io_statistics.h"

/// Statistics of files that one rank alone opened (MPI_COMM_SELF). There may be thousands, on every
/// rank, so the job tells their sums once, when it ends. From any thread.
namespace headrace::file {

/// How many ranks the job has. If this is its only one, each file is told at its close.
void set_job_size(int ranks);
bool sums_up_lone_files();

/// What one rank hands over. Plain numbers, which ranks send.
struct LoneReport {
  LoneSums sums;
  std::array<char, 256> example{};  ///< one of the files; ends with a zero
};

void add_lone_file(const std::string& path, const IoSums& sums, const OwnTimes& times);
/// Of this process, since its start.
LoneReport lone_report();
/// Whether the settings ask for such sums.
bool tells_lone_files();
/// Prints them, if there are any, as the settings ask for it. `of`: which ranks they are of.
void print_lone_files(const LoneReport& all, const std::string& of);

}  // namespace headrace::file
