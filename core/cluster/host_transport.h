#pragma once

// The host overhead of messages over a TCP network. In such a network, software moves the bytes:
// the kernel and a library (gRPC, MPI, NCCL's socket threads) copy them, and a thread handles every
// message. Therefore a message over a link of 12 GB/s may travel at only 1 GB/s, and all
// connections of a host share the host's threads.
//
// In addition to the links, a message passes the sender's endpoint (a process, or one process per
// GPU), the sender's host, the receiver's host, and the receiver's endpoint. Each of these four is
// a resource, like a link. Some libraries stream: a thread moves the first bytes while more bytes
// arrive (NCCL, MPI, Gloo). Other libraries handle a message after its last byte has arrived
// (TensorFlow's gRPC parses the tensor after the call is complete).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace tutti::core {

/// The software that moves bytes between hosts. The values equal those of `HostTransport.Library`
/// in core/proto/scenario.proto.
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

/// The encapsulation of packets between containers on different hosts. The values equal those of
/// `HostTransport.Overlay` in core/proto/scenario.proto.
enum class Overlay : std::uint8_t { kNone, kVpcCni, kVxlan, kIpip };
std::string_view to_string(Overlay overlay);

/// The threads at one end of a message.
struct HostEndpoint {
  Time per_message;       ///< time that a thread spends on each message, whatever its size
  Bandwidth thread{0};    ///< throughput of one thread; 0: no limit
  int threads = 1;        ///< number of threads; if `split` is false, one thread handles a message
  bool split = false;     ///< true: every message is split over all threads, as in NCCL
  double us_per_mb2 = 0;  ///< additional time that grows with the square of the message size, in µs
                          ///< for 1 MB
  bool whole = false;  ///< true: a message is handled only after it has arrived completely
  /// The throughput of all threads together.
  [[nodiscard]] Bandwidth rate() const { return Bandwidth(thread.count() * threads); }
  [[nodiscard]] bool costs() const {
    return per_message > Time() || thread.count() > 0 || us_per_mb2 > 0;
  }

  /// The time that a thread needs to move a message, in addition to `per_message`. If `split` is
  /// true, all threads together move the message.
  [[nodiscard]] Time moving(Bytes bytes) const;
  /// The time for which a message occupies the endpoint as a whole, which is the time of one thread
  /// divided by the number of threads, rounded up. If `split` is true, the time is not divided.
  [[nodiscard]] Time occupied(Bytes bytes) const;

  bool operator==(const HostEndpoint&) const = default;
};

/// The resources of hosts that every message over a network passes.
struct HostTransport {
  HostLibrary library = HostLibrary::kUnstated;
  Time overlay;  ///< one-way latency of encapsulation; the `per_message` of each end includes half
                 ///< of it
  bool process_per_device =
      false;  ///< true: every device has its own threads; false: all devices of a host share them
  HostEndpoint send, receive;
  HostEndpoint host;  ///< limit of a host over all its connections, in both directions together;
                      ///< only HostEndpoint::thread is set

  bool operator==(const HostTransport&) const = default;
};

/// The parameters that a scenario sets. Parameters without a value have the prior of the library.
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

/// A parameter of the host overhead model, with its prior, range and source.
struct HostFigure {
  std::string_view name;  ///< name of the parameter, for example "grpc.receive_thread_gb_per_s"
  double value = 0;
  double low = 0, high = 0;  ///< range of the published values
  std::string_view source;
};
/// Returns all parameters of the host overhead model.
std::span<const HostFigure> host_figures();
/// Returns the prior of a parameter. REQUIRES: a parameter of this name exists.
double host_figure(std::string_view name);

/// Returns the parameters of a library, replaced by those that `settings` contains. Returns nullopt
/// if the library is kOff or kUnstated.
std::optional<HostTransport> host_transport(HostLibrary library,
                                            const HostTransportSettings& settings);

/// Describes a transport: "grpc: 1.66 GB/s per thread, 8 threads per host, 80 + 40 µs per message".
std::string describe(const HostTransport& transport);

}  // namespace tutti::core
