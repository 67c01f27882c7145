#include "fuzz_types.h"

#include <vector>

#include "fuzz/program.h"
#include "steps/type_map.h"

namespace headrace::fuzz {
namespace {

using Numbers = std::vector<std::int64_t>;

/// The arguments of a constructor in the type that its form asks for.
template <typename Number>
std::vector<Number> as(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

MPI_Datatype basic(std::int64_t size, bool other) {
  switch (size) {
    case 1: return other ? MPI_CHAR : MPI_BYTE;
    case 2: return MPI_SHORT;
    case 4: return other ? MPI_FLOAT : MPI_INT;
    default: return other ? MPI_INT64_T : MPI_DOUBLE;
  }
}

int order_of(const TypeTree& tree) {
  return tree.arguments.back()[0] == 1 ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
}

struct Grid {
  std::vector<int> ways;
  std::vector<int> arguments;
  std::vector<int> processes;
};

Grid grid_of(const TypeTree& tree) {
  Grid grid;
  for (std::size_t i = 0; i < tree.arguments[1].size(); ++i) {
    const std::int64_t way = tree.arguments[2][i];
    grid.ways.push_back(way == kNone    ? MPI_DISTRIBUTE_NONE
                        : way == kBlock ? MPI_DISTRIBUTE_BLOCK
                                        : MPI_DISTRIBUTE_CYCLIC);
    const std::int64_t argument = tree.arguments[3][i];
    grid.arguments.push_back(argument == kDefaultArgument ? MPI_DISTRIBUTE_DFLT_DARG
                                                          : static_cast<int>(argument));
    grid.processes.push_back(static_cast<int>(tree.arguments[4][i]));
  }
  return grid;
}

// The constructors by number type: `small` has int and MPI_Aint, `large` MPI_Count for both.
#define HEADRACE_CONSTRUCTORS(name, suffix, Number, Bytes)                                         \
  MPI_Datatype name(const TypeTree& tree, const std::vector<MPI_Datatype>& olds) {                 \
    const std::vector<Numbers>& a = tree.arguments;                                                \
    const MPI_Datatype old = olds.front();                                                         \
    MPI_Datatype made = MPI_DATATYPE_NULL;                                                         \
    int code = MPI_SUCCESS;                                                                        \
    const auto number = [&](std::size_t i) { return static_cast<Number>(a[i][0]); };               \
    const auto list = [&](std::size_t i) { return as<Number>(a[i]); };                             \
    const auto bytes = [&](std::size_t i) { return as<Bytes>(a[i]); };                             \
    const auto length = [&](std::size_t i) { return static_cast<Number>(a[i].size()); };           \
    switch (tree.kind) {                                                                           \
      case TypeKind::contiguous: code = MPI_Type_contiguous##suffix(number(0), old, &made); break; \
      case TypeKind::vector:                                                                       \
        code = MPI_Type_vector##suffix(number(0), number(1), number(2), old, &made);               \
        break;                                                                                     \
      case TypeKind::hvector:                                                                      \
        code = MPI_Type_create_hvector##suffix(number(0), number(1), static_cast<Bytes>(a[2][0]),  \
                                               old, &made);                                        \
        break;                                                                                     \
      case TypeKind::indexed:                                                                      \
        code = MPI_Type_indexed##suffix(length(1), list(0).data(), list(1).data(), old, &made);    \
        break;                                                                                     \
      case TypeKind::hindexed:                                                                     \
        code = MPI_Type_create_hindexed##suffix(length(1), list(0).data(), bytes(1).data(), old,   \
                                                &made);                                            \
        break;                                                                                     \
      case TypeKind::indexed_block:                                                                \
        code = MPI_Type_create_indexed_block##suffix(length(1), number(0), list(1).data(), old,    \
                                                     &made);                                       \
        break;                                                                                     \
      case TypeKind::hindexed_block:                                                               \
        code = MPI_Type_create_hindexed_block##suffix(length(1), number(0), bytes(1).data(), old,  \
                                                      &made);                                      \
        break;                                                                                     \
      case TypeKind::structure:                                                                    \
        code = MPI_Type_create_struct##suffix(length(1), list(0).data(), bytes(1).data(),          \
                                              olds.data(), &made);                                 \
        break;                                                                                     \
      case TypeKind::resized:                                                                      \
        code = MPI_Type_create_resized##suffix(old, static_cast<Bytes>(a[0][0]),                   \
                                               static_cast<Bytes>(a[1][0]), &made);                \
        break;                                                                                     \
      case TypeKind::subarray:                                                                     \
        code = MPI_Type_create_subarray##suffix(static_cast<int>(a[0].size()), list(0).data(),     \
                                                list(1).data(), list(2).data(), order_of(tree),    \
                                                old, &made);                                       \
        break;                                                                                     \
      case TypeKind::darray: {                                                                     \
        const Grid grid = grid_of(tree);                                                           \
        code = MPI_Type_create_darray##suffix(                                                     \
            static_cast<int>(a[0][0]), static_cast<int>(a[0][1]), static_cast<int>(a[1].size()),   \
            list(1).data(), grid.ways.data(), grid.arguments.data(), grid.processes.data(),        \
            order_of(tree), old, &made);                                                           \
        break;                                                                                     \
      }                                                                                            \
      default: code = MPI_Type_dup(old, &made); break;                                             \
    }                                                                                              \
    return code == MPI_SUCCESS ? made : MPI_DATATYPE_NULL;                                         \
  }

HEADRACE_CONSTRUCTORS(make_small, , int, MPI_Aint)
#if MPI_VERSION >= 4
HEADRACE_CONSTRUCTORS(make_large, _c, MPI_Count, MPI_Count)
#else
constexpr auto& make_large = make_small;
#endif

/// Gives a type the bounds of its type map where MPI's differ: it may pad structures.
MPI_Datatype with_bounds(MPI_Datatype type, const TypeMap& map) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  if (extent == map.extent() && (lower == map.lower() || map.size() == 0)) return type;
  MPI_Datatype padded = type;
  MPI_Type_create_resized(padded, map.lower(), map.extent(), &type);
  MPI_Type_free(&padded);
  return type;
}

/// The same type map from bytes alone, where a library refuses the constructor (as Open MPI does
/// with some arrays).
MPI_Datatype from_bytes(const TypeMap& map) {
  const std::vector<MPI_Aint> places = as<MPI_Aint>(map.offsets);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_BYTE,
                                 &made);
  return made;
}

/// A type of its own, or a predefined one that must not be freed.
MPI_Datatype build(const TypeTree& tree, bool large) {
  if (tree.kind == TypeKind::basic) return basic(tree.arguments[0][0], large);
  std::vector<MPI_Datatype> olds;
  for (const TypeTree& child : tree.children) olds.push_back(build(child, large));
  if (olds.empty()) olds.push_back(MPI_BYTE);
  const TypeMap map = expand(tree);
  MPI_Datatype made = (large ? make_large : make_small)(tree, olds);
  if (made == MPI_DATATYPE_NULL) made = from_bytes(map);
  made = with_bounds(made, map);
  for (std::size_t i = 0; i < tree.children.size(); ++i) {
    if (tree.children[i].kind != TypeKind::basic) MPI_Type_free(&olds[i]);
  }
  return made;
}

}  // namespace

MpiType::MpiType(MPI_Datatype made)
    : handle_(new MPI_Datatype(made), [](MPI_Datatype* type) {
        MPI_Type_free(type);
        delete type;
      }) {
  MPI_Type_commit(handle_.get());
}

MpiType::MpiType(const TypeTree& tree, bool large) {
  MPI_Datatype made = build(tree, large);
  if (tree.kind == TypeKind::basic) {
    handle_ = std::make_shared<MPI_Datatype>(made);
  } else {
    *this = MpiType(made);
  }
}

MpiType MpiType::at(MPI_Aint address) const {
  const int one = 1;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &one, &address, handle(), &made);
  return MpiType(made);
}

}  // namespace headrace::fuzz
