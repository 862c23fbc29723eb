#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/names.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Parameters of a GPU generation, for times inside a node.
enum class GpuFigure {
  kHopLl,  ///< us from a GPU to the next over NVLink, by protocol
  kHopLl128,
  kHopSimple,
  kChannelLl,  ///< GB/s of payload that one channel's thread block moves, by protocol
  kChannelLl128,
  kChannelSimple,
  kNvlinkShare,  ///< of the data sheet's NVLink bandwidth, what Simple carries
  kTreeShare,    ///< of a channel's rate in a ring, what is left in a tree, whose blocks go up and
                 ///< down at once
  kNvlsLatency,  ///< us through the switch and back
  kNvlsShare,    ///< of the data sheet's NVLink bandwidth, what multicast carries
  kPass,  ///< us more that a hop of a ring takes once a thread block has a whole pass of data to
          ///< move
  kPeerChannel,  ///< GB/s of a channel between two GPUs, of sends and receives
  kNvlsFill,   ///< how often a loop's staged data is in the pipeline's way before the first result
  kRackShare,  ///< of that multicast, what is left in a rack of many hosts
  kCopy,       ///< GB/s that a GPU's channels copy together in the step in which they do not send
  kLaunchLl,
  kLaunchLl128,
  kLaunchSimple,
};
inline constexpr std::size_t kGpuFigures = static_cast<std::size_t>(GpuFigure::kLaunchSimple) + 1;

/// Parameters of a network, for times between nodes.
enum class NetFigure {
  kHopLl,  ///< us from a GPU to one of another node, by protocol
  kHopLl128,
  kHopSimple,
  kShare,        ///< of the cards' line rate, what arrives
  kLlChannel,    ///< GB/s of payload of a channel by LL, which goes through the host's memory
  kPeerChannel,  ///< GB/s of a channel between two ranks, of sends and receives
  kMessage,      ///< us for every further peer that a rank sends to
  kCrowd,  ///< how the share shrinks in a fabric that others use too: by (nodes / 2) to the power
           ///< of minus this
  kShuffleShare,  ///< of that share, what is left in an all-to-all
  kRendezvous,  ///< us that a CPU takes for a message that is too long to be sent at once, or that
                ///< it has to match itself
};
inline constexpr std::size_t kNetFigures = static_cast<std::size_t>(NetFigure::kRendezvous) + 1;

/// Parameters of PCIe.
enum class PcieFigure {
  kHopLl,
  kHopSimple,
  kShare,        ///< of its rate, what a GPU that sends to another and receives carries each way
  kThroughHost,  ///< of its rate, what reaches a network card by way of the host's memory, without
                 ///< GPUDirect
  kHopToCard,    ///< us more from a GPU that is a PCIe card by its network card to another's
  kToCard,       ///< of its rate, what reaches a network card below the same CPU and no switch
};
inline constexpr std::size_t kPcieFigures = static_cast<std::size_t>(PcieFigure::kToCard) + 1;

/// Parameters of hosts, per operation.
enum class HostFigure {
  kIssue,  ///< us of a thread to launch the operation on one GPU; one that drives several does so
           ///< one after the other
};
inline constexpr std::size_t kHostFigures = static_cast<std::size_t>(HostFigure::kIssue) + 1;

/// Parameters of an NCCL release and its CPU, per operation.
enum class ReleaseFigure {
  kMessage,  ///< us of CPU for what one GPU sends to another of its node and gets from it; a
             ///< process does so for one after the other
  kChannel,  ///< us of a kernel for every further channel: until 2.21 each fetches its work from
             ///< the host's memory, later it stands in the kernel's arguments
};
inline constexpr std::size_t kReleaseFigures =
    static_cast<std::size_t>(ReleaseFigure::kChannel) + 1;

/// Parameters of a reducing network: SHARP's streaming aggregation.
enum class SharpFigure {
  kShare,  ///< of a card's line rate, what it sends to the switches that add while it gets their
           ///< sums
  kHop,    ///< us from a GPU by its proxy and card to a switch that adds, and back to a GPU
  kLevel,  ///< us more for every further level of switches, where partial sums wait for each other
};
inline constexpr std::size_t kSharpFigures = static_cast<std::size_t>(SharpFigure::kLevel) + 1;

struct Parameter {
  std::string name;  ///< "hopper.hop_simple"
  double value = 0;
  std::string unit;
  std::string how;   ///< fitted (to how many rows of how many systems), data sheet, published (by
                     ///< whom), assumed
  std::string kind;  ///< the same for figures that are alike: "gpu.hop_simple" of all generations,
                     ///< "net.share" of all networks; else its name
};

/// The parameters of the time model, from one file.
class Parameters {
 public:
  /// Returns values from data sheets and NCCL's own constants, with which a fit starts.
  static Parameters initial();
  /// CSV: name,value,unit,how. ERRORS: a name that is unknown, missing or duplicate; a value that
  /// is not a positive number.
  static Expected<Parameters> parse(std::string_view text, const std::string& file);
  /// Loads nccl_time.csv from the library folder.
  static Expected<Parameters> load(const std::string& library_folder);
  [[nodiscard]] std::string to_csv() const;

  [[nodiscard]] double of(HostFigure figure) const;
  [[nodiscard]] double of(GpuGeneration generation, GpuFigure figure) const;
  [[nodiscard]] double of(Transport transport, NetFigure figure) const;
  [[nodiscard]] double of(PcieFigure figure) const;
  [[nodiscard]] double of(ReleaseFigure figure, const Version& version) const;
  [[nodiscard]] double of(SharpFigure figure) const;
  /// Returns the number of systems to which the network's share of its line rate was fitted; 0: it
  /// is assumed.
  [[nodiscard]] std::size_t systems(Transport transport) const;
  /// True if the network's share of its line rate, on which large messages depend, is not an
  /// assumption.
  [[nodiscard]] bool is_measured(Transport transport) const;

  /// Returns all parameters, for a fit.
  [[nodiscard]] std::vector<Parameter>& all() { return all_; }
  [[nodiscard]] const std::vector<Parameter>& all() const { return all_; }

 private:
  std::vector<Parameter> all_;
};

}  // namespace tutti::core::nccl
