#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/job_record.h"

/// From images to a record. What is still running is taken as it is; nothing waits.
namespace headrace::record {

/// Images of other users, of other jobs and those that cannot be read are left out. An error if
/// nothing is left.
Result<GatheredNode> gather_images(std::span<const std::string> image_paths, std::uint32_t node);

/// All images in a job's directory, by rank. An error if it is not this user's alone.
Result<std::vector<std::string>> image_paths_in(const std::string& job_directory);

/// Writes the record of a job on one node, and returns its path. What the caller has `known` of the
/// job goes before what the images tell.
Result<std::string> write_record(std::span<const std::string> image_paths, const Facts& known,
                                 const std::string& directory);

}  // namespace headrace::record
