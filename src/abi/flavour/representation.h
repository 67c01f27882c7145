#pragma once

#include <cstddef>
#include <string>

#include "abi/flavour/native.h"
#include "base/result.h"
#include "base/types.h"
#include "view/elements.h"
#include "view/type.h"

namespace headrace::HEADRACE_FLAVOUR {

/// The program's side of a conversion: a datatype repeated in memory.
struct TypedBuffer {
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  view::TypePtr type;
  view::ElementsPtr elements;  ///< elements of `datatype`, with their sizes in the representation
  void* buffer = nullptr;
};

/// A data representation other than native (MPI 4.1, section 14.5). Lives until the process ends.
/// Safe from several threads; functions of the program run on the calling thread.
class Representation {
 public:
  virtual ~Representation() = default;

  /// The elements of a predefined type, with their sizes in the file.
  virtual Result<view::ElementsPtr> elements_of(MPI_Datatype predefined) const = 0;
  /// Whether data is converted in this direction.
  virtual bool converts(Direction direction) const = 0;
  /// Whether the conversion uses the program's datatype, which must then be kept until it is done.
  virtual bool needs_datatype() const = 0;

  /// Whether to_file() may be called twice, so that a value that does not fit can be found before
  /// anything is written: once for all data, and again for each part.
  virtual bool can_try(const view::Elements& elements) const = 0;

  /// The elements between two amounts of the buffer, both of whole elements.
  struct Part {
    view::Amount begin;
    view::Amount end;
  };
  /// Converts to `stored`, which has room for it.
  virtual Error to_file(const TypedBuffer& memory, const Part& part, std::byte* stored) const = 0;
  /// Converts from `stored`. Sets `done` to where the data in memory ends, even after an error.
  virtual Error from_file(const TypedBuffer& memory, const Part& part, std::byte* stored,
                          view::Amount& done) const = 0;
};

/// The standard's name of a data representation: turns "NATIVE", "INTERNAL" and "EXTERNAL32", which
/// ROMIO and OMPIO also accept, to small letters. Returns other names unchanged.
std::string common_name(const std::string& name);

/// The representation of that name, or null for native and internal. Error: there is none.
Result<const Representation*> find_representation(const std::string& name);

/// The arguments of MPI_Register_datarep.
struct Registration {
  /// How its functions are called: with int counts, with large counts, or by Fortran's rules (all
  /// arguments by reference, an error code as the last).
  enum class Convention { c, c_large, fortran };

  Convention convention = Convention::c;
  void* read = nullptr;  ///< null: native, as for `write`
  void* write = nullptr;
  void* extent = nullptr;
  void* state = nullptr;  ///< Fortran's is a number, passed by reference
};

/// Registers a representation in this process. Errors: the name is taken, too long or missing, or
/// `extent` is missing.
Error register_representation(const char* name, const Registration& registration);

}  // namespace headrace::HEADRACE_FLAVOUR
