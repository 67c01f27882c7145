#include "record/file_names.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <span>

#include "base/siphash.h"
#include "record/recorder.h"

namespace headrace::record {
namespace {

constexpr const char* kAllFiles = "(files)";
constexpr const char* kLeftOut = "(not recorded)";

bool has_names() {
  return settings().record_names == RecordNamesSetting::full;
}

/// Of this job and the name, on all nodes alike.
std::string hashed(std::string_view name) {
  SipHash hash;
  const JobMark& job = job_mark();
  for (const std::string_view part :
       {std::string_view(job.base), std::string_view(job.number), name}) {
    hash.add(std::as_bytes(std::span(part)));
    hash.add(std::as_bytes(std::span("")));
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "file-%016" PRIx64, hash.end()[0]);
  return text.data();
}

bool is_text(const SettingInForce& one) {
  return one.origin != "default" && one.value.find('/') != std::string::npos;
}

}  // namespace

std::string recorded_name(std::string_view name) {
  switch (settings().record_names) {
    case RecordNamesSetting::full: return std::string(name);
    case RecordNamesSetting::hashed: return hashed(name);
    case RecordNamesSetting::none: break;
  }
  return kAllFiles;
}

Facts recorded_facts(Facts facts) {
  if (has_names()) return facts;
  std::erase_if(
      facts, [](const auto& fact) { return fact.first == "command" || fact.first == "directory"; });
  return facts;
}

Facts recorded_variables(Facts variables) {
  if (!has_names()) variables.clear();
  return variables;
}

std::vector<SettingInForce> recorded_settings() {
  std::vector<SettingInForce> all = settings_in_force(settings());
  if (has_names()) return all;
  for (SettingInForce& one : all) {
    if (is_text(one)) one.value = kLeftOut;
  }
  return all;
}

}  // namespace headrace::record
