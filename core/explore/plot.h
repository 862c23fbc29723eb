#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explore/plot_axis.h"

namespace tutti::core {

/// A line through dots, or dashes without them.
struct Curve {
  std::string name;
  std::vector<std::optional<double>> y;  ///< by value of the axis; nothing: not known there
  bool dashed = false;                   ///< a bound rather than something that was found
  bool dots_alone = false;               ///< what was measured: dots without a line
};

/// A cost over the values of an axis.
struct Plot {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<std::string> x;  ///< the axis' values, as they are typed; "": not written
  bool bytes = false;          ///< they count bytes
  std::vector<Curve> curves;
  struct Mark {
    std::size_t curve = 0, x = 0;
    std::string text;
  };
  std::optional<Mark> best;
};

/// How large a picture is, in pixels, and what is beside its axes.
struct PlotLook {
  double width = 860, height = 480;                     ///< without the legend
  double left = 74, right = 24, top = 44, bottom = 58;  ///< margins, in which titles and the axes' numbers are
  bool legend = true;
  Scale x = Scale::kAuto, y = Scale::kAuto;
  double dot = 4;  ///< radius of what was measured
};

/// As a picture. Values of the axis that are numbers lie where they are (far apart ones by their logarithms), with those that
/// are no numbers, or 0 on a logarithmic axis, to the left of them; others side by side. REQUIRES: every curve has a y for every x.
std::string to_svg(const Plot& plot, const PlotLook& look = {});

/// "64 KiB", "1.5 MiB", "100 B".
std::string show_binary(double bytes);

}  // namespace tutti::core
