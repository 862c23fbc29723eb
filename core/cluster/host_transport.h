#pragma once

// The time that hosts spend on messages over a TCP network, where software moves the bytes: a
// library (gRPC, MPI, NCCL's socket threads) and the kernel copy them, and a thread handles every
// message. So a message over a link of 12 GB/s may travel at 1 GB/s, and all connections of a host
// share its threads.
//
// Besides the links, a message passes the sender's endpoint (a process, or one process per GPU),
// the sender's host, the receiver's host, and the receiver's endpoint. Each is a resource like a
// link. A library either streams (NCCL, MPI, Gloo: a thread moves bytes while more arrive) or
// handles a message when its last byte has arrived (TensorFlow's gRPC: the tensor is parsed after
// the call is complete).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace tutti::core {

/// The software that moves bytes between hosts. Numbers are those of `HostTransport.Library` in
/// core/proto/scenario.proto.
enum class HostLibrary : std::uint8_t {
  kUnstated,
  kOff,
  kGrpc,
  kSockets,
  kGloo,
  kMpi,
  kNccl,
  kPsLite
};
std::string_view to_string(HostLibrary library);

/// The encapsulation of packets between containers on different hosts; numbers are those of
/// `HostTransport.Overlay`.
enum class Overlay : std::uint8_t { kNone, kVpcCni, kVxlan, kIpip };
std::string_view to_string(Overlay overlay);

/// The threads at one end of a message.
struct HostEndpoint {
  Time per_message;       ///< overhead of one thread per message
  Bandwidth thread{0};    ///< throughput of one thread; 0: no limit
  int threads = 1;        ///< number of threads; one handles a message, unless `split`
  bool split = false;     ///< every message is split over all threads, as NCCL does
  double us_per_mb2 = 0;  ///< µs of one thread for 1 MB; grows with the square of the size
  bool whole = false;     ///< handles a message only after it has arrived completely
  /// The rate of all threads together.
  [[nodiscard]] Bandwidth rate() const { return Bandwidth(thread.count() * threads); }
  [[nodiscard]] bool costs() const {
    return per_message > Time() || thread.count() > 0 || us_per_mb2 > 0;
  }

  /// The time that a message of `bytes` takes of a thread, in addition to `per_message`.
  [[nodiscard]] Time moving(Bytes bytes) const;
  /// The time for which a message occupies the endpoint: its time divided by the number of threads,
  /// rounded up.
  [[nodiscard]] Time occupied(Bytes bytes) const;

  bool operator==(const HostEndpoint&) const = default;
};

/// The resources of hosts that every message over a network passes.
struct HostTransport {
  HostLibrary library = HostLibrary::kUnstated;
  Time overlay;  ///< the cost of encapsulation one way; included in `per_message` of both ends
  bool process_per_device =
      false;  ///< every device has its own threads; otherwise all devices of a host share them
  HostEndpoint send, receive;
  HostEndpoint host;  ///< limit of a host over all its connections, both directions: its `thread`

  bool operator==(const HostTransport&) const = default;
};

/// The parameters that a scenario sets; the others follow from the library.
struct HostTransportSettings {
  HostLibrary library = HostLibrary::kUnstated;
  std::optional<double> send_us_per_message, receive_us_per_message;
  std::optional<double> thread_gb_per_s;
  std::optional<int> threads;
  std::optional<double> host_gb_per_s;
  std::optional<double> receive_us_per_mb2;
  Overlay overlay = Overlay::kNone;
  std::optional<double> overlay_factor;
  bool pod_per_gpu = false;

  bool operator==(const HostTransportSettings&) const = default;
};

/// A parameter of the model: its prior, range and source.
struct HostFigure {
  std::string_view name;  ///< such as "grpc.thread_gb_per_s"
  double value = 0;
  double low = 0, high = 0;  ///< the range of published figures
  std::string_view source;
};
/// Returns all parameters.
std::span<const HostFigure> host_figures();
/// Returns the prior of a parameter. REQUIRES: a parameter of this name exists.
double host_figure(std::string_view name);

/// Returns the parameters of the library, overridden by those that the scenario sets; nullopt if it
/// is off or unstated.
std::optional<HostTransport> host_transport(HostLibrary library,
                                            const HostTransportSettings& settings);

/// Describes a transport: "grpc: 1.66 GB/s per thread, 8 threads per host, 80 + 40 µs per message".
std::string describe(const HostTransport& transport);

}  // namespace tutti::core
