#include "tools/tutti/run.h"

#include <charconv>
#include <cstdlib>

#include "core/base/file.h"
#include "real/tcp_executor.h"
#include "real/worker.h"
#include "tools/tutti/time_scale.h"

namespace tutti::tools {

using core::Error;

int run_for_real(const RealRunOptions& options, const Environment& environment) {
  if (!(options.timeout_seconds > 0 && options.timeout_seconds <= 86'400))
    return report(Error::request("--timeout-seconds must be above 0 and at most 86400"));
  if (options.time_scale && !options.emulate)
    return report(Error::request("--time-scale slows an emulated cluster down; give --emulate with it"));
  if (options.time_scale && !(*options.time_scale >= 0.001 && *options.time_scale <= 1e6))
    return report(Error::request("--time-scale must be from 0.001 to 1000000"));
  real::TcpExecutorOptions executor_options{
      "/proc/self/exe", environment.library.folder(), !options.no_verify, options.timeout_seconds, {}};
  if (options.emulate) {
    executor_options.time_scale = [&options](const core::Scenario& scenario) {
      return options.time_scale ? *options.time_scale : time_scale_for(scenario);
    };
  }
  real::TcpExecutor executor(std::move(executor_options));
  return execute(executor, options.emulate ? "emulating" : "running", options, environment);
}

int worker(const WorkerOptions& options) {
  real::WorkerJoin join;
  const std::size_t colon = options.join.rfind(':');
  const char* const end = options.join.data() + options.join.size();
  const bool split = colon != std::string::npos && colon > 0;
  if (!split || std::from_chars(options.join.data() + colon + 1, end, join.port).ptr != end || join.port < 1 ||
      join.port > 65'535) {
    return report(Error::request(fmt::format("--join {}: expected the coordinator's HOST:PORT", options.join)));
  }
  join.host = options.join.substr(0, colon);
  join.worker = options.worker;
  const char* const secret = std::getenv("TUTTI_RUN_SECRET");
  if (!secret) return report(Error::request("the run's secret is missing; tutti run gives it by TUTTI_RUN_SECRET"));
  join.secret = secret;
  const auto done = real::work(join);
  // The coordinator has been told, and says it to the user.
  return done ? static_cast<int>(kDone) : static_cast<int>(kRunFailed);
}

}  // namespace tutti::tools
