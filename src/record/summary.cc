#include "record/summary.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace headrace::record {
namespace {

struct Totals {
  std::mutex mutex;
  std::int64_t files = 0;
  FileTotals sum;
  FileRecord largest;
};

Totals& totals() {
  static auto* const instance = new Totals;  // never destroyed: usable during exit
  return *instance;
}

ByteCount bytes_of(const FileTotals& totals) {
  return totals.written_directly + totals.written_staged + totals.read_directly +
         totals.read_staged;
}

void add(FileTotals& sum, const FileTotals& more) {
  sum.written_directly += more.written_directly;
  sum.written_staged += more.written_staged;
  sum.read_directly += more.read_directly;
  sum.read_staged += more.read_staged;
  sum.failed_calls += more.failed_calls;
}

/// "wrote 12.0 MiB (90 % staged), " or nothing.
std::string share(const char* verb, ByteCount directly, ByteCount staged) {
  const ByteCount bytes = directly + staged;
  if (bytes == 0) return {};
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), ", %s %.1f MiB (%.0f %% by collective buffering)", verb,
                static_cast<double>(bytes) / (1 << 20),
                100.0 * static_cast<double>(staged) / static_cast<double>(bytes));
  return text.data();
}

}  // namespace

void add_file(const FileRecord& file) {
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  all.files += 1;
  add(all.sum, file.totals);
  if (all.files == 1 || bytes_of(file.totals) > bytes_of(all.largest.totals)) all.largest = file;
}

std::vector<std::string> summary() {
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  if (all.files == 0) return {};
  std::vector<std::string> lines;
  lines.push_back("rank 0 opened " + std::to_string(all.files) +
                  (all.files == 1 ? " file" : " files") +
                  share("wrote", all.sum.written_directly, all.sum.written_staged) +
                  share("read", all.sum.read_directly, all.sum.read_staged));
  const FileRecord& largest = all.largest;
  if (!largest.write_reason.empty()) {
    lines.push_back("collective writes to '" + largest.path + "': " + largest.write_reason);
  }
  if (!largest.read_reason.empty()) {
    lines.push_back("collective reads from '" + largest.path + "': " + largest.read_reason);
  }
  if (all.sum.failed_calls > 0) {
    lines.push_back(std::to_string(all.sum.failed_calls) +
                    " calls failed (each returned an MPI error), check the program's output");
  }
  return lines;
}

}  // namespace headrace::record
