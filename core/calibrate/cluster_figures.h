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

/// A parameter of a cluster that calibration may change. All devices or links of the same kind with
/// the same value in the scenario share one parameter, so a cluster of any size has only a few
/// parameters.
struct ClusterFigure {
  enum class Kind { kLatency, kRate, kLaunch };
  Kind kind = Kind::kRate;
  /// The name of the parameter, for example "network.latency". If links of the same kind have
  /// different values, the name ends with the value: "nvlink.bandwidth:40".
  std::string name;
  std::string about;  ///< description in words
  double before = 0;  ///< value in the scenario, in µs or GB/s
  double least = 0;
  double most = 0;
  double guess = 0;  ///< start value of the fit for a parameter of an outlier, estimated from
                     ///< messages; 0 if the fit starts at `before`

  [[nodiscard]] const char* unit() const { return kind == Kind::kRate ? "GB/s" : "us"; }
};

/// The value of a calibrated parameter, and the text for its `source` field.
struct FigureSource {
  double value = 0;
  std::string text;  ///< text such as "fitted, 95 % interval 11.8 to 12.4"; empty: the parameter
                     ///< was not changed
};

/// The smallest and the largest size of the packs or buffers to which a cluster was fitted; 0 if
/// unknown.
struct FittedTo {
  Bytes least;
  Bytes most;
};

/// The cluster of a scenario, including its machines, and the cluster's parameters that calibration
/// may change.
class ClusterFigures {
 public:
  /// Reads the cluster of the scenario `text`. `path` is the file of the scenario.
  /// ERRORS: the scenario, or a file that it names, is invalid.
  static Expected<ClusterFigures> of(const std::string& text, const std::string& path,
                                     const Library& library);
  /// Returns a copy of the cluster in which the links, cards and devices in `outlier` have separate
  /// parameters. Each worker with an outlier gets a separate machine.
  [[nodiscard]] ClusterFigures with_outliers(const std::vector<Outlier>& outlier) const;
  ClusterFigures(ClusterFigures&&) noexcept;
  ClusterFigures& operator=(ClusterFigures&&) noexcept;
  ~ClusterFigures();

  [[nodiscard]] const std::vector<ClusterFigure>& list() const { return figures_; }
  /// Returns notes for the user: one sentence for each parameter that cannot be calibrated, with
  /// the reason.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// Returns the structure of the cluster as a text (structure_of()). Two clusters with the same
  /// structure have the same text.
  [[nodiscard]] std::string structure() const;

  /// Sets the host overhead of a TCP network to OFF. Measured times include the host overhead, so
  /// the host overhead becomes a part of the fitted link parameters.
  void leave_out_hosts();

  /// Replaces the cluster of `scenario` by this cluster. `values` are the values of the parameters,
  /// in the order of list(). If the launch overhead is one of the parameters, also sets the launch
  /// overhead of `scenario`.
  void put(const std::vector<double>& values, proto::Scenario& scenario) const;

  /// Returns the content of a cluster file (`cluster { file: … }`) with these values of the
  /// parameters. The file states the range of sizes to which the cluster was fitted.
  [[nodiscard]] std::string text(const std::vector<FigureSource>& values,
                                 const FittedTo& fitted_to = {}) const;

 private:
  /// A field of the cluster that a parameter sets. `machine` is the index of a machine, or -1 for
  /// the network.
  struct Target {
    enum class Field { kLatency, kBandwidth, kReduce, kCopy, kLaunch } field = Field::kLatency;
    enum class Part { kNetwork, kNic, kLink, kDevice, kStrategy } part = Part::kNetwork;
    int machine = -1;
    int index = 0;
    /// True if the parameter is only a lower bound of the field: if the field's value is lower than
    /// the parameter's value, the field is set to the parameter's value.
    bool at_least = false;
  };

  ClusterFigures();
  void collect();
  void add(ClusterFigure figure, const Target& target);
  void add_network();
  void add_links();
  void add_devices();
  void make_names_distinct();
  /// Returns the outlier with this machine, part (or link between `part` and `other`) and
  /// parameter; null if there is none.
  [[nodiscard]] const Outlier* outlier_at(int machine, Outlier::What what, Outlier::Figure figure,
                                          const std::string& part,
                                          const std::string& other = "") const;
  static void set(proto::Cluster& cluster, const Target& target, double value,
                  const std::string& source);

  std::unique_ptr<proto::Cluster> cluster_;
  double launch_us_ = 0;
  std::vector<Outlier> outliers_;
  /// Maps each machine that only one worker uses to the index of this worker.
  std::map<int, std::int64_t> worker_of_;
  std::vector<ClusterFigure> figures_;
  std::vector<std::vector<Target>> targets_;  ///< for each parameter, the fields that it sets
  std::vector<std::string> notes_;
};

/// Parses a scenario into a message. ERRORS: syntax errors, unknown fields.
Expected<std::unique_ptr<proto::Scenario>> scenario_message(const std::string& text,
                                                            const std::string& path);

}  // namespace tutti::core
