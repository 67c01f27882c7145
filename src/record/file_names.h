#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "record/process_facts.h"

/// What of names is recorded, as HEADRACE_RECORD_NAMES says.
namespace headrace::record {

/// A file's name as it may be recorded: itself, "file-" and 16 hex digits, the same on all ranks of
/// the job, or "(files)".
std::string recorded_name(std::string_view name);

/// The same without taking memory: the name itself, or what is in `room`.
using NameRoom = std::array<char, 32>;
std::string_view recorded_name(std::string_view name, NameRoom& room) noexcept;

/// Without what may have names of files in it, if these are not recorded.
Facts recorded_facts(Facts facts);
Facts recorded_variables(Facts variables);
std::vector<SettingInForce> recorded_settings();

}  // namespace headrace::record
