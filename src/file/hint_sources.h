#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "file/hints.h"

namespace headrace::file {

/// Settings and hints of one place.
struct HintSource {
  std::string shown;  ///< the place, as messages call it
  /// Those of the settings that this place gives come before its hints; `fallback`: none.
  Origin settings = Origin::fallback;
  std::vector<PatternHints> hints;
  bool names_unmatched = false;  ///< whether a pattern that no file matches is worth a line
  bool counts_over_program = false;
};

/// Variables of other MPIs that are about files.
struct ForeignVariables {
  Hints hints;                     ///< what they ask for
  std::vector<std::string> names;  ///< for each of these, in the order of the names, its variable
  std::vector<std::string> idle;   ///< a line on each that has no effect, and why
};

/// `environment`: "NAME=value" as `environ`.
ForeignVariables read_foreign_variables(const char* const* environment);

/// Where hints come from besides the program, in the order in which they count, the least first:
/// site, user, file, variables of other MPIs, our variables, Cray's variable of hints.
struct HintSources {
  std::vector<HintSource> list;
  std::vector<std::string> problems;
  std::vector<std::string> idle;  ///< a line on each variable that has no effect, and why
};

HintSources make_hint_sources(const Settings& settings, const SettingsFile& site,
                              const SettingsFile& user, const char* const* environment);

/// Those of this process, as they were when it asked first.
const HintSources& hint_sources();

/// The first pattern of the source that the file's name matches, as it was given or in full; null:
/// none. Takes note of it for unmatched_patterns().
const PatternHints* find_pattern(const HintSource& source, std::string_view given_name,
                                 const std::string& full_name);

/// A line for each source with patterns that no file of this process has matched, if it has opened
/// any.
std::vector<std::string> unmatched_patterns();

}  // namespace headrace::file
