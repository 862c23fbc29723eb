#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/error.h"

namespace tutti::core {

/// The sizes of a sparse gradient: each replica has only some of the rows (TensorFlow's
/// IndexedSlices).
struct Slices {
  std::int64_t rows = 0;  ///< number of rows in the gradient of a replica; if replicas have
                          ///< different numbers, the maximum
  DataType index_type = DataType::kInt64;
  bool differ = false;  ///< true: replicas have different numbers of rows
};

/// A trainable tensor.
struct Variable {
  std::string name;
  std::vector<std::int64_t> shape;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;
  /// The position of the variable's layer in the forward pass; variables of the same layer have the
  /// same position. Default: the variable's index in the list.
  std::int64_t layer = 0;
  /// Floating-point operations of the layer per sample; nullopt if unknown.
  std::optional<double> forward_flops;
  std::optional<double> backward_flops;
  /// Measured times of the layer for `Model::batch` samples; nullopt if not measured.
  std::optional<Time> forward;
  std::optional<Time> backward;
  std::optional<Slices> slices = std::nullopt;
  /// The time before the layer's backward pass in which the device idles, because the host has not
  /// yet launched the layer's kernels. The time does not depend on the batch size.
  std::optional<Time> gap = std::nullopt;

  /// Returns the number of elements in a row. A row consists of all elements with the same index in
  /// the first dimension. REQUIRES: the variable has a shape and at least one element.
  [[nodiscard]] std::int64_t row_elements() const { return elements / shape.front(); }
  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
};

/// The variables of a model, in the order in which the program creates them.
struct Model {
  std::string name;
  std::string title;
  std::string source;
  /// The number of samples per step in the measurement of Variable::forward and Variable::backward.
  std::int64_t batch = 1;
  std::vector<Variable> variables;
};

/// Reads the variables of a model. A CSV file has the columns name, shape and type. The shape is
/// written as 2x3x4, and is empty for a scalar. The columns layer, forward_flops, backward_flops,
/// forward_us and backward_us are optional. A JSON file has a list of objects with the same keys,
/// or `{"variables": […]}`; a shape is a list. The batch size of the measured times is given by the
/// remark `# batch: n` (CSV) or by the key "batch" (JSON). ERRORS (all are reported, with their
/// locations): the file cannot be read; a column is unknown; a name is missing; a shape or type is
/// invalid; a number is negative or too large; two variables have the same name.
Expected<Model> load_model(const std::string& path);
/// Reads a model like load_model(), but from a text in memory. The extension of `path` determines
/// the format, and errors use `path` as the name of the text.
Expected<Model> read_model(const std::string& text, const std::string& path);

/// Returns the number of elements of a shape; nullopt if a dimension is negative or there are more
/// than 2^46 elements.
std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape);

}  // namespace tutti::core
