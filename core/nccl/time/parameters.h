#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/names.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Parameters of a generation of GPUs, for times inside a node.
enum class GpuFigure {
  kHopLl,  ///< latency in us of a hop between two GPUs over NVLink, for each protocol
  kHopLl128,
  kHopSimple,
  kChannelLl,  ///< payload rate in GB/s of the thread block of one channel, for each protocol
  kChannelLl128,
  kChannelSimple,
  kNvlinkShare,  ///< fraction of the data-sheet NVLink bandwidth that the protocol Simple reaches
  kTreeShare,    ///< ratio of a channel's rate in a tree to its rate in a ring; a thread block of a
                 ///< tree transfers data up and down at the same time
  kNvlsLatency,  ///< latency in us from a GPU to the switch and back
  kNvlsShare,    ///< fraction of the data-sheet NVLink bandwidth that multicast reaches
  kPass,  ///< additional time in us of a ring's hop if the thread block transfers 16 KiB or more at
          ///< once
  kPeerChannel,  ///< rate in GB/s at which one channel sends a message to another GPU of the node
  kNvlsFill,     ///< delay of the first NVLS result, as a multiple of the time that the data of one
                 ///< loop of the channels takes
  kRackShare,    ///< ratio of the multicast rate in a rack of several hosts to the rate in one host
  kCopy,  ///< total rate in GB/s at which a GPU's channels copy data in steps that do not send
  kLaunchLl,
  kLaunchLl128,
  kLaunchSimple,
  kLaunchSends,  ///< launch time in us of a kernel for sends and receives with the protocol Simple;
                 ///< the three parameters above are the launch times of other kernels, for each
                 ///< protocol
};
inline constexpr std::size_t kGpuFigures = static_cast<std::size_t>(GpuFigure::kLaunchSends) + 1;

/// Parameters of a network, for times between nodes.
enum class NetFigure {
  kHopLl,  ///< latency in us of a hop between GPUs of two nodes, for each protocol
  kHopLl128,
  kHopSimple,
  kShare,        ///< fraction of the network cards' line rate that collectives reach
  kLlChannel,    ///< payload rate in GB/s of one channel with LL, whose data passes through host
                 ///< memory
  kPeerChannel,  ///< rate in GB/s at which one channel sends a message to another node
  kMessage,      ///< additional time in us for each peer after the first to which a rank sends
  kCongestionExponent,  ///< models congestion in a network with other users: kShare is multiplied
                        ///< by (nodes / 2)^-kCongestionExponent
  kShuffleShare,        ///< fraction of kShare that remains in an all-to-all
  kRendezvous,  ///< CPU time in us for a message that needs a rendezvous because of its size, or
                ///< that the CPU has to match
};
inline constexpr std::size_t kNetFigures = static_cast<std::size_t>(NetFigure::kRendezvous) + 1;

/// Parameters of PCIe.
enum class PcieFigure {
  kHopLl,
  kHopSimple,
  kShare,  ///< fraction of the PCIe rate per direction that a GPU reaches if it sends and receives
           ///< at the same time
  kThroughHost,  ///< fraction of the PCIe rate at which data reaches a network card through host
                 ///< memory, without GPUDirect, if a node sends and receives at the same time
  kHopToCard,    ///< additional time in us of a hop between nodes if GPUs are PCIe cards
  kToCard,  ///< fraction of the PCIe rate at which data reaches a network card that is attached to
            ///< the same CPU without a PCIe switch
};
inline constexpr std::size_t kPcieFigures = static_cast<std::size_t>(PcieFigure::kToCard) + 1;

/// Parameters of hosts: the time that each NCCL operation takes on a host.
enum class HostFigure {
  kIssue,  ///< time in us in which a thread launches an operation on one GPU; a thread with several
           ///< GPUs launches on its GPUs one after the other
};
inline constexpr std::size_t kHostFigures = static_cast<std::size_t>(HostFigure::kIssue) + 1;

/// Parameters of a release of NCCL: times that a release adds to each operation.
enum class ReleaseFigure {
  kMessage,  ///< CPU time in us per message between two GPUs of a node; a process handles its
             ///< messages one after the other
  kChannel,  ///< time in us that each channel after the first adds to a kernel. Up to NCCL 2.21,
             ///< each channel reads its work from host memory; later releases pass the work in the
             ///< kernel's arguments.
};
inline constexpr std::size_t kReleaseFigures =
    static_cast<std::size_t>(ReleaseFigure::kChannel) + 1;

/// Parameters of a reducing network: SHARP's streaming aggregation.
enum class SharpFigure {
  kShare,  ///< fraction of its line rate that a network card reaches if it sends data to reducing
           ///< switches and receives sums at the same time
  kHop,  ///< time in us from a GPU through its proxy and its network card to a reducing switch, and
         ///< back to the GPU
  kLevel,  ///< additional time in us for each level of switches after the first, because partial
           ///< sums wait for each other there
};
inline constexpr std::size_t kSharpFigures = static_cast<std::size_t>(SharpFigure::kLevel) + 1;

struct Parameter {
  std::string name;  ///< name of the parameter, such as "hopper.hop_simple"
  double value = 0;
  std::string unit;
  std::string how;  ///< origin of the value: "fitted" (with the numbers of rows and systems), "data
                    ///< sheet", "published" (with the source), or "assumed"
  std::string kind;  ///< `name` with "gpu" in place of the GPU generation or "net" in place of the
                     ///< network: "gpu.hop_simple", "net.share"; otherwise equal to `name`
};

/// The parameters of the time model, which are loaded from one file.
class Parameters {
 public:
  /// Returns initial values for a fit, taken from data sheets and NCCL's own constants.
  static Parameters initial();
  /// Parses a CSV with the columns `name`, `value`, `unit` and `how` (the origin of the value).
  /// ERRORS: an unknown, missing or duplicate name; a value that is not a positive number; a unit
  /// that is not the parameter's unit.
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
  /// Returns the number of systems to which NetFigure::kShare of the network was fitted; 0 if the
  /// value is assumed.
  [[nodiscard]] std::size_t systems(Transport transport) const;
  /// True if NetFigure::kShare of the network was fitted. The time of large messages depends on
  /// this parameter.
  [[nodiscard]] bool is_measured(Transport transport) const;

  /// Replaces the parameters of GPUs of `generation` by those of `other`.
  void use_parameters_of(GpuGeneration other, GpuGeneration generation);

  /// Returns all parameters. A fit may change them.
  [[nodiscard]] std::vector<Parameter>& all() { return all_; }
  [[nodiscard]] const std::vector<Parameter>& all() const { return all_; }

 private:
  std::vector<Parameter> all_;
};

}  // namespace tutti::core::nccl
