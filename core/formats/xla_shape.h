#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::core {

/// The size of a shape of XLA.
struct XlaShape {
  std::int64_t bytes = 0;
  std::string_view type;  ///< the first known element type in the shape
  /// The number of an element type that is not known, which makes `bytes` too small; 0: none.
  std::uint64_t unknown_type = 0;
};

/// Adds the bytes of a shape to `to`. `shape` is a serialized message ShapeProto, in which field 2
/// is the element type, field 3 the dimensions, and field 4 the shapes of a tuple. Types, tuples
/// and dimensions that are nested deeper than three levels are ignored; `depth` is the level of
/// `shape`.
void add_shape(std::string_view shape, int depth, XlaShape& to);

}  // namespace tutti::core
