#pragma once

#include <optional>

#include "core/cluster/machine.h"

namespace tutti::core {

/// The bandwidth of one NVLink or of one PCIe lane, per direction.
struct LaneRate {
  Bandwidth nominal;  ///< nominal rate in the vendor's specification; includes packet headers, but
                      ///< not the bits that line coding adds
  Bandwidth payload;  ///< rate of data without packet headers, as in NCCL's cost model
};

inline constexpr int kNvlinkGenerations = 5;  ///< the last generation of NVLink; generations 1 to 5
                                              ///< are Pascal, Volta, Ampere, Hopper and Blackwell
inline constexpr int kPcieGenerations = 6;

/// The maximum and the default number of PCIe lanes or of bundled NVLinks in a connection.
struct LaneCount {
  int most = 1;
  int usual = 1;
};
constexpr LaneCount lane_count(LinkKind kind) {
  return kind == LinkKind::kNvlink ? LaneCount{256, 1} : LaneCount{32, 16};
}

/// Returns the rate of one NVLink or of one PCIe lane for a generation. Generations are counted
/// from 1. Returns nullopt for other kinds of link and unknown generations.
/// SOURCE: nominal: NVIDIA's data sheets (20, 25, 25, 25, 50 GB/s per NVLink), the PCI Express base
/// specification (2.5 to 64 GT/s; 8b/10b, 128b/130b, 242 of 256 bytes of a flit). Payload:
/// NVIDIA/nccl v2.28.9 src/graph/topo.h and topo.cc (18, 20, 20, 20.6, 40.1 GB/s per NVLink; 0.1875
/// GB/s per lane of PCIe gen 1, and in each later generation twice the rate of the previous one).
std::optional<LaneRate> lane_rate(LinkKind kind, int generation);

}  // namespace tutti::core
