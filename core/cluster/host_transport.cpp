#include "core/cluster/host_transport.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {
namespace {

constexpr std::array<std::string_view, 8> kLibraries{"unstated", "off", "grpc", "sockets",
                                                     "gloo",     "mpi", "nccl", "ps_lite"};
constexpr std::array<std::string_view, 4> kOverlays{"none", "vpc_cni", "vxlan", "ipip"};

/// The parameters of host transports: for each, the default value (prior), the range and the
/// source. A range covers the measurements on different machines; "assumed" means that there is no
/// measurement.
constexpr HostFigure kFigures[] = {
    // TensorFlow's gRPC uses the operation RecvTensor. The sender sends from the tensor's own
    // buffer; the receiver parses a message only when it is complete.
    {"grpc.send_us_per_message", 80, 50, 500,
     "grpc/grpc pull request 14773: 77 us for a round trip of 1 byte; the overhead of TensorFlow's "
     "executor is assumed"},
    {"grpc.receive_us_per_message", 40, 20, 250, "the same"},
    {"grpc.receive_thread_gb_per_s", 1.66, 0.8, 1.9,
     "tensorflow/tensorflow issue 6116: slope of a linear fit to five sizes from 128 to 1024 MB "
     "over loopback on an E5-2630 v3 (0.60 ms per MB); issue 6256 measured 1.3 to 1.9 GB/s"},
    {"grpc.threads", 8, 1, 8,
     "tensorflow/core/distributed_runtime/rpc/grpc_worker_cache.cc: one polling thread per process "
     "in TensorFlow 1.x; 8 threads are assumed for later releases"},
    // TCP itself.
    {"sockets.send_us_per_message", 10, 5, 30, "assumed: a system call and a wake-up"},
    {"sockets.receive_us_per_message", 10, 5, 30, "assumed: a system call and a wake-up"},
    {"sockets.thread_gb_per_s", 2.8, 2.3, 5.25,
     "siderolabs/talos issue 10530: one stream of 22 to 23 Gb/s on 25 GbE; Cai et al.; SIGCOMM "
     "2021: 42 Gb/s per core "
     "with jumbo frames and all offloads"},
    {"sockets.threads", 1, 1, 16, "one connection per peer"},
    // Gloo.
    {"gloo.send_us_per_message", 30, 10, 100,
     "facebookincubator/gloo issue 158: an all-reduce of 1 KB on two hosts has two schedule steps "
     "and takes 0.35 ms; the latency of the wire was subtracted"},
    {"gloo.receive_us_per_message", 30, 10, 100, "the same"},
    {"gloo.thread_gb_per_s", 1.1, 1.0, 2.4,
     "facebookincubator/gloo issue 248: 17.25 ms for 20 MB on two hosts with 40 GbE, with one core "
     "per host"},
    {"gloo.threads", 1, 1, 1, "one event loop per process"},
    // MPI over TCP.
    {"mpi.send_us_per_message", 15, 5, 50, "assumed"},
    {"mpi.receive_us_per_message", 15, 5, 50, "assumed"},
    {"mpi.thread_gb_per_s", 0.6, 0.3, 1.5,
     "fitted to Horovod's table of 16 GPUs (horovod/horovod pull request 44), where the bytes of "
     "the ring divided by the communication time are 0.32 to 0.89 GB/s; the host is the "
     "bottleneck, because RDMA is no faster"},
    {"mpi.threads", 1, 1, 1, "one progress engine per process"},
    // NCCL's sockets.
    {"nccl.send_us_per_message", 25, 10, 60,
     "NVIDIA/nccl issue 2409: 10 to 12 us per slot over RoCE; NVIDIA/nccl-tests issue 82: 38 to 46 "
     "us for a broadcast "
     "of 8 "
     "bytes"},
    {"nccl.receive_us_per_message", 25, 10, 60, "the same"},
    {"nccl.thread_gb_per_s", 2.0, 1.7, 2.5,
     "NVIDIA/nccl issue 209: 1.85 and 2.06 GB/s for one ring over one socket, 32 Gb/s"},
    {"nccl.threads", 1, 1, 16,
     "NVIDIA/nccl src/transport/net_socket.cc: 1 thread and 1 socket, except on EC2 and with "
     "gVNIC"},
    {"nccl.host_gb_per_s", 5.0, 3.4, 6.0,
     "NVIDIA/nccl issues 450 (4 to 6 GB/s, 4 x 8 V100 on 100 Gb/s) and 398 (4.7 GB/s for any "
     "number of threads); bytedance/byteps issue 237 (4.35 GB/s, 8 x 8 V100)"},
    // ps-lite over ZeroMQ (BytePS).
    {"ps_lite.send_us_per_message", 20, 10, 50, "assumed"},
    {"ps_lite.receive_us_per_message", 20, 10, 50, "assumed"},
    {"ps_lite.thread_gb_per_s", 0.9, 0.2, 1.5,
     "HKBU-HPML/ddl-benchmarks: 0.74 to 0.87 GB/s on 10 GbE; bytedance/byteps issue 237: 0.2 to "
     "1.5 GB/s, depending on the number of processes"},
    {"ps_lite.threads", 1, 1, 4,
     "bytedance/byteps issue 237: no faster than copies by a single thread"},
    // The factor by which encapsulation multiplies the CPU time of a connection.
    {"overlay.vpc_cni", 1.05, 1, 1.2,
     "AWS EKS best practices: packets are not encapsulated; the factor is assumed"},
    {"overlay.vxlan", 1.3, 1.1, 6.7,
     "DaoCloud CNI performance report: 9.16 Gb/s between nodes; between pods 8.30 Gb/s (cilium) "
     "and 1.37 Gb/s (calico, without offload)"},
    {"overlay.ipip", 3.6, 2, 8,
     "fitted to training steps of PyTorch DDP on Calico's IPIP (tools/host_transport.py --fit); "
     "the DaoCloud CNI performance report suggests 4: 9.16 Gb/s between nodes, limited by 10 GbE, "
     "and 4.51 Gb/s between pods"},
    // The one-way latency of encapsulation: half of the difference between the round-trip time
    // between pods and the round-trip time between nodes.
    {"overlay.vpc_cni_us", 0, 0, 42,
     "DaoCloud CNI performance report: macvlan is no slower than the connection between nodes"},
    {"overlay.vxlan_us", 44, 44, 81,
     "DaoCloud CNI performance report: round trips of 201 us (cilium) and 275 us (calico) between "
     "pods, and 113 us between nodes"},
    {"overlay.ipip_us", 68, 40, 100,
     "DaoCloud CNI performance report: round trips of 249 us between pods, and 113 us between "
     "nodes"},
};

/// Returns bytes² · us_per_mb2 (µs per MB²) as a time.
Time squared(Bytes bytes, double us_per_mb2) {
  // The coefficient is converted to units of 10^-6 ps per KB², so that it is a whole number.
  const auto per_kb2 = static_cast<Wide>(std::llround(us_per_mb2 * 1e6));
  const auto size = static_cast<Wide>(bytes.count());
  const Wide ps = size * size / 1'000'000 * per_kb2 / 1'000'000;
  const auto most = static_cast<Wide>(kLongestDuration.count());
  return Time(static_cast<std::int64_t>(std::min(ps, most)));
}

}  // namespace

std::string_view to_string(HostLibrary library) {
  return kLibraries[static_cast<std::size_t>(library)];
}
std::string_view to_string(Overlay overlay) { return kOverlays[static_cast<std::size_t>(overlay)]; }

Time HostEndpoint::moving(Bytes bytes) const {
  Time all;
  if (thread.count() > 0) all += transfer_time(bytes, split ? rate() : thread);
  if (us_per_mb2 > 0) all += squared(bytes, us_per_mb2);
  return std::min(all, kLongestDuration);
}

Time HostEndpoint::occupied(Bytes bytes) const {
  if (split) return moving(bytes) + per_message;
  return Time((moving(bytes) + per_message).count() / threads + (threads > 1 ? 1 : 0));
}

std::span<const HostFigure> host_figures() { return kFigures; }

double host_figure(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFigures), std::end(kFigures),
                                         [&](const HostFigure& f) { return f.name == name; });
  TUTTI_CHECK(found != std::end(kFigures), "the host transport has no parameter {}", name);
  return found->value;
}

std::optional<HostTransport> host_transport(HostLibrary library,
                                            const HostTransportSettings& settings) {
  if (settings.library != HostLibrary::kUnstated) library = settings.library;
  if (library == HostLibrary::kUnstated || library == HostLibrary::kOff) return std::nullopt;
  const std::string name(to_string(library));
  const auto figure = [&](const char* what) { return host_figure(name + "." + what); };
  HostTransport made;
  made.library = library;
  made.process_per_device = library == HostLibrary::kNccl || library == HostLibrary::kMpi ||
                            library == HostLibrary::kGloo;
  made.send.per_message = time_from_us(
      settings.send_us_per_message ? *settings.send_us_per_message : figure("send_us_per_message"));
  made.receive.per_message =
      time_from_us(settings.receive_us_per_message ? *settings.receive_us_per_message
                                                   : figure("receive_us_per_message"));
  double slower = 1;
  if (settings.overlay != Overlay::kNone) {
    const std::string overlay = "overlay." + std::string(to_string(settings.overlay));
    slower = settings.overlay_factor.value_or(host_figure(overlay));
    made.overlay = time_from_us(host_figure(overlay + "_us"));
    const Time half(made.overlay.count() / 2);
    made.send.per_message += half;
    made.receive.per_message += made.overlay - half;
  }
  const bool grpc = library == HostLibrary::kGrpc;
  const double thread = settings.thread_gb_per_s.value_or(
                            figure(grpc ? "receive_thread_gb_per_s" : "thread_gb_per_s")) /
                        slower;
  made.receive.thread = bandwidth_from_gb_per_s(thread);
  if (!grpc) made.send.thread = made.receive.thread;
  made.receive.threads = settings.threads.value_or(static_cast<int>(figure("threads")));
  made.send.threads = made.receive.threads;
  made.send.split = made.receive.split = library == HostLibrary::kNccl;
  if (library == HostLibrary::kNccl)
    made.sockets_per_thread = settings.sockets_per_thread.value_or(1);
  made.receive.us_per_mb2 = settings.receive_us_per_mb2.value_or(0);
  made.receive.whole = grpc;
  const double host =
      settings.host_gb_per_s.value_or(library == HostLibrary::kNccl ? figure("host_gb_per_s") : 0);
  made.host.thread = bandwidth_from_gb_per_s(settings.host_gb_per_s ? host : host / slower);
  return made;
}

std::string describe(const HostTransport& transport) {
  std::string text = fmt::format(
      "{}: {:.3g} GB/s per thread, {} thread{} per {}", to_string(transport.library),
      to_gb_per_s(transport.receive.thread), transport.receive.threads,
      transport.receive.threads == 1 ? "" : "s", transport.process_per_device ? "device" : "host");
  if (transport.host.costs())
    text += fmt::format(", {:.3g} GB/s per host", to_gb_per_s(transport.host.thread));
  text += fmt::format(", {:.3g} + {:.3g} µs per message", to_us(transport.send.per_message),
                      to_us(transport.receive.per_message));
  if (transport.receive.us_per_mb2 > 0)
    text += fmt::format(", {:.3g} µs per MB squared", transport.receive.us_per_mb2);
  return text;
}

}  // namespace tutti::core
