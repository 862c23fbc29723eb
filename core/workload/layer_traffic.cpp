#include "core/workload/layer_traffic.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tutti::core {

namespace {

/// The operations of a normalization for each element of its input, as in the shipped models.
constexpr double kForwardOperations = 5;
constexpr double kBackwardOperations = 10;
/// The elements that a normalization moves for each element of its input.
constexpr double kForwardMoves = 2;
constexpr double kBackwardMoves = 3;

std::int64_t product(std::span<const std::int64_t> sides) {
  return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
}

/// Returns the sum of the numbers of input and output channels. The shape of a convolution begins
/// with the channels (PyTorch) or ends with them (TensorFlow); the kernel is the smaller part.
double channels(std::span<const std::int64_t> shape) {
  const bool last =
      shape.size() > 2 && product(shape.subspan(2)) > product(shape.first(shape.size() - 2));
  const auto pair = last ? shape.last(2) : shape.first(2);
  return static_cast<double>(pair[0]) + static_cast<double>(pair[1]);
}

/// Returns the number of elements that products of `operations` per sample move.
double moved_by_products(const Variable& weights, double operations) {
  if (weights.elements == 0) return 0;
  return operations / (2 * static_cast<double>(weights.elements)) * channels(weights.shape);
}

/// The maximum length of the vectors of a normalization. Longer vectors are weights whose shape the
/// model does not state.
constexpr std::int64_t kMaxChannels = 1 << 16;

/// Sums the elements that the layer of one or several variables moves for each sample.
class Activations {
 public:
  void add(const Variable& variable, double operations) {
    if (variable.shape.size() > 1) {
      matrices_ = true;
      products_ += moved_by_products(variable, operations);
    } else if (variable.shape.size() == 1 && variable.elements <= kMaxChannels) {
      in_vectors_ += operations;
    }
  }
  /// Returns the number of elements, if a normalization moves `moves` elements in `operations`
  /// operations.
  [[nodiscard]] double elements(double moves, double operations) const {
    return matrices_ ? products_ : in_vectors_ / operations * moves;
  }

 private:
  bool matrices_ = false;
  double products_ = 0;
  double in_vectors_ = 0;
};

}  // namespace

LayerTraffic::LayerTraffic(const Model& model, const std::vector<Variable>& gradients,
                           std::int64_t batch, Precision precision)
    : model_(model), gradients_(gradients), batch_(batch), precision_(precision) {}

Bytes LayerTraffic::forward(std::span<const int> variables) const {
  Bytes moved;
  Activations activations;
  for (const int v : variables) {
    const Variable& variable = model_.variables[v];
    moved += weights_used(v, variable.forward_flops);
    activations.add(variable, variable.forward_flops.value_or(0));
  }
  return moved + bytes(activations.elements(kForwardMoves, kForwardOperations));
}

Bytes LayerTraffic::backward(std::span<const int> variables) const {
  Bytes moved;
  Activations activations;
  for (const int v : variables) {
    const Variable& variable = model_.variables[v];
    moved += weights_used(v, variable.backward_flops);
    if (!gradients_[v].slices) moved += gradients_[v].bytes();
    activations.add(variable, variable.backward_flops.value_or(0));
  }
  return moved + bytes(activations.elements(kBackwardMoves, kBackwardOperations));
}

/// Returns the bytes of a variable that a pass with `operations` per sample reads at least.
Bytes LayerTraffic::weights_used(int v, std::optional<double> operations) const {
  const Variable& variable = model_.variables[v];
  const double used = operations.value_or(0) * static_cast<double>(batch_) / 2;
  if (used >= static_cast<double>(variable.elements)) return variable.bytes();
  return static_cast<std::int64_t>(used) * size_of(variable.type);
}

/// Returns the bytes of activations with `elements` for each sample, limited to a number that still
/// fits into 64 bits. A step that moves so many bytes is refused, because it takes days.
Bytes LayerTraffic::bytes(double elements) const {
  constexpr double kMax = 1e17;
  return static_cast<std::int64_t>(std::min(elements * static_cast<double>(batch_), kMax)) *
         activation_size(precision_);
}

}  // namespace tutti::core
