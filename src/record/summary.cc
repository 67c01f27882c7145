#include "record/summary.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>

#include "base/readable.h"

namespace headrace::record {
namespace {

std::atomic<bool> outlive_record = false;

struct Totals {
  std::mutex mutex;
  std::int64_t files = 0;
  FileTotals sum;
  FileRecord largest;
  std::optional<Verified> verified;
  MemoryPeaks memory{};
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
  sum.of_devices += more.of_devices;
}

void add(std::optional<Verified>& sum, const std::optional<Verified>& more) {
  if (!more) return;
  if (!sum) sum.emplace();
  sum->nanoseconds += more->nanoseconds;
  sum->transfer_nanoseconds += more->transfer_nanoseconds;
  sum->bytes_read_back += more->bytes_read_back;
  sum->bytes_contested += more->bytes_contested;
  sum->ranges_wrong += more->ranges_wrong;
  sum->bytes_read_alone += more->bytes_read_alone;
  for (std::size_t i = 0; i < kUnverifiedReasons; ++i) {
    sum->unverified[i].calls += more->unverified[i].calls;
    sum->unverified[i].bytes += more->unverified[i].bytes;
  }
}

/// "1 call" or "2 calls".
std::string counted(std::int64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "1 call was" or "2 calls were".
std::string were(std::int64_t count, const char* what) {
  return counted(count, what) + (count == 1 ? " was" : " were");
}

/// As reports have it.
std::string size_text(ByteCount bytes) {
  return readable(bytes, Tenths::always);
}

/// "; NOT verified: 1.0 MiB by 2 calls (why), 2.0 MiB (why)" or nothing.
std::string unverified_text(const Verified& verified) {
  std::string text;
  for (std::size_t i = 0; i < kUnverifiedReasons; ++i) {
    const UnverifiedWrites& writes = verified.unverified[i];
    if (writes.calls == 0 && writes.bytes == 0) continue;
    text += (text.empty() ? "; NOT verified: " : ", ") + size_text(writes.bytes);
    if (writes.calls > 0) text += " by " + counted(writes.calls, "call");
    text += std::string(" (") + text_of(static_cast<Unverified>(i)) + ")";
  }
  return text;
}

std::string text_of(const Verified& verified) {
  const auto seconds = [](std::int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e9;
  };
  const double own = seconds(verified.nanoseconds);
  const double all = own + seconds(verified.transfer_nanoseconds);
  std::array<char, 160> cost{};
  std::snprintf(cost.data(), cost.size(),
                "collective writes were verified: %s read back by other ranks in %.3f s "
                "(%.0f %% of the time in I/O)",
                size_text(verified.bytes_read_back - verified.bytes_read_alone).c_str(), own,
                all > 0 ? 100 * own / all : 0.0);
  std::string text = cost.data();
  if (verified.bytes_read_alone > 0) {
    text += ", " + size_text(verified.bytes_read_alone) +
            " of atomic calls by the rank that wrote them, while it held its lock";
  }
  text += verified.ranges_wrong == 0
              ? ", no difference"
              : ", " + were(verified.ranges_wrong, "range") +
                    " NOT what was written (each is an MPI error of its rank)";
  if (verified.bytes_contested > 0) {
    text += ", " + were(verified.bytes_contested, "byte") +
            " not compared (several ranks wrote them in one call)";
  }
  return text + unverified_text(verified);
}

/// "wrote 12.0 MiB (90 % staged), " or nothing.
std::string share(const char* verb, ByteCount directly, ByteCount staged) {
  const ByteCount bytes = directly + staged;
  if (bytes == 0) return {};
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), ", %s %s (%.0f %% by collective buffering)", verb,
                size_text(bytes).c_str(),
                100.0 * static_cast<double>(staged) / static_cast<double>(bytes));
  return text.data();
}

/// ", 12.0 MiB of these in the memory of devices (...)" or nothing.
std::string device_share(ByteCount bytes) {
  if (bytes == 0) return {};
  return ", " + size_text(bytes) + " of these in the memory of devices (copied by their driver)";
}

}  // namespace

const char* text_of(Unverified reason) {
  switch (reason) {
    case Unverified::independent: return "independent writes, use collective ones";
    case Unverified::cannot_read:
      return "the file cannot be opened for reading, allow that or open it with MPI_MODE_RDWR";
    case Unverified::cannot_tell_others:
      return "nonblocking and split calls on several nodes send no messages below "
             "MPI_THREAD_MULTIPLE, use blocking ones";
    case Unverified::lacks_memory:
      return "no memory is left for nonblocking and split calls, raise HEADRACE_NODE_MEMORY";
  }
  return "";
}

void add_file(const FileRecord& file) {
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  all.files += 1;
  add(all.sum, file.totals);
  add(all.verified, file.verified);
  for (std::size_t i = 0; i < all.memory.size(); ++i) {
    all.memory[i] = std::max(all.memory[i], file.memory[i]);
  }
  if (all.files == 1 || bytes_of(file.totals) > bytes_of(all.largest.totals)) all.largest = file;
}

std::string memory_summary() {
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  if (all.files == 0) return {};
  const auto most = [&](MemoryUse use) {
    return size_text(all.memory[static_cast<std::size_t>(use)]);
  };
  std::string text = "most memory at a time: " + most(MemoryUse::buffers) +
                     " of a node for collective buffers; of a rank " + most(MemoryUse::pieces) +
                     " for lists of pieces, " + most(MemoryUse::converted) +
                     " for converted data, " + most(MemoryUse::sieved) + " for sieving";
  if (all.memory[static_cast<std::size_t>(MemoryUse::converted_whole)] > 0) {
    text += ", " + most(MemoryUse::converted_whole) +
            " for data of nonblocking and split calls that the program's own functions convert "
            "(not in parts, since they may call MPI)";
  }
  return text;
}

std::vector<std::string> summary() {
  Totals& all = totals();
  const std::lock_guard lock(all.mutex);
  if (all.files == 0) return {};
  std::vector<std::string> lines;
  lines.push_back("rank 0 opened " + counted(all.files, "file") +
                  share("wrote", all.sum.written_directly, all.sum.written_staged) +
                  share("read", all.sum.read_directly, all.sum.read_staged) +
                  device_share(all.sum.of_devices));
  const FileRecord& largest = all.largest;
  for (const Decision* const decision : {&largest.write, &largest.read}) {
    if (!decision->choice.empty()) lines.push_back(text_of(*decision));
  }
  if (!largest.store_choices.empty()) {
    lines.push_back("calls on '" + largest.path + "': " + largest.store_choices);
  }
  if (all.verified) lines.push_back(text_of(*all.verified));
  if (all.sum.failed_calls > 0) {
    lines.push_back(counted(all.sum.failed_calls, "call") +
                    " failed (each returned an MPI error), check the program's output");
  }
  return lines;
}

void let_files_go_on() noexcept {
  outlive_record = true;
}

bool files_go_on() noexcept {
  return outlive_record;
}

}  // namespace headrace::record
