#include "common/json.h"

#include <cmath>
#include <cstdio>

namespace headrace::bench {

void JsonWriter::start(std::string_view name) {
  if (depth_ > 0) text_ += first_ ? "\n" : ",\n";
  text_.append(2 * static_cast<std::size_t>(depth_), ' ');
  if (!name.empty()) {
    quote(name);
    text_ += ": ";
  }
  first_ = false;
}

void JsonWriter::open(std::string_view name, char bracket) {
  start(name);
  text_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!first_) {
    text_ += '\n';
    text_.append(2 * static_cast<std::size_t>(depth_), ' ');
  }
  text_ += bracket;
  first_ = false;
}

void JsonWriter::quote(std::string_view value) {
  text_ += '"';
  for (const char character : value) {
    if (character == '"' || character == '\\') {
      text_ += '\\';
      text_ += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", character);
      text_ += escape;
    } else {
      text_ += character;
    }
  }
  text_ += '"';
}

void JsonWriter::member(std::string_view name, std::string_view value) {
  start(name);
  quote(value);
}

void JsonWriter::member(std::string_view name, double value) {
  start(name);
  char number[32];
  std::snprintf(number, sizeof number, "%.9g", std::isfinite(value) ? value : 0.0);
  text_ += number;
}

void JsonWriter::member(std::string_view name, std::int64_t value) {
  start(name);
  text_ += std::to_string(value);
}

void JsonWriter::member(std::string_view name, bool value) {
  start(name);
  text_ += value ? "true" : "false";
}

}  // namespace headrace::bench
