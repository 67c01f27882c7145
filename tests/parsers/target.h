#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace headrace::parsers {

using Input = std::vector<std::uint8_t>;

/// What is wrong with what a parser made of its input.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw Wrong(what);
}

/// A parser of outside input. `run` must return for any input and throws Wrong where the result
/// breaks a promise.
struct Target {
  const char* name;
  void (*run)(const Input& input);
  std::vector<Input> (*corpus)();  ///< inputs to begin from
};

// text_targets.cc
extern const Target settings_target;
extern const Target hints_target;
extern const Target hint_file_target;
extern const Target hint_patterns_target;
extern const Target file_name_target;

// message_targets.cc
extern const Target pointer_question_target;
extern const Target pointer_home_target;
extern const Target claim_target;

// storage_targets.cc
extern const Target part_target;
extern const Target lustre_layout_target;
extern const Target mount_info_target;
extern const Target gluster_volume_target;

// record_targets.cc
extern const Target image_target;

}  // namespace headrace::parsers
