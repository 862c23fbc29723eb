#pragma once

// A model of the time that hosts add to messages over a TCP network. On a TCP network, software
// moves the bytes: the kernel and a library (gRPC, MPI, NCCL's socket threads) copy them, and a
// thread handles every message. A message over a link of 12 GB/s may therefore travel at only 1
// GB/s, and all connections of a host share the host's threads.
//
// Besides the links, a message passes four resources: the sender's endpoint (a process, or one
// process per GPU), the sender's host, the receiver's host, and the receiver's endpoint. Each of
// the four resources has a rate and a queue, like a link. Some libraries (NCCL, MPI, Gloo) stream:
// a thread moves the first bytes while later bytes are still arriving. Other libraries handle a
// message only after the message's last byte has arrived. For example, TensorFlow's gRPC parses a
// tensor after the call is complete.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace tutti::core {

/// The library that moves bytes between hosts. The values equal those of the enum
/// `HostTransport.Library` in core/proto/scenario.proto.
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
/// the enum `HostTransport.Overlay` in core/proto/scenario.proto.
enum class Overlay : std::uint8_t { kNone, kVpcCni, kVxlan, kIpip };
std::string_view to_string(Overlay overlay);

/// The threads that handle messages on the sender's or on the receiver's side.
struct HostEndpoint {
  Time per_message;     ///< fixed time of a thread per message
  Bandwidth thread{0};  ///< throughput of one thread; 0: no limit
  int threads = 1;  ///< number of threads; each message is handled by one thread or, if `split` is
                    ///< true, by all
  bool split = false;     ///< true: every message is split over all threads, as in NCCL
  double us_per_mb2 = 0;  ///< coefficient of an additional time, in µs per MB², which grows with
                          ///< the square of the message size
  bool whole = false;     ///< true: a thread handles a message only after the whole message has
                          ///< arrived
  /// The throughput of all threads together.
  [[nodiscard]] Bandwidth rate() const { return Bandwidth(thread.count() * threads); }
  [[nodiscard]] bool costs() const {
    return per_message > Time() || thread.count() > 0 || us_per_mb2 > 0;
  }

  /// The time to move a message, without the constant time `per_message`. If `split` is true, all
  /// threads work on the message; otherwise, one thread does.
  [[nodiscard]] Time moving(Bytes bytes) const;
  /// The time for which a message keeps the whole endpoint busy: the time of one thread, divided by
  /// the number of threads and rounded up. If `split` is true, all threads work on the message, so
  /// the time is not divided.
  [[nodiscard]] Time occupied(Bytes bytes) const;

  bool operator==(const HostEndpoint&) const = default;
};

/// The threads and limits of hosts that apply to every message over a TCP network.
struct HostTransport {
  HostLibrary library = HostLibrary::kUnstated;
  Time overlay;  ///< one-way latency of encapsulation; `per_message` of the sender and of the
                 ///< receiver each include half of it
  bool process_per_device =
      false;  ///< true: every device has its own threads; false: all devices of a host share them
  HostEndpoint send, receive;
  int sockets_per_thread = 1;  ///< number of sockets on which a thread sends a message; each socket
                               ///< is a network connection with its own bandwidth limit
  /// The number of network connections of a message.
  [[nodiscard]] int sockets() const { return (send.split ? send.threads : 1) * sockets_per_thread; }
  HostEndpoint host;  ///< limit for all connections of a host together, in both directions; only
                      ///< HostEndpoint::thread is set

  bool operator==(const HostTransport&) const = default;
};

/// The parameters of host transport that a scenario sets. A parameter without a value keeps the
/// library's default.
struct HostTransportSettings {
  HostLibrary library = HostLibrary::kUnstated;
  std::optional<double> send_us_per_message, receive_us_per_message;
  std::optional<double> thread_gb_per_s;
  std::optional<int> threads;
  std::optional<int> sockets_per_thread;  ///< only for NCCL
  std::optional<double> host_gb_per_s;
  std::optional<double> receive_us_per_mb2;
  Overlay overlay = Overlay::kNone;
  std::optional<double> overlay_factor;
  bool pod_per_gpu = false;

  bool operator==(const HostTransportSettings&) const = default;
};

/// A parameter of this model of host transport, with its default value, range and source.
struct HostFigure {
  std::string_view name;  ///< name of the parameter, for example "grpc.receive_thread_gb_per_s"
  double value = 0;
  double low = 0, high = 0;  ///< range of the published values
  std::string_view source;
};
/// Returns all parameters of the model.
std::span<const HostFigure> host_figures();
/// Returns the default value of a parameter. REQUIRES: a parameter of this name exists.
double host_figure(std::string_view name);

/// Returns the parameters of a library. Values in `settings` replace the library's defaults.
/// Returns nullopt if the library is kOff or kUnstated.
std::optional<HostTransport> host_transport(HostLibrary library,
                                            const HostTransportSettings& settings);

/// Describes a transport, for example "grpc: 1.66 GB/s per thread, 8 threads per host, 80 + 40 µs
/// per message".
std::string describe(const HostTransport& transport);

}  // namespace tutti::core
