#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/cluster/device_model.h"

namespace tutti::core {

/// The measured times of a layer, which is an operator with or without variables.
struct LayerTime {
  std::string layer;
  Time forward;
  Time backward;
  std::vector<std::string> variables;  ///< names of the variables whose gradients the layer's
                                       ///< backward pass computes
};

/// The measured profile of a model. Layers are in the order of the forward pass.
struct LayerTimes {
  std::string title;
  std::string source;
  GpuModel gpu_model = GpuModel::kNone;  ///< GPU on which the layers were measured; kNone: the
                                         ///< profile does not state it
  std::int64_t batch = 1;                ///< samples per step in the measurement
  std::vector<LayerTime> layers;
};

/// Reads a profile from a CSV file with the remark `# batch: n` and the columns layer, forward_us,
/// backward_us and variables (names separated by spaces; may be empty).
/// ERRORS: as for load_model().
Expected<LayerTimes> load_layer_times(const std::string& path);
/// Does the same as load_layer_times(), for a text in memory. Errors call it `path`.
Expected<LayerTimes> read_layer_times(const std::string& text, const std::string& path);

}  // namespace tutti::core
