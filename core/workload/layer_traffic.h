#pragma once

// The bytes that a layer moves at least between the memory of its device and the multiprocessors.
//
// Weights: the forward pass reads the weights; the backward pass reads them and writes their
// gradients. A multiplication and an addition use at most one weight.
//
// Activations follow from the operations and the shapes of the variables. A product with a matrix
// of a x b weights reads a and writes b elements (or vice versa in the backward pass) for each use
// of the matrix, and has 2ab operations. A convolution with k weights per pair of channels has 2kab
// operations for each output position, and reads at least a elements of new input for it. n
// operations with w weights therefore move at least n / 2w (a + b) elements, in the product of the
// forward pass and in both products of the backward pass.
//
// A layer with vectors and without matrices is a normalization, which has at most 5 operations for
// each element in the forward pass and 10 in the backward pass (docs/formats.md). The forward pass
// reads its input and writes its output. The backward pass reads the input and the gradient of the
// output, and writes the gradient of the input.
//
// Activations are stored for the backward pass, so they do not remain in the registers of the
// multiprocessors. Caches are ignored: with small batches, they may hold the activations.

#include <optional>
#include <span>

#include "core/base/units.h"
#include "core/workload/model.h"

namespace tutti::core {

/// Computes the minimum of the bytes that layers move. REQUIRES: the arguments outlive the object.
class LayerTraffic {
 public:
  /// `gradients` has the variables of `model` with the types of their gradients.
  LayerTraffic(const Model& model, const std::vector<Variable>& gradients, std::int64_t batch,
               Precision precision);

  /// Returns the bytes that the layer with these variables (indices into the model) moves in a
  /// forward pass over all samples of a batch.
  [[nodiscard]] Bytes forward(std::span<const int> variables) const;
  /// Returns the bytes of a backward pass.
  [[nodiscard]] Bytes backward(std::span<const int> variables) const;

 private:
  [[nodiscard]] Bytes weights_used(int v, std::optional<double> operations) const;
  [[nodiscard]] Bytes bytes(double elements) const;

  const Model& model_;
  const std::vector<Variable>& gradients_;
  std::int64_t batch_;
  Precision precision_;
};

}  // namespace tutti::core
