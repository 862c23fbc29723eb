#pragma once

#include <cstdarg>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tutti::test {

/// NCCL as far as a tuner plugin sees it, without a GPU: it loads the plugin with dlopen, looks for
/// the symbol of its release, makes communicators, and asks for choices as ncclGetAlgoInfo does,
/// with the release's layout of the cost table. Written from NCCL's headers, not from the plugin's.
/// SOURCE: NVIDIA/nccl src/include/plugin/tuner/tuner_v2.h to v6.h, src/enqueue.cc
/// (getTunerInfo of v2.21.5; ncclGetAlgoInfo and topoGetAlgoInfo of v2.22.3 to v2.30.7).
struct Release {
  const char* name;
  int interface;   ///< of the plugin
  int algorithms;  ///< rows of the cost table
};
/// The releases whose interface or cost table differs.
inline constexpr Release kReleases[] = {{"2.21.5", 2, 6}, {"2.22.3", 3, 6}, {"2.23.4", 3, 7},
                                        {"2.24.3", 4, 7}, {"2.27.7", 4, 7}, {"2.28.9", 5, 7},
                                        {"2.29.2", 5, 7}, {"2.30.7", 6, 7}};
inline constexpr int kProtocols = 3;

/// A line that the plugin has given NCCL's logger.
struct LogLine {
  int level = 0;
  unsigned long subsystems = 0;
  std::string text;
};

/// What NCCL does with a call; -1: nothing is possible.
struct Chosen {
  int algorithm = -1;
  int protocol = -1;
  int channels = 0;  ///< 0: as many as NCCL takes by itself
  bool operator==(const Chosen&) const = default;
};

/// A call, with NCCL's own estimates: [algorithm × 3 + protocol], -1 is not possible.
struct Asked {
  int collective = 4;
  std::size_t bytes = 0;
  int pipe_ops = 1;
  int registered = 0;
  std::vector<float> costs = {};
  int collnet = 0, nvls = 1;  ///< what 2.21 says in place of the table
};

/// A plugin as one release has loaded it.
class NcclHost {
 public:
  /// Throws std::runtime_error if the library or the symbol is missing.
  NcclHost(const std::string& library, const Release& release);
  ~NcclHost();
  NcclHost(const NcclHost&) = delete;
  NcclHost& operator=(const NcclHost&) = delete;

  /// A communicator's tuner: the context that init has made. Throws if init fails, as then NCCL
  /// gives up the communicator.
  void* open(std::size_t ranks, std::size_t nodes);
  void close(void* context);

  /// `costs`: the table as the plugin has left it, if asked for; 2.21 has none.
  Chosen choose(void* context, const Asked& asked, std::vector<float>* costs = nullptr) const;
  /// What becomes of the chunk size of a channel; only 2.30 asks.
  std::size_t chunk(void* context, int collective, std::size_t bytes, int algorithm, int protocol,
                    int channels, std::size_t own) const;

  const Release& release() const { return release_; }
  const char* name() const;

 private:
  Release release_;
  void* library_ = nullptr;
  void* symbol_ = nullptr;
};

/// Everything that plugins have logged since the last call.
std::vector<LogLine> take_log();

/// The first of the smallest entries, as NCCL takes it.
Chosen cheapest(const std::vector<float>& costs);

}  // namespace tutti::test
