#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/cluster/device_model.h"

namespace tutti::core {

/// The measured times of a layer. A layer is an operator, which may have variables.
struct LayerTime {
  std::string layer;
  Time forward;
  Time backward;
  std::vector<std::string> variables;  ///< variables whose gradients are computed in the layer's
                                       ///< backward pass
};

/// The measured times of all layers of a model. Layers have the order of the forward pass.
struct LayerTimes {
  std::string title;
  std::string source;
  GpuModel gpu_model = GpuModel::kNone;  ///< GPU on which the times were measured; kNone: the file
                                         ///< does not state the GPU
  std::int64_t batch = 1;                ///< number of samples per step during the measurement
  std::vector<LayerTime> layers;
};

/// Reads a profile from a CSV file. The file has the remark `# batch: n` and the columns layer,
/// forward_us, backward_us and variables. The last column has names separated by spaces, and may be
/// empty.
/// ERRORS: as for load_model().
Expected<LayerTimes> load_layer_times(const std::string& path);
/// Reads layer times like load_layer_times(), but from a text in memory. Error messages use `path`
/// as the name of the text.
Expected<LayerTimes> read_layer_times(const std::string& text, const std::string& path);

}  // namespace tutti::core
