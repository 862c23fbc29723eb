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
  kHopLl,  ///< latency in us from a GPU to the next over NVLink, by protocol
  kHopLl128,
  kHopSimple,
  kChannelLl,  ///< GB/s of payload that one channel's thread block moves, by protocol
  kChannelLl128,
  kChannelSimple,
  kNvlinkShare,  ///< share of the data-sheet NVLink bandwidth that Simple carries
  kTreeShare,    ///< share of a channel's ring rate that is left in a tree, whose blocks go up and
                 ///< down at once
  kNvlsLatency,  ///< latency in us through the switch and back
  kNvlsShare,    ///< share of the data-sheet NVLink bandwidth that multicast carries
  kPass,  ///< additional us of a ring's hop if a thread block has a whole pass of data to move
  kPeerChannel,  ///< GB/s of one channel of sends and receives between two GPUs
  kNvlsFill,     ///< delay of the first result, as a multiple of the time of a loop's staged data
  kRackShare,    ///< share of the multicast rate that is left in a rack of many hosts
  kCopy,         ///< total GB/s that a GPU's channels copy in the step in which they do not send
  kLaunchLl,
  kLaunchLl128,
  kLaunchSimple,
};
inline constexpr std::size_t kGpuFigures = static_cast<std::size_t>(GpuFigure::kLaunchSimple) + 1;

/// Parameters of a network, for times between nodes.
enum class NetFigure {
  kHopLl,  ///< latency in us from a GPU to one of another node, by protocol
  kHopLl128,
  kHopSimple,
  kShare,        ///< share of the cards' line rate that arrives
  kLlChannel,    ///< GB/s of payload of one LL channel, which passes through host memory
  kPeerChannel,  ///< GB/s of one channel of sends and receives between two ranks
  kMessage,      ///< additional us for every further peer that a rank sends to
  kCrowd,  ///< exponent by which the share shrinks in a fabric with other users: (nodes / 2) to the
           ///< power of minus this
  kShuffleShare,  ///< fraction of the share that is left in an all-to-all
  kRendezvous,    ///< CPU time in us for a message that is too long to be sent at once, or that the
                  ///< CPU has to match
};
inline constexpr std::size_t kNetFigures = static_cast<std::size_t>(NetFigure::kRendezvous) + 1;

/// Parameters of PCIe.
enum class PcieFigure {
  kHopLl,
  kHopSimple,
  kShare,  ///< share of the PCIe rate, per direction, of a GPU that sends and receives at once
  kThroughHost,  ///< share of the PCIe rate that reaches a network card through host memory,
                 ///< without GPUDirect
  kHopToCard,    ///< additional us of a hop between nodes if GPUs are PCIe cards
  kToCard,  ///< share of the PCIe rate that reaches a network card at the same CPU without a switch
};
inline constexpr std::size_t kPcieFigures = static_cast<std::size_t>(PcieFigure::kToCard) + 1;

/// Parameters of hosts, per operation.
enum class HostFigure {
  kIssue,  ///< us that a thread takes to launch the operation on one GPU; a thread that drives
           ///< several GPUs launches one after the other
};
inline constexpr std::size_t kHostFigures = static_cast<std::size_t>(HostFigure::kIssue) + 1;

/// Parameters of an NCCL release and its CPU, per operation.
enum class ReleaseFigure {
  kMessage,  ///< CPU time in us for the messages that a GPU exchanges with another GPU of its node;
             ///< a process handles them one after the other
  kChannel,  ///< additional us of a kernel per further channel: until 2.21, each channel fetches
             ///< its work from host memory; later the work is in the kernel's arguments
};
inline constexpr std::size_t kReleaseFigures =
    static_cast<std::size_t>(ReleaseFigure::kChannel) + 1;

/// Parameters of a reducing network: SHARP's streaming aggregation.
enum class SharpFigure {
  kShare,  ///< share of a card's line rate that it sends to reducing switches while it receives
           ///< sums
  kHop,    ///< us from a GPU over its proxy and card to a reducing switch, and back to a GPU
  kLevel,  ///< additional us per further level of switches, where partial sums wait for each other
};
inline constexpr std::size_t kSharpFigures = static_cast<std::size_t>(SharpFigure::kLevel) + 1;

struct Parameter {
  std::string name;  ///< "hopper.hop_simple"
  double value = 0;
  std::string unit;
  std::string how;   ///< origin: fitted (to how many rows of how many systems), data sheet,
                     ///< published (by whom), or assumed
  std::string kind;  ///< common name of similar parameters: "gpu.hop_simple" for all generations,
                     ///< "net.share" for all networks; otherwise the name itself
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
