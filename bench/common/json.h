#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::bench {

/// Writes a JSON document member by member; commas, indentation and escapes are its business.
///
///     JsonWriter json;
///     json.open_object();
///     json.member("ranks", 4);
///     json.open_array("results"); ... json.close_array();
///     json.close_object();
class JsonWriter {
 public:
  void open_object(std::string_view name = {}) { open(name, '{'); }
  void close_object() { close('}'); }
  void open_array(std::string_view name = {}) { open(name, '['); }
  void close_array() { close(']'); }

  void member(std::string_view name, std::string_view value);
  void member(std::string_view name, const char* value) { member(name, std::string_view(value)); }
  void member(std::string_view name, double value);
  void member(std::string_view name, std::int64_t value);
  void member(std::string_view name, int value) { member(name, static_cast<std::int64_t>(value)); }
  void member(std::string_view name, bool value);

  const std::string& text() const { return text_; }

 private:
  void start(std::string_view name);
  void open(std::string_view name, char bracket);
  void close(char bracket);
  void quote(std::string_view value);

  std::string text_;
  int depth_ = 0;
  bool first_ = true;
};

}  // namespace headrace::bench
