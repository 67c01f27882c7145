#include "record/exit_lines.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "record/generated/verdict_texts.h"

namespace headrace::record {
namespace {

constexpr std::size_t kMostFrames = 3;

/// Where an object's file begins in memory; the program's own has no name.
struct Loaded {
  const std::string& file;
  const std::string& program;
  ElfW(Addr) bias = 0;
  bool is_found = false;
};

int find_object(dl_phdr_info* info, std::size_t, void* into) {
  auto& wanted = *static_cast<Loaded*>(into);
  const bool is_program = info->dlpi_name[0] == '\0' && wanted.file == wanted.program;
  if (!is_program && wanted.file != info->dlpi_name) return 0;
  wanted.bias = info->dlpi_addr;
  wanted.is_found = true;
  return 1;
}

std::string own_program() {
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath("/proc/self/exe", nullptr),
                                                         &std::free);
  return path == nullptr ? "" : path.get();
}

std::string without_directory(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

/// The function's name if the loader knows it, else the file and the offset in it.
std::string name_of(const FoundFrame& frame, const std::string& program) {
  if (!frame.function.empty()) return frame.function + ":" + std::to_string(frame.line);
  if (frame.file.empty()) return "?";
  Loaded loaded{frame.file, program};
  ::dl_iterate_phdr(&find_object, &loaded);
  Dl_info info{};
  // A return address may lie behind the function's last byte.
  const auto address = loaded.bias + static_cast<ElfW(Addr)>(frame.offset) - 1;
  if (loaded.is_found && ::dladdr(reinterpret_cast<const void*>(address), &info) != 0 &&
      info.dli_sname != nullptr) {
    return demangled(info.dli_sname);
  }
  std::array<char, 32> offset{};
  std::snprintf(offset.data(), offset.size(), "+0x%llx",
                static_cast<unsigned long long>(frame.offset));
  return without_directory(frame.file) + offset.data();
}

/// Without what all programs have at the outer end: how the C library starts them. A function of
/// it that is not exported has no name.
void drop_start(std::vector<std::string>& names, std::span<const FoundFrame> frames) {
  std::size_t end = 1;
  const auto is_start = [&](std::size_t i) {
    return frames[i].function.empty() &&
           (names[i].starts_with("__libc_start") || names[i].starts_with("_start"));
  };
  while (end < names.size() && !is_start(end)) ++end;
  if (end >= names.size()) return;
  if (end > 1 && names[end - 1].starts_with("libc.so")) --end;
  names.resize(end);
}

std::string cost_line(const JobStory& story) {
  const Costliest& first = story.first;
  if (first.site_time == 0) return {};
  std::array<char, 64> time{};
  std::snprintf(time.data(), time.size(), "%.3f s", static_cast<double>(first.site_time) / 1e9);
  std::string line = "most time in MPI at one place: " + first.site_procedure + ", " + time.data() +
                     " of all ranks" + (story.nodes > 1 ? " of the first node" : "");
  const std::string program = own_program();
  std::vector<std::string> names;
  for (const FoundFrame& frame : first.site) names.push_back(name_of(frame, program));
  drop_start(names, first.site);
  for (std::size_t i = 0; i < std::min(kMostFrames, names.size()); ++i) {
    line += (i == 0 ? ", called by " : " < ") + names[i];
  }
  return line;
}

/// Nothing of it is left out: what is behind the first line is joined.
std::vector<std::string> two_lines(const std::vector<std::string>& lines) {
  std::vector<std::string> made;
  for (const std::string& line : lines) {
    if (made.size() < 2) {
      made.push_back(line);
    } else {
      made.back() += "; " + line;
    }
  }
  return made;
}

}  // namespace

std::vector<std::string> exit_lines(const JobStory& story) {
  std::vector<std::string> lines;
  const std::string incomplete =
      story.lacks.empty()
          ? ""
          : filled(verdict::kIncomplete, {{"source", "record"}, {"lacks", story.lacks}}) + " ";
  lines.push_back(incomplete +
                  verdict_of(story.times, story.ranks, story.nodes > 1 ? nullptr : &story.first));
  const auto add = [&](std::string line) {
    if (!line.empty()) lines.push_back(std::move(line));
  };
  add(efficiency_of(story.times, story.ranks));
  for (std::string& line : two_lines(story.files)) lines.push_back(std::move(line));
  add(cost_line(story));
  if (!story.problem.empty()) {
    add("no record: " + story.problem + " or set HEADRACE_LOGPATH to another directory");
  }
  if (!story.record.empty()) add("record: " + story.record + " (headrace report shows it)");
  return lines;
}

}  // namespace headrace::record
