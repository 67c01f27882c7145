#include "fuzz/shrink.h"

#include <algorithm>
#include <utility>

#include "fuzz/rules.h"
#include "steps/view_map.h"

namespace headrace::fuzz {
namespace {

/// Takes steps out, and what later steps say of them.
Program without_steps(const Program& program, std::size_t first, std::size_t number) {
  Program result = program;
  const auto begin = result.steps.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(number);
  std::vector<int> gone;
  for (auto step = begin; step != end; ++step) gone.push_back(step->id);
  result.steps.erase(begin, end);
  for (Step& step : result.steps) {
    for (Part& part : step.parts) {
      std::erase_if(part.waits, [&](int id) { return std::ranges::count(gone, id) > 0; });
    }
  }
  return result;
}

Program without_rank(const Program& program, std::size_t rank) {
  Program result = program;
  const auto at = static_cast<std::ptrdiff_t>(rank);
  result.nodes.erase(result.nodes.begin() + at);
  for (File& file : result.files) file.groups.erase(file.groups.begin() + at);
  for (Step& step : result.steps) step.parts.erase(step.parts.begin() + at);
  return result;
}

Program without_file(const Program& program, std::size_t file) {
  Program result = program;
  result.files.erase(result.files.begin() + static_cast<std::ptrdiff_t>(file));
  const int number = static_cast<int>(file);
  std::erase_if(result.steps, [&](const Step& step) { return step.file == number; });
  for (Step& step : result.steps) {
    if (step.file > number) step.file -= 1;
  }
  return result;
}

TypeTree basic() {
  return TypeTree{};
}

/// Types with less in them.
std::vector<TypeTree> simpler(const TypeTree& type) {
  std::vector<TypeTree> result;
  if (type == basic()) return result;
  result.push_back(basic());
  for (const TypeTree& child : type.children) result.push_back(child);
  for (std::size_t i = 0; i < type.children.size(); ++i) {
    for (const TypeTree& child : simpler(type.children[i])) {
      TypeTree changed = type;
      changed.children[i] = child;
      result.push_back(std::move(changed));
    }
  }
  if (type.kind == TypeKind::darray || type.kind == TypeKind::subarray) return result;
  const auto& arguments = type.arguments;
  // A block less; both lists of a type with blocks are equally long.
  const bool has_blocks = arguments.size() == 2 && arguments[0].size() == arguments[1].size() &&
                          type.kind != TypeKind::resized && type.kind != TypeKind::structure;
  for (std::size_t block = 0; has_blocks && arguments[0].size() > 1 && block < arguments[0].size();
       ++block) {
    TypeTree changed = type;
    for (Numbers& list : changed.arguments)
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(block));
    result.push_back(std::move(changed));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (std::size_t j = 0; j < arguments[i].size(); ++j) {
      const std::int64_t number = arguments[i][j];
      for (const std::int64_t less : {std::int64_t{0}, std::int64_t{1}, number / 2}) {
        if (less >= number) continue;
        TypeTree changed = type;
        changed.arguments[i][j] = less;
        result.push_back(std::move(changed));
      }
    }
  }
  return result;
}

class Shrinker {
 public:
  Shrinker(Program program, const std::function<bool(const Program&)>& fails, int most_tries)
      : best_(std::move(program)), fails_(fails), tries_left_(most_tries) {}

  Program run() {
    do {
      has_shrunk_ = false;
      drop_steps();
      drop_files();
      drop_ranks();
      simplify_job();
      for (std::size_t i = 0; i < best_.steps.size(); ++i) simplify_step(i);
    } while (has_shrunk_ && tries_left_ > 0);
    return std::move(best_);
  }

 private:
  bool accept(Program candidate) {
    if (tries_left_ <= 0 || !problem_of(candidate).empty()) return false;
    --tries_left_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    has_shrunk_ = true;
    return true;
  }

  /// Tries the best program with a change.
  template <class Change>
  bool accept_changed(Change change) {
    Program candidate = best_;
    change(candidate);
    return accept(std::move(candidate));
  }

  void drop_steps() {
    for (std::size_t number = best_.steps.size(); number > 0; number /= 2) {
      for (std::size_t end = best_.steps.size(); end > 0;) {
        const std::size_t first = end - std::min(number, end);
        if (accept(without_steps(best_, first, end - first))) {
          end = std::min(first, best_.steps.size());
        } else {
          end = first;
        }
      }
    }
    drop_pairs();
  }

  /// A call and what completes it go together.
  void drop_pairs() {
    for (std::size_t i = best_.steps.size(); i-- > 0;) {
      for (std::size_t j = i + 1; j < best_.steps.size(); ++j) {
        if (best_.steps[i].file != best_.steps[j].file) continue;
        if (best_.steps[i].kind != StepKind::access) break;
        if (best_.steps[j].kind != StepKind::end && best_.steps[j].kind != StepKind::wait) continue;
        if (accept(without_steps(without_steps(best_, j, 1), i, 1))) break;
      }
      i = std::min(i, best_.steps.size());
    }
  }

  void drop_files() {
    for (std::size_t i = best_.files.size(); i-- > 0 && best_.files.size() > 1;) {
      accept(without_file(best_, i));
    }
  }

  void drop_ranks() {
    for (std::size_t i = best_.nodes.size(); i-- > 0 && best_.nodes.size() > 1;) {
      accept(without_rank(best_, i));
    }
  }

  void simplify_job() {
    accept_if(best_.has_thread_a_file, [](Program& p) { p.has_thread_a_file = false; });
    accept_if(best_.delay_every != 0, [](Program& p) { p.delay_every = 0; });
    accept_if(best_.chunk != 0, [](Program& p) { p.chunk = 0; });
    accept_if(best_.on_real_files, [](Program& p) { p.on_real_files = false; });
    for (std::size_t i = 0; i < best_.nodes.size(); ++i) {
      accept_if(best_.nodes[i] != 0, [i](Program& p) { p.nodes[i] = 0; });
    }
    for (std::size_t i = 0; i < best_.files.size(); ++i) {
      const File file = best_.files[i];
      accept_if(std::ranges::count(file.groups, 0) != std::ssize(file.groups),
                [i](Program& p) { std::ranges::fill(p.files[i].groups, 0); });
      for (const auto& hint : file.hints) {
        accept_changed([&](Program& p) { p.files[i].hints.erase(hint.first); });
      }
      for (const auto word : {&Mode::append, &Mode::delete_on_close, &Mode::unique_open,
                              &Mode::exclusive, &Mode::sequential}) {
        accept_if(file.mode.*word, [i, word](Program& p) { p.files[i].mode.*word = false; });
      }
      if (!file.size) continue;
      for (const std::int64_t size : {std::int64_t{0}, *file.size / 2}) {
        accept_if(size < *file.size, [i, size](Program& p) { p.files[i].size = size; });
      }
    }
  }

  template <class Change>
  bool accept_if(bool is_different, Change change) {
    return is_different && accept_changed(change);
  }

  void simplify_step(std::size_t i) {
    const Step step = best_.steps[i];
    for (const auto& hint : step.hints) {
      accept_changed([&](Program& p) { p.steps[i].hints.erase(hint.first); });
    }
    if (step.kind == StepKind::access) simplify_function(i);
    accept_if(step.cancels, [i](Program& p) { p.steps[i].cancels = false; });
    accept_if(step.completion != Completion::wait,
              [i](Program& p) { p.steps[i].completion = Completion::wait; });
    accept_if(step.value != 0, [i](Program& p) { p.steps[i].value = 0; });
    for (std::size_t rank = 0; rank < step.parts.size(); ++rank) simplify_part(i, rank);
  }

  void simplify_function(std::size_t i) {
    const Step step = best_.steps[i];
    accept_if(step.style != Style::blocking, [&](Program& p) {
      p.steps[i].style = Style::blocking;
      for (Step& other : p.steps) {
        for (Part& part : other.parts) std::erase(part.waits, step.id);
      }
    });
    accept_if(step.is_collective && step.style == Style::blocking,
              [i](Program& p) { p.steps[i].is_collective = false; });
    accept_if(step.positioning != Positioning::explicit_offset,
              [i](Program& p) { p.steps[i].positioning = Positioning::explicit_offset; });
  }

  void simplify_part(std::size_t i, std::size_t rank) {
    const Step& step = best_.steps[i];
    const Part part = step.parts[rank];
    const auto mine = [i, rank](Program& p) -> Part& { return p.steps[i].parts[rank]; };
    if (!part.takes_part) return;
    if (!is_collective(step) && step.kind != StepKind::wait) {
      if (accept_changed([&](Program& p) {
            mine(p).takes_part = false;
            for (Step& other : p.steps) std::erase(other.parts[rank].waits, p.steps[i].id);
          })) {
        return;
      }
    }
    accept_if(part.absolute, [&](Program& p) { mine(p).absolute = false; });
    for (const std::int64_t offset : {std::int64_t{0}, part.offset / 2}) {
      accept_if(offset < part.offset, [&](Program& p) { mine(p).offset = offset; });
    }
    if (step.kind == StepKind::access) {
      for (const std::int64_t count :
           {std::int64_t{0}, std::int64_t{1}, part.count / 2, part.count - 1}) {
        if (accept_if(count >= 0 && count < part.count,
                      [&](Program& p) { mine(p).count = count; })) {
          break;
        }
      }
      simplify_type([&](Program& p) -> TypeTree& { return mine(p).memory; });
    }
    if (step.kind == StepKind::set_view) {
      accept_if(part.view.displacement > 0, [&](Program& p) { mine(p).view.displacement = 0; });
      simplify_type([&](Program& p) -> TypeTree& { return mine(p).view.etype; });
      simplify_type([&](Program& p) -> TypeTree& { return mine(p).view.filetype; });
    }
  }

  template <class Place>
  void simplify_type(Place place) {
    for (bool is_simpler = true; is_simpler && tries_left_ > 0;) {
      is_simpler = false;
      for (const TypeTree& type : simpler(place(best_))) {
        if (accept_changed([&](Program& p) { place(p) = type; })) {
          is_simpler = true;
          break;
        }
      }
    }
  }

  Program best_;
  const std::function<bool(const Program&)>& fails_;
  int tries_left_;
  bool has_shrunk_ = false;
};

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails, int most_tries) {
  return Shrinker(std::move(program), fails, most_tries).run();
}

}  // namespace headrace::fuzz
