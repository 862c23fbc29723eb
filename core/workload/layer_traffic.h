#pragma once

// The minimum number of bytes that a layer moves between the memory of its device and the
// multiprocessors.
//
// Weights: the forward pass reads the weights; the backward pass reads them and writes their
// gradients. Two operations (a multiplication and an addition) use at most one weight, so a layer
// with few operations reads only a part of its weights.
//
// The bytes of activations follow from the operations and the shapes of the variables. For each use
// of a matrix of `a` × `b` weights, a product reads `a` elements and writes `b` elements (or vice
// versa in the backward pass), and has 2ab operations. A convolution with `k` weights per pair of
// channels has 2kab operations for each output position, and reads at least `a` elements of new
// input for this position. n operations with w weights therefore move at least (a + b) · n / (2w)
// elements, in the product of the forward pass and in both products of the backward pass.
//
// A layer with vectors and without matrices is a normalization, which has at most 5 operations for
// each element in the forward pass and 10 in the backward pass (docs/formats.md). The forward pass
// of a normalization reads the input and writes the output. The backward pass reads the input and
// the gradient of the output, and writes the gradient of the input.
//
// A normalization directly after a convolution is a batch normalization. Its forward pass reads the
// input twice, for the statistics and for the result, and writes the result (3 passes over the
// elements). Its backward pass reads the input and the gradient of the output twice, for the sums
// and for the result, and writes the gradient of the input (5 passes). An activation function
// follows: its forward pass reads and writes each element (2 passes); its backward pass reads the
// gradient and the output, and writes the gradient (3 passes). A convolution with a bias has no
// batch normalization, so the activation function belongs to the convolution. In the forward pass
// of ResNet-50, the 53 batch normalizations and activation functions move 56 million elements per
// image, and the convolutions move 20 million.
//
// Tensor cores need the channels as the last dimension (NHWC). If the channels come first (NCHW),
// cuDNN transposes the input and the output of each product. A transposition reads and writes each
// element once more. SOURCE: MosaicML Composer, method card "Channels Last". For ResNet-50 in mixed
// precision, the transposes move 238 MB per image. On an RTX 3090, this takes 0.29 ms; the
// published difference between NCHW and NHWC is 0.39 ms (pytorch-image-models,
// results/benchmark-train-amp-*-pt112-cu113-rtx3090.csv).
//
// A depthwise convolution (one input channel for each output channel) reads as many channels as it
// writes, and does not use tensor cores.
//
// Activations are stored for the backward pass, so they do not remain in the registers of the
// multiprocessors. Caches are ignored: with small batches, they may hold the activations.

#include <optional>
#include <span>

#include "core/base/units.h"
#include "core/workload/model.h"

namespace tutti::core {

/// True if the variable is the kernel of a convolution: it has at least two dimensions in addition
/// to its input and output channels.
inline bool is_convolution(const Variable& variable) { return variable.shape.size() > 3; }

/// True if products of this precision are computed on tensor cores.
inline bool uses_tensor_cores(Precision precision) {
  return precision == Precision::kFloat16 || precision == Precision::kBfloat16 ||
         precision == Precision::kTf32 || precision == Precision::kFloat8;
}

/// The bytes that a layer moves in a pass.
struct Moved {
  Bytes while_computing;  ///< moved while the operations of the layer are computed
  Bytes separately;       ///< moved by kernels of their own, before or after the operations
};

/// Computes the minimum of the bytes that layers move. REQUIRES: the arguments outlive the object.
class LayerTraffic {
 public:
  struct Options {
    std::int64_t batch = 1;
    Precision precision = Precision::kFloat32;
    /// True if the channels are the last dimension of activations. nullopt: the default of the
    /// framework; the framework is recognized by the shapes of convolution kernels. PyTorch's
    /// tensors have the channels first. TensorFlow changes the layout to NHWC if most convolutions
    /// are of 16 bits, and otherwise to NCHW. SOURCE:
    /// tensorflow/core/grappler/optimizers/generic_layout_optimizer.cc, kConvGPUFP16Threshold.
    std::optional<bool> channels_last;
  };

  /// `gradients` has the variables of `model` with the types of their gradients.
  LayerTraffic(const Model& model, const std::vector<Variable>& gradients, const Options& options);

  /// Returns the bytes that the layer with these variables (indices into the model) moves in a
  /// forward pass over all samples of a batch.
  [[nodiscard]] Moved forward(std::span<const int> variables) const;
  /// Returns the bytes of a backward pass.
  [[nodiscard]] Moved backward(std::span<const int> variables) const;

 private:
  enum class Pass { kForward, kBackward };

  [[nodiscard]] Moved moved(std::span<const int> variables, Pass pass) const;
  [[nodiscard]] Bytes weights_used(int v, std::optional<double> operations) const;
  [[nodiscard]] Bytes bytes(double elements) const;
  [[nodiscard]] bool is_transposed(const Variable& kernel) const;

  const Model& model_;
  const std::vector<Variable>& gradients_;
  Options options_;
  /// By variable: true if its layer directly follows a convolution.
  std::vector<bool> after_convolution_;
};

}  // namespace tutti::core
