#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/calibrate/outliers.h"
#include "core/scenario/library.h"

namespace tutti::proto {
class Cluster;
class Scenario;
}  // namespace tutti::proto

namespace tutti::core {

/// A cluster parameter that calibration may change. All parts or links of a kind that had the same
/// value share one parameter, so that a cluster of any size has only a few.
struct ClusterFigure {
  enum class Kind { kLatency, kRate, kLaunch };
  Kind kind = Kind::kRate;
  /// For example "network.latency", or "nvlink.bandwidth:40" if several parameters have that name.
  std::string name;
  std::string about;  ///< description in words
  double before = 0;  ///< value in the scenario, in microseconds or GB/s
  double least = 0;
  double most = 0;
  double guess = 0;  ///< for an outlier: the value estimated from messages; 0: start at `before`

  [[nodiscard]] const char* unit() const { return kind == Kind::kRate ? "GB/s" : "us"; }
};

/// The text of the `source` field of a calibrated parameter.
struct FigureSource {
  double value = 0;
  std::string text;  ///< "fitted, 95 % interval 11.8 to 12.4"; empty: the figure was not changed
};

/// The range of measured sizes, from the smallest to the largest pack or buffer; 0: unknown.
struct FittedTo {
  Bytes least;
  Bytes most;
};

/// The cluster of a scenario, with its machines written out, and its parameters.
class ClusterFigures {
 public:
  /// Reads the scenario `text`; `path` is its file. ERRORS: problems in the scenario or in a file
  /// that it names.
  static Expected<ClusterFigures> of(const std::string& text, const std::string& path,
                                     const Library& library);
  /// Returns the same cluster with separate parameters for these outliers: their workers get
  /// machines of their own.
  [[nodiscard]] ClusterFigures with_outliers(const std::vector<Outlier>& outlier) const;
  ClusterFigures(ClusterFigures&&) noexcept;
  ClusterFigures& operator=(ClusterFigures&&) noexcept;
  ~ClusterFigures();

  [[nodiscard]] const std::vector<ClusterFigure>& list() const { return figures_; }
  /// Parameters that cannot be calibrated, and the reasons, as sentences.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// Returns a text that is equal for two clusters with the same structure: see structure_of().
  [[nodiscard]] std::string structure() const;

  /// States in the cluster that hosts add no overhead: measured times contain the host overhead
  /// already, so parameters of links that are fitted to them contain it too.
  void leave_out_hosts();

  /// Replaces the cluster of `scenario` by the one with these values (in the order of list()), and
  /// its launch overhead if that is a parameter.
  void put(const std::vector<double>& values, proto::Scenario& scenario) const;

  /// Returns the cluster with these values as a file for `cluster { file: … }`; the file states the
  /// measurements that it was fitted to.
  [[nodiscard]] std::string text(const std::vector<FigureSource>& values,
                                 const FittedTo& fitted_to = {}) const;

 private:
  /// The field of the cluster that a parameter sets. `machine` is -1 for the network.
  struct Place {
    enum class Field { kLatency, kBandwidth, kReduce, kCopy, kLaunch } field = Field::kLatency;
    enum class Part { kNetwork, kNic, kLink, kDevice, kStrategy } part = Part::kNetwork;
    int machine = -1;
    int index = 0;
    /// The field is only raised to the value, so that it does not limit what was measured.
    bool at_least = false;
  };

  ClusterFigures();
  void collect();
  void add(ClusterFigure figure, const Place& place);
  void add_network();
  void add_links();
  void add_devices();
  void make_names_distinct();
  /// Returns the outlier there; null if there is none.
  [[nodiscard]] const Outlier* outlier_at(int machine, Outlier::What what, Outlier::Figure figure,
                                          const std::string& part,
                                          const std::string& other = "") const;
  static void set(proto::Cluster& cluster, const Place& place, double value,
                  const std::string& source);

  std::unique_ptr<proto::Cluster> cluster_;
  double launch_us_ = 0;
  std::vector<Outlier> outliers_;
  /// The worker of each machine that belongs to a single worker.
  std::map<int, std::int64_t> worker_of_;
  std::vector<ClusterFigure> figures_;
  std::vector<std::vector<Place>> places_;  ///< places of each figure
  std::vector<std::string> notes_;
};

/// Parses a scenario into a message. ERRORS: syntax errors, unknown fields.
Expected<std::unique_ptr<proto::Scenario>> scenario_message(const std::string& text,
                                                            const std::string& path);

}  // namespace tutti::core
