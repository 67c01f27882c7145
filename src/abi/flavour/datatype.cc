#include "abi/flavour/datatype.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "abi/flavour/attribute.h"
#include "abi/flavour/committed.h"
#include "abi/flavour/datatype_construct.h"
#include "abi/flavour/datatype_contents.h"
#include "abi/flavour/datatype_elements.h"
#include "abi/flavour/error.h"
#include "base/rounding.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// What is kept with a datatype.
struct Decoded {
  explicit Decoded(view::TypePtr decoded) : type(std::move(decoded)) {
    if (type->is_contiguous()) contiguous = {type->size(), type->true_lower_bound()};
  }

  view::TypePtr type;
  std::optional<ContiguousForm> contiguous;
  /// By data representation, for those that it was used with. Guarded by elements_mutex().
  mutable std::map<const Representation*, view::ElementsPtr> elements;
};

std::mutex& elements_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

/// A decoded form on the heap that is kept with a datatype.
class KeptForm : public Decoded {
 public:
  explicit KeptForm(view::TypePtr decoded) : Decoded(std::move(decoded)) {
    const std::lock_guard lock(all().mutex);
    all().forms.insert(this);
  }
  KeptForm(const KeptForm&) = delete;
  KeptForm& operator=(const KeptForm&) = delete;
  ~KeptForm() {
    const std::lock_guard lock(all().mutex);
    all().forms.erase(this);
  }

  static void empty_all() {
    const std::lock_guard lock(all().mutex);
    for (KeptForm* const form : all().forms) {
      form->type = nullptr;
      form->contiguous.reset();
      form->elements.clear();
    }
  }

 private:
  struct All {
    std::mutex mutex;
    std::set<KeptForm*> forms;
  };
  static All& all() {
    static auto& only = *new All;
    return only;
  }
};

/// The attribute that holds a datatype's decoded form, a KeptForm.
Keyval& decoded_keyval();

/// Decoded predefined types. They live as long as the library, so no attribute is needed; types
/// made for Fortran's kinds may differ in the library's next life.
struct PredefinedTypes {
  std::shared_mutex mutex;
  std::unordered_map<std::uintptr_t, Decoded> types;
};

PredefinedTypes& predefined_types() {
  static auto& types = *new PredefinedTypes;
  return types;
}

/// A pair such as MPI_DOUBLE_INT: a value, then an int at its natural alignment.
view::TypePtr make_pair_type(ByteCount size) {
  constexpr ByteCount kIntSize = sizeof(int);
  const ByteCount value_size = size - kIntSize;
  const std::int64_t blocklengths[] = {1, 1};
  const std::int64_t displacements[] = {0, round_up(value_size, kIntSize)};
  const view::TypePtr types[] = {view::make_basic(value_size), view::make_basic(kIntSize)};
  return view::make_struct(blocklengths, displacements, types);
}

/// Gives `type` the library's bounds if they differ (alignment padding of structs, the removed
/// MPI_LB and MPI_UB), and checks its size.
Result<view::TypePtr> adopt_bounds(MPI_Datatype datatype, view::TypePtr type) {
  if (type == nullptr) return too_large_type();
  MPI_Count size = 0;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  if (native.Type_size_x(datatype, &size) != MPI_SUCCESS ||
      native.Type_get_extent_x(datatype, &lower_bound, &extent) != MPI_SUCCESS) {
    return native_failure("measure a datatype");
  }
  if (size != type->size()) {
    return Error{ErrorClass::type, 0,
                 "a datatype cannot be used for files (MPI says " + std::to_string(size) +
                     " bytes, its constructor " + std::to_string(type->size()) +
                     "), report it with its constructor"};
  }
  if (lower_bound == type->lower_bound() && extent == type->extent()) return type;
  type = view::make_resized(type, lower_bound, extent);
  if (type == nullptr) return too_large_type();
  return type;
}

Result<view::TypePtr> build_predefined(MPI_Datatype datatype) {
  MPI_Count size = 0;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  if (native.Type_size_x(datatype, &size) != MPI_SUCCESS ||
      native.Type_get_extent_x(datatype, &lower_bound, &extent) != MPI_SUCCESS) {
    return native_failure("measure a datatype");
  }
  const bool has_gap = extent > size && size > static_cast<MPI_Count>(sizeof(int));
  return adopt_bounds(datatype, has_gap ? make_pair_type(size) : view::make_basic(size));
}

/// Types as they lie in memory.
class MemoryForm : public TypeForm {
 public:
  Result<view::TypePtr> predefined(MPI_Datatype datatype) const override {
    return build_predefined(datatype);
  }
  std::int64_t place_behind(const view::Type& value, const view::Type& index) const override {
    // The extent is not negative, since a pair has predefined types only.
    return round_up(value.extent(), std::max<ByteCount>(index.size(), 1));
  }
  Result<view::TypePtr> accept(MPI_Datatype datatype, const view::TypePtr& made) const override {
    return adopt_bounds(datatype, made);
  }
};

Result<view::TypePtr> build(MPI_Datatype datatype) {
  return construct_type(datatype, MemoryForm());
}

/// Counts ends of datatypes that had a decoded form, of single ones and with the library. What a
/// thread remembers is valid until the count changes: only then can a handle mean another type.
std::atomic<std::uint64_t> ended_types = 0;
std::uint64_t ends_of_types() {
  return ended_types.load(std::memory_order_acquire) + library_life();
}

int forget_decoded(MPI_Datatype datatype, int keyval, void* value, void* state) {
  ++ended_types;
  return delete_value<MPI_Datatype, KeptForm>(datatype, keyval, value, state);
}

Keyval& decoded_keyval() {
  static auto& only = *new Keyval([](int* keyval) {
    return native.Type_create_keyval(&do_not_copy<MPI_Datatype>, &forget_decoded, keyval, nullptr);
  });
  return only;
}

/// The decoded form kept with the datatype, or null. Types that MPI would refuse have none.
const Decoded* look_up_decoded(MPI_Datatype datatype) {
  auto& predefined = predefined_types();
  {
    const std::shared_lock lock(predefined.mutex);
    const auto found = predefined.types.find(handle_key(datatype));
    // Entries of the map never move, and stay while a file is open.
    if (found != predefined.types.end()) return &found->second;
  }
  const int keyval = decoded_keyval().get();
  if (keyval == MPI_KEYVAL_INVALID || !is_committed(datatype)) return nullptr;
  KeptForm* decoded = nullptr;
  int found = 0;
  if (native.Type_get_attr(datatype, keyval, &decoded, &found) != MPI_SUCCESS || !found) {
    return nullptr;
  }
  return decoded;
}

/// Like look_up_decoded(), but a thread remembers the type of its last call, since most calls use
/// the same.
const Decoded* find_decoded(MPI_Datatype datatype) {
  struct Last {
    std::uint64_t ends = 0;
    std::uintptr_t key = 0;
    const Decoded* decoded = nullptr;
  };
  [[gnu::tls_model("initial-exec")]] static thread_local constinit Last last;
  const std::uint64_t ends = ends_of_types();
  if (last.decoded == nullptr || last.key != handle_key(datatype) || last.ends != ends) {
    last = {ends, handle_key(datatype), look_up_decoded(datatype)};
  }
  return last.decoded;
}

Error keep_decoded(MPI_Datatype datatype, const view::TypePtr& type) {
  if (is_predefined(datatype)) {
    auto& predefined = predefined_types();
    const std::unique_lock lock(predefined.mutex);
    predefined.types.try_emplace(handle_key(datatype), Decoded(type));
    return {};
  }
  auto kept = std::make_unique<KeptForm>(type);
  const int keyval = decoded_keyval().get();
  if (keyval == MPI_KEYVAL_INVALID ||
      native.Type_set_attr(datatype, keyval, kept.get()) != MPI_SUCCESS) {
    return native_failure("keep a decoded datatype");
  }
  kept.release();  // now owned by the attribute
  return {};
}

/// Returned instead of thrown: in a collective call this rank must still take part.
Error too_large_to_examine() {
  return {ErrorClass::no_memory, 0,
          "a datatype is too large to be examined (no memory is left), use a regular one"};
}

}  // namespace

Result<view::TypePtr> decode_type(MPI_Datatype datatype) try {
  if (datatype == MPI_DATATYPE_NULL) {
    return Error{ErrorClass::type, 0, "the datatype is MPI_DATATYPE_NULL, give a committed one"};
  }
  if (const Decoded* decoded = find_decoded(datatype)) return decoded->type;
  static std::mutex& mutex = *new std::mutex;  // two threads must not both keep their result
  const std::lock_guard lock(mutex);
  if (const Decoded* decoded = find_decoded(datatype)) return decoded->type;
  if (!is_committed(datatype)) {
    return Error{ErrorClass::type, 0,
                 "the datatype cannot be used (it is not committed or not valid), call "
                 "MPI_Type_commit first"};
  }
  auto built = build(datatype);
  if (!built) return built;
  if (Error error = keep_decoded(datatype, built.value())) return error;
  return built;
} catch (const std::bad_alloc&) {
  return too_large_to_examine();
}

const ContiguousForm* find_contiguous_form(MPI_Datatype datatype) {
  if (datatype == MPI_DATATYPE_NULL) return nullptr;
  const Decoded* const decoded = find_decoded(datatype);
  return decoded != nullptr && decoded->contiguous ? &*decoded->contiguous : nullptr;
}

Result<view::ElementsPtr> decode_elements(MPI_Datatype datatype,
                                          const Representation& representation) try {
  const auto type = decode_type(datatype);
  if (!type) return type.error();
  const Decoded* const decoded = find_decoded(datatype);
  if (decoded == nullptr) return build_elements(datatype, representation);
  {
    const std::lock_guard lock(elements_mutex());
    const auto found = decoded->elements.find(&representation);
    if (found != decoded->elements.end()) return found->second;
  }
  // Without the lock, since this may call a function of the program.
  auto built = build_elements(datatype, representation);
  if (!built) return built;
  const std::lock_guard lock(elements_mutex());
  decoded->elements.emplace(&representation, built.value());
  return built;
} catch (const std::bad_alloc&) {
  return too_large_to_examine();
}

Result<view::TypePtr> decode_uncommitted_type(MPI_Datatype datatype) try {
  if (datatype == MPI_DATATYPE_NULL || is_committed(datatype)) return decode_type(datatype);
  return build(datatype);
} catch (const std::bad_alloc&) {
  return too_large_to_examine();
}

bool is_predefined(MPI_Datatype datatype) {
  return is_predefined_combiner(combiner_of(datatype));
}

Result<MPI_Datatype> hold_type(MPI_Datatype datatype) {
  if (is_predefined(datatype)) return datatype;
  MPI_Datatype held = MPI_DATATYPE_NULL;
  if (native.Type_dup(datatype, &held) != MPI_SUCCESS) return native_failure("keep a datatype");
  return held;
}

Result<MPI_Datatype> keep_type(MPI_Datatype datatype) {
  if (is_predefined(datatype)) return datatype;
  MPI_Datatype kept = MPI_DATATYPE_NULL;
  if (native.Type_contiguous(1, datatype, &kept) != MPI_SUCCESS) {
    return native_failure("keep a datatype");
  }
  return kept;
}

Result<MPI_Datatype> got_back(MPI_Datatype kept) {
  if (is_predefined(kept)) return kept;
  int count = 0;
  MPI_Aint no_address = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  if (native.Type_get_contents(kept, 1, 0, 1, &count, &no_address, &datatype) != MPI_SUCCESS ||
      native.Type_commit(&datatype) != MPI_SUCCESS) {
    return native_failure("give a datatype back");
  }
  return datatype;
}

void release_type(MPI_Datatype datatype) {
  if (datatype != MPI_DATATYPE_NULL && !is_predefined(datatype)) native.Type_free(&datatype);
}

const view::TypePtr& byte_type() {
  static const auto& byte = *new view::TypePtr(view::make_basic(1));
  return byte;
}

void drop_decoded_types() {
  KeptForm::empty_all();
  auto& predefined = predefined_types();
  const std::unique_lock lock(predefined.mutex);
  predefined.types.clear();
}

bool start_datatypes() {
  static_cast<void>(byte_type());
  return decoded_keyval().get() != MPI_KEYVAL_INVALID;
}

}  // namespace headrace::HEADRACE_FLAVOUR
