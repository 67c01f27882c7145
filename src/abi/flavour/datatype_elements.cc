#include "abi/flavour/datatype_elements.h"

#include <array>
#include <span>
#include <vector>

#include "abi/flavour/datatype_construct.h"
#include "abi/flavour/datatype_contents.h"
#include "abi/flavour/error.h"
#include "view/wide.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

using view::ElementsPtr;
using view::Wide;

/// Whether counts[i] times parts[i] together are few enough for view's makers.
bool fits(std::span<const std::int64_t> counts, std::span<const ElementsPtr> parts) {
  Wide stored = 0;
  Wide items = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    stored += Wide{counts[i]} * parts[i]->amount().stored;
    items += Wide{counts[i]} * parts[i]->amount().items;
    if (!view::fits(stored) || !view::fits(items)) return false;
  }
  return true;
}

Result<ElementsPtr> join(std::span<const std::int64_t> counts, std::span<const MPI_Datatype> types,
                         const Representation& representation) {
  std::vector<ElementsPtr> parts;
  for (const MPI_Datatype type : types) {
    auto built = build_elements(type, representation);
    if (!built) return built;
    parts.push_back(built.value());
  }
  if (!fits(counts, parts)) return too_large_type();
  return view::join_elements(counts, parts);
}

/// The elements of a constructor with one old type: a repetition of that type's elements.
Result<ElementsPtr> repeated(MPI_Datatype datatype, MPI_Datatype old,
                             const Representation& representation) {
  auto built = build_elements(old, representation);
  if (!built) return built;
  MPI_Count size = 0;
  MPI_Count old_size = 0;
  if (native.Type_size_x(datatype, &size) != MPI_SUCCESS ||
      native.Type_size_x(old, &old_size) != MPI_SUCCESS) {
    return native_failure("measure a datatype");
  }
  const std::array counts{old_size == 0 ? std::int64_t{0} : std::int64_t{size / old_size}};
  if (!fits(counts, {&built.value(), 1})) return too_large_type();
  return view::repeat_elements(counts[0], built.value());
}

/// The error for MPI_LB and MPI_UB, which some libraries still have: they are types without bytes
/// whose places are in memory, so a type in a file cannot have them.
Error marker_of_bounds() {
  return {ErrorClass::type, 0,
          "MPI_LB and MPI_UB have no place in a view with a data representation (bounds in a file "
          "do not follow from memory's), use MPI_Type_create_resized"};
}

/// Types as they lie in a file.
class FileForm : public TypeForm {
 public:
  explicit FileForm(const Representation& representation) : representation_(representation) {}

  Result<view::TypePtr> predefined(MPI_Datatype datatype) const override {
    const auto elements = representation_.elements_of(datatype);
    if (!elements) return elements.error();
    if (elements.value()->amount().stored == 0) return marker_of_bounds();
    return view::make_basic(elements.value()->amount().stored);
  }
  std::int64_t place_behind(const view::Type& value, const view::Type&) const override {
    return value.extent();
  }
  Result<view::TypePtr> accept(MPI_Datatype, const view::TypePtr& made) const override {
    if (made == nullptr) return too_large_type();
    return made;
  }

 private:
  const Representation& representation_;
};

}  // namespace

Result<ElementsPtr> build_elements(MPI_Datatype datatype, const Representation& representation) {
  auto contents = Contents::get(datatype);
  if (!contents) return contents.error();
  Contents& own = contents.value();
  if (own.is_predefined()) return representation.elements_of(datatype);
  const int combiner = own.combiner();
  if (combiner == MPI_COMBINER_STRUCT || combiner == kStructInteger) {
    const std::int64_t count = own.next_count();
    return join(own.next_counts(count), own.types(), representation);
  }
  if (combiner == kValueIndex) {
    constexpr std::int64_t kOnce[] = {1, 1};
    return join(kOnce, own.types(), representation);
  }
  return repeated(datatype, own.types().at(0), representation);
}

Result<view::TypePtr> build_file_type(MPI_Datatype datatype, const Representation& representation) {
  return construct_type(datatype, FileForm(representation));
}

}  // namespace headrace::HEADRACE_FLAVOUR
