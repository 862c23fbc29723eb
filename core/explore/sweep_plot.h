#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/outcome.h"
#include "core/explore/plot.h"
#include "core/explore/space.h"
#include "core/explore/sweep_columns.h"

namespace tutti::core {

/// The fields and the cost of a sweep that a plot shows. The title of an axis, such as "strategy",
/// may be used in place of a field; its values are the labels from row_labels(). The field run.seed
/// is not chosen by default unless no other field varies.
struct PlotOptions {
  std::string x;   ///< field of the x axis; empty: the field with the most numeric values
  std::string by;  ///< field whose values are drawn as separate curves; empty: chosen by
                   ///< few_values()
  std::string cost = "step_time";  ///< name of a cost in kCosts
};

/// Adds measurements as dots, from a CSV table with two columns: the field of the plot's x axis,
/// and `ms`.
/// ERRORS: a column is missing; the table has a field value that the plot does not show.
Expected<void> add_measured(Plot& plot, const std::string& text, const std::string& path);

/// Checks the options. ERRORS (requests): `x` or `by` is not a field of the sweep; the cost is
/// unknown.
Expected<void> check(const Space& space, const PlotOptions& options);

/// Plots the cost against one field. For each x value and curve, the plot shows the minimum cost
/// over all other fields. Points that differ only in run.seed are represented by their median,
/// unless the plot shows run.seed. The plot also shows the lower bounds and the best point.
/// `outcomes` is indexed by point; nullopt means that the point has no result yet. ERRORS
/// (requests): as for check(); no point is done.
Expected<Plot> plot_of(const Space& space, const std::vector<std::optional<Outcome>>& outcomes,
                       const std::string& title, const PlotOptions& options);

}  // namespace tutti::core
