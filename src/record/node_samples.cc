#include "record/node_samples.h"

#include <algorithm>

#include "record/bounds.h"

namespace headrace::record {
namespace {}  // namespace

void NodeSamples::add(const Image& image, std::span<const std::int64_t> paths,
                      std::span<const std::int64_t> regions) {
  const std::int64_t rank = image.header().rank;
  const std::size_t first = threads_.size();
  for (const SampledThread& thread : image.sampled().threads) {
    SamplingRow row;
    row.rank = rank;
    row.thread = static_cast<std::int64_t>(threads_.size() - first);
    row.name = texts_.place(thread.name.data());
    row.caller = thread.caller == kNone ? -1 : std::int64_t{thread.caller};
    row.source = std::min<std::int64_t>(thread.source, static_cast<int>(SampleSource::wall));
    row.period = not_negative(thread.period);
    row.cpu = not_negative(thread.cpu);
    row.lost = not_negative(thread.lost);
    row.cut = not_negative(thread.cut);
    threads_.push_back(row);
  }
  // What a kill left half written is counted from the samples themselves.
  for (const SampleItem& sample : image.sampled().samples) {
    if (sample.count <= 0 || sample.thread == kNone) continue;
    SamplesRow row;
    row.rank = rank;
    row.thread = sample.thread;
    row.path = sample.path == kNone ? -1 : paths[sample.path];
    row.region = regions[sample.region];
    row.samples = sample.count;
    row.time = not_negative(sample.time);
    rows_.push_back(row);
    SamplingRow& thread = threads_[first + sample.thread];
    thread.samples += row.samples;
    thread.time += row.time;
  }
}

}  // namespace headrace::record
