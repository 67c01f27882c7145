#include <functional>

#include "faults/script.h"
#include "sim/random.h"

namespace headrace::faults {
namespace {

using sim::Pair;

constexpr std::int64_t kPiece = 1'000;
const std::vector<std::string> kOneNode{"a", "a", "a"};
const std::vector<std::string> kTwoNodes{"a", "a", "b"};
const std::vector<std::string> kThreeNodes{"a", "b", "c"};

/// Ranks' pieces take turns; or all ranks see the same bytes.
Step set_view(int ranks, bool is_common) {
  Step step;
  step.kind = StepKind::set_view;
  for (int rank = 0; rank < ranks; ++rank) {
    const Pair word = sim::basic(4);
    if (is_common) {
      step.views.emplace_back(8, word, word);
    } else {
      const Pair tile = sim::resized(sim::basic(kPiece), kPiece * ranks);
      step.views.emplace_back(kPiece * rank, word, tile);
    }
  }
  return step;
}

/// `words` of 4 bytes of each rank, every third word of its memory.
Step transfer(int ranks, Direction direction, Style style, Positioning positioning, bool collective,
              std::int64_t words) {
  Step step;
  step.direction = direction;
  step.style = style;
  step.positioning = positioning;
  step.collective = collective;
  for (int rank = 0; rank < ranks; ++rank) {
    Request request;
    request.memory = sim::resized(sim::basic(4), 12);
    request.count = words;
    if (positioning == Positioning::explicit_offset) request.offset = 0;
    request.buffer.resize(static_cast<std::size_t>(12 * words));
    for (std::size_t i = 0; i < request.buffer.size(); ++i) {
      request.buffer[i] =
          sim::random_byte(static_cast<std::uint64_t>(rank) + 7, static_cast<std::int64_t>(i));
    }
    step.requests.push_back(std::move(request));
  }
  return step;
}

Step of_kind(StepKind kind, ByteCount size = 0) {
  Step step;
  step.kind = kind;
  step.size = size;
  return step;
}

Script begin(std::string name, Layer layer, std::vector<std::string> nodes, const char* path) {
  Script script;
  script.name = std::move(name);
  script.layer = layer;
  script.nodes = std::move(nodes);
  script.hints = {
      {"headrace_write_path", path}, {"headrace_read_path", path}, {"cb_buffer_size", "65536"}};
  script.before.resize(20'000);
  for (std::size_t i = 0; i < script.before.size(); ++i) {
    script.before[i] = sim::random_byte(3, static_cast<std::int64_t>(i));
  }
  return script;
}

/// One access function by one path, between view and sync.
Script access(Layer layer, const std::vector<std::string>& nodes, const char* path,
              const Step& step) {
  const char* const where = nodes == kOneNode    ? " "
                            : nodes == kTwoNodes ? " on two nodes "
                                                 : " on three nodes ";
  Script script = begin(call_of(step) + where + path, layer, nodes, path);
  const int ranks = script.ranks();
  script.steps.push_back(set_view(ranks, step.positioning == Positioning::shared));
  script.steps.push_back(step);
  script.steps.push_back(of_kind(StepKind::sync));
  return script;
}

void add_accesses(Layer layer, std::vector<Script>& scripts) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    for (const Positioning positioning :
         {Positioning::explicit_offset, Positioning::pointer, Positioning::shared}) {
      for (const Style style : {Style::blocking, Style::nonblocking, Style::split}) {
        for (const bool collective : {false, true}) {
          const bool is_ordered = collective && positioning == Positioning::shared;
          if (style == Style::split && !collective) continue;
          if (style == Style::nonblocking && is_ordered) continue;
          const auto step = [&](std::int64_t words) {
            return transfer(3, direction, style, positioning, collective, words);
          };
          scripts.push_back(access(layer, kOneNode, "direct", step(300)));
          if (collective) scripts.push_back(access(layer, kOneNode, "staged", step(12'000)));
          if (style == Style::blocking && collective) {
            scripts.push_back(access(layer, kTwoNodes, "staged", step(3'000)));
            scripts.push_back(access(layer, kTwoNodes, "exchanged", step(12'000)));
            scripts.push_back(access(layer, kThreeNodes, "exchanged", step(12'000)));
          }
          if (positioning == Positioning::shared && !collective && style == Style::blocking) {
            scripts.push_back(access(layer, kTwoNodes, "direct", step(300)));
          }
        }
      }
    }
  }
}

void add_atomic(Layer layer, std::vector<Script>& scripts) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    for (const bool collective : {false, true}) {
      Script script = begin(std::string("atomic") + (collective ? " collective" : " independent") +
                                (nodes == kOneNode ? "" : " on two nodes"),
                            layer, nodes, "staged");
      Step atomic = of_kind(StepKind::set_atomicity);
      atomic.atomic = true;
      script.steps.push_back(atomic);
      script.steps.push_back(set_view(3, false));
      for (const Direction direction : {Direction::write, Direction::read}) {
        script.steps.push_back(
            transfer(3, direction, Style::blocking, Positioning::explicit_offset, collective, 600));
      }
      scripts.push_back(std::move(script));
    }
  }
}

void add_others(Layer layer, std::vector<Script>& scripts) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    Script sizes =
        begin(nodes == kOneNode ? "sizes" : "sizes on two nodes", layer, nodes, "staged");
    sizes.steps = {of_kind(StepKind::allocate, 40'000), of_kind(StepKind::get_size),
                   of_kind(StepKind::resize, 30'000), of_kind(StepKind::sync)};
    scripts.push_back(std::move(sizes));

    Script create =
        begin(nodes == kOneNode ? "create and delete" : "create and delete on two nodes", layer,
              nodes, "direct");
    create.mode.create = create.mode.append = create.mode.delete_on_close = true;
    Step seek = of_kind(StepKind::seek_shared, 5);
    create.steps = {set_view(3, true), seek,
                    transfer(3, Direction::write, Style::blocking, Positioning::shared, false, 50)};
    scripts.push_back(std::move(create));
  }
  Script late = begin("told by the close", layer, kOneNode, "direct");
  late.learns_late = true;
  late.steps = {
      set_view(3, false),
      transfer(3, Direction::write, Style::unwaited, Positioning::explicit_offset, true, 600),
      transfer(3, Direction::write, Style::unwaited, Positioning::pointer, false, 600)};
  scripts.push_back(std::move(late));
  Script alone = begin("told by the sync", layer, {"a"}, "direct");
  alone.steps = {set_view(1, false),
                 transfer(1, Direction::write, Style::unwaited, Positioning::pointer, false, 600),
                 of_kind(StepKind::sync)};
  scripts.push_back(std::move(alone));
  // Those whose own writes do not fail.
  Script others = begin("others are told by the sync", layer, kOneNode, "direct");
  others.steps = {set_view(3, false),
                  transfer(3, Direction::write, Style::blocking, Positioning::pointer, false, 600),
                  of_kind(StepKind::sync)};
  scripts.push_back(std::move(others));
}

/// Blocks of 4 bytes in loops within loops, more than cursors keep without memory. Repeated, those
/// of `ranks` ranks take turns.
Pair deep_tile(int ranks) {
  const std::int64_t unit = std::int64_t{4} * ranks;
  Pair tile = sim::resized(sim::basic(4), unit);
  constexpr int kLoops = 7;
  for (int loop = 0; loop < kLoops; ++loop) {
    // Not twice that of the loop within: two such loops are one.
    const std::int64_t stride = tile.type->extent() + unit * (1 + loop % 2);
    const std::size_t bytes = tile.model.offsets.size();
    for (std::size_t i = 0; i < bytes; ++i) {
      tile.model.offsets.push_back(stride + tile.model.offsets[i]);
    }
    const view::TypePtr twice = view::make_hvector(2, 1, stride, tile.type);
    tile = sim::resized({twice, tile.model}, stride + tile.type->extent());
  }
  return tile;
}

/// Where names, hints and views are too large for what needs no memory.
void add_deep(Layer layer, std::vector<Script>& scripts) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    Script script = begin(nodes == kOneNode ? "one node, deep views" : "two nodes, deep views",
                          layer, nodes, "staged");
    script.hints["cb_config_list"] = "node-17.cluster.example:*,*:1";
    const Pair tile = deep_tile(script.ranks());
    Step view = set_view(script.ranks(), true);
    view.views.clear();
    for (std::int64_t rank = 0; rank < script.ranks(); ++rank) {
      view.views.emplace_back(4 * rank, sim::basic(4), tile);
    }
    script.steps.push_back(view);
    for (const Style style : {Style::blocking, Style::nonblocking}) {
      for (const Direction direction : {Direction::write, Direction::read}) {
        script.steps.push_back(
            transfer(3, direction, style, Positioning::explicit_offset, true, 300));
      }
    }
    Step atomic = of_kind(StepKind::set_atomicity);
    atomic.atomic = true;
    script.steps.push_back(atomic);
    for (const Style style : {Style::blocking, Style::nonblocking}) {
      script.steps.push_back(
          transfer(3, Direction::write, style, Positioning::explicit_offset, true, 300));
    }
    scripts.push_back(std::move(script));
  }
}

/// Each collective call with one rank whose arguments are wrong.
void add_invalid(Layer layer, std::vector<Script>& scripts) {
  for (int rank = 0; rank < 3; ++rank) {
    for (const auto& nodes : {kOneNode, kTwoNodes}) {
      Script script = begin("wrong arguments of rank " + std::to_string(rank) +
                                (nodes == kOneNode ? "" : " on two nodes"),
                            layer, nodes, "staged");
      script.steps.push_back(set_view(3, false));
      for (const Step& step : std::vector<Step>(script.steps)) script.steps.push_back(step);
      for (const Direction direction : {Direction::write, Direction::read}) {
        for (const Positioning positioning : {Positioning::explicit_offset, Positioning::pointer}) {
          for (const Style style : {Style::blocking, Style::nonblocking, Style::split}) {
            for (const bool collective : {true, false}) {
              if (style == Style::split && !collective) continue;
              script.steps.push_back(transfer(3, direction, style, positioning, collective, 300));
            }
          }
        }
      }
      Step common = set_view(3, true);
      script.steps.push_back(common);
      for (const Direction direction : {Direction::write, Direction::read}) {
        for (const Style style : {Style::blocking, Style::split}) {
          script.steps.push_back(transfer(3, direction, style, Positioning::shared, true, 300));
        }
        for (const Style style : {Style::blocking, Style::nonblocking}) {
          script.steps.push_back(transfer(3, direction, style, Positioning::shared, false, 300));
        }
      }
      for (const StepKind kind :
           {StepKind::resize, StepKind::allocate, StepKind::set_atomicity, StepKind::seek_shared}) {
        script.steps.push_back(of_kind(kind, 21'000));
      }
      for (std::size_t i = 1; i < script.steps.size(); ++i) {
        Step& step = script.steps[i];
        if (step.kind != StepKind::set_view || i == 1) step.invalid_rank = rank;
      }
      scripts.push_back(std::move(script));
    }
  }
}

}  // namespace

std::vector<Script> fixed_scripts(Layer layer) {
  std::vector<Script> scripts;
  add_accesses(layer, scripts);
  add_atomic(layer, scripts);
  add_others(layer, scripts);
  add_invalid(layer, scripts);
  add_deep(layer, scripts);
  return scripts;
}

}  // namespace headrace::faults
