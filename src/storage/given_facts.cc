#include "storage/given_facts.h"

#include <algorithm>

#include "base/first_lines.h"
#include "base/message.h"
#include "base/name_pattern.h"
#include "base/rounding.h"
#include "base/setting_rule.h"
#include "base/settings.h"
#include "base/spelling.h"
#include "storage/file_layout.h"
#include "storage/kinds.h"
#include "storage/text.h"

namespace headrace::storage {
namespace {

template <class Value, class Read>
std::string read_into(std::optional<Value>& place, Read read) {
  Value value{};
  const std::string problem = read(value);
  if (problem.empty()) place = value;
  return problem;
}

std::string read_kind(std::string_view name, std::optional<int>& kind) {
  for (std::size_t i = 1; i < kinds().size(); ++i) {
    if (kinds()[i].name != name) continue;
    kind = static_cast<int>(i);
    return {};
  }
  return "is no kind (Headrace does not know it), write one such as lustre, gpfs or nfs";
}

/// "" or the rest of a sentence that begins with the word and its value.
std::string read_word(std::string_view key, const std::string& value, GivenFacts& facts) {
  const auto as_size = [&](ByteCount& size) {
    return read_size(value, kPage, ByteCount{1} << 30, size);
  };
  if (key == "kind") return read_kind(value, facts.kind);
  if (key == "coherent") {
    return read_into(facts.is_coherent, [&](bool& is) { return read_boolean(value, is); });
  }
  if (key == "locks_whole_files") {
    return read_into(facts.locks_whole_files, [&](bool& is) { return read_boolean(value, is); });
  }
  if (key == "stripe_size") return read_into(facts.stripe_size, as_size);
  if (key == "request_size") return read_into(facts.request_size, as_size);
  if (key == "stripe_count") {
    return read_into(facts.stripe_count,
                     [&](std::int64_t& count) { return read_integer(value, 1, 65535, count); });
  }
  return "is ignored (no such fact is known), write kind=, coherent=, stripe_size=, "
         "stripe_count=, request_size= or locks_whole_files=";
}

}  // namespace

const GivenFacts* ReadFacts::find(std::string_view kind, std::string_view mount_point) const {
  const auto found = std::ranges::find_if(facts, [&](const GivenFacts& one) {
    return matches(one.pattern, mount_point) || matches(one.pattern, kind);
  });
  return found == facts.end() ? nullptr : &*found;
}

ReadFacts read_given_facts(std::string_view text) {
  ReadFacts read;
  FirstLines problems;
  const auto note = [&](std::string_view what, const std::string& problem) {
    problems.add("HEADRACE_FS_FACTS: '" + printable(what) + "' " + problem);
  };
  while (!text.empty()) {
    std::string_view rule = take_until(text, ',');
    GivenFacts facts{std::string(trimmed(take_until(rule, ':')))};
    if (facts.pattern.empty() && trimmed(rule).empty()) continue;  // a comma too many is no fault
    if (facts.pattern.empty() || facts.pattern.size() > kLongestPattern) {
      note(facts.pattern + ":" + std::string(rule),
           "is ignored (it has no pattern that names a file system), write * for all");
      continue;
    }
    while (!rule.empty()) {
      const std::string_view word = trimmed(take_until(rule, ':'));
      if (word.empty()) continue;
      std::string_view value = word;
      const std::string_view key = take_until(value, '=');
      const std::string problem = read_word(key, std::string(value), facts);
      if (!problem.empty()) note(word, problem);
    }
    read.facts.push_back(std::move(facts));
  }
  read.problems = problems.take("HEADRACE_FS_FACTS: ");
  return read;
}

const ReadFacts& given_facts() {
  static const auto& facts = *[] {
    auto* const read = new ReadFacts(read_given_facts(settings().fs_facts));
    for (const std::string& problem : read->problems) print_job_message_once(problem);
    return read;
  }();
  return facts;
}

}  // namespace headrace::storage
