#include <functional>

#include "faults/script.h"
#include "sim/random.h"

namespace headrace::faults {
namespace {

constexpr std::int64_t kPiece = 1'000;
const std::vector<std::string> kOneNode{"a", "a", "a"};
const std::vector<std::string> kTwoNodes{"a", "a", "b"};
const std::vector<std::string> kThreeNodes{"a", "b", "c"};

/// Ranks' pieces take turns; or all ranks see the same bytes.
Step set_view(int ranks, bool is_common) {
  Step step = step_of(StepKind::set_view, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    View& view = step.parts[static_cast<std::size_t>(rank)].view;
    view.etype = view.filetype = basic(4);
    view.displacement = is_common ? 8 : kPiece * rank;
    if (!is_common) view.filetype = resized(0, kPiece * ranks, basic(kPiece));
  }
  return step;
}

/// `words` of 4 bytes of each rank, every third word of its memory.
Step access(int ranks, bool is_write, Style style, Positioning positioning, bool collective,
            std::int64_t words, Ending ending = Ending::at_once) {
  Step step = step_of(StepKind::access, ranks);
  step.is_write = is_write;
  step.style = style;
  step.ending = ending;
  step.positioning = positioning;
  step.is_collective = collective;
  for (Part& part : step.parts) {
    part.memory = resized(0, 12, basic(4));
    part.count = words;
  }
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
  script.steps.push_back(step_of(StepKind::sync, ranks));
  return script;
}

void add_accesses(Layer layer, std::vector<Script>& scripts) {
  for (const bool is_write : {true, false}) {
    for (const Positioning positioning :
         {Positioning::explicit_offset, Positioning::individual, Positioning::shared}) {
      for (const Style style : {Style::blocking, Style::nonblocking, Style::split}) {
        for (const bool collective : {false, true}) {
          const bool is_ordered = collective && positioning == Positioning::shared;
          if (style == Style::split && !collective) continue;
          if (style == Style::nonblocking && is_ordered) continue;
          const auto step = [&](std::int64_t words) {
            return access(3, is_write, style, positioning, collective, words);
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
      Step atomic = step_of(StepKind::set_atomicity, 3);
      atomic.atomic = true;
      script.steps.push_back(atomic);
      script.steps.push_back(set_view(3, false));
      for (const bool is_write : {true, false}) {
        script.steps.push_back(
            access(3, is_write, Style::blocking, Positioning::explicit_offset, collective, 600));
      }
      scripts.push_back(std::move(script));
    }
  }
}

void add_others(Layer layer, std::vector<Script>& scripts) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    Script sizes =
        begin(nodes == kOneNode ? "sizes" : "sizes on two nodes", layer, nodes, "staged");
    sizes.steps = {step_of(StepKind::preallocate, 3, 40'000), step_of(StepKind::get_size, 3),
                   step_of(StepKind::set_size, 3, 30'000), step_of(StepKind::sync, 3)};
    scripts.push_back(std::move(sizes));

    Script create =
        begin(nodes == kOneNode ? "create and delete" : "create and delete on two nodes", layer,
              nodes, "direct");
    create.mode.create = create.mode.append = create.mode.delete_on_close = true;
    Step seek = step_of(StepKind::seek_shared, 3, 5);
    create.steps = {set_view(3, true), seek,
                    access(3, true, Style::blocking, Positioning::shared, false, 50)};
    scripts.push_back(std::move(create));
  }
  Script late = begin("told by the close", layer, kOneNode, "direct");
  late.learns_late = true;
  late.steps = {
      set_view(3, false),
      access(3, true, Style::nonblocking, Positioning::explicit_offset, true, 600, Ending::never),
      access(3, true, Style::nonblocking, Positioning::individual, false, 600, Ending::never)};
  scripts.push_back(std::move(late));
  Script alone = begin("told by the sync", layer, {"a"}, "direct");
  alone.steps = {
      set_view(1, false),
      access(1, true, Style::nonblocking, Positioning::individual, false, 600, Ending::never),
      step_of(StepKind::sync, 1)};
  scripts.push_back(std::move(alone));
  // Those whose own writes do not fail.
  Script others = begin("others are told by the sync", layer, kOneNode, "direct");
  others.steps = {set_view(3, false),
                  access(3, true, Style::blocking, Positioning::individual, false, 600),
                  step_of(StepKind::sync, 3)};
  scripts.push_back(std::move(others));
}

/// Blocks of 4 bytes in loops within loops, more than cursors keep without memory. Repeated, those
/// of `ranks` ranks take turns.
TypeTree deep_tile(int ranks) {
  const std::int64_t unit = std::int64_t{4} * ranks;
  TypeTree tile = resized(0, unit, basic(4));
  constexpr int kLoops = 7;
  for (int loop = 0; loop < kLoops; ++loop) {
    // Not twice that of the loop within: two such loops are one.
    const std::int64_t extent = expand(tile).extent();
    const std::int64_t stride = extent + unit * (1 + loop % 2);
    tile = resized(0, stride + extent, make_tree(TypeKind::hvector, {{2}, {1}, {stride}}, {tile}));
  }
  return tile;
}

/// Where names, hints and views are too large for what needs no memory.
void add_deep(Layer layer, std::vector<Script>& scripts) {
  for (const auto& nodes : {kOneNode, kTwoNodes}) {
    Script script = begin(nodes == kOneNode ? "one node, deep views" : "two nodes, deep views",
                          layer, nodes, "staged");
    script.hints["cb_config_list"] = "node-17.cluster.example:*,*:1";
    const TypeTree tile = deep_tile(script.ranks());
    Step view = set_view(script.ranks(), true);
    for (Part& part : view.parts) {
      part.view = {4 * (&part - view.parts.data()), false, basic(4), tile};
    }
    script.steps.push_back(view);
    for (const Style style : {Style::blocking, Style::nonblocking}) {
      for (const bool is_write : {true, false}) {
        script.steps.push_back(access(3, is_write, style, Positioning::explicit_offset, true, 300));
      }
    }
    Step atomic = step_of(StepKind::set_atomicity, 3);
    atomic.atomic = true;
    script.steps.push_back(atomic);
    for (const Style style : {Style::blocking, Style::nonblocking}) {
      script.steps.push_back(access(3, true, style, Positioning::explicit_offset, true, 300));
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
      for (const bool is_write : {true, false}) {
        for (const Positioning positioning :
             {Positioning::explicit_offset, Positioning::individual}) {
          for (const Style style : {Style::blocking, Style::nonblocking, Style::split}) {
            for (const bool collective : {true, false}) {
              if (style == Style::split && !collective) continue;
              script.steps.push_back(access(3, is_write, style, positioning, collective, 300));
            }
          }
        }
      }
      Step common = set_view(3, true);
      script.steps.push_back(common);
      for (const bool is_write : {true, false}) {
        for (const Style style : {Style::blocking, Style::split}) {
          script.steps.push_back(access(3, is_write, style, Positioning::shared, true, 300));
        }
        for (const Style style : {Style::blocking, Style::nonblocking}) {
          script.steps.push_back(access(3, is_write, style, Positioning::shared, false, 300));
        }
      }
      for (const StepKind kind : {StepKind::set_size, StepKind::preallocate,
                                  StepKind::set_atomicity, StepKind::seek_shared}) {
        script.steps.push_back(step_of(kind, 3, 21'000));
      }
      for (std::size_t i = 1; i < script.steps.size(); ++i) {
        Step& step = script.steps[i];
        if (step.kind != StepKind::set_view || i == 1) {
          step.parts[static_cast<std::size_t>(rank)].wrong = true;
        }
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
  // Each step has data of its own.
  for (Script& script : scripts) {
    for (std::size_t i = 0; i < script.steps.size(); ++i) {
      script.steps[i].id = static_cast<int>(i);
    }
  }
  return scripts;
}

}  // namespace headrace::faults
