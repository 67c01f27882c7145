#include "posix/buffer_decisions.h"

#include <algorithm>

#include "base/plain_message.h"
#include "base/plain_text.h"
#include "base/settings.h"
#include "record/decision.h"
#include "record/file_names.h"

namespace headrace::posix::buffers {
namespace {

/// Of a name, its end counts.
constexpr std::size_t kMostName = 512;
using Text = PlainText<kMostName + 64>;

/// Files of one process each: all of them with `verbose`, those of the job's first else.
bool is_told(bool is_verbose) {
  return is_verbose || (settings().hints_display && speaks_for_job());
}

/// As decisions on the buffers of MPI-IO files are written down (file/recorded_file.cc).
void record_choice(std::string_view name, std::string_view choice, std::string_view reason) {
  constexpr std::string_view kFurther = "buffers of further files, each used by one process";
  record::NameRoom room{};
  const std::string_view recorded = record::recorded_name(name, room);
  Text subject;
  subject.add("buffers of '");
  subject.add(recorded.substr(recorded.size() - std::min(recorded.size(), kMostName))).add("'");
  record::count_plain_decision({subject, choice, reason}, kFurther);
}

}  // namespace

void note_start(const BufferShape& shape, std::string_view name, bool is_verbose) noexcept {
  Text choice;
  choice.add_number(shape.count).add(" of ").add_bytes(shape.size);
  if (shape.prefetch > 0) choice.add(", ").add_number(shape.prefetch).add(" read ahead");
  record_choice(name, choice, "HEADRACE_IOBUF names it");
  if (is_told(is_verbose)) print_plain_message({"buffers of '", name, "': ", choice});
}

void note_written(std::string_view name) noexcept {
  record_choice(name, "writes are held back", record::kOthersMayReach);
}

void note_obstacle(const Obstacle& obstacle, std::string_view name, bool is_verbose) noexcept {
  if (obstacle.is_silent) return;
  record_choice(name, "none", obstacle.why);
  if (!is_told(is_verbose)) return;
  print_plain_message({"'", name, "' has no buffers (", obstacle.why, "), ", obstacle.remedy});
}

void note_release(const char* why, std::string_view name, bool is_verbose) noexcept {
  record_choice(name, "none from now on", why);
  if (!is_told(is_verbose)) return;
  print_plain_message({"'", name, "' has no buffers from now on (", why, ")"});
}

}  // namespace headrace::posix::buffers
