#include "tests/real/tuner/nccl_host.h"

#include <dlfcn.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace tutti::test {
namespace {

// Declarations as in NCCL's headers, but with C types.
extern "C" {
typedef void (*DebugLogger)(int level, unsigned long flags, const char* file, int line,
                            const char* fmt, ...);
typedef struct {
  int nNvlDomains, minRanksPerNvlDomain, maxRanksPerNvlDomain;
} NvlDomainInfo;
typedef struct {
  double values[7 * 3 + 3 * 7 * 3 + 5 * 4 * 3];
} TunerConstants;

typedef struct {
  const char* name;
  int (*init)(size_t nRanks, size_t nNodes, DebugLogger log, void** context);
  int (*getCollInfo)(void* context, int collType, size_t nBytes, int collNetSupport,
                     int nvlsSupport, int numPipeOps, int* algorithm, int* protocol,
                     int* nChannels);
  int (*destroy)(void* context);
} V2;
typedef struct {
  const char* name;
  int (*init)(size_t nRanks, size_t nNodes, DebugLogger log, void** context);
  int (*getCollInfo)(void* context, int collType, size_t nBytes, int numPipeOps,
                     float** collCostTable, int numAlgo, int numProto, int* nChannels);
  int (*destroy)(void* context);
} V3;
typedef struct {
  const char* name;
  int (*init)(size_t nRanks, size_t nNodes, DebugLogger log, void** context);
  int (*getCollInfo)(void* context, int collType, size_t nBytes, int numPipeOps,
                     float** collCostTable, int numAlgo, int numProto, int regBuff, int* nChannels);
  int (*destroy)(void* context);
} V4;
typedef struct {
  const char* name;
  int (*init)(void** ctx, uint64_t commId, size_t nRanks, size_t nNodes, DebugLogger log,
              NvlDomainInfo* domains, TunerConstants* constants);
  int (*getCollInfo)(void* context, int collType, size_t nBytes, int numPipeOps,
                     float** collCostTable, int numAlgo, int numProto, int regBuff, int* nChannels);
  int (*finalize)(void* context);
} V5;
typedef struct {
  V5 as_v5;
  int (*getChunkSize)(void* context, int collType, size_t nBytes, int algo, int proto,
                      int nChannels, size_t* chunkSize);
} V6;
}

std::mutex log_mutex;
std::vector<LogLine> log_lines;

void log_line(int level, unsigned long flags, const char* /*file*/, int /*line*/, const char* fmt,
              ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, fmt);
  std::vsnprintf(text, sizeof text, fmt, arguments);
  va_end(arguments);
  const std::lock_guard lock(log_mutex);
  log_lines.push_back({level, flags, text});
}

void check(int result) {
  if (result != 0) throw std::runtime_error("the plugin has failed, so NCCL gives up");
}

}  // namespace

std::vector<LogLine> take_log() {
  const std::lock_guard lock(log_mutex);
  return std::exchange(log_lines, {});
}

Chosen cheapest(const std::vector<float>& costs) {
  Chosen best;
  float least = 3.4e38F;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i] < 0 || costs[i] >= least) continue;
    least = costs[i];
    best = {static_cast<int>(i) / kProtocols, static_cast<int>(i) % kProtocols, 0};
  }
  return best;
}

NcclHost::NcclHost(const std::string& library, const Release& release) : release_(release) {
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) throw std::runtime_error(dlerror());
  const std::string symbol = "ncclTunerPlugin_v" + std::to_string(release.interface);
  symbol_ = dlsym(library_, symbol.c_str());
  if (!symbol_) throw std::runtime_error("no " + symbol);
}

NcclHost::~NcclHost() { dlclose(library_); }

const char* NcclHost::name() const { return static_cast<V2*>(symbol_)->name; }

void* NcclHost::open(std::size_t ranks, std::size_t nodes) {
  void* context = reinterpret_cast<void*>(0x1);  // the plugin has to replace this value
  NvlDomainInfo domains{static_cast<int>(nodes), 1, 8};
  TunerConstants constants{};
  for (std::size_t i = 0; i < std::size(constants.values); ++i)
    constants.values[i] = static_cast<double>(i) + 0.5;
  const TunerConstants before = constants;
  switch (release_.interface) {
    case 2: check(static_cast<V2*>(symbol_)->init(ranks, nodes, log_line, &context)); break;
    case 3: check(static_cast<V3*>(symbol_)->init(ranks, nodes, log_line, &context)); break;
    case 4: check(static_cast<V4*>(symbol_)->init(ranks, nodes, log_line, &context)); break;
    default:
      check(static_cast<V5*>(symbol_)->init(&context, 0x5eed, ranks, nodes, log_line, &domains,
                                            &constants));
  }
  for (std::size_t i = 0; i < std::size(constants.values); ++i) {
    if (constants.values[i] != before.values[i])
      throw std::runtime_error("the plugin has changed NCCL's constants");
  }
  return context;
}

void NcclHost::close(void* context) {
  switch (release_.interface) {
    case 2: return check(static_cast<V2*>(symbol_)->destroy(context));
    case 3: return check(static_cast<V3*>(symbol_)->destroy(context));
    case 4: return check(static_cast<V4*>(symbol_)->destroy(context));
    default: return check(static_cast<V5*>(symbol_)->finalize(context));
  }
}

Chosen NcclHost::choose(void* context, const Asked& requested, std::vector<float>* left) const {
  int channels = 0;
  if (release_.interface == 2) {
    int algorithm = -1, protocol = -1;
    check(static_cast<V2*>(symbol_)->getCollInfo(
        context, requested.collective, requested.bytes, requested.collnet, requested.nvls,
        requested.pipe_ops, &algorithm, &protocol, &channels));
    Chosen chosen{algorithm, protocol, channels};
    if (algorithm < 0 || protocol < 0) {
      chosen = cheapest(requested.costs);
      chosen.channels = channels;
    }
    return chosen;
  }
  std::vector<float> costs = requested.costs;
  costs.resize(static_cast<std::size_t>(release_.algorithms) * kProtocols, -1.0F);
  auto* table = reinterpret_cast<float**>(costs.data());
  if (release_.interface == 3) {
    check(static_cast<V3*>(symbol_)->getCollInfo(context, requested.collective, requested.bytes,
                                                 requested.pipe_ops, table, release_.algorithms,
                                                 kProtocols, &channels));
  } else if (release_.interface == 4) {
    check(static_cast<V4*>(symbol_)->getCollInfo(context, requested.collective, requested.bytes,
                                                 requested.pipe_ops, table, release_.algorithms,
                                                 kProtocols, requested.registered, &channels));
  } else {
    check(static_cast<V5*>(symbol_)->getCollInfo(context, requested.collective, requested.bytes,
                                                 requested.pipe_ops, table, release_.algorithms,
                                                 kProtocols, requested.registered, &channels));
  }
  Chosen chosen = cheapest(costs);
  chosen.channels = channels;
  if (left) *left = std::move(costs);
  return chosen;
}

std::size_t NcclHost::chunk(void* context, int collective, std::size_t bytes, int algorithm,
                            int protocol, int channels, std::size_t own) const {
  if (release_.interface < 6) return own;
  std::size_t chunk = own;
  check(static_cast<V6*>(symbol_)->getChunkSize(context, collective, bytes, algorithm, protocol,
                                                channels, &chunk));
  return chunk;
}

}  // namespace tutti::test
