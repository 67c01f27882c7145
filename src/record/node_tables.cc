#include "record/node_tables.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "record/access_rows.h"
#include "record/bounds.h"
#include "record/call_rows.h"
#include "record/file_rows.h"
#include "record/heat_rows.h"
#include "record/held_files.h"
#include "record/last_calls.h"
#include "record/node_paths.h"
#include "record/node_regions.h"
#include "record/node_samples.h"
#include "record/node_timeline.h"
#include "record/node_traces.h"
#include "record/rank_times.h"
#include "record/text_table.h"
#include "record/thread_record.h"

namespace headrace::record {
namespace {

constexpr std::int64_t kOtherPeers = -1;

class NodeTables {
 public:
  /// `timeline` takes the images' events.
  NodeTables(std::uint32_t node, NodeTimeline& timeline) : node_(node), timeline_(timeline) {}

  void add(const Image& image, const RankTimes& times) {
    add_rank(image, times);
    add_calls(image, times);
    add_awaited(image, times);
    add_files(image, times);
    add_accesses(image, times);
    add_decisions(image, times);
    add_counters(image);
  }
  void add_heat(std::vector<HeatRow> rows) { heat_ = std::move(rows); }
  /// What is the same on all ranks of the node, from one.
  void add_common(const Image& image);
  Sections pack();
  NodeView view() const {
    return {ranks_, calls_, paths_.paths(), paths_.modules(), texts_.texts()};
  }

 private:
  void add_rank(const Image& image, const RankTimes& times);
  void add_calls(const Image& image, const RankTimes& times);
  void add_awaited(const Image& image, const RankTimes& times);
  void add_peers(std::int64_t rank, std::span<const Peer> peers);
  void add_files(const Image& image, const RankTimes& times);
  void add_accesses(const Image& image, const RankTimes& times);
  void add_decisions(const Image& image, const RankTimes& times);
  void add_counters(const Image& image);
  std::vector<std::int64_t> communicators_of(const Image& image);

  const std::uint32_t node_;
  NodeTimeline& timeline_;
  TextTable texts_;
  NodePaths paths_{texts_};
  NodeRegions regions_{texts_};
  NodeSamples samples_{texts_};
  NodeTraces traces_{texts_, paths_};
  std::vector<CommunicatorsRow> communicators_;
  std::map<std::array<std::int64_t, 4>, std::int64_t> communicator_places_;
  std::vector<RanksRow> ranks_;
  std::vector<CallsRow> calls_;
  std::vector<WaitsRow> waits_;
  std::vector<AwaitedRow> awaited_;
  std::vector<LastCallsRow> last_calls_;
  std::vector<CountersRow> counters_;
  std::vector<MatrixRow> matrix_;
  std::vector<FilesRow> files_;
  std::vector<AccessesRow> accesses_;
  std::vector<HeatRow> heat_;
  std::vector<DecisionsRow> decisions_;
  std::vector<SettingsRow> settings_;
  std::vector<VariablesRow> variables_;
};

void NodeTables::add_rank(const Image& image, const RankTimes& times) {
  const ImageHeader& header = image.header();
  RanksRow row;
  row.rank = header.rank;
  row.host = texts_.place(image.fact("host"));
  row.process = not_negative(header.process);
  row.cores = texts_.place(image.fact("cores"));
  row.program = texts_.place(image.fact("program"));
  row.state = static_cast<std::int64_t>(times.end().state);
  row.start = not_negative(header.start);
  row.run = run_of(image, times);
  row.init = not_negative(header.init);
  row.cpu_user = not_negative(header.cpu_user);
  row.cpu_system = not_negative(header.cpu_system);
  row.peak_memory = not_negative(header.peak_memory);
  row.threads = static_cast<std::int64_t>(image.threads().size());
  add_process_io(row, header);
  std::int64_t calls = 0;
  for (const auto& [number, thread] : image.threads()) {
    calls = sum(calls, not_negative(thread.totals.calls));
    row.folded = sum(row.folded, not_negative(thread.totals.folded));
    row.unwinds = sum(row.unwinds, not_negative(thread.totals.unwinds));
    row.checks = sum(row.checks, not_negative(thread.totals.checks));
    row.wrong = sum(row.wrong, not_negative(thread.totals.wrong));
    row.mismatched = sum(row.mismatched, not_negative(thread.totals.region.mismatched));
  }
  row.unsized = image.header().unsized.load();
  row.matched = not_negative(image.header().matched);
  row.early = std::min(not_negative(image.header().early), row.matched);
  row.untraced = not_negative(static_cast<std::int64_t>(image.header().untraced.load()));
  row.off = std::min(times.ns(off_ticks(image, times)), row.run);
  row.unheard = times.end().unheard;
  constexpr double kPicoseconds = 1000;  // of a nanosecond
  row.recorder =
      bounded(static_cast<double>(calls) * static_cast<double>(header.call_cost) / kPicoseconds);
  ranks_.push_back(row);
}

/// The place of each note's.
std::vector<std::int64_t> NodeTables::communicators_of(const Image& image) {
  std::vector<std::int64_t> places;
  const auto count = static_cast<std::uint32_t>(image.notes(NoteKind::communicator).size());
  for (std::uint32_t note = 0; note < count; ++note) {
    const auto field = [&](std::size_t i) { return image.field(NoteKind::communicator, note, i); };
    const CommunicatorsRow row{
        not_negative(number_in(field(0), 0)), not_negative(number_in(field(1), 0)),
        std::max<std::int64_t>(number_in(field(2), -1), -1), texts_.place(field(3))};
    const auto [found, is_new] =
        communicator_places_.try_emplace(std::bit_cast<std::array<std::int64_t, 4>>(row),
                                         static_cast<std::int64_t>(communicators_.size()));
    if (is_new) communicators_.push_back(row);
    places.push_back(found->second);
  }
  return places;
}

void NodeTables::add_calls(const Image& image, const RankTimes& times) {
  struct Procedure {
    std::int64_t name;
    std::int64_t call_class;
  };
  std::vector<Procedure> procedures;
  for (const Image::Note& note : image.notes(NoteKind::procedure)) {
    const std::int64_t told = note.size() < 2 ? kCallClasses : number_in(note[1], kCallClasses);
    procedures.push_back({texts_.place(note.empty() ? "" : note[0]),
                          told < 0 || told >= kCallClasses ? kCallClasses - 1 : told});
  }
  const std::vector<std::int64_t> communicators = communicators_of(image);
  const std::vector<std::int64_t> regions = regions_.add(image, times);
  for (const auto& [number, thread] : image.threads()) {
    const std::vector<std::int64_t> paths = paths_.add(image, thread.frames);
    const auto name = [&](auto& made, const auto& item) {
      made.rank = image.header().rank;
      made.thread = number;
      made.procedure = procedures[item.procedure].name;
      if (item.path != kNone) made.path = paths[item.path];
    };
    const auto name_all = [&](auto& made, const auto& item) {
      name(made, item);
      made.region = regions[item.region];
      if (item.communicator != kNone) made.communicator = communicators[item.communicator];
    };
    for (const Row& row : thread.rows) {
      // A receive that another thread completed has bytes, and no call here.
      if ((row.calls <= 0 && row.received <= 0) || row.procedure == kNone) continue;
      CallsRow made = call_row(row, times);
      name_all(made, row);
      made.class_ = procedures[row.procedure].call_class;
      calls_.push_back(made);
    }
    for (const WaitItem& item : thread.waits) {
      if (item.calls <= 0 || item.procedure == kNone) continue;
      WaitsRow made = waits_row(item, times);
      name_all(made, item);
      waits_.push_back(made);
    }
    add_peers(image.header().rank, thread.peers);
    if (auto last = last_call(image, thread.totals, times)) {
      name(*last, thread.totals.last);
      last->class_ = procedures[thread.totals.last.procedure].call_class;
      last_calls_.push_back(*last);
    }
  }
  samples_.add(image, paths_.add(image, image.sampled().frames), regions);
  traces_.add(image, times, regions);
  constexpr auto kIo = static_cast<std::int64_t>(CallClass::io);
  std::vector<NodeTimeline::Places::Procedure> called;
  for (const auto& [name, of_class] : procedures) called.push_back({name, of_class == kIo});
  std::vector<std::int64_t> files;
  for (const Image::Note& note : image.notes(NoteKind::file)) {
    files.push_back(texts_.place(note.empty() ? "" : note[0]));
  }
  timeline_.add(image, {called, communicators, regions, files, texts_});
}

void NodeTables::add_awaited(const Image& image, const RankTimes& times) {
  for (const AwaitedItem& item : image.awaited()) {
    if (item.calls <= 0 || item.rank < 0) continue;
    const auto kind = static_cast<std::int64_t>(item.kind);
    if (kind > static_cast<std::int64_t>(Awaited::receiver)) continue;
    awaited_.push_back({image.header().rank, item.rank, kind, item.calls, times.ns(item.ticks)});
  }
}

void NodeTables::add_peers(std::int64_t rank, std::span<const Peer> peers) {
  for (const Peer& peer : peers) {
    if (peer.messages <= 0) continue;
    const bool can_be = peer.rank >= kOutsidePeers && peer.rank <= INT32_MAX;
    matrix_.push_back(
        {rank, can_be ? peer.rank : kOtherPeers, peer.messages, not_negative(peer.sent)});
  }
}

void NodeTables::add_files(const Image& image, const RankTimes& times) {
  for (const FileItem& item : image.files()) {
    const FileCounts& file = item.counts;
    // It was looked for, but not opened.
    if (file.opens == 0 && file.reads == 0 && file.writes == 0 && file.ticks == 0) continue;
    FilesRow row = files_row(file, times);
    row.rank = image.header().rank;
    row.file = texts_.place(image.field(NoteKind::file, item.name, 0));
    files_.push_back(row);
  }
}

void NodeTables::add_accesses(const Image& image, const RankTimes& times) {
  for (const AccessItem& item : image.accesses()) {
    AccessesRow row = accesses_row(item.counts, times);
    if (is_empty(row)) continue;
    row.rank = image.header().rank;
    row.file = texts_.place(image.access_name(item.name_place, item.name_size));
    row.layer = item.layer == AccessLayer::stdio ? 1 : 0;
    accesses_.push_back(row);
  }
}

void NodeTables::add_decisions(const Image& image, const RankTimes& times) {
  const auto add = [&](const PlainDecision& texts, std::string_view alternatives,
                       std::int64_t ticks, const DecisionCost& cost) {
    DecisionsRow row;
    row.rank = image.header().rank;
    row.time = times.since_begin(ticks);
    row.subject = texts_.place(texts.subject);
    row.choice = texts_.place(texts.choice);
    row.reason = texts_.place(texts.reason);
    row.alternatives = texts_.place(alternatives);
    row.calls = not_negative(cost.calls);
    row.cost = cost.ticks < 0 ? -1 : times.ns(cost.ticks);
    decisions_.push_back(row);
  };
  for (const DecisionItem& item : image.decisions().items) {
    const auto field = [&](std::size_t i) { return image.field(NoteKind::decision, item.note, i); };
    add({field(0), field(1), field(2)}, field(3), item.ticks, item.cost);
  }
  for (const PlainDecisionItem& item : image.decisions().plain) {
    add(image.decisions().texts_of(item), "", item.ticks, {item.calls, -1});
  }
}

void NodeTables::add_counters(const Image& image) {
  for (const CounterItem& item : image.counters()) {
    CountersRow row;
    row.rank = image.header().rank;
    row.event = texts_.place(item.name.data());
    row.error = std::min<std::int64_t>(item.error, INT32_MAX);
    row.count = not_negative(item.count);
    row.enabled = not_negative(item.enabled);
    row.running = not_negative(item.running);
    row.wall = not_negative(item.wall);
    counters_.push_back(row);
  }
}

void NodeTables::add_common(const Image& image) {
  const auto settings = static_cast<std::uint32_t>(image.notes(NoteKind::setting).size());
  for (std::uint32_t note = 0; note < settings; ++note) {
    const auto field = [&](std::size_t i) { return image.field(NoteKind::setting, note, i); };
    settings_.push_back({texts_.place(field(0)), texts_.place(field(1)), texts_.place(field(2))});
  }
  const auto variables = static_cast<std::uint32_t>(image.notes(NoteKind::variable).size());
  for (std::uint32_t note = 0; note < variables; ++note) {
    const auto field = [&](std::size_t i) { return image.field(NoteKind::variable, note, i); };
    variables_.push_back({texts_.place(field(0)), texts_.place(field(1))});
  }
}

Sections NodeTables::pack() {
  sort_and_merge(calls_);
  sort_and_merge(waits_);
  sort_last_calls(last_calls_, ranks_);
  sort_and_merge(matrix_);
  sort_and_merge(files_);
  sort_and_merge(accesses_);
  Sections made;
  append_text_table(made, node_, texts_.texts());
  append_rows<ModulesRow>(made, Table::modules, node_, paths_.modules());
  append_rows<PathsRow>(made, Table::paths, node_, paths_.paths());
  append_rows<CommunicatorsRow>(made, Table::communicators, node_, communicators_);
  append_rows<RanksRow>(made, Table::ranks, node_, ranks_);
  append_rows<CallsRow>(made, Table::calls, node_, calls_);
  append_rows<WaitsRow>(made, Table::waits, node_, waits_);
  append_rows<AwaitedRow>(made, Table::awaited, node_, awaited_);
  append_rows<LastCallsRow>(made, Table::last_calls, node_, last_calls_);
  append_rows<RegionsRow>(made, Table::regions, node_, regions_.rows());
  append_rows<SamplingRow>(made, Table::sampling, node_, samples_.threads());
  append_rows<SamplesRow>(made, Table::samples, node_, samples_.rows());
  append_rows<CountersRow>(made, Table::counters, node_, counters_);
  append_rows<FunctionsRow>(made, Table::functions, node_, traces_.functions());
  append_rows<TracedRow>(made, Table::traced, node_, traces_.calls());
  append_rows<TimelinesRow>(made, Table::timelines, node_, timeline_.threads());
  append_rows<FileTimelinesRow>(made, Table::file_timelines, node_, timeline_.files());
  append_rows<EventsRow>(made, Table::events, node_, timeline_.rows());
  append_rows<MatrixRow>(made, Table::matrix, node_, matrix_);
  append_rows<FilesRow>(made, Table::files, node_, files_);
  append_rows<AccessesRow>(made, Table::accesses, node_, accesses_);
  append_rows<HeatRow>(made, Table::heat, node_, heat_);
  append_rows<DecisionsRow>(made, Table::decisions, node_, decisions_);
  append_rows<SettingsRow>(made, Table::settings, node_, settings_);
  append_rows<VariablesRow>(made, Table::variables, node_, variables_);
  return made;
}

JobSummary summary_of(const Image& image, std::int64_t run) {
  const ImageHeader& header = image.header();
  return {header.rank_count,
          0,
          1,
          image.state() == RankState::finalized ? 1 : 0,
          not_negative(header.start),
          run,
          header.lost_calls.load(),
          0,
          {}};
}

std::int64_t moved_by(std::span<const CallsRow> calls) {
  std::int64_t bytes = 0;
  for (const CallsRow& row : calls) bytes = sum(bytes, sum(row.sent, row.received));
  return bytes;
}

}  // namespace

void JobSummary::add(const JobSummary& other) {
  if (other.ranks > 0) start = ranks == 0 ? other.start : std::min(start, other.start);
  rank_count = std::max(rank_count, other.rank_count);
  nodes += other.nodes;
  ranks += other.ranks;
  finalized += other.finalized;
  run = std::max(run, other.run);
  lost_calls += other.lost_calls;
  moved = sum(moved, other.moved);
  times.add(other.times);
}

NodeRecord make_node_record(std::span<const Image> images, std::uint32_t node,
                            const ClockReading& now) {
  NodeRecord made;
  const std::vector<RankTimes> times = times_of(images, now);
  NodeTimeline timeline(images, times);
  NodeTables tables(node, timeline);
  for (std::size_t i = 0; i < images.size(); ++i) {
    tables.add(images[i], times[i]);
    made.summary.add(summary_of(images[i], run_of(images[i], times[i])));
  }
  tables.add_heat(heat_rows(images, times));
  made.summary.nodes = 1;
  if (!images.empty()) {
    tables.add_common(images.front());
    for (const Image::Note& note : images.front().notes(NoteKind::fact)) {
      if (note.size() >= 2) made.facts.emplace_back(note[0], note[1]);
    }
  }
  made.held_files = held_files_of(images);
  made.summary.times = times_of_run(tables.view());
  made.summary.moved = moved_by(tables.view().calls);
  made.first = costliest(tables.view());
  made.sections = tables.pack();
  return made;
}

}  // namespace headrace::record
