#include "core/workload/layer_traffic.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace tutti::core {

namespace {

/// The numbers of times that a pass moves each element of a tensor.
struct Passes {
  double forward = 0;
  double backward = 0;
};
constexpr Passes kNormalization{2, 3};
constexpr Passes kBatchNormalization{3, 5};
constexpr Passes kActivationFunction{2, 3};
/// A transposed tensor is read and written.
constexpr double kTranspose = 2;
/// The operations of a normalization for each element of its input, as in the shipped models.
constexpr Passes kOperations{5, 10};

std::int64_t product(std::span<const std::int64_t> sides) {
  return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
}

/// The channels of a kernel: the number of inputs and outputs of one use of a matrix.
struct Channels {
  double in = 0;
  double out = 0;
  bool last = false;  ///< true if the channels are the last dimensions of the shape
};

/// The shape of a convolution begins with the channels (PyTorch: output, input) or ends with them
/// (TensorFlow: input, output); the kernel is the smaller part.
Channels channels(std::span<const std::int64_t> shape) {
  const bool last =
      shape.size() > 2 && product(shape.subspan(2)) > product(shape.first(shape.size() - 2));
  const auto pair = last ? shape.last(2) : shape.first(2);
  const auto first = static_cast<double>(pair[0]), second = static_cast<double>(pair[1]);
  return last ? Channels{first, second, true} : Channels{second, first, false};
}

/// True if each channel has a kernel of its own. TensorFlow's shape ends with the number of input
/// channels and of outputs for each of them.
bool is_depthwise(const Variable& variable) {
  if (!is_convolution(variable)) return false;
  const Channels c = channels(variable.shape);
  return c.last ? c.out == 1 && c.in > 1 : c.in == 1 && c.out > 1;
}

/// Returns the number of elements that one use of a matrix or kernel moves.
double moved_by_use(const Variable& weights) {
  const Channels c = channels(weights.shape);
  return is_depthwise(weights) ? 2 * std::max(c.in, c.out) : c.in + c.out;
}

/// Returns the number of times that products of `operations` per sample use the weights.
double uses(const Variable& weights, double operations) {
  if (weights.elements == 0) return 0;
  return operations / (2 * static_cast<double>(weights.elements));
}

/// The maximum length of the vectors of a normalization. Longer vectors are weights whose shape the
/// model does not state.
constexpr std::int64_t kMaxChannels = 1 << 16;

bool is_vector(const Variable& variable) {
  return variable.shape.size() == 1 && variable.elements <= kMaxChannels;
}

}  // namespace

LayerTraffic::LayerTraffic(const Model& model, const std::vector<Variable>& gradients,
                           const Options& options)
    : model_(model),
      gradients_(gradients),
      options_(options),
      after_convolution_(model.variables.size(), false) {
  std::map<std::int64_t, bool> convolution;  // by layer
  for (const Variable& variable : model.variables) {
    bool& any = convolution[variable.layer];
    any = any || is_convolution(variable);
  }
  for (std::size_t v = 0; v < model.variables.size(); ++v) {
    const auto layer = convolution.find(model.variables[v].layer);
    after_convolution_[v] = layer != convolution.begin() && std::prev(layer)->second;
  }
}

Moved LayerTraffic::forward(std::span<const int> variables) const {
  return moved(variables, Pass::kForward);
}

Moved LayerTraffic::backward(std::span<const int> variables) const {
  return moved(variables, Pass::kBackward);
}

Moved LayerTraffic::moved(std::span<const int> variables, Pass pass) const {
  const bool forward = pass == Pass::kForward;
  const auto of = [forward](const Passes& passes) {
    return forward ? passes.forward : passes.backward;
  };
  Moved moved;
  bool matrices = false, convolution = false, bias = false;
  double by_products = 0, operations_of_vectors = 0, outputs = 0, separately = 0;
  for (const int v : variables) {
    const Variable& variable = model_.variables[v];
    const auto& operations = forward ? variable.forward_flops : variable.backward_flops;
    moved.while_computing += weights_used(v, operations);
    if (!forward && !gradients_[v].slices) moved.while_computing += gradients_[v].bytes();
    if (variable.shape.size() > 1) {
      matrices = true;
      convolution = convolution || is_convolution(variable);
      const double elements = uses(variable, operations.value_or(0)) * moved_by_use(variable);
      by_products += elements;
      if (is_transposed(variable)) separately += kTranspose * elements;
      if (is_convolution(variable))
        outputs +=
            uses(variable, variable.forward_flops.value_or(0)) *
            (is_depthwise(variable) ? moved_by_use(variable) / 2 : channels(variable.shape).out);
    } else if (is_vector(variable)) {
      bias = true;
      operations_of_vectors += operations.value_or(0);
    }
  }
  if (matrices) {
    moved.while_computing += bytes(by_products);
    if (convolution && bias) separately += of(kActivationFunction) * outputs;
    moved.separately = bytes(separately);
    return moved;
  }
  const double elements = operations_of_vectors / of(kOperations);
  const bool batch = !variables.empty() && after_convolution_[variables.front()];
  moved.while_computing += bytes(
      elements * (batch ? of(kBatchNormalization) + of(kActivationFunction) : of(kNormalization)));
  return moved;
}

/// True if cuDNN transposes the input and output of the convolution.
bool LayerTraffic::is_transposed(const Variable& kernel) const {
  if (!is_convolution(kernel) || is_depthwise(kernel) || !uses_tensor_cores(options_.precision))
    return false;
  const bool tensorflow = channels(kernel.shape).last;
  const bool narrow = options_.precision != Precision::kTf32;
  return !options_.channels_last.value_or(tensorflow && narrow);
}

/// Returns the bytes of a variable that a pass with `operations` per sample reads at least.
Bytes LayerTraffic::weights_used(int v, std::optional<double> operations) const {
  const Variable& variable = model_.variables[v];
  const double used = operations.value_or(0) * static_cast<double>(options_.batch) / 2;
  if (used >= static_cast<double>(variable.elements)) return variable.bytes();
  return static_cast<std::int64_t>(used) * size_of(variable.type);
}

/// Returns the bytes of activations with `elements` for each sample, limited to a number that still
/// fits into 64 bits. A step that moves so many bytes is refused, because it takes days.
Bytes LayerTraffic::bytes(double elements) const {
  constexpr double kMax = 1e17;
  return static_cast<std::int64_t>(std::min(elements * static_cast<double>(options_.batch), kMax)) *
         activation_size(options_.precision);
}

}  // namespace tutti::core
