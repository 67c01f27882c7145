#include "topo/processor.h"

#include <algorithm>
#include <string_view>

#include "base/small_file.h"

namespace headrace::topo {
namespace {

/// The value of the first line "NAME : VALUE" in a text in the format of /proc/cpuinfo.
std::string value_of(std::string_view text, std::string_view name) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string_view::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string_view::npos ? "" : std::string(line.substr(value));
  }
  return {};
}

}  // namespace

std::string processor_name() {
  // The first processor's lines.
  const std::string text = read_small_file("/proc/cpuinfo", 4096);
  std::string name = value_of(text, "model name");
  if (!name.empty()) return name;
  // 64-bit ARM has numbers only.
  const std::string implementer = value_of(text, "CPU implementer");
  return implementer.empty() ? "" : "ARM " + implementer + " " + value_of(text, "CPU part");
}

}  // namespace headrace::topo
