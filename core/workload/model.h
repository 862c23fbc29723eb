#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/error.h"

namespace tutti::core {

/// The parameters of a sparse gradient, which has only some rows on a replica (TensorFlow's
/// IndexedSlices).
struct Slices {
  std::int64_t rows = 0;  ///< maximum number of rows over all replicas
  DataType index_type = DataType::kInt64;
  bool differ = false;  ///< true if the number of rows differs between replicas
};

/// A trainable tensor.
struct Variable {
  std::string name;
  std::vector<std::int64_t> shape;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 1;
  /// The position of its layer in the forward pass, equal for all variables of a layer. Default:
  /// its index in the list.
  std::int64_t layer = 0;
  /// Operations per sample; nullopt if not known.
  std::optional<double> forward_flops;
  std::optional<double> backward_flops;
  /// Measured times for `Model::batch` samples; nullopt if not measured.
  std::optional<Time> forward;
  std::optional<Time> backward;
  std::optional<Slices> slices = std::nullopt;

  /// The number of elements per row (index of the first dimension). REQUIRES: a shape with
  /// elements.
  [[nodiscard]] std::int64_t row_elements() const { return elements / shape.front(); }
  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
};

/// The variables of a model, in the order in which the program creates them.
struct Model {
  std::string name;
  std::string title;
  std::string source;
  /// Samples per step for which `Variable::forward` and `backward` were measured.
  std::int64_t batch = 1;
  std::vector<Variable> variables;
};

/// Reads a list of variables: CSV with the columns name, shape (2x3x4; empty for a scalar), type,
/// and optionally layer, forward_flops, backward_flops, forward_us, backward_us; or JSON with the
/// same keys (shape as a list), either `{"variables": […]}` or the bare list. A remark `# batch: n`
/// (CSV) or key "batch" (JSON) belongs to the measured times.
/// ERRORS: unreadable, unknown columns, missing names, bad shapes and types, negative or
/// overflowing numbers, two variables of one name: all of them, with their locations.
Expected<Model> load_model(const std::string& path);
/// Like load_model(), for a text in memory; errors call it `path`, and its extension determines the
/// format.
Expected<Model> read_model(const std::string& text, const std::string& path);

/// Returns the number of elements of a shape; nullopt if a dimension is negative or there are more
/// than 2^46 elements.
std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape);

}  // namespace tutti::core
