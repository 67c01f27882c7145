#include "record/job_end.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "base/message.h"
#include "base/settings.h"
#include "record/exit_lines.h"
#include "record/gather.h"
#include "record/image_owner.h"
#include "record/recorder.h"
#include "record/summary.h"

namespace headrace::record {
namespace {

constexpr int kPatienceMilliseconds = 2000;

std::string image_of_rank(const std::string& own, int rank) {
  return own.substr(0, own.rfind('/')) + "/rank-" + std::to_string(rank);
}

/// Whether the rank may still write to its image: it runs, and has not come to its end.
bool is_under_way(const std::string& path) {
  ImageHeader header{};
  return read_header(path, header) &&
         header.state.load() == static_cast<std::uint32_t>(RankState::running) &&
         owner_runs(header);
}

void wait_for(const std::vector<std::string>& images) {
  int left = kPatienceMilliseconds;
  for (const std::string& path : images) {
    for (; left > 0 && is_under_way(path); --left) usleep(1000);
  }
}

std::string lacks_of(const JobSummary& summary) {
  if (summary.is_complete()) return {};
  return "of " + std::to_string(summary.rank_count) + " ranks " +
         std::to_string(summary.finalized) + " came to MPI_Finalize";
}

}  // namespace

void finish_job(const Facts& facts) {
  ImageFile* const own = image();
  stop_recorder();
  if (own == nullptr || own->header().rank != 0) return;
  std::vector<std::string> images;
  for (int rank = 0; rank < own->header().rank_count; ++rank) {
    images.push_back(image_of_rank(own->path(), rank));
  }
  wait_for(images);
  const auto node = gather_images(images, 0);
  const auto written = node ? write_job_record({&node.value(), 1}, facts, log_directory())
                            : Result<std::string>(node.error());
  for (const std::string& path : images) unlink(path.c_str());
  own->remove();
  if (!written) {
    print_message("no record was written (" + written.error().message + ")");
  }
  if (!settings().summary || settings().quiet) return;
  JobStory story;
  if (node) {
    const NodeRecord& record = node.value().record;
    story = {record.summary.times,          record.summary.ranks,
             record.summary.nodes,          record.first,
             lacks_of(record.summary),      summary(),
             written ? written.value() : ""};
    for (const std::string& line : exit_lines(story)) print_message(line);
  } else {
    for (const std::string& line : summary()) print_message(line);
  }
}

}  // namespace headrace::record
