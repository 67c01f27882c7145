#include "storage/text.h"

#include <fstream>
#include <sstream>

namespace headrace::storage {

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return std::nullopt;
  return text.str();
}

}  // namespace headrace::storage
