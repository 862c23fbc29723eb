#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/cluster/device_model.h"

namespace tutti::core {

/// Measured times of one layer (an operator, with or without variables).
struct LayerTime {
  std::string layer;
  Time forward;
  Time backward;
  std::vector<std::string> variables;  ///< the variables whose gradients the layer's backward pass
                                       ///< computes
};

/// A measured profile of a model: its layers in the order of the forward pass.
struct LayerTimes {
  std::string title;
  std::string source;
  GpuModel gpu_model = GpuModel::kNone;  ///< the GPU on which the layers were measured, if the
                                         ///< profile states it
  std::int64_t batch = 1;                ///< samples per step during the measurement
  std::vector<LayerTime> layers;
};

/// Reads a profile: CSV with the columns layer, forward_us, backward_us, variables (names separated
/// by spaces; may be empty) and the remark `# batch: n`. ERRORS: like those of load_model.
Expected<LayerTimes> load_layer_times(const std::string& path);
/// Like load_layer_times(), for a text in memory; errors call it `path`.
Expected<LayerTimes> read_layer_times(const std::string& text, const std::string& path);

}  // namespace tutti::core
