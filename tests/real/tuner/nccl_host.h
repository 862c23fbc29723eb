#pragma once

#include <cstdarg>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tutti::test {

/// The part of NCCL that interacts with a tuner plugin, without a GPU. It loads the plugin with
/// dlopen, looks up the symbol for the simulated release, creates communicators, and requests
/// choices as ncclGetAlgoInfo does, with the release's layout of the cost table. It is based on
/// NCCL's headers, not on the plugin's.
/// SOURCE: NVIDIA/nccl src/include/plugin/tuner/tuner_v2.h to v6.h, src/enqueue.cc
/// (getTunerInfo of v2.21.5; ncclGetAlgoInfo and topoGetAlgoInfo of v2.22.3 to v2.30.7).
struct Release {
  const char* name;
  int interface;   ///< version of the plugin interface
  int algorithms;  ///< rows of the cost table
};
/// One release for each different interface or cost table.
inline constexpr Release kReleases[] = {{"2.21.5", 2, 6}, {"2.22.3", 3, 6}, {"2.23.4", 3, 7},
                                        {"2.24.3", 4, 7}, {"2.27.7", 4, 7}, {"2.28.9", 5, 7},
                                        {"2.29.2", 5, 7}, {"2.30.7", 6, 7}};
inline constexpr int kProtocols = 3;

/// A line that the plugin has passed to NCCL's logger.
struct LogLine {
  int level = 0;
  unsigned long subsystems = 0;
  std::string text;
};

/// The choice of NCCL for a call; -1: no choice is possible.
struct Chosen {
  int algorithm = -1;
  int protocol = -1;
  int channels = 0;  ///< 0: NCCL's default
  bool operator==(const Chosen&) const = default;
};

/// A call with NCCL's own cost estimates by algorithm × 3 + protocol; -1: not possible.
struct Asked {
  int collective = 4;
  std::size_t bytes = 0;
  int pipe_ops = 1;
  int registered = 0;
  std::vector<float> costs = {};
  int collnet = 0, nvls = 1;  ///< passed by 2.21 instead of the table
};

/// A plugin, loaded by a simulated NCCL release.
class NcclHost {
 public:
  /// Loads the plugin. Throws std::runtime_error if the library or the symbol is missing.
  NcclHost(const std::string& library, const Release& release);
  ~NcclHost();
  NcclHost(const NcclHost&) = delete;
  NcclHost& operator=(const NcclHost&) = delete;

  /// Returns a communicator's tuner, which is the context that the plugin's init() created. Throws
  /// if init() fails, since NCCL then fails to create the communicator.
  void* open(std::size_t ranks, std::size_t nodes);
  void close(void* context);

  /// Requests a choice. `costs`: if not null, receives the table as the plugin has changed it; 2.21
  /// has no table.
  Chosen choose(void* context, const Asked& requested, std::vector<float>* costs = nullptr) const;
  /// Returns the chunk size of a channel after the plugin's call. `own`: NCCL's chunk size. Only
  /// release 2.30 requests it from plugins.
  std::size_t chunk(void* context, int collective, std::size_t bytes, int algorithm, int protocol,
                    int channels, std::size_t own) const;

  const Release& release() const { return release_; }
  const char* name() const;

 private:
  Release release_;
  void* library_ = nullptr;
  void* symbol_ = nullptr;
};

/// Returns the lines that plugins have logged since the last call.
std::vector<LogLine> take_log();

/// Returns the first of the smallest entries, which NCCL chooses.
Chosen cheapest(const std::vector<float>& costs);

}  // namespace tutti::test
