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
std::string_view hashed(std::string_view name, NameRoom& room) {
  SipHash hash;
  const JobMark& job = job_mark();
  for (const std::string_view part :
       {std::string_view(job.base), std::string_view(job.number), name}) {
    hash.add(std::as_bytes(std::span(part)));
    hash.add(std::as_bytes(std::span("")));
  }
  const int size = std::snprintf(room.data(), room.size(), "file-%016" PRIx64, hash.end()[0]);
  return {room.data(), static_cast<std::size_t>(size)};
}

bool is_text(const SettingInForce& one) {
  return one.origin != "default" && one.value.find('/') != std::string::npos;
}

}  // namespace

std::string_view recorded_name(std::string_view name, NameRoom& room) noexcept {
  switch (settings().record_names) {
    case RecordNamesSetting::full: return name;
    case RecordNamesSetting::hashed: return hashed(name, room);
    case RecordNamesSetting::none: break;
  }
  return kAllFiles;
}

std::string recorded_name(std::string_view name) {
  NameRoom room{};
  return std::string(recorded_name(name, room));
}

Facts recorded_facts(Facts facts) {
  if (has_names()) return facts;
  std::erase_if(facts, [](const auto& fact) {
    return fact.first == "command" || fact.first == "directory" || fact.first == "script";
  });
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
