#pragma once

#include <string>
#include <vector>

#include "core/explore/sweep_plot.h"
#include "core/explore/sweep_store.h"
#include "tools/tutti/command.h"
#include "tools/tutti/explore/sweep.h"

namespace tutti::tools {

/// Returns the options of the plot of a sweep.
core::PlotOptions plot_options(const SweepOptions& options);

/// Prints the report, and writes all other requested outputs except the sweep's file. Refuses to
/// overwrite `inputs`. Returns the exit status.
int report_results(core::SweepStore& store, const SweepOptions& options, Format format,
                   const std::vector<std::string>& inputs);

}  // namespace tutti::tools
