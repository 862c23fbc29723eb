#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "gui/trace/trace.h"
#include "gui/traffic/traffic.h"

namespace tutti::gui {

/// The hardware of a run: devices, switches, network cards, and the links between them.
///
/// The topology is built from the best available source. The best source is the scenario's cluster.
/// If files of the cluster are missing, the source is the links in the timeline. If the timeline
/// has no links, as in a real run, the source is the pairs of devices that exchanged messages. The
/// function words() states the source.
class Topology {
 public:
  enum class Kind { kGpu, kCpu, kPcieSwitch, kNvswitch, kNic, kNetwork, kPart };
  struct Node {
    Kind kind = Kind::kPart;
    std::int32_t worker = -1;  ///< number of the worker; -1: the network
    std::string name;          ///< the node's name within its worker, such as "gpu1"
    std::int32_t device = -1;  ///< the device's number in Traffic; -1: it has no spans
    [[nodiscard]] std::string full_name() const;
    [[nodiscard]] bool is_device() const { return kind == Kind::kGpu || kind == Kind::kCpu; }
  };
  /// One direction of a link. In a real run, a link represents all messages from one device to
  /// another.
  struct Link {
    std::size_t from = 0;
    std::size_t to = 0;
    std::string name;  ///< the name of the link, such as "w0/gpu1→w0/nvswitch"
    core::LinkKind kind = core::LinkKind::kPcie;
    core::Bandwidth capacity;  ///< bandwidth; 0: unknown
    core::Bytes bytes;         ///< the number of bytes that the link carried during the run
    /// The index of the link in the trace's links; nullopt: no message was sent over the link.
    std::optional<std::size_t> record;
  };
  /// The maximum number of workers that are drawn. If the run has more workers, words() states
  /// which workers are drawn.
  static constexpr std::int64_t kMaxWorkers = 256;

  /// Builds the topology of a trace. `plan` and `traffic` may be null if they are not available.
  static Topology of(const Trace& trace, const core::Scenario* plan, const Traffic* traffic);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  /// Returns true if links() are the cluster's links, with capacity and load; false if the links
  /// only connect devices that exchanged messages.
  [[nodiscard]] bool has_links() const { return has_links_; }
  /// Returns remarks for the user about the picture; may be empty.
  [[nodiscard]] const std::string& words() const { return words_; }

  [[nodiscard]] std::optional<std::size_t> node_of_device(std::int32_t device) const;
  [[nodiscard]] std::optional<std::size_t> link_of_record(std::size_t record) const;
  /// Returns the links over which a message from one device to another travels, in order; empty if
  /// the route is unknown.
  [[nodiscard]] std::vector<std::size_t> route(std::int32_t from, std::int32_t to,
                                               core::Staging staging) const;

 private:
  void from_cluster(const Trace& trace, const core::Cluster& cluster, std::int64_t workers);
  void from_records(const Trace& trace);
  void from_messages(const Traffic& traffic);
  void devices_of(const Trace& trace);
  std::size_t node(std::int32_t worker, const std::string& name, Kind kind);
  void index(const Traffic* traffic);

  std::vector<Node> nodes_;
  std::vector<Link> links_;
  bool has_links_ = false;
  std::string words_;
  std::shared_ptr<const core::Cluster> cluster_;
  std::map<core::LinkId, std::size_t> link_by_id_;
  std::map<std::pair<std::int32_t, std::string>, std::size_t> node_by_name_;
  std::map<std::int32_t, std::size_t> node_by_device_;
  std::map<std::size_t, std::size_t> link_by_record_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> link_by_ends_;
  std::vector<Traffic::Device> devices_;
};

}  // namespace tutti::gui
