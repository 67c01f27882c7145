#include "base/toml.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "base/first_lines.h"

namespace headrace {
namespace {

bool is_bare(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
}

/// Appends the character of a number as UTF-8. False for what is no character.
bool append_character(std::uint32_t code, std::string& text) {
  const auto rest = [&](int shift) {
    text += static_cast<char>(0x80U | (code >> static_cast<unsigned>(shift) & 0x3fU));
  };
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | code >> 6U);
    rest(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | code >> 12U);
    rest(6);
    rest(0);
  } else {
    text += static_cast<char>(0xf0U | code >> 18U);
    rest(12);
    rest(6);
    rest(0);
  }
  return true;
}

/// Takes words off one line. Each function returns nothing where the line is no such thing.
class Line {
 public:
  explicit Line(std::string_view rest) : rest_(rest) { skip_blanks(); }

  bool take(char letter) {
    if (!rest_.starts_with(letter)) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    return true;
  }

  /// Whether nothing but a comment is left.
  bool is_done() const { return rest_.empty() || rest_.starts_with('#'); }

  std::optional<std::string> take_name() {
    if (rest_.starts_with('"') || rest_.starts_with('\'')) return take_text();
    return take_word(is_bare);
  }

  /// Whether a value begins that goes on in the next line.
  bool begins_several_lines() const {
    for (const auto& [begin, end] : {std::pair<std::string_view, std::string_view>{"[", "]"},
                                     {"{", "}"},
                                     {R"(""")", R"(""")"},
                                     {"'''", "'''"}}) {
      if (rest_.starts_with(begin)) return rest_.find(end, begin.size()) == std::string_view::npos;
    }
    return false;
  }

  std::optional<std::string> take_value() {
    if (rest_.starts_with('"') || rest_.starts_with('\'')) return take_text();
    auto word = take_word([](char letter) { return is_bare(letter) || letter == '+'; });
    if (!word || *word == "true" || *word == "false") return word;
    return whole_number(*word);
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }

  template <class Belongs>
  std::optional<std::string> take_word(Belongs belongs) {
    const auto* const end = std::ranges::find_if_not(rest_, belongs);
    const std::string word(rest_.begin(), end);
    rest_.remove_prefix(word.size());
    skip_blanks();
    if (word.empty()) return std::nullopt;
    return word;
  }

  static std::optional<std::string> whole_number(std::string_view word) {
    std::string digits;
    if (word.starts_with('-')) digits = "-";
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    if (word.size() > 1 && word.front() == '0') return std::nullopt;
    bool after_digit = false;
    for (const char letter : word) {
      const bool is_digit = letter >= '0' && letter <= '9';
      if (!is_digit && !(letter == '_' && after_digit)) return std::nullopt;
      if (is_digit) digits += letter;
      after_digit = is_digit;
    }
    if (!after_digit) return std::nullopt;
    return digits;
  }

  std::optional<std::string> take_text() {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    // Texts of several lines begin with three quotes.
    if (rest_.starts_with(std::string(2, quote))) return std::nullopt;
    std::string text;
    while (!rest_.empty()) {
      const char letter = rest_.front();
      rest_.remove_prefix(1);
      if (letter == quote) {
        skip_blanks();
        return text;
      }
      if (letter == '\\' && quote == '"') {
        if (!take_escape(text)) return std::nullopt;
      } else if ((static_cast<unsigned char>(letter) < 0x20 && letter != '\t') || letter == 0x7f) {
        return std::nullopt;
      } else {
        text += letter;
      }
    }
    return std::nullopt;
  }

  /// What stands behind a backslash.
  bool take_escape(std::string& text) {
    constexpr std::string_view kLetters = "btnfr\"\\";
    constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    if (rest_.empty()) return false;
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    if (const auto found = kLetters.find(letter); found != std::string_view::npos) {
      text += kMeanings[found];
      return true;
    }
    if (letter != 'u' && letter != 'U') return false;
    const std::size_t count = letter == 'u' ? 4 : 8;
    if (rest_.size() < count) return false;
    std::uint32_t code = 0;
    for (const char digit : rest_.substr(0, count)) {
      if (std::isxdigit(static_cast<unsigned char>(digit)) == 0) return false;
      const auto value = digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
      code = code << 4U | static_cast<std::uint32_t>(value);
    }
    rest_.remove_prefix(count);
    return append_character(code, text);
  }

  std::string_view rest_;
};

/// Reads line by line.
class Reader {
 public:
  TomlText take() {
    text_.problems = problems_.take("has ", " more such line", " more such lines");
    return std::move(text_);
  }

  void read(std::string_view line, int number) {
    Line words(line);
    if (words.is_done() || is_over_) return;
    if (words.take('[')) {
      is_readable_ = read_header(words);
      if (is_readable_ && !tables_.insert(table_).second) {
        is_readable_ = false;
        refuse(number, "this table was there before", "put all its keys below one header");
      } else if (!is_readable_) {
        refuse(number, "it is no header of a table that is read here",
               "write [NAME] or [NAME.\"PATTERN\"]; what is below it is ignored, too");
      }
    } else if (is_readable_) {
      read_entry(words, number);
    }
  }

 private:
  bool read_header(Line& words) {
    table_.clear();
    do {
      const auto name = words.take_name();
      if (!name) return false;
      table_.push_back(*name);
    } while (words.take('.'));
    return words.take(']') && words.is_done();
  }

  void read_entry(Line& words, int number) {
    const auto key = words.take_name();
    if (!key || key->empty() || !words.take('=')) {
      return refuse(number, "it is no KEY = VALUE", "write for example cb_nodes = 8");
    }
    // Its further lines would be taken for keys.
    if (words.begins_several_lines()) {
      is_over_ = true;
      return refuse(number, "texts and lists of several lines are not read here",
                    "write one line; all below it is ignored, too");
    }
    const auto value = words.take_value();
    if (!value || !words.is_done()) {
      return refuse(number, "its value is no text in quotes, whole number, true or false",
                    "write it in quotes");
    }
    std::vector<std::string> path = table_;
    path.push_back(*key);
    if (!keys_.insert(std::move(path)).second) {
      return refuse(number, "this key was there before", "leave one of them out");
    }
    text_.entries.push_back({table_, *key, *value, number});
  }

  void refuse(int number, const char* why, const char* remedy) {
    problems_.add("line " + std::to_string(number) + " is ignored (" + why + "), " + remedy);
  }

  TomlText text_;
  FirstLines problems_;
  std::vector<std::string> table_;
  std::set<std::vector<std::string>> keys_;
  std::set<std::vector<std::string>> tables_;
  bool is_readable_ = true;
  bool is_over_ = false;
};

}  // namespace

TomlText parse_toml(std::string_view text) {
  Reader reader;
  text = text.substr(0, text.find('\0'));
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    reader.read(line, number);
  }
  return reader.take();
}

}  // namespace headrace
