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

/// A cluster parameter that calibration may change. All parts or links of a kind with the same
/// value in the scenario share one parameter, so a cluster of any size has only a few parameters.
struct ClusterFigure {
  enum class Kind { kLatency, kRate, kLaunch };
  Kind kind = Kind::kRate;
  /// The name of the parameter, for example "network.latency". If links of a kind have different
  /// values, the name ends with the value: "nvlink.bandwidth:40".
  std::string name;
  std::string about;  ///< description in words
  double before = 0;  ///< value in the scenario, in µs or GB/s
  double least = 0;
  double most = 0;
  double guess = 0;  ///< start value of the fit; for an outlier, the value estimated from its
                     ///< messages; 0: the fit starts at `before`

  [[nodiscard]] const char* unit() const { return kind == Kind::kRate ? "GB/s" : "us"; }
};

/// The value of a calibrated parameter, and the text for its `source` field.
struct FigureSource {
  double value = 0;
  std::string text;  ///< text such as "fitted, 95 % interval 11.8 to 12.4"; empty: the parameter
                     ///< was not changed
};

/// The sizes of the smallest and the largest pack or buffer to which a cluster was fitted; 0:
/// unknown.
struct FittedTo {
  Bytes least;
  Bytes most;
};

/// A scenario's cluster, including its machine files, and the parameters of the cluster.
class ClusterFigures {
 public:
  /// Reads the cluster from the scenario `text`, whose file is `path`.
  /// ERRORS: the scenario, or a file that it names, is invalid.
  static Expected<ClusterFigures> of(const std::string& text, const std::string& path,
                                     const Library& library);
  /// Returns a copy of the cluster with separate parameters for the given outliers. Each worker
  /// that has an outlier gets its own machine.
  [[nodiscard]] ClusterFigures with_outliers(const std::vector<Outlier>& outlier) const;
  ClusterFigures(ClusterFigures&&) noexcept;
  ClusterFigures& operator=(ClusterFigures&&) noexcept;
  ~ClusterFigures();

  [[nodiscard]] const std::vector<ClusterFigure>& list() const { return figures_; }
  /// Returns one sentence for each parameter that cannot be calibrated, with the reason.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// Returns a text that is equal for two clusters if they have the same structure (see
  /// structure_of()).
  [[nodiscard]] std::string structure() const;

  /// Sets the host overhead of a TCP network to OFF. Measured times include the host overhead, so
  /// link parameters that are fitted to measured times include the host overhead, too.
  void leave_out_hosts();

  /// Replaces the cluster of `scenario` by this cluster with the given values, in the order of
  /// list(). Also sets the launch overhead of `scenario` if the launch overhead is one of the
  /// parameters.
  void put(const std::vector<double>& values, proto::Scenario& scenario) const;

  /// Returns the cluster with these values as the content of a file for `cluster { file: … }`. The
  /// file states the range of sizes to which the cluster was fitted.
  [[nodiscard]] std::string text(const std::vector<FigureSource>& values,
                                 const FittedTo& fitted_to = {}) const;

 private:
  /// A field of the cluster that a parameter sets. `machine` is -1 for the network.
  struct Place {
    enum class Field { kLatency, kBandwidth, kReduce, kCopy, kLaunch } field = Field::kLatency;
    enum class Part { kNetwork, kNic, kLink, kDevice, kStrategy } part = Part::kNetwork;
    int machine = -1;
    int index = 0;
    /// True: the parameter is only a lower bound for this field. The field is raised if it would
    /// limit the measured rate, and never lowered.
    bool at_least = false;
  };

  ClusterFigures();
  void collect();
  void add(ClusterFigure figure, const Place& place);
  void add_network();
  void add_links();
  void add_devices();
  void make_names_distinct();
  /// Returns the outlier at this machine, part and figure; null if there is none.
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
  std::vector<std::vector<Place>> places_;  ///< for each parameter, the fields that it sets
  std::vector<std::string> notes_;
};

/// Parses a scenario into a message. ERRORS: syntax errors, unknown fields.
Expected<std::unique_ptr<proto::Scenario>> scenario_message(const std::string& text,
                                                            const std::string& path);

}  // namespace tutti::core
