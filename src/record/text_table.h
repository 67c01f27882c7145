#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headrace::record {

/// The text, with bytes that are no UTF-8 written as \xff.
std::string escaped(std::string_view text);

/// A table of texts, each once.
class TextTable {
 public:
  /// Of an empty one -1.
  std::int64_t place(std::string_view text);
  std::span<const std::string> texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int64_t> places_;
};

}  // namespace headrace::record
