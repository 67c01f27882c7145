#include "buffering/buffer_plan.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/first_lines.h"
#include "base/message.h"
#include "base/name_pattern.h"
#include "base/readable.h"
#include "base/rounding.h"
#include "base/setting_rule.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "base/unmatched_patterns.h"

namespace headrace::buffering {
namespace {

constexpr ByteCount kLeastSize = 4096;
constexpr ByteCount kMostSize = ByteCount{1} << 30;
constexpr std::int64_t kMostCount = 1024;

/// A word of Cray's that has no effect here: why, and what to do.
struct IdleWord {
  std::string_view name;
  const char* why;
  const char* remedy;
};

constexpr std::array<IdleWord, 9> kIdle = {{
    {"direct", "the page cache has the data all the same", "leave it out"},
    {"ignoreflush", "a sync must write what is buffered", "leave it out"},
    {"lazyclose", "a close must report writes that failed", "leave it out"},
    {"line", "buffers know nothing of lines", "leave it out"},
    {"noflush", "a sync must write what is buffered", "leave it out"},
    {"preflush", "a full block is written at once", "leave it out"},
    {"refresh", "a block keeps what was written", "leave it out"},
    {"vbuffer_count", "blocks have one size", "write count="},
    {"vbuffer_size", "blocks have one size", "write size="},
}};

/// Cray's names of streams, which stand in the place of a pattern.
constexpr std::array<std::string_view, 3> kStreams = {"%stdin", "%stdout", "%stderr"};

/// Whether a pattern looks like a size, such as 12M. Digits alone may be a file's name.
bool looks_like_size(const std::string& pattern) {
  ByteCount size = 0;
  return !pattern.empty() && (pattern.back() < '0' || pattern.back() > '9') &&
         read_size(pattern, kLeastSize, kMostSize, size).empty();
}

/// A piece of the text without its backslashes, and the character behind it.
struct Piece {
  std::string text;
  std::size_t begin = 0;
  char behind = '\0';  ///< , or : or the end
};

class PlanReader {
 public:
  explicit PlanReader(std::string_view text) : text_(text) {}

  BufferPlan read() {
    while (at_ < text_.size()) read_rule();
    plan_.problems = problems_.take();
    return std::move(plan_);
  }

 private:
  void read_rule() {
    Piece piece = take(true);
    BufferRule rule{piece.text, {}};
    const std::size_t begin = piece.begin;
    while (piece.behind == ':') {
      piece = take(false);
      if (!piece.text.empty()) read_word(piece, rule.shape);
    }
    if (rule.pattern.empty()) {
      // A comma too many is no fault.
      if (piece.begin != begin) refuse(begin, ":", "it has no pattern", "write * for all files");
      return;
    }
    if (rule.pattern.size() > kLongestPattern) {
      return refuse(begin, rule.pattern, "no path is as long", "write a shorter pattern");
    }
    if (std::ranges::find(kStreams, rule.pattern) != kStreams.end()) {
      return refuse(begin, rule.pattern, "the C library buffers this stream", "leave it out");
    }
    if (looks_like_size(rule.pattern)) {
      note(begin, "'" + rule.pattern + "' names files (a pattern comes first), write *:size=" +
                      rule.pattern + " if it is a size");
    }
    rule.shape.prefetch = std::min(rule.shape.prefetch, rule.shape.count - 1);
    plan_.rules.push_back(std::move(rule));
  }

  Piece take(bool is_pattern) {
    constexpr std::string_view kBlanks = " \t\r\n";
    Piece piece;
    at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    piece.begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ':') {
      const std::size_t set_end =
          is_pattern && text_[at_] == '[' ? end_of_set(text_, at_) : std::string_view::npos;
      if (set_end != std::string_view::npos) {
        piece.text += text_.substr(at_, set_end - at_);
        at_ = set_end;
        continue;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        // Patterns keep theirs: * behind one is a star of the name.
        if (text_[at_ + 1] != ',' && text_[at_ + 1] != ':') piece.text += text_[at_];
        ++at_;
      }
      piece.text += text_[at_++];
    }
    if (at_ < text_.size()) piece.behind = text_[at_++];
    piece.text.resize(piece.text.find_last_not_of(kBlanks) + 1);
    return piece;
  }

  void read_word(const Piece& piece, BufferShape& shape) {
    const auto equals = piece.text.find('=');
    const std::string key = piece.text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : piece.text.substr(equals + 1);
    std::string problem;
    if (key == "size") {
      problem = read_size(value, kLeastSize, kMostSize, shape.size);
      shape.size = round_up(shape.size, kLeastSize);
    } else if (key == "count") {
      problem = read_integer(value, 1, kMostCount, shape.count);
    } else if (key == "prefetch") {
      problem = read_integer(value, 0, kMostCount, shape.prefetch);
    } else if (key == "verbose" && value.empty()) {
      shape.is_verbose = true;
    } else {
      return refuse_word(piece, key);
    }
    if (!problem.empty()) note(piece.begin, key + " '" + printable(value) + "' " + problem);
  }

  void refuse_word(const Piece& piece, const std::string& key) {
    const auto* const idle = std::ranges::find(kIdle, key, &IdleWord::name);
    if (idle != kIdle.end()) return refuse(piece.begin, piece.text, idle->why, idle->remedy);
    refuse(piece.begin, piece.text, "no such word is known",
           "write size=, count=, prefetch= or verbose");
  }

  void refuse(std::size_t at, std::string_view what, const char* why, const char* remedy) {
    note(at, "'" + printable(what) + "' is ignored (" + why + "), " + remedy);
  }

  void note(std::size_t at, const std::string& problem) {
    problems_.add("character " + std::to_string(at + 1) + ": " + problem);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  BufferPlan plan_;
  FirstLines problems_;
};

/// The plan of this process, and which of its rules a file has come under.
struct OwnPlan {
  BufferPlan plan;
  std::string variable;  ///< that gave it
  std::vector<std::atomic<bool>> has_matched;
  std::atomic<bool> has_files = false;
};

OwnPlan& own_plan() {
  // Never destroyed: files are opened during exit, too.
  static auto& own = *[] {
    BufferPlan read = read_buffer_plan(settings().iobuf);
    const std::size_t count = read.rules.size();
    auto* const made = new OwnPlan{std::move(read), settings().variable_of("HEADRACE_IOBUF"),
                                   std::vector<std::atomic<bool>>(count)};
    for (const std::string& problem : made->plan.problems) {
      print_job_message_once(made->variable + ", " + problem);
    }
    if (count > 0 && made->variable != "HEADRACE_IOBUF") {
      print_job_message_once("files of MPI-IO, and the program's own, are buffered (" +
                             made->variable +
                             " names them), set HEADRACE_IOBUF= if other ranks read what a rank "
                             "writes without MPI_File_sync or close");
    }
    return made;
  }();
  return own;
}

}  // namespace

const BufferRule* BufferPlan::find(std::string_view given_name, std::string_view full_name) const {
  for (const BufferRule& rule : rules) {
    if (matches(rule.pattern, given_name) || matches(rule.pattern, full_name)) return &rule;
  }
  return nullptr;
}

BufferPlan read_buffer_plan(std::string_view text) {
  return PlanReader(text).read();
}

bool has_buffers() {
  return !own_plan().plan.rules.empty();
}

const BufferShape* shape_of(std::string_view given_name, std::string_view full_name) {
  OwnPlan& own = own_plan();
  own.has_files = true;
  const BufferRule* const rule = own.plan.find(given_name, full_name);
  if (rule == nullptr) return nullptr;
  own.has_matched[static_cast<std::size_t>(rule - own.plan.rules.data())] = true;
  return &rule->shape;
}

std::string unmatched_line() {
  const OwnPlan& own = own_plan();
  if (!own.has_files) return {};
  UnmatchedPatterns unmatched(own.variable);
  for (std::size_t i = 0; i < own.has_matched.size(); ++i) {
    if (!own.has_matched[i]) unmatched.add(own.plan.rules[i].pattern);
  }
  return unmatched.line();
}

std::string text_of(const BufferShape& shape) {
  return std::to_string(shape.count) + " of " + readable(shape.size) + ", " +
         std::to_string(shape.prefetch) + " read ahead";
}

}  // namespace headrace::buffering
