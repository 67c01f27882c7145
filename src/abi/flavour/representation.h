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
  view::ElementsPtr elements;  ///< of `datatype`, in the representation that converts
  void* buffer = nullptr;
};

/// A data representation in which data does not lie in a file as in memory (MPI 4.1, section 14.5).
/// Lives until the process ends. Safe from several threads; functions of the program are called on
/// the thread that calls.
class Representation {
 public:
  virtual ~Representation() = default;

  /// A predefined type's data, with its sizes in the file.
  virtual Result<view::ElementsPtr> elements_of(MPI_Datatype predefined) const = 0;
  /// False where data goes that way as it lies in memory.
  virtual bool converts(Direction direction) const = 0;
  /// Whether the conversion uses the program's datatype, which must then be kept until it is done.
  virtual bool needs_datatype() const = 0;

  /// Whether a value may be found that the file cannot hold, before anything is written: then
  /// to_file() may be called for all data and again for each part.
  virtual bool can_try(const view::Elements& elements) const = 0;

  /// What lies between two amounts of the buffer, in whole elements.
  struct Part {
    view::Amount begin;
    view::Amount end;
  };
  /// Converts to `stored`, which has room for it.
  virtual Error to_file(const TypedBuffer& memory, const Part& part, std::byte* stored) const = 0;
  /// The other way. `done`: up to where memory has got it, also after an error.
  virtual Error from_file(const TypedBuffer& memory, const Part& part, std::byte* stored,
                          view::Amount& done) const = 0;
};

/// The name by which MPI knows a data representation: "NATIVE", "INTERNAL" and "EXTERNAL32", which
/// ROMIO and OMPIO take too, are those in small letters. Others stay as they are.
std::string common_name(const std::string& name);

/// The representation of that name, or null for native and internal. Error: there is none.
Result<const Representation*> find_representation(const std::string& name);

/// What a program gave MPI_Register_datarep.
struct Registration {
  /// How its functions are called: with counts of int, with large counts, or by Fortran's rules
  /// (all arguments by reference, an error code behind them).
  enum class Convention { c, c_large, fortran };

  Convention convention = Convention::c;
  void* read = nullptr;  ///< null: native, as for `write`
  void* write = nullptr;
  void* extent = nullptr;
  void* state = nullptr;  ///< Fortran's is a number, passed by reference
};

/// Local to this process. Errors: the name is taken, too long or missing, or so is `extent`.
Error register_representation(const char* name, const Registration& registration);

}  // namespace headrace::HEADRACE_FLAVOUR
