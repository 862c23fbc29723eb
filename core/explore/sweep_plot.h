#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/plot.h"
#include "core/explore/space.h"
#include "core/explore/sweep_columns.h"

namespace tutti::core {

/// The fields and the cost of a sweep that a plot shows. A field may also be the title of an axis,
/// such as "strategy". The values of an axis title are the labels from row_labels(). The default
/// fields include run.seed only if no other field varies.
struct PlotOptions {
  std::string x;   ///< field of the x axis; empty: the field with the most numbers
  std::string by;  ///< field with one curve per value; empty: chosen by few_values()
  std::string cost = "step_time";  ///< name of a cost in kCosts
};

/// Adds measurements as dots, from a CSV table with two columns: the field of the plot's x axis,
/// and `ms`.
/// ERRORS: a column is missing; the plot does not have a value of the field.
Expected<void> add_measured(Plot& plot, const std::string& text, const std::string& path);

/// Checks the options. ERRORS (requests): the sweep does not have a chosen field; the cost is
/// unknown.
Expected<void> check(const Space& space, const PlotOptions& options);

/// Plots a cost over one field. For each x value and curve, the plot shows the minimum cost over
/// all fields that are not drawn. Points that differ only in run.seed are represented by their
/// median, unless run.seed is drawn. The plot also shows the lower bounds and the best point.
/// `outcomes` is indexed by point; nullopt means that the point has no result yet. ERRORS
/// (requests): as for check(); no point is done.
Expected<Plot> plot_of(const Space& space, const std::vector<std::optional<Outcome>>& outcomes,
                       const std::string& title, const PlotOptions& options);

}  // namespace tutti::core
