#include "tools/tutti/run.h"

#include <signal.h>
#include <sys/prctl.h>

#include <cstdlib>

#include "real/tcp_executor.h"
#include "real/worker.h"
#include "tools/tutti/interrupt.h"
#include "tools/tutti/join.h"
#include "tools/tutti/time_scale.h"

namespace tutti::tools {

using core::Error;

namespace {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// Lives as a worker of a run that somebody else coordinates. `quiet`: whoever started it says what goes wrong.
int join_run(const PartInRun& part, std::int32_t number, const std::string& listen, bool quiet) {
  real::WorkerJoin join;
  join.where = part.where;
  join.worker = part.launch ? part.launch->rank : number;
  join.ranks = part.launch ? part.launch->size : 0;
  if (!listen.empty()) join.listen = real::parse_address(listen, true);
  join.wait = part.wait;
  // A worker that was started here is ended by its coordinator, in order; or goes with it, also while it is stopped.
  if (quiet) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::optional<Interrupt> interrupt;
  if (!quiet) join.interrupted = &interrupt.emplace().flag();
  const real::WorkerEnd end = real::work(join);
  if (end.done) return kDone;
  if (quiet && end.told) return kRunFailed;
  const int status = report(end.done.error());
  // Launchers kill all the others when one has failed. Rank 0 has files to end, and its status tells for all.
  return part.launch && end.told && status == kRunFailed ? static_cast<int>(kDone) : status;
}

}  // namespace

int run_for_real(const RealRunOptions& options, const Environment& environment) {
  if (!(options.timeout_seconds > 0 && options.timeout_seconds <= 86'400))
    return report(Error::request("--timeout-seconds must be above 0 and at most 86400"));
  if (options.compute != "sleep" && options.compute != "busy")
    return report(Error::request(fmt::format("--compute {}: expected sleep or busy", options.compute)));
  if (options.compute == "busy" && options.emulate)
    return report(
        Error::request("--compute busy takes cores that --emulate needs; emulated devices have their own time"));
  if (options.time_scale && !options.emulate)
    return report(Error::request("--time-scale slows an emulated cluster down; give --emulate with it"));
  if (options.time_scale && !(*options.time_scale >= 0.001 && *options.time_scale <= 1e6))
    return report(Error::request("--time-scale must be from 0.001 to 1000000"));
  if (options.transport != "tcp" && options.transport != "shm")
    return report(Error::request("--transport " + options.transport + ": expected tcp or shm"));
  const auto backend = choice<real::Backend>("--backend", options.backend, real::kBackends, real::parse_backend);
  if (!backend) return report(backend.error());
  if (options.emulate && *backend != real::Backend::kTcp)
    return report(Error::request("--emulate paces messages over tcp; leave --backend out, or --emulate"));
  if (options.compute == "busy" && *backend != real::Backend::kTcp)
    return report(Error::request("--compute busy keeps cores busy; on GPUs computation keeps the GPU busy anyway"));
  auto part = part_in_run(options.join, "", environment_variable);
  if (!part) return report(part.error());
  // The same command runs everywhere; --listen is for the one that coordinates.
  if (!part->coordinates) return join_run(*part, -1, "", false);
  real::TcpExecutorOptions executor_options;
  executor_options.program = "/proc/self/exe";
  executor_options.verify = !options.no_verify;
  executor_options.timeout_seconds = options.timeout_seconds;
  executor_options.busy = options.compute == "busy";
  executor_options.backend = *backend;
  executor_options.gathering = part->gathering;
  executor_options.transport = options.transport;
  if (options.emulate) {
    executor_options.time_scale = [&options](const core::Scenario& scenario) {
      return options.time_scale ? *options.time_scale : time_scale_for(scenario);
    };
  }
  real::TcpExecutor executor(std::move(executor_options));
  const int status = execute(executor, options.emulate ? "emulating" : "running", options, environment);
  if (status != kDone) executor.turn_away(Error::request("there is no run: rank 0 says why"));
  return status;
}

int worker(const WorkerOptions& options) {
  if (options.worker < -1) return report(Error::request("--worker must be at least 0"));
  if (!options.join.empty() && !options.rendezvous.empty())
    return report(Error::request("--join and --rendezvous both say where the coordinator is; keep one"));
  const auto part = part_in_run(options, options.join, environment_variable);
  if (!part) return report(part.error());
  if (part->coordinates) {
    return report(Error::request(
        part->launch
            ? "this is rank 0, which coordinates: start tutti run SCENARIO there"
            : "--join is missing; say where the coordinator is, as tutti run SCENARIO --listen HOST:PORT tells"));
  }
  if (part->launch && options.worker >= 0)
    return report(
        Error::request(fmt::format("--worker {}: which worker this is, {} says (rank {}); leave --worker out, or "
                                   "give --launcher none",
                                   options.worker, to_string(part->launch->launcher), part->launch->rank)));
  return join_run(*part, options.worker, options.listen, options.child);
}

}  // namespace tutti::tools
